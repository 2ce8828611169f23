"""Where a value comes from: out of text that outsiders write, or out of the user's own words.

What was read is kept as digests of its words, so that no text of either lies in a file of facts.
"""

from __future__ import annotations

from skills.lib.compact_json import checksum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Of more words from outside than this, every value counts as one of them that the user did not say.
MOST = 5000
_SEPARATORS = str.maketrans(dict.fromkeys("\"'`<>()[]{}|;\\\u201c\u201d\u2018\u2019", " "))
_ENDS = ".,;:!?*_"
_DEEPEST = 20


class Provenance:
    """The words that came from outside, and those that the user said."""

    __slots__ = ("heard", "outside")

    def __init__(self) -> None:
        self.outside: set[str] = set()
        self.heard: set[str] = set()

    def comes_from_outside(self, value: Any) -> bool:
        """True if a text or number in the value stands in what came from outside, and not in what the user said."""
        return any(self._is_foreign(text) for text in _texts(value, 0))

    @staticmethod
    def new_words(value: Any, known: set[str]) -> list[str]:
        """The digests of the words in a value that are not known yet, sorted; at most one more than MOST."""
        found: set[str] = set()
        for text in _texts(value, 0):
            for word in _words(text):
                found |= {_digest(form) for form in _forms(word)} - known
                if len(found) > MOST:
                    return sorted(found)[: MOST + 1]
        return sorted(found)

    def _is_foreign(self, text: str) -> bool:
        """True if all words of a text came from outside, or one that is an address, a path or a host did.

        What the user said, too, is the user's: the same word, or the same part of a path or an address.
        """
        words = _words(text)
        forms = [[_digest(form) for form in _forms(word)] for word in words]
        if len(self.outside) > MOST:
            return not all(form[0] in self.heard for form in forms)
        known = [[form for form in found if form in self.outside] for found in forms]
        foreign = [any(form not in self.heard for form in found) for found in known]
        if all(known):
            return any(foreign)
        return any(mine and not set("@/.").isdisjoint(word) for mine, word in zip(foreign, words, strict=True))


def _digest(word: str) -> str:
    return checksum(word.encode("utf-8", "surrogatepass"))[:12]


def _texts(value: Any, depth: int) -> Iterator[str]:
    """The texts and numbers inside a value; keys of maps are texts, too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield _number(str(value))
    elif isinstance(value, dict) and depth < _DEEPEST:
        for key, part in value.items():
            yield str(key)
            yield from _texts(part, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for part in value:
            yield from _texts(part, depth + 1)


def _words(text: str) -> list[str]:
    """The words of a text, folded; a number as it is written plainly."""
    found = []
    for word in text.casefold().translate(_SEPARATORS).split():
        number = _number(word.strip(_ENDS))
        parts = [number] if number[:1].isdigit() else word.split(",")
        found += [part.strip(_ENDS) for part in parts]
    return [word for word in found if word]


def _number(word: str) -> str:
    """``$1,200.00`` and ``1200`` alike; any other word as it is."""
    plain = word.lstrip("$\u20ac\u00a3").replace(",", "")
    whole, dot, part = plain.partition(".")
    if whole.isascii() and whole.isdigit() and (not dot or part.isdigit()):
        return whole.lstrip("0") + (f".{part.rstrip('0')}" if part.strip("0") else "") or "0"
    return word


def _forms(word: str) -> Iterator[str]:
    """A word, and what of it names the same: the host of an address, the ends of a path."""
    yield word
    _, scheme, rest = word.partition("://")
    if scheme:
        yield rest
        word = rest
    if "@" in word:
        yield word.rpartition("@")[2].partition("/")[0]
    if "/" in word:
        parts = [part for part in word.partition("?")[0].split("/") if part not in ("", ".", "..", "~")]
        if scheme and parts:
            yield parts[0].partition(":")[0]
        elif not scheme:
            yield from ("/".join(parts[at:]) for at in range(max(len(parts) - 4, 0), len(parts)))
