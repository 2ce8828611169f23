"""What a guard answers to a call."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Answer:
    """An answer is equal to one of its kind with the same fields; it is not changed after it was made."""

    __slots__: tuple[str, ...] = ()

    def fields(self) -> dict[str, object]:
        """Every field by name."""
        return {name: getattr(self, name) for kind in type(self).__mro__[-3::-1] for name in kind.__dict__["__slots__"]}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, _Answer) and self.fields() == other.fields()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([f'{name}={value!r}' for name, value in self.fields().items()])})"


class Deny(_Answer):
    """The call must not be made: a need of its rule is FALSE.

    ``rule`` is the tool's name in the policy, ``need`` the expression, ``reason`` why it is FALSE, ``tools`` the tools
    that show or change a place of it, ``where`` the file and line.
    """

    __slots__ = ("need", "reason", "rule", "tools", "where")

    def __init__(self, rule: str, need: str, reason: str, tools: tuple[str, ...] = (), where: str = "") -> None:
        self.rule = rule
        self.need = need
        self.reason = reason
        self.tools = tools
        self.where = where


class Look(_Answer):
    """Something must be known first: ``missing`` names the places, ``tools`` the tools that show or change them."""

    __slots__ = ("missing", "need", "reason", "rule", "tools", "where")

    def __init__(
        self,
        rule: str,
        need: str,
        missing: tuple[str, ...],
        tools: tuple[str, ...] = (),
        reason: str = "",
        where: str = "",
    ) -> None:
        self.rule = rule
        self.need = need
        self.missing = missing
        self.tools = tools
        self.reason = reason
        self.where = where


class Allow(_Answer):
    """The call may be made.

    ``changes`` is to be kept with the facts: it counts the call. ``reported`` is what would have been answered by a
    policy that only reports.
    """

    __slots__ = ("changes", "reported")

    def __init__(self, changes: tuple[dict[str, Any], ...] = (), reported: Deny | Look | None = None) -> None:
        self.changes = changes
        self.reported = reported


def strictest(decisions: list[Allow | Deny | Look]) -> Allow | Deny | Look:
    """The strictest of the answers to the parts of one call; the changes of all of them if all are allowed."""
    for kind in (Deny, Look):
        found = next((decision for decision in decisions if isinstance(decision, kind)), None)
        if found is not None:
            return found
    allowed = [decision for decision in decisions if isinstance(decision, Allow)]
    reported = next((decision.reported for decision in allowed if decision.reported is not None), None)
    return Allow(tuple(change for decision in allowed for change in decision.changes), reported)
