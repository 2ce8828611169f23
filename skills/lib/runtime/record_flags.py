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


def in_file(path: str) -> dict[str, Any]:
    """The values in a file of JSON by name; standard input for "-"."""
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
