"""Parses the arguments of a step script (own code: argparse costs 6 ms and prints what no agent needs)."""

from __future__ import annotations

import os

from skills.lib import compact_json
from skills.lib.errors import UsageError, nearest
from skills.lib.model.run import Request
from skills.lib.model.steps import Workflow
from skills.lib.model.texts import check_text, check_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.model.requirements import Arg

_WORDS = ("outcome", "answer", "lost", "replace", "reason", "qr-status", "step", "run", "project")
_NUMBERS = ("turn", "qr-iteration", "total-steps")
_SWITCHES = ("stateless", "new")
_RECORDS = ("record", "record-file", "erratum")
# What a step is left with, beside its records and parameters.
_REPORTS = ("outcome", "answer", "qr-status", "qr-iteration", "qr-fail")
FILE_LIMIT = 2_000_000
# Characters of a value that is repeated in a command to try.
_SHOWN = 80


class HelpRequested(Exception):
    """``--help`` or ``--version`` was given: the text to print."""


def parse(workflow: Workflow, argv: Sequence[str]) -> Request:
    """The request that the arguments make; UsageError says what was wrong, what is valid and what to try."""
    known = {arg.flag[2:]: arg for arg in workflow.params}
    found: dict[str, Any] = {}
    params: dict[str, Any] = {}
    records: dict[str, Any] = {}
    errata: dict[str, str] = {}
    filed: dict[str, Any] = {}
    files: dict[str, str] = {}
    rest = list(argv)
    while rest:
        if rest[0] in ("-h", "--help"):
            from skills.lib.runtime.help_text import help_text

            raise HelpRequested(help_text(workflow))
        if not rest[0].startswith("--") or rest[0] == "--" or rest[0].startswith("--="):
            raise _bare_word(rest[0], workflow, params, found)
        flag, value = _next_flag(rest, known)
        if flag == "version":
            raise HelpRequested(_version())
        if flag == "record":
            _add_record(records, value)
        elif flag == "erratum":
            _add_erratum(errata, value)
        elif flag == "record-file":
            read = _in_file(value)
            filed.update(read)
            files.update(dict.fromkeys(read, os.path.abspath(value)) if value != "-" else {})
        elif flag in found or (flag in known and known[flag].name in params):
            raise UsageError(f"--{flag} is given twice", remedy="give it once")
        elif flag in known:
            params[known[flag].name] = value
        elif flag in _NUMBERS:
            found[flag] = _number(flag, value)
        else:
            found[flag] = value
    if "step" not in found:
        step_id(workflow, None)
    if files:
        found["filed"] = {name: path for name, path in files.items() if name not in records}
    records = {**filed, **records}  # what stands in the command itself is the later word, wherever it stands
    _check_together(workflow, found, params, records)
    if errata:
        found["errata"] = errata
    return Request(params=params, records=records, **{name.replace("-", "_"): value for name, value in found.items()})


def _check_together(workflow: Workflow, found: dict[str, Any], params: dict[str, Any], records: dict[str, Any]) -> None:
    """Raise UsageError for flags of which one would be passed over: who accounts for a sub-agent reports nothing."""
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


def resolve(workflow: Workflow, request: Request) -> Request:
    """The request with its step as an id; UsageError for a step or a total that the workflow does not have.

    It is done apart from parsing, for a free-form sub-agent's run has a workflow of its own.
    """
    total = request.total_steps
    if total is not None and total != len(workflow.steps):
        raise UsageError(
            f"--total-steps {total} is wrong for {workflow.name}",
            valid=str(len(workflow.steps)),
            remedy="leave --total-steps out; the workflow knows its own length",
        )
    fields = {**request.fields(), "step": step_id(workflow, request.step)}
    return Request(**fields)  # type: ignore[arg-type]


def step_id(workflow: Workflow, given: str | None) -> str:
    """The id meant by an id, a position, ``next``, ``done`` or ``current``; UsageError names the valid ones."""
    if (
        given is not None
        and given.isascii()
        and given.isdigit()
        and len(given) < 9
        and 0 < int(given) <= len(workflow.steps)
    ):
        return workflow.steps[int(given) - 1].id
    if given in ("next", "done", "current") or workflow.has(given):
        return str(given)
    valid = ", ".join(f"{at} {step.id}" for at, step in enumerate(workflow.steps, 1)) + ", next, done, current"
    if given is None:
        raise UsageError("--step is missing", valid=valid, remedy="--step 1 opens a run")
    near = nearest(given, [step.id for step in workflow.steps])
    remedy = f"--step {near}" if near else "--step current --run ID shows where a run stands"
    raise UsageError(f"{workflow.name} has no step {given!r:.80}", valid=valid, remedy=remedy)


def _next_flag(rest: list[str], known: dict[str, Arg]) -> tuple[str, Any]:
    flag, equals, value = rest.pop(0)[2:].partition("=")
    if flag in _SWITCHES or flag == "version":
        if equals:
            raise UsageError(f"--{flag} takes no value")
        return flag, True
    if flag == "qr-fail":
        return flag, _switch(value) if equals else _bare_switch(rest)
    if flag not in (*_WORDS, *_NUMBERS, *_RECORDS) and flag not in known:
        every = [*_WORDS, *_NUMBERS, *_SWITCHES, "qr-fail", *_RECORDS, *known]
        near = nearest(flag, every)
        raise UsageError(
            f"--{flag} is not a flag of this script",
            valid=" ".join(f"--{name}" for name in sorted(every)),
            remedy=f"--{near}" if near else "",
        )
    if not equals:
        if not rest:
            raise UsageError(f"--{flag} has no value")
        value = rest.pop(0)
    check_text(value, f"--{flag}")
    return flag, value


def _bare_word(word: str, workflow: Workflow, params: dict[str, Any], found: dict[str, Any]) -> UsageError:
    """The error for a word that stands where a flag belongs: most likely a value whose flag is missing."""
    from skills.lib.blocks.command_line import quote

    asked = sorted(workflow.params, key=lambda arg: (bool(arg.step), not arg.required))
    flags = [arg.flag for arg in asked] + [f"--{name}" for name in (*_RECORDS, *_WORDS, *_NUMBERS)]
    missing = [arg.flag for arg in workflow.run_params() if arg.required and arg.name not in params]
    remedy = "give it with its flag, or quote a value that has spaces"
    if missing and "run" not in found:
        remedy = f"give it with its flag: {missing[0]} {quote(word) if len(word) <= _SHOWN else '…'}"
    return UsageError(f"{word!r:.80} is not a flag", valid=" ".join(flags), remedy=remedy)


def _switch(value: str) -> bool:
    if value not in ("true", "false"):
        raise UsageError(f"--qr-fail={value!r:.40} is not a switch", valid="--qr-fail, --qr-fail=true, --qr-fail=false")
    return value == "true"


def _bare_switch(rest: list[str]) -> bool:
    return _switch(rest.pop(0)) if rest and rest[0] in ("true", "false") else True


def _number(flag: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise UsageError(f"--{flag} {value!r:.40} is not a whole number")
    return int(value)


def _add_record(records: dict[str, Any], value: str) -> None:
    name, equals, text = value.partition("=")
    if not equals or not name:
        raise UsageError(f"--record {value!r:.80} is not NAME=VALUE")
    if name in records:
        before = records[name]
        records[name] = [*before, text] if isinstance(before, list) else [before, text]
    else:
        records[name] = text


def _add_erratum(errata: dict[str, str], value: str) -> None:
    name, equals, note = value.partition("=")
    step, dot, field = name.partition(".")
    if not equals or not step or (dot and not field) or not note.strip():
        what = f"--erratum {value!r:.80} is not STEP.FIELD=NOTE, or PARAMETER=NOTE for a parameter of the run"
        raise UsageError(what, remedy="name the value as CONTEXT does")
    if name in errata:
        raise UsageError(f"--erratum {name} is given twice", remedy="give one note for each value")
    errata[name] = note.strip()


def _in_file(path: str) -> dict[str, Any]:
    content = _read_file(path)
    try:
        found = compact_json.loads(content, strict=True)
    except ValueError as error:
        raise UsageError(
            f"--record-file {path}: not JSON: {error}", valid='one JSON object: {"name": value, …}'
        ) from None
    if not isinstance(found, dict):
        raise UsageError(f"--record-file {path}: not a JSON object", valid='{"name": value, …}')
    for name, value in found.items():
        check_text(name, f"--record-file {path}: a name")
        check_tree(value, f"--record-file {path}: {name!r:.40}")
    return found


def _read_file(path: str) -> str:
    try:
        if path == "-":
            import sys

            if sys.stdin is None:
                raise UsageError("--record-file -: standard input is closed", remedy="give the path of a JSON file")
            raw = sys.stdin.buffer.read(FILE_LIMIT + 1)
        else:
            if not os.path.isfile(path):
                where = "" if os.path.isabs(path) else f" in {os.getcwd()}"
                raise UsageError(f"--record-file {path!r:.200} is not a file{where}", remedy="give its absolute path")
            with open(path, "rb") as file:
                raw = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise UsageError(f"--record-file {path!r:.200} cannot be read: {error.strerror}") from None
    if len(raw) > FILE_LIMIT:
        raise UsageError(f"--record-file {path!r:.200} is larger than {FILE_LIMIT:,} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"--record-file {path!r:.200} is not UTF-8: byte {error.start}") from None


def _version() -> str:
    from skills import __version__

    return f"lockstep {__version__}, protocol 1"
