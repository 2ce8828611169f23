"""The result of a check: fine, a warning or a problem; where; and the command that fixes it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True, slots=True)
class Result:
    """One result. ``stale`` is a file that may be removed without loss, which --fix does."""

    status: str
    what: str
    where: str = ""
    remedy: str = ""
    stale: str = ""


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """A result with the name of its check and of what was checked: lockstep, project, or a host."""

    subject: str
    check: str
    result: Result

    def to_data(self) -> dict[str, Any]:
        """The result as plain data, for a program."""
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
