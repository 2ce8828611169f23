"""Universal conventions, injected into a step's text from their one source."""

from __future__ import annotations

import os

from skills.lib.errors import UsageError, did_you_mean, nearest
from skills.lib.prompts import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def get_convention(name: str, section: str | None = None) -> str:
    """The text of ``conventions/<name>.md``, stripped, or of its ``section`` (a second-level heading, that included).

    The ending may be given or left out. An installed package carries the folder inside ``skills``; a checkout has it
    beside. Raises UsageError naming the valid names, and the nearest, for any other name or section.
    """
    stem = name.removesuffix(".md")
    text = read_shared("conventions", stem + ".md")
    if text is None:
        raise unknown("convention", stem, convention_names())
    if section is None:
        return text
    parts = _sections(text)
    if section not in parts:
        raise unknown(f"section of {stem}", section, tuple(parts))
    return parts[section]


def convention_names() -> list[str]:
    """The names that ``get_convention`` knows, sorted."""
    return shared_names("conventions")


def convention_sections(name: str) -> list[str]:
    """The sections of a convention, in their order."""
    return list(_sections(get_convention(name)))


def read_shared(kind: str, name: str) -> str | None:
    """The stripped text of a file that Lockstep ships in the folder ``kind``; None if there is none."""
    stem, _, ending = name.rpartition(".")
    if stem and _LETTERS.issuperset(stem + ending):
        for folder in _folders(kind):
            try:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    return file.read().strip()
            except (FileNotFoundError, NotADirectoryError):
                continue
    return None


def shared_names(kind: str) -> list[str]:
    """The names of the Markdown files that Lockstep ships in the folder ``kind``, sorted."""
    found: set[str] = set()
    for folder in _folders(kind):
        if os.path.isdir(folder):
            found.update(entry[:-3] for entry in os.listdir(folder) if entry.endswith(".md"))
    return sorted(stem for stem in found if _LETTERS.issuperset(stem))


def unknown(what: str, name: str, names: Sequence[str]) -> UsageError:
    """The error for a name that is none of these; the nearest one is offered."""
    what = f"there is no {what} {name[:80]!r}{did_you_mean(nearest(name, names))}"
    return UsageError(what, valid=", ".join(names) or "none: the folder is missing")


def _sections(text: str) -> dict[str, str]:
    """Each second-level heading with its text, which begins with the heading."""
    return {title: f"## {title}\n{body}".strip() for title, body in sections(text)}


def _folders(kind: str) -> tuple[str, str]:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(package, kind), os.path.join(os.path.dirname(package), kind)
