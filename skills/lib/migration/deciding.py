"""The functions that choose the way on, and in words when each way is the right one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skills.lib.migration.graph import Node
from skills.lib.migration.parameters import Placed, deciders
from skills.lib.migration.printing import Verdict
from skills.lib.migration.sources import quoted, source
from skills.lib.migration.tables import Decision
from skills.lib.migration.values import OTHER, Parameter
from skills.lib.workflow.types import Outcome

_PASSED, _FAILED = "nothing that blocks is open", "a finding that blocks is open"


def handler_name(node: Node) -> str:
    """The name of the function that decides a step's way on."""
    return "after_" + node.id.replace("-", "_")


def write_handler(node: Node, placed: Placed) -> str:
    """The source of the function that decides a step's way on."""
    by = list(dict.fromkeys(parameter.flag for parameter in deciders(node.decision)))
    what = f"Choose the way on by {' and '.join(by)}." if by else "Repeat the step until its bound is reached."
    lines = [f"def {handler_name(node)}(ctx: StepContext) -> Outcome:", f'    """{what}"""']
    return "\n".join([*lines, *_branches(node, placed, node.decision, "    ")])


def _branches(node: Node, placed: Placed, tree: Decision | int | None, indent: str) -> Iterator[str]:
    if not isinstance(tree, Decision):
        yield f"{indent}return Outcome.{_outcome(node, tree).name}"
        return
    for values, below in tree.branches[:-1]:
        yield f"{indent}if {_test(node, placed, tree.parameter, values)}:"
        yield from _branches(node, placed, below, indent + "    ")
    yield from _branches(node, placed, tree.branches[-1][1], indent)


def _test(node: Node, placed: Placed, parameter: Parameter | None, values: tuple[Any, ...]) -> str:
    assert parameter is not None  # only a decision with one branch has none
    area = "step_state" if placed.is_recorded(node, parameter) else "workflow_params"
    read = f"ctx.{area}[{quoted(parameter.name)}]"
    if parameter.type == "bool":
        return read if values == (True,) else f"not {read}"
    return f"{read} == {source(values[0])}" if len(values) == 1 else f"{read} in {source(values)}"


def _outcome(node: Node, end: int | None) -> Outcome:
    return next(outcome for outcome, target in node.outcomes.items() if target == end)


def conditions(node: Node) -> dict[Outcome, str]:
    """In words, when each outcome is the right one; empty where there is nothing to choose."""
    if node.gate is not None:
        return {Outcome.OK: node.gate.pass_message, Outcome.FAIL: f"{_FAILED}: it goes back to be fixed"}
    if isinstance(node.said.onward, Verdict) and not node.checkpoint and len(node.outcomes) > 1:
        return {_outcome(node, node.said.onward.passed): _PASSED, _outcome(node, node.said.onward.failed): _FAILED}
    found: dict[Outcome, list[str]] = {}
    for words, end in _phrases(node.decision, []):
        if words:
            found.setdefault(_outcome(node, end), []).append(words)
    return {outcome: "; or ".join(found[outcome]) for outcome in Outcome if outcome in found} if len(found) > 1 else {}


def _phrases(tree: Decision | int | None, before: list[str]) -> Iterator[tuple[str, int | None]]:
    if not isinstance(tree, Decision):
        yield " and ".join(before), tree
        return
    for values, below in tree.branches:
        if tree.parameter is None:
            yield from _phrases(below, before)
            continue
        if OTHER in values:
            words = f"{tree.parameter.name} is anything else"
        elif tree.parameter.type == "bool":
            words = f"{tree.parameter.name} is {'true' if values == (True,) else 'false'}"
        else:
            words = f"{tree.parameter.name} is {' or '.join(str(value) for value in values)}"
        yield from _phrases(below, [*before, words])
