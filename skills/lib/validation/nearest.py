"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

# difflib compares with every name: beyond this many only names that begin alike are looked at,
MANY = 2000
# and after this many questions none are answered, so that a graph of bad names stays linear.
QUESTIONS = 200


class Nearest:
    """Finds the nearest of ``names``; each name is looked up once."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self._found: dict[str, str | None] = {}

    def to(self, name: str) -> str | None:
        """The nearest name, or None where none is near."""
        if name not in self._found:
            self._found[name] = self._search(name)
        return self._found[name]

    def _search(self, name: str) -> str | None:
        names: Collection[str] = self.names
        if len(names) > MANY:
            if len(self._found) >= QUESTIONS:
                return None
            names = [other for other in names if other.startswith(name[:3])][:MANY]
        folded = {other.lower().replace("_", "-"): other for other in names}
        close = get_close_matches(name.lower().replace("_", "-"), folded, n=1, cutoff=0.6)
        return folded[close[0]] if close else None


def did_you_mean(name: str | None) -> str:
    """The question to put at the end of a sentence, or nothing."""
    return f"; did you mean {name}?" if name else ""
