"""Every need of a call with its value and the reason, for a reader."""

from __future__ import annotations

from skills.lib.guard.expressions import evaluated
from skills.lib.guard.reasons import explained
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from skills.lib.guard.compiled import Rule
    from skills.lib.guard.decisions import Look
    from skills.lib.guard.expressions import Scope


class Explained(Record):
    """One need of a call: its expression, its place in the file, TRUE, FALSE or UNKNOWN, and why."""

    need: str
    where: str
    value: str
    reason: str
    missing: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


def explained_needs(
    file: str, rule: Rule, scope_of: Callable[[], Scope], offered: Collection[str] | None
) -> list[Explained]:
    """Every need of a rule, each read in a scope of its own."""
    found = []
    for need in rule.needs:
        scope = scope_of()
        about = explained(need, evaluated(need[2], scope), scope, offered, rule.tool)
        found.append(Explained(need[0], f"{file}:{need[1]}", *about))
    return found


def explained_sink(look: Look) -> Explained:
    """A sink that something from outside would reach."""
    return Explained(f"sink {look.need}", look.where, "UNKNOWN", look.reason)
