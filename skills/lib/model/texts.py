"""What a text may hold that is kept and printed in a document, and how lists and values are put in words."""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# One value on a command line or in a record file; a longer text belongs in a file that the record names.
VALUE_LIMIT = 100_000
DEPTH_LIMIT = 30
# The longest whole number: Python writes no more than 4,300 digits.
_BITS = 14_000
# A value of so many characters takes less room in a block as an excerpt that names its file.
WORTH_A_FILE = 320
# How many faults of one report are named.
FAULTS = 6

# How an item of a review is written; one that is verified again, and an answer whose severity is fixed; an answer.
ITEM_SHAPE = (
    '{"scope": …, "check": …, "severity": "MUST|SHOULD|COULD", "status": "PASS|FAIL|TODO", "place": "path:line", '
    '"finding": …}'
)
JUDGED_SHAPE = '{"id": …, "status": "PASS|FAIL|TODO", "place": "path:line", "finding": …}'
ANSWER_SHAPE = (
    '{"id": …, "status": "PASS|FAIL|TODO", "place": "path:line", "severity": "MUST|SHOULD|COULD", "finding": …}'
)

# What a gate says that has nothing of its own to say: no agent is needed to go on from it.
AT_GATE = "Run the command below. The verdict is read from what the reviewers recorded; there is nothing to report."

# Char of XML 1.0 (fifth edition, production 2): tab, line feed and carriage return are the only controls below U+0020.
_CONTROLS = bytes(code for code in range(0x20) if code not in (0x09, 0x0A, 0x0D))
_CONTROL_TEXT = _CONTROLS.decode("ascii")


def check_characters(text: str, what: str) -> None:
    """Raise UsageError that names ``what``, code point and position if XML 1.0 does not have a character."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise _unknown_character(text, error.start, what) from None
    if len(data.translate(None, _CONTROLS)) == len(data) and "\ufffe" not in text and "\uffff" not in text:
        return
    at = next(at for at, character in enumerate(text) if character in "\ufffe\uffff" or character in _CONTROL_TEXT)
    raise _unknown_character(text, at, what)


def check_text(value: str, what: str, bounded: bool = True) -> None:
    """Raise UsageError if a text has a character that no document can hold, or (if ``bounded``) is too long."""
    if bounded and len(value) > VALUE_LIMIT + 200:
        raise UsageError(
            f"{what} has {len(value):,} characters, at most {VALUE_LIMIT:,} are read",
            remedy="write it to a file in the project and record the file's path",
        )
    if value.isprintable():
        return
    check_characters(value, what)


def printable(text: str) -> str:
    """``text`` with a question mark for each character that no document can hold."""
    kept = (char if char >= " " or char in "\t\n" else "?" for char in text.replace("\r\n", "\n"))
    return "".join("?" if char in "\ufffe\uffff" or "\ud800" <= char <= "\udfff" else char for char in kept)


def listed(entries: Sequence[str], limit: int) -> str:
    """The first ``limit`` entries with commas, and how many more there are."""
    more = f" and {len(entries) - limit} more" if len(entries) > limit else ""
    return ", ".join(entries[:limit]) + more


def faults_text(faults: Sequence[str]) -> str:
    """The first FAULTS faults in one line, and how many more there are."""
    more = f" (and {len(faults) - FAULTS} more)" if len(faults) > FAULTS else ""
    return "; ".join(faults[:FAULTS]) + more


def shortened(text: str, limit: int) -> str:
    """The text, cut to ``limit`` characters with an ellipsis if it is longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def counted(number: int, noun: str) -> str:
    """A number of things in words: ``1 run``, ``2 runs``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def number(value: float) -> str:
    """A bound or a size in digits: every one of a whole number, and of any other the fewest that mean just it."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else repr(value)


def check_tree(value: Any, what: str, bounded: bool = True, depth: int = 0) -> None:
    """Raise UsageError if a JSON value is nested too deep, or if ``check_text`` refuses one of its texts."""
    if depth > DEPTH_LIMIT:
        raise UsageError(f"{what} is nested more than {DEPTH_LIMIT} deep")
    if isinstance(value, str):
        if bounded or not value.isprintable():  # most texts are: a call for each costs as much as reading the run
            check_text(value, what, bounded)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise UsageError(f"{what} has the name {name!r:.40}, which is not a text")
            check_text(name, what)
            check_tree(inner, what, bounded, depth + 1)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            check_tree(inner, what, bounded, depth + 1)
    elif value is not None and not _is_number(value):
        raise UsageError(f"{what} has a value of the kind {type(value).__name__} that JSON does not have")


def _is_number(value: Any) -> bool:
    """True for a truth value and for a number that JSON has, and that has no thousands of digits."""
    if isinstance(value, float):
        return value - value == 0  # neither an infinity nor NaN
    return isinstance(value, int) and value.bit_length() <= _BITS


def _unknown_character(text: str, at: int, what: str) -> UsageError:
    return UsageError(
        f"{what}: U+{ord(text[at]):04X} at position {at} is a character that XML 1.0 does not have",
        valid="tab, line feed, carriage return, and every character from U+0020 on but surrogates, U+FFFE and U+FFFF",
        remedy="remove the character, or write it out as text",
    )


def present(value: Any) -> str:
    """A recorded value as text for a reader: a text as it is, a list one entry a line, the rest as JSON.

    An object in a list is shown by its fields. Further lines of a text are indented, so that none looks like an entry.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_under("-", entry) for entry in value)
    return compact_json.readable(value)


def _under(sign: str, value: Any) -> str:
    fields = isinstance(value, dict)
    text = "\n".join(_under(f"{name}:", field) for name, field in value.items()) if fields else present(value)
    if not text:
        return sign
    apart = sign != "-" and (fields or isinstance(value, list) or "\n" in text)
    return sign + ("\n  " if apart else " ") + text.replace("\n", "\n  ")
