"""What a guard answers to a call."""

from __future__ import annotations

from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Deny(Record):
    """The call must not be made: a need of its rule is FALSE.

    ``rule`` is the tool's name in the policy, ``need`` the expression, ``reason`` why it is FALSE, ``tools`` the tools
    that show or change a place of it, ``where`` the file and line.
    """

    rule: str
    need: str
    reason: str
    tools: tuple[str, ...] = ()
    where: str = ""


class Look(Record):
    """Something must be known first: ``missing`` names the places, ``tools`` the tools that show or change them."""

    rule: str
    need: str
    missing: tuple[str, ...]
    tools: tuple[str, ...] = ()
    reason: str = ""
    where: str = ""


class Allow(Record):
    """The call may be made.

    ``changes`` is to be kept with the facts: it counts the call. ``reported`` is what would have been answered by a
    policy that only reports.
    """

    changes: tuple[dict[str, Any], ...] = ()
    reported: Deny | Look | None = None


def strictest(decisions: list[Allow | Deny | Look]) -> Allow | Deny | Look:
    """The strictest of the answers to the parts of one call; the changes of all of them if all are allowed."""
    for kind in (Deny, Look):
        found = next((decision for decision in decisions if isinstance(decision, kind)), None)
        if found is not None:
            return found
    allowed = [decision for decision in decisions if isinstance(decision, Allow)]
    reported = next((decision.reported for decision in allowed if decision.reported is not None), None)
    return Allow(tuple(change for decision in allowed for change in decision.changes), reported)
