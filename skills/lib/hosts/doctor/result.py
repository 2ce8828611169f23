"""What a check says: fine, not as it should be, or wrong; where; and the command that mends it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that was looked at. ``stale`` is a file that may be removed without loss, which --fix does."""

    status: str
    what: str
    where: str = ""
    remedy: str = ""
    stale: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A result with the check that it is of, and what was checked: lockstep, project, or a host."""

    subject: str
    check: str
    result: Result

    def to_data(self) -> dict[str, Any]:
        """As plain data for a program."""
        data = asdict(self.result)
        del data["stale"]
        return {"subject": self.subject, "check": self.check, **data, "fixable": bool(self.result.stale)}


def ok(what: str, where: str = "") -> Result:
    """A result that asks for nothing."""
    return Result(OK, what, where)


def warning(what: str, where: str = "", remedy: str = "", stale: str = "") -> Result:
    """A result that costs something, or soon will."""
    return Result(WARNING, what, where, remedy, stale)


def problem(what: str, where: str = "", remedy: str = "", stale: str = "") -> Result:
    """A result that keeps something from working."""
    return Result(PROBLEM, what, where, remedy, stale)
