"""What is wrong with a plan, and the one error of this package."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WRONG = 1
USAGE = 2
ENVIRONMENT = 4


class Fault(NamedTuple):
    """One thing that is wrong: a JSON pointer into the plan, what it is, and what would be right."""

    at: str
    what: str
    valid: str = ""

    def __str__(self) -> str:
        return f"{self.at or '/'}: {self.what}" + (f" (valid: {self.valid})" if self.valid else "")


class PlanError(Exception):
    """What cannot be done with a plan, with every fault that stands in the way and the exit code."""

    def __init__(self, what: str, faults: Sequence[Fault] = (), code: int = WRONG) -> None:
        super().__init__(what)
        self.what = what
        self.faults = tuple(faults)
        self.code = code

    def data(self) -> dict[str, Any]:
        """The error as JSON data."""
        return {"ok": False, "error": self.what, "faults": [fault._asdict() for fault in self.faults]}


def nearest(wanted: str, known: Iterable[str], shown: int = 12) -> str:
    """What is valid in place of ``wanted``: the nearest first, then the rest as far as there is room."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(wanted, names, 1, 0.4)
    rest = [name for name in names if name not in close]
    told = [f"{close[0]} is nearest"] if close else []
    told += rest[: shown - len(told)]
    if len(rest) > shown:
        told.append(f"and {len(rest) - shown} more")
    return ", ".join(told) or "there is none"
