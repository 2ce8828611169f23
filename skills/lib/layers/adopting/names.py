"""Ids of steps, names of fields and words for outcomes, made of what a SKILL.md says."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

ID_LIMIT, WORD_LIMIT, FIELD_LIMIT = 40, 24, 30
_RESERVED = frozenset(("next", "done", "current", "end", "none", "null", "closing"))
# Other readers of YAML than ours, as an editor's, take these for true and false.
_SWITCHES = frozenset(("yes", "no", "on", "off", "true", "false", "y", "n"))
_STANDARD = ("ok", "fail", "skip", "iterate", "default")
_LETTERS = re.compile(r"[a-z0-9]+")


def step_id(title: str, taken: Collection[str], number: int) -> str:
    """An id of a step from its title, which none of ``taken`` is; by its number if the title has no letters."""
    return _unused(_legal(slug(title, ID_LIMIT), f"step-{number}", "step"), taken, ID_LIMIT)


def field_name(text: str, taken: Collection[str], number: int) -> str:
    """A name for a field from what it asks, which none of ``taken`` is."""
    name = _legal(slug(text, FIELD_LIMIT), f"item-{number}", "item")
    return _unused(name, [one.replace("_", "-") for one in taken], FIELD_LIMIT).replace("-", "_")


def outcome(label: str, target: str, taken: Collection[str], ends: bool) -> str:
    """A word for the way that an edge with this label goes, which none of ``taken`` is.

    ``target`` names the way if the label is empty, and ``ends`` says that the run ends there.
    """
    word = slug(label, WORD_LIMIT) or f"to-{target}"[:WORD_LIMIT].rstrip("-")
    word = word if word[0].isalpha() else f"n-{word}"[:WORD_LIMIT].rstrip("-")
    return _unused(_routed(word, ends), taken, WORD_LIMIT)


def slug(text: str, limit: int) -> str:
    """The text in lower-case letters, digits and single hyphens, cut between words; "" if nothing of it is left."""
    plain = unicodedata.normalize("NFKD", text.replace("'", "").replace("\u2019", "")).lower()
    words = _LETTERS.findall("".join(letter for letter in plain if not unicodedata.combining(letter)))
    found = ""
    for word in words:
        longer = f"{found}-{word}" if found else word[:limit]
        if len(longer) > limit:
            break
        found = longer
    return found


def _routed(word: str, ends: bool) -> str:
    """The word as a route may have it: none that is taken for a misspelt standard word, and no end that is a FAIL."""
    if word in ("fail", "fails"):
        return "failed" if ends else "fail"
    if word in ("default", "iterate", "ok"):
        return {"default": "otherwise", "iterate": "again", "ok": "fine"}[word]
    if word in _STANDARD or len(word) < 4 or not any(_is_near(word, standard) for standard in _STANDARD):
        return word
    return f"{word[: WORD_LIMIT - 4]}-way"


def _is_near(word: str, standard: str) -> bool:
    """True if one letter more, less or other makes the one word of the other, or two letters changed places."""
    if abs(len(word) - len(standard)) > 1:
        return False
    shorter, longer = sorted((word, standard), key=len)
    at = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    if len(shorter) < len(longer):
        return shorter[at:] == longer[at + 1 :]
    swapped = shorter[:at] + shorter[at : at + 2][::-1] + shorter[at + 2 :]
    return shorter[at + 1 :] == longer[at + 1 :] or swapped == longer


def _legal(name: str, otherwise: str, prefix: str) -> str:
    """The name as an id may be: not empty, not reserved, a letter first."""
    if not name:
        return otherwise
    return f"{prefix}-{name}" if name in _RESERVED | _SWITCHES or not name[0].isalpha() else name


def _unused(name: str, taken: Collection[str], limit: int) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        end = f"-{number}"
        found = name[: limit - len(end)].rstrip("-") + end
    return found
