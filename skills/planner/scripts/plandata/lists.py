"""What reviews of finished work need of a plan, as lists: the files that it changes, and what it promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A run keeps up to 100,000 characters of what a command prints: so many are for the promises, for code and documents
# each, and so many stand around each text.
ROOM, AROUND = 40_000, 16
LONGEST = 400


def lists(plan: Mapping[str, Any]) -> dict[str, list[str]]:
    """The files and promises of code, the documents, and what these are to describe."""
    code, papers = ([one for one in plan["milestones"] if one["kind"] == kind] for kind in ("code", "documentation"))
    return {
        "files": _files(code),
        "promises": _promises(code),
        "documents": _files(papers),
        "described": _promises(papers),
    }


def _files(milestones: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({path for one in milestones for path in one["files"]})


def _promises(milestones: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each requirement and acceptance as "M-001.R1 | text", shortened if they are very many."""
    made = [
        (f"{one['id']}.{letter}{at}", " ".join(text.split()))
        for one in milestones
        for letter, part in (("R", "requirements"), ("A", "acceptance"))
        for at, text in enumerate(one[part], 1)
    ]
    limit = min(LONGEST, max(1, ROOM // (len(made) or 1) - AROUND))
    return [f"{at} | {text if len(text) <= limit else text[: limit - 1] + '…'}" for at, text in made]
