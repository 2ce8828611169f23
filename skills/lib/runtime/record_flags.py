"""What few commands have: values in a file, errata, and words that are no flags."""

from __future__ import annotations

import os
import sys

from skills.lib import compact_json
from skills.lib.blocks.command_line import quote
from skills.lib.errors import UsageError
from skills.lib.model.texts import check_text, check_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.model.steps import Workflow

FILE_LIMIT = 2_000_000
# How many characters of a value a command to try repeats.
_SHOWN = 80
# How many characters are shown before and after a fault in JSON.
_AROUND = 30


# What is wrong with a text as the reader of JSON says it, and how it is put right.
_REMEDIES = {
    "control character": "write a line end inside a text as \\n, and a tab as \\t",
    "delimiter": 'write a quote inside a text as \\"',
    "property name": "write no comma before } or ], and each name in double quotes",
    "trailing comma": "write no comma before } or ]",
    "Expecting value": "write each text in double quotes, and no comma before } or ]",
    "escape": "write a backslash inside a text as \\\\",
    "Unterminated": 'close each text with ", and write a line end inside it as \\n',
    "Extra data": "give one object, and nothing after it",
}


class NotJson(UsageError):
    """A report on standard input is no JSON; ``report`` is its text."""

    report = ""


def in_file(path: str) -> dict[str, Any]:
    """The values in a file of JSON by name; standard input for "-"."""
    content = _read_file(path)
    name = "the report on standard input" if path == "-" else f"--record-file {path}"
    try:
        found = compact_json.loads(content, strict=True)
    except ValueError as error:
        what = f"{name}: not JSON: {error}{_excerpt(content, error)}"
        remedy = next((how for word, how in _REMEDIES.items() if word in str(error)), "")
        valid = 'one JSON object: {"name": value, …}'
        if path != "-":
            raise UsageError(what, valid=valid, remedy=remedy) from None
        unreadable = NotJson(what, valid=valid, remedy=remedy)
        unreadable.report = content
        raise unreadable from None
    if not isinstance(found, dict):
        raise UsageError(f"{name}: not a JSON object", valid='{"name": value, …}')
    for key, value in found.items():
        check_text(key, f"{name}: a name")
        check_tree(value, f"{name}: {key!r:.40}")
    return found


def _excerpt(content: str, error: ValueError) -> str:
    """What stands where an error is, if that is known."""
    at = getattr(error, "pos", None)
    return "" if at is None else f", at {content[max(0, at - _AROUND) : at + _AROUND]!r}"


def _read_file(path: str) -> str:
    try:
        if path == "-":
            if sys.stdin is None:
                raise UsageError("--record-file -: standard input is closed", remedy="give the path of a JSON file")
            if sys.stdin.isatty():
                what = "- reads the report from standard input, and that is a terminal"
                raise UsageError(what, remedy="give it in a here-document, as NEXT has it, or by --record-file FILE")
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


def add_erratum(errata: dict[str, str], value: str) -> None:
    """Add the note of ``NAME=NOTE`` to those by name."""
    name, equals, note = value.partition("=")
    step, dot, field = name.partition(".")
    if not equals or not step or (dot and not field) or not note.strip():
        what = f"--erratum {value!r:.80} is not STEP.FIELD=NOTE, or PARAMETER=NOTE for a parameter of the run"
        raise UsageError(what, remedy="name the value as CONTEXT does")
    if name in errata:
        raise UsageError(f"--erratum {name} is given twice", remedy="give one note for each value")
    errata[name] = note.strip()


def bare_word(
    word: str, workflow: Workflow, every: list[str], params: dict[str, Any], found: dict[str, Any]
) -> UsageError:
    """The error for a word that is no flag: most likely a value whose flag is missing."""
    asked = sorted(workflow.params, key=lambda arg: (bool(arg.step), not arg.required))
    flags = [arg.flag for arg in asked] + every
    missing = [arg.flag for arg in workflow.run_params() if arg.required and arg.name not in params]
    remedy = "give it with its flag, or quote a value that has spaces"
    if missing and "run" not in found:
        remedy = f"give it with its flag: {missing[0]} {quote(word) if len(word) <= _SHOWN else '…'}"
    return UsageError(f"{word!r:.80} is not a flag", valid=" ".join(flags), remedy=remedy)
