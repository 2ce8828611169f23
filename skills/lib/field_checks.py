"""What a field of a record must be: each check returns the value as it is kept, or raises an error that names it.

And what a text must be that gives a reason.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def coerce(kind: type[Any], value: object, what: str) -> Any:
    """Return ``value`` as a word of ``kind``; raise ValueError that names ``what`` and the valid words."""
    try:
        return kind(value)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    except TypeError:  # it cannot be looked up: a list, a mapping
        words: Any = kind
        valid = ", ".join(words)
        raise TypeError(f"{what}: {shown(value)} is not a {kind.__name__}: use one of {valid}") from None


TEXTS = "a list of texts"
EMPTY: Mapping[Any, Any] = {}


def shown(value: object) -> str:
    """``value`` as an error message names it, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def check_text(value: object, what: str) -> str:
    """Return ``value`` if it is text; raise TypeError that names ``what`` if it is not."""
    if isinstance(value, str):
        return value
    raise TypeError(f"{what}: {shown(value)} is not text")


def check_optional_text(value: object, what: str) -> str | None:
    """Return ``value`` if it is text or None; raise TypeError that names ``what`` if it is neither."""
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{what}: {shown(value)} is not text, and not None")


def check_list(value: Any, what: str, example: str) -> tuple[Any, ...]:
    """Return the entries of a list; raise TypeError for one text, a mapping or a single value in place of a list."""
    if not isinstance(value, (str, bytes, dict)):
        try:
            return tuple(value)
        except TypeError:
            pass
    raise TypeError(f"{what}: {shown(value)} is not a list; write {example}")


def check_texts(value: Sequence[str] | str, what: str) -> tuple[str, ...]:
    """Return the texts of a list, a single text as a list of one; raise TypeError that names ``what`` for others."""
    texts = value if type(value) is tuple else (value,) if isinstance(value, str) else check_list(value, what, TEXTS)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{what}: {shown(text)} is not text")
    return texts


def check_records(value: Any, what: str, example: str, kinds: Any, named: str) -> tuple[Any, ...]:
    """Return the entries of a list; raise TypeError for one that is of none of ``kinds``, in words ``named``."""
    found = check_list(value, what, example)
    for one in found:
        if not isinstance(one, kinds):
            raise TypeError(f"{what}: {shown(one)} is not {named}")
    return found


def check_mapping(value: Any, what: str, example: str) -> Mapping[Any, Any]:
    """Return ``value`` if it is a mapping, an empty one for None; raise TypeError that shows what to write."""
    if value is None:
        return {}
    if hasattr(value, "items"):
        return value  # type: ignore[no-any-return]
    raise TypeError(f"{what}: {shown(value)} is not a mapping; write {example}")


def check_count(value: object, what: str) -> int:
    """Return ``value`` if it is a whole number of 1 or more; raise TypeError or ValueError that names ``what``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what}: {shown(value)} is not a whole number of 1 or more")
    if value < 1:
        raise ValueError(f"{what}: {value} is not a whole number of 1 or more")
    return value


def check_switch(value: object, what: str) -> bool:
    """Return whether ``value`` is true."""
    return bool(value)


# From here on (kana) scripts are written without spaces: each character counts as a word.
_UNSPACED = "\u3040"


def is_reason(text: str) -> bool:
    """True if a text is a reason and no word in its place: every reason in a report is held to this.

    It has two different words or more; case and punctuation do not make a word another one.
    """
    found: set[str] = set()
    for part in text.casefold().split():
        letters = "".join([char for char in part if char.isalnum()])
        found |= {char for char in letters if char >= _UNSPACED} or {letters}
    return len(found - {""}) > 1


# By the annotation of the field, as it is written.
CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "str": check_text,
    "str | None": check_optional_text,
    "Sequence[str]": check_texts,
    "bool": check_switch,
}
