"""A whole call as an agent makes it: of a line of a shell, each command is decided and learned by its own rule."""

from __future__ import annotations

from skills.lib.guard.calls import SHELL, Call, calls_of
from skills.lib.guard.decisions import Allow, Deny, Look, strictest
from skills.lib.guard.shell import remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Protocol

    from skills.lib.guard.calls import Rules
    from skills.lib.guard.policy import Policy

    Change = dict[str, Any]

    class Guard(Rules, Protocol):
        """A guard, as its whole calls need it."""

        policies: list[Policy]
        folder: str

        def answer(self, tool: str, arguments: Mapping[str, Any]) -> Allow | Deny | Look: ...
        def admit(self, tool: str, call: str = "") -> list[Change]: ...
        def learn_rule(
            self, tool: str, arguments: Mapping[str, Any], ok: bool, result: Any, call: str = ""
        ) -> list[Change]: ...
        def unsettled(self, tool: str, arguments: Mapping[str, Any]) -> list[Change]: ...
        def apply(self, changes: Iterable[Change]) -> None: ...


def answer(guard: Guard, tool: str, arguments: Mapping[str, Any], live: bool = True) -> Allow | Deny | Look:
    """The strictest answer to the parts of a call, which is not counted; ``live`` as in ``calls_of``."""
    return strictest([answer_to(guard, one) for one in calls_of(guard, tool, arguments, guard.folder, live)])


def answer_to(guard: Guard, one: Call) -> Allow | Deny | Look:
    """The answer to one part of a call; if it is in doubt, a look in place of an answer that could be wrong."""
    if not one.doubt:
        return guard.answer(one.rule, one.arguments)
    return strictest([_doubted(policy, one) for policy in guard.policies])


def _doubted(policy: Policy, one: Call) -> Allow | Look:
    rule = policy.rule(one.rule)
    if rule is None or not rule.needs:
        return Allow()
    text, line = rule.needs[0][:2]
    look = Look(one.rule, text, (), (), f"{one.doubt}: {remedy(one.doubt)}", f"{policy.file}:{line}")
    return Allow((), look) if policy.mode == "report" else look


def admit(guard: Guard, tool: str, arguments: Mapping[str, Any], call: str, live: bool = True) -> list[Change]:
    """Count each part of a call that is allowed."""
    parts = enumerate(calls_of(guard, tool, arguments, guard.folder, live))
    return [change for number, one in parts for change in guard.admit(one.rule, _id(call, number))]


def learn(
    guard: Guard, tool: str, arguments: Mapping[str, Any], ok: bool, result: Any, call: str, live: bool = True
) -> list[Change]:
    """What the result of a call shows or changes; what it is no evidence of becomes UNKNOWN."""
    changes: list[Change] = []
    for number, one in enumerate(calls_of(guard, tool, arguments, guard.folder, live, has_run=True)):
        if one.is_evidence:
            of_one = _result(one, tool, result)
            changes += guard.learn_rule(one.rule, one.arguments, ok, of_one, _id(call, number))
        else:
            forgotten = guard.unsettled(one.rule, one.arguments)
            guard.apply(forgotten)
            changes += forgotten
    return changes


def _id(call: str, number: int) -> str:
    return f"{call}#{number}" if call else ""


def _result(one: Call, tool: str, result: Any) -> Any:
    """The result of one command of a line, whose exit code may not be that of the line."""
    if tool != SHELL or one.exit_of is None:
        return result
    found = result if isinstance(result, dict) else {"output": result}
    code = found.get("exit")
    return {**found, "exit": one.exit_of(code if type(code) is int else None)}
