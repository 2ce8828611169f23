"""Tells a reason from a word that stands in its place: what every reason in a report is held to."""

from __future__ import annotations

# From here on (kana) scripts are written without spaces: each character counts as a word.
_UNSPACED = "\u3040"


def is_reason(text: str) -> bool:
    """True if a text has two different words or more; case and punctuation do not make a word another one."""
    found: set[str] = set()
    for part in text.casefold().split():
        letters = "".join([char for char in part if char.isalnum()])
        found |= {char for char in letters if char >= _UNSPACED} or {letters}
    return len(found - {""}) > 1
