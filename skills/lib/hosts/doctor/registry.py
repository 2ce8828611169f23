"""Every check by name, in the order of the report, and the one place that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module

from skills.lib.errors import LockstepError
from skills.lib.hosts.doctor.examination import OK, CheckedResult, DoctorContext, Result, problem

REINSTALL = "pip install --force-reinstall /path/to/lockstep"
_ROOM = "skills.lib.hosts.doctor"
# Subject -> check -> the module of this room and the function in it. A module is loaded when its check is called: one
# that cannot be loaded then is a result like others.
CHECKS: dict[str, dict[str, tuple[str, str]]] = {
    "lockstep": {
        "python": ("machine", "python"),
        "libraries": ("machine", "libraries"),
        "command": ("machine", "command"),
        "variables": ("machine", "variables"),
        "state": ("machine", "state_folder"),
        "launcher": ("machine", "short_commands"),
        "hook": ("machine", "hook"),
        "runtimes": ("machine", "runtimes"),
        "sessions": ("records", "sessions_of_ended_runs"),
    },
    "project": {
        "ledger": ("records", "ledger"),
        "runs": ("records", "open_runs"),
        "status": ("records", "status_of_ended_runs"),
        "nesting": ("records", "ledgers_above"),
        "policy": ("policies", "policy"),
    },
    "host": {
        "found": ("host", "found"),
        "version": ("host", "version"),
        "installation": ("host", "installation"),
        "files": ("host", "files"),
        "skills": ("skills", "there"),
        "start": ("skills", "start"),
        "seen": ("skills", "seen"),
        "hooks": ("hooks", "entries"),
        "call": ("hooks", "call"),
        "trust": ("hooks", "trust"),
    },
}


def examine(context: DoctorContext, progress: Callable[[str], None] = lambda text: None) -> Iterator[CheckedResult]:
    """Run every check; ``progress`` is called with the name of each before it begins."""
    for subject in ("lockstep", "project", *context.hosts):
        for name, (module, function) in CHECKS.get(subject, CHECKS["host"]).items():
            progress(f"{subject}: {name}")
            for result in _results(context, subject, module, function):
                yield CheckedResult(subject, name, result)


def _results(context: DoctorContext, subject: str, module: str, function: str) -> list[Result]:
    """The results of one check; an error that it raises is one of them."""
    try:
        check = getattr(import_module(f"{_ROOM}.{module}"), function)
        return list(check(context) if subject in CHECKS else check(context, subject))
    except LockstepError as error:
        return [problem(error.what, remedy=error.remedy)]
    except ImportError as error:
        return [problem(f"a module of Lockstep cannot be loaded: {error}", remedy=REINSTALL)]
    except OSError as error:
        return [problem(f"this cannot be looked at: {error.strerror or error}", str(error.filename or ""))]
    except Exception as error:
        return [problem(f"this check failed: {type(error).__name__}: {str(error)[:300]}", remedy=REINSTALL)]


def fixed(results: Sequence[CheckedResult]) -> list[CheckedResult]:
    """The same results after the files that may go are removed, and the launcher is written again."""
    return [replace(one, result=_fixed(one.result)) for one in results]


def _fixed(result: Result) -> Result:
    if result.launcher:
        from skills.lib import launching

        if launching.write(result.launcher):
            return Result(OK, f"written again: {result.what}", result.where)
        return replace(result, what=f"{result.what}; it cannot be written", launcher="")
    if result.stale:
        from skills.lib.hosts.doctor import records  # a part of Lockstep that it imports may be missing

        try:
            records.remove(result.stale)
        except OSError as error:
            return replace(result, what=f"{result.what}; it cannot be removed: {error.strerror}", stale="")
        return Result(OK, f"removed: {result.what}", result.where)
    return result
