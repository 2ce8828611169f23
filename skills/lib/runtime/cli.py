"""Reads the arguments of a step script (own code: argparse costs 6 ms and prints what no agent needs)."""

from __future__ import annotations

import os

from skills.lib import __version__
from skills.lib.errors import UsageError, nearest
from skills.lib.model.run import Request
from skills.lib.model.steps import Workflow
from skills.lib.model.texts import check_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    # A flag without its dashes and its value, None if it has none. A word that is no flag has the flag "".
    Word = tuple[str, str | None]

_WORDS = ("outcome", "answer", "lost", "replace", "reason", "qr-status", "step", "run", "project")
_NUMBERS = ("turn", "qr-iteration", "total-steps")
_SWITCHES = ("stateless", "new")
_RECORDS = ("record", "record-file", "erratum")
_PRINTS = ("help", "version")
# What a step is left with, beside its records and parameters.
_REPORTS = ("outcome", "answer", "qr-status", "qr-iteration", "qr-fail")


class HelpRequested(Exception):
    """``--help`` or ``--version`` was given: the text to print."""


def read(argv: Sequence[str]) -> list[Word]:
    """The words of a command line as flags with their values, in order.

    This is the only reading of argv. It needs no workflow; ``request_of`` says what is wrong with a flag.
    """
    words: list[Word] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        name = flag[2:]
        if word in ("-h", "--help"):
            words.append(("help", None))
        elif word == "-":
            words.append(("record-file", word))
        elif not flag.startswith("--") or not name:
            words.append(("", word))
        elif equals:
            words.append((name, value))
        elif name in (*_SWITCHES, *_PRINTS) or not rest or (name == "qr-fail" and rest[0] not in ("true", "false")):
            words.append((name, None))
        else:
            words.append((name, rest.pop(0)))
    return words


def parse(workflow: Workflow, argv: Sequence[str]) -> Request:
    """The request that the arguments make. Raises as ``request_of`` does."""
    return request_of(workflow, read(argv))


def request_of(workflow: Workflow, words: Iterable[Word]) -> Request:
    """The request that the words make.

    Raises UsageError, which says what is wrong, what is valid and what to try, and HelpRequested.
    """
    params_of = {arg.flag[2:]: arg.name for arg in workflow.params}
    found: dict[str, Any] = {}
    params: dict[str, Any] = {}
    records: dict[str, Any] = {}
    errata: dict[str, str] = {}
    in_files: dict[str, Any] = {}
    files: dict[str, str] = {}
    for flag, given in words:
        if not flag:
            from skills.lib.runtime import record_flags  # few commands need them

            flags = [f"--{name}" for name in (*_RECORDS, *_WORDS, *_NUMBERS)]
            raise record_flags.bare_word(given or "", workflow, flags, params, found)
        value = _value(flag, given, params_of)
        if flag == "record":
            _add_record(records, value)
        elif flag == "erratum":
            from skills.lib.runtime import record_flags

            record_flags.add_erratum(errata, value)
        elif flag == "record-file":
            from skills.lib.runtime import record_flags

            content = record_flags.in_file(value)
            in_files.update(content)
            files.update(dict.fromkeys(content, "" if value == "-" else os.path.abspath(value)))
        elif flag in _PRINTS:
            if flag == "version":
                raise HelpRequested(f"lockstep {__version__}, protocol 1")
            from skills.lib.runtime.help_text import help_text  # a step does without it

            raise HelpRequested(help_text(workflow))
        elif flag in found or params_of.get(flag) in params:
            raise UsageError(f"--{flag} is given twice", remedy="give it once")
        elif flag in params_of:
            params[params_of[flag]] = value
        else:
            found[flag] = value
    if "step" not in found:
        step_id(workflow, None)
    if files:
        found["filed"] = {name: path for name, path in files.items() if path and name not in records}
    if errata:
        found["errata"] = errata
    records = {**in_files, **records}  # a record in the command itself overrides one in a file, in any order
    _check_together(workflow, found, params, records)
    return Request(params=params, records=records, **{name.replace("-", "_"): value for name, value in found.items()})


def _value(flag: str, given: str | None, params_of: Mapping[str, str]) -> Any:
    """The value of a flag: True for a switch, a number, else the text. Raises UsageError if it cannot be one."""
    if flag in (*_SWITCHES, *_PRINTS):
        if given is not None:
            raise UsageError(f"--{flag} takes no value")
        return True
    if flag == "qr-fail":
        if given not in ("true", "false", None):
            what = f"--qr-fail={given!r:.40} is not a switch"
            raise UsageError(what, valid="--qr-fail, --qr-fail=true, --qr-fail=false")
        return given != "false"
    if flag not in (*_WORDS, *_NUMBERS, *_RECORDS, *params_of):
        every = [*_WORDS, *_NUMBERS, *_SWITCHES, "qr-fail", *_RECORDS, *params_of]
        near = nearest(flag, every)
        valid = " ".join(f"--{name}" for name in sorted(every))
        raise UsageError(f"--{flag} is not a flag of this script", valid=valid, remedy=near and f"--{near}")
    if given is None:
        raise UsageError(f"--{flag} has no value")
    check_text(given, f"--{flag}")
    if flag not in _NUMBERS:
        return given
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise UsageError(f"--{flag} {given!r:.40} is not a whole number")
    return int(given)


def _check_together(workflow: Workflow, found: dict[str, Any], params: dict[str, Any], records: dict[str, Any]) -> None:
    """Raise UsageError for flags that exclude each other: who accounts for a sub-agent reports nothing."""
    account = next((flag for flag in ("lost", "replace") if flag in found), None)
    if account is None:
        return
    if "lost" in found and "replace" in found:
        raise UsageError("--lost gives up on a sub-agent and --replace starts another", remedy="give one of the two")
    reported = ["record"] if records else [flag for flag in _REPORTS if flag in found]
    reported += [arg.flag[2:] for arg in workflow.params if arg.step and arg.name in params]
    reported += ["erratum"] if "errata" in found else []
    if reported:
        raise UsageError(
            f"--{account} accounts for a sub-agent, and --{reported[0]} reports on the step",
            remedy=f"give --{account} alone first, and --{reported[0]} in a command of its own",
        )


def resolve(workflow: Workflow, request: Request, at: str | None = None) -> Request:
    """The request with the id of its step, and the step as typed; UsageError for a wrong step or total.

    ``at`` is the step at which the run is: a misspelt step is compared only with those that it leads to.
    It is no part of ``request_of``, for a free-form sub-agent's run has a workflow of its own.
    """
    total = request.total_steps
    if total is not None and total != len(workflow.steps):
        raise UsageError(
            f"{workflow.name} does not have {total} steps",
            valid=str(len(workflow.steps)),
            remedy="leave the total out; the workflow knows its own length",
            in_shell="leave --total-steps out; the workflow knows its own length",
        )
    fields = {**request.fields(), "step": step_id(workflow, request.step, at), "typed": request.typed or request.step}
    return Request(**fields)  # type: ignore[arg-type]


def step_id(workflow: Workflow, given: str | None, at: str | None = None) -> str:
    """The id meant by an id, a position, ``next``, ``done`` or ``current``; UsageError names the valid ones."""
    ids = [step.id for step in workflow.steps]
    if given is not None and given.isascii() and given.isdigit() and len(given) < 9 and 0 < int(given) <= len(ids):
        return ids[int(given) - 1]
    if given in ("next", "done", "current", *ids):
        return str(given)
    valid = ", ".join(f"{at} {step}" for at, step in enumerate(ids, 1)) + ", next, done, current"
    if given is None:
        raise UsageError("--step is missing", valid=valid, remedy="--step 1 opens a run")
    near = nearest(given, [at, *filter(None, workflow.step(at).next.values())] if at and workflow.has(at) else ids)
    in_shell = f"--step {near}" if near else "--step current --run ID shows where a run stands"
    remedy = near or "current shows where a run stands"
    raise UsageError(f"{workflow.name} has no step {given!r:.80}", valid=valid, remedy=remedy, in_shell=in_shell)


def _add_record(records: dict[str, Any], value: str) -> None:
    name, equals, text = value.partition("=")
    if not equals or not name:
        raise UsageError(f"--record {value!r:.80} is not NAME=VALUE")
    if name in records:
        before = records[name]
        records[name] = [*before, text] if isinstance(before, list) else [before, text]
    else:
        records[name] = text
