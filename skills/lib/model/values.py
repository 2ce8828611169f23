"""Reads one reported value as its Arg or Field declares it."""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.errors import UsageError
from skills.lib.model.texts import ANSWER_SHAPE, ITEM_SHAPE, JUDGED_SHAPE, VALUE_LIMIT, check_tree, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skills.lib.model.spec import Spec

# A field of such a name is used for the one transition and never kept.
SECRET_NAMES = ("password", "passwd", "secret", "token", "api_key", "apikey", "credential", "private_key")
NOT_KEPT = "(not kept: named like a secret)"
# What an agent may leave around a placeholder.
_AROUND = " \t\r\n'\"`<>[](){}\u2018\u2019\u201c\u201d"


def read(spec: Spec, raw: Any, known: Sequence[Mapping[str, Any]] = ()) -> Any:
    """The value of ``raw``: text from a command line, or JSON from a record file. ValueError says what is valid.

    ``known`` are the review items that are verified again.
    """
    if isinstance(raw, str):
        if is_placeholder(raw, spec.name):
            expected = expectation(spec).replace(ITEM_SHAPE, JUDGED_SHAPE) if known else expectation(spec)
            raise ValueError(f"{spec.name} still stands as {raw.strip()[:80]}; put in {expected}")
        if len(raw) > VALUE_LIMIT:
            raise ValueError(
                f"{spec.name} has {len(raw):,} characters, at most {VALUE_LIMIT:,} are kept; "
                "write it to a file in the project and record the file's path"
            )
    value = _reported(spec, raw, known) if known else _READERS[spec.type](spec, raw)
    _check(spec, value)
    return value


def fits(spec: Spec, raw: str) -> bool:
    """True if a text is a value of ``spec``."""
    try:
        read(spec, raw)
    except ValueError:
        return False
    return True


def is_placeholder(raw: str, name: str) -> bool:
    """True if ``raw`` is still the placeholder of the printed command; a text that only mentions one is not."""
    text = raw.strip(_AROUND)
    return text.startswith(f"FILL_{name}") or (text.startswith("FILL_") and text[5:].replace("_", "a").isalnum())


def is_secret(name: str) -> bool:
    """True if a field of that name holds what must not be kept."""
    low = name.lower()
    return any(word in low for word in SECRET_NAMES)


def keepable(values: dict[str, Any]) -> dict[str, Any]:
    """``values`` with those of secret names replaced by a note."""
    return {name: NOT_KEPT if is_secret(name) else value for name, value in values.items()}


def expectation(spec: Spec) -> str:
    """What a value of ``spec`` must be, in words."""
    if spec.choices:
        return "one of " + ", ".join(spec.choices)
    if spec.type == "list":
        return "a JSON array of texts" + _bounds(spec, " with ", " entries")
    if spec.type == "text":
        return "a text" + _bounds(spec, " of ", " characters")
    return _NAMES[spec.type] + _bounds(spec, " from ", "")


def _bounds(spec: Spec, lead: str, unit: str) -> str:
    low, high = spec.minimum, spec.maximum
    if low is not None and high is not None:
        return f"{lead}{number(low)} to {number(high)}{unit}"
    lead = lead if unit else " of "
    if low is not None:
        return f"{lead}{number(low)} or more{unit}"
    return f"{lead}at most {number(high)}{unit}" if high is not None else ""


_NAMES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "json": "a JSON value",
    "items": f"a JSON array of review items, each {ITEM_SHAPE}",
    "statements": 'a JSON array of texts, each "scope | statement", or the text "none: reason"',
    "answers": f"a JSON array of answers, each {ANSWER_SHAPE}",
}


def _is_blank(text: str) -> bool:
    """True if nothing of it can be seen: spaces of every kind, and characters without width."""
    return not any(char.isprintable() and char != " " for char in text)


def _text(spec: Spec, raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueError(f"{spec.name}: {_short(raw)} is not {expectation(spec)}")
    if _is_blank(raw):
        raise ValueError(f"{spec.name} is empty; put in {expectation(spec)}")
    return raw


def _int(spec: Spec, raw: Any) -> int:
    try:
        if isinstance(raw, (bool, float)) or (isinstance(raw, str) and len(raw) > 30):
            raise ValueError
        return int(raw)
    except (ValueError, TypeError):
        raise ValueError(f"{spec.name}: {_short(raw)} is not {expectation(spec)}") from None


def _float(spec: Spec, raw: Any) -> float:
    try:
        value = float(raw)
        if isinstance(raw, bool) or value != value or value in (float("inf"), float("-inf")):
            raise ValueError
        return value
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"{spec.name}: {_short(raw)} is not {expectation(spec)}") from None


def _bool(spec: Spec, raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.lower() in ("true", "false"):
        return raw.lower() == "true"
    raise ValueError(f"{spec.name}: {_short(raw)} is not true or false")


def _list(spec: Spec, raw: Any) -> list[Any]:
    value = raw
    if isinstance(raw, str):
        value = _array(spec, raw) if raw.lstrip().startswith("[") else raw if _is_object(raw) else [raw]
    if not isinstance(value, list):
        raise ValueError(f"{spec.name}: {_short(raw)} is not {expectation(spec)}")
    for entry in value:
        if not isinstance(entry, str):
            raise ValueError(f"{spec.name}: the entry {_short(entry)} is not a text")
        if _is_blank(entry):
            instead = "leave it out" if len(value) > 1 else f"put in {expectation(spec)}"
            remedy = "give [] for none" if len(value) == 1 and not spec.minimum else instead
            raise ValueError(f"{spec.name}: the entry {_short(entry)} is empty; {remedy}")
        if is_placeholder(entry, spec.name):
            raise ValueError(f"{spec.name} still stands as {entry.strip()[:80]}; put in {expectation(spec)}")
    return value


def _is_object(raw: str) -> bool:
    """True if a text is a JSON object; one that only begins with a brace is not."""
    try:
        return raw.lstrip().startswith("{") and isinstance(compact_json.loads(raw, strict=True), dict)
    except ValueError:
        return False


def _array(spec: Spec, raw: str) -> Any:
    try:
        return _json(spec, raw)
    except ValueError as error:
        form = """'["scope | statement"]'""" if spec.type == "statements" else """'["one", "two"]'"""
        raise ValueError(f"{error}; put in {expectation(spec)}, such as {form}, or use --record-file") from None


def _json(spec: Spec, raw: Any) -> Any:
    if not isinstance(raw, str):
        return raw
    try:
        value = compact_json.loads(raw, strict=True)
    except ValueError as error:
        hint = f"; put in {expectation(spec)}" if spec.type in ("items", "answers") else ""
        raise ValueError(f"{spec.name} is not JSON: {error}{hint}") from None
    try:
        # The text was checked as it came; its escapes have become characters only now.
        check_tree(value, spec.name)
    except UsageError as error:
        raise ValueError(error.what) from None
    return value


def _reported(spec: Spec, raw: Any, known: Sequence[Mapping[str, Any]] = ()) -> Any:
    """The items, statements or answers of a reviewer."""
    from skills.lib.model import items  # most steps have none

    is_text = spec.type == "statements" and isinstance(raw, str)
    value = (_array(spec, raw) if raw.lstrip().startswith("[") else raw) if is_text else _json(spec, raw)
    try:
        if spec.type == "items":
            return items.read_items(value, known)
        return items.read_answers(value) if spec.type == "answers" else items.read_statements(value)
    except ValueError as error:
        raise ValueError(f"{spec.name}: {error}") from None


_READERS: dict[str, Callable[[Any, Any], Any]] = {
    "text": _text,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "list": _list,
    "json": _json,
    "items": _reported,
    "statements": _reported,
    "answers": _reported,
}


def _check(spec: Spec, value: Any) -> None:
    if spec.choices:
        for one in value if isinstance(value, list) else [value]:
            if str(one) not in spec.choices and not _is_a_choice(spec, one):
                raise ValueError(f"{spec.name}: {_short(one)} is not {expectation(spec)}")
    size = len(value) if isinstance(value, (str, list)) else value
    if spec.type == "statements" and isinstance(value, str):  # "none: reason"
        return
    if isinstance(size, (int, float)) and not isinstance(size, bool):
        low, high = spec.minimum, spec.maximum
        if (low is not None and size < low) or (high is not None and size > high):
            given = number(size) if abs(size) < 1e15 else _short(size)
            shown = given + (" characters" if isinstance(value, str) else " entries" if value is not size else "")
            raise ValueError(f"{spec.name}: {shown} is out of range; put in {expectation(spec)}")


def _is_a_choice(spec: Spec, value: Any) -> bool:
    """True if a choice, which is declared as text, reads as this value: "true", "1" and "01" are not how they print."""
    for choice in spec.choices:
        try:
            read = _READERS[spec.type](spec, choice)
        except ValueError:
            continue
        if read == value and type(read) is type(value):
            return True
    return False


def _short(value: Any) -> str:
    """The value as it was given: a text in quotes, anything else as JSON."""
    try:
        text = repr(value) if isinstance(value, str) else compact_json.readable(value)
    except (TypeError, ValueError):  # no JSON: from a caller of the library
        text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
