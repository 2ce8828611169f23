"""Universal conventions, injected into a step's text from their one source."""

from __future__ import annotations

import os

from skills.lib.errors import UsageError

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def get_convention(name: str) -> str:
    """The text of ``conventions/<name>.md``, stripped; the ending may be given or left out.

    An installed package carries the folder inside ``skills``; a checkout has it beside. Raises UsageError naming the
    valid names, and the nearest, for any other name.
    """
    stem = name.removesuffix(".md")
    if stem and _LETTERS.issuperset(stem):
        for folder in _folders():
            try:
                with open(os.path.join(folder, stem + ".md"), encoding="utf-8") as file:
                    return file.read().strip()
            except FileNotFoundError:
                continue
    raise _unknown(stem)


def convention_names() -> list[str]:
    """The names that ``get_convention`` knows, sorted."""
    found: set[str] = set()
    for folder in _folders():
        if os.path.isdir(folder):
            found.update(entry[:-3] for entry in os.listdir(folder) if entry.endswith(".md"))
    return sorted(stem for stem in found if _LETTERS.issuperset(stem))


def _folders() -> tuple[str, str]:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(package, "conventions"), os.path.join(os.path.dirname(package), "conventions")


def _unknown(name: str) -> UsageError:
    import difflib

    names = convention_names()
    nearest = difflib.get_close_matches(name, names, 1)
    return UsageError(
        f"there is no convention {name[:80]!r}",
        valid=", ".join(names) or "none: the conventions folder is missing",
        remedy=f"did you mean {nearest[0]}?" if nearest else "",
    )
