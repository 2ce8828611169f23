"""Every check by name, in the order in which they are told, and the one place that carries them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module

from skills.lib.errors import LockstepError
from skills.lib.hosts.doctor.context import DoctorContext
from skills.lib.hosts.doctor.result import OK, Result, Told, problem

REINSTALL = "pip install --force-reinstall lockstep-skills"
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
        "hook": ("machine", "hook"),
        "runtimes": ("machine", "runtimes"),
        "sessions": ("leftovers", "sessions_of_ended_runs"),
    },
    "project": {
        "ledger": ("project", "ledger"),
        "runs": ("project", "open_runs"),
        "markers": ("leftovers", "markers_of_ended_runs"),
        "nesting": ("project", "ledgers_above"),
    },
    "host": {
        "found": ("host", "found"),
        "version": ("host", "version"),
        "installation": ("installed", "installation"),
        "files": ("installed", "files"),
        "skills": ("skills", "there"),
        "start": ("skills", "start"),
        "seen": ("skills", "seen"),
        "hooks": ("hooks", "entries"),
        "call": ("hooks", "call"),
        "trust": ("hooks", "trust"),
    },
}


def examine(context: DoctorContext, progress: Callable[[str], None] = lambda text: None) -> Iterator[Told]:
    """Carry out every check; ``progress`` hears of each before it begins."""
    for subject in ("lockstep", "project", *context.hosts):
        for name, (module, function) in CHECKS.get(subject, CHECKS["host"]).items():
            progress(f"{subject}: {name}")
            for result in _carried_out(context, subject, module, function):
                yield Told(subject, name, result)


def _carried_out(context: DoctorContext, subject: str, module: str, function: str) -> list[Result]:
    """The results of one check; what it trips over is one of them."""
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


def fixed(told: Sequence[Told]) -> list[Told]:
    """The same results after the files that may go are removed."""
    return [_fixed(one) for one in told]


def _fixed(told: Told) -> Told:
    path = told.result.stale
    if not path:
        return told
    from skills.lib.hosts.doctor import leftovers

    try:
        leftovers.remove(path)
    except OSError as error:
        what = f"{told.result.what}; it cannot be removed: {error.strerror}"
        return replace(told, result=replace(told.result, what=what, stale=""))
    return replace(told, result=Result(OK, f"removed: {told.result.what}", told.result.where))
