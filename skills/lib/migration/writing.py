"""The module that registers the new Workflow, as text."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from skills.lib.migration.calls import FORMATTERS
from skills.lib.migration.deciding import conditions, handler_name, write_handler
from skills.lib.migration.graph import Node
from skills.lib.migration.parameters import Placed
from skills.lib.migration.sections import Prompts
from skills.lib.migration.sources import laid, quoted, source
from skills.lib.migration.values import Parameter
from skills.lib.workflow.formatters import text
from skills.lib.workflow.types import Dispatch, Outcome

_REVIEW = "Have this reviewed by the sub-agent below. Do not review it yourself."
_GATE = "Run the command below. The verdict is read from what the review recorded; there is nothing to report."
_HOMES = {
    "skills.lib.conventions": {"get_convention"},
    "skills.lib.prompts": {"read_prompts"},
    "skills.lib.workflow.core": {"StepContext", "StepDef", "Workflow", "register_workflow"},
    "skills.lib.workflow.formatters": FORMATTERS - set(text.__all__),
    "skills.lib.workflow.formatters.text": set(text.__all__),
    "skills.lib.workflow.requirements": {"Arg", "Field"},
    "skills.lib.workflow.types": {"AgentRole", "Dispatch", "Gate", "Outcome"},
}


def write_workflow(name: str, description: str, nodes: Sequence[Node], placed: Placed, prompts: Prompts) -> str:
    """The module that registers the Workflow."""
    ids = {node.number: node.id for node in nodes}
    handlers = [write_handler(node, placed) for node in nodes if node.decision is not None]
    params = [_run_arg(parameter, parameter.name not in placed.shown) for parameter in placed.run]
    params += [_call("Arg", parameter, [f"step={quoted(step)}"]) for step, parameter in placed.leaving]
    rest = [f"    description={quoted(description)},"] if description else []
    if all(node.said.plain for node in nodes):
        rest.append('    output="text",')
    if params:
        rest.append(f"    {laid('params=', params, '[]', 4)},")
    steps = [_step(node, ids, placed, prompts) for node in nodes]
    graph = "\n".join(["WORKFLOW = Workflow(", f"    {quoted(name)},", *steps, *rest, ")"])
    before = ["PROMPTS = read_prompts(__file__)"] if prompts.sections else []
    code = "\n\n".join([*handlers, graph, "register_workflow(WORKFLOW)"])
    docstring = f'"""The graph of {name}: {len(nodes)} steps, made of a legacy script by `lockstep migrate`."""'
    imports = _imports("\n".join([*before, code]))
    head = "\n\n".join([docstring, "from __future__ import annotations", imports, *before])
    parts = [head, *handlers, graph] if handlers else [f"{head}\n\n{graph}"]
    return "\n\n\n".join(parts) + "\n\nregister_workflow(WORKFLOW)\n"


def _imports(code: str) -> str:
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    used |= {"StepContext"} if "ctx: StepContext" in code else set()
    return "\n".join(
        f"from {home} import {', '.join(sorted(names & used, key=lambda name: (name[0].islower(), name)))}"
        for home, names in _HOMES.items()
        if names & used
    )


def _step(node: Node, ids: Mapping[int, str], placed: Placed, prompts: Prompts) -> str:
    actions, handler = prompts.actions[node.id], ""
    if node.gate is not None:
        actions, handler = [quoted(_GATE)], f"Gate({quoted(node.checkpoint)})"
    elif node.checkpoint:
        actions, handler = _review(node, actions)
    elif isinstance(node.said.dispatch, Dispatch):
        handler = source(node.said.dispatch)
    elif node.decision is not None:
        handler = handler_name(node)
    shown = actions[0] if len(actions) == 1 else laid("", actions, "[]", 8)
    lines = [quoted(node.id), quoted(node.said.title), shown, _routes(node, ids), *([handler] if handler else [])]
    lines += _details(node, placed)
    return "\n".join(["    StepDef(", *(f"        {line}," for line in lines), "    ),"])


def _details(node: Node, placed: Placed) -> list[str]:
    """The arguments of a step that only some have."""
    lines = []
    if placed.shown and node.gate is None:
        lines.append(f"needs={source(placed.shown)}")
    if node.id in placed.recorded:
        fields = [_call("Field", parameter, []) for parameter in placed.recorded[node.id]]
        lines.append(laid("requires=", fields, "[]", 8))
    if node.said.forbidden:
        lines.append(laid("forbidden=", [quoted(rule) for rule in node.said.forbidden], "[]", 8))
    when = conditions(node)
    if when:
        lines.append(laid("when=", [f"Outcome.{one.name}: {quoted(words)}" for one, words in when.items()], "{}", 8))
    if node.bound is not None:
        lines.append(f"max_iterations={node.bound}")
    if node.at_limit is not Outcome.OK:
        lines.append(f"at_limit=Outcome.{node.at_limit.name}")
    return lines


def _review(node: Node, actions: list[str]) -> tuple[list[str], str]:
    """The actions and the handler of a review: what was its text is what the reviewer is told."""
    own = node.said.dispatch
    if isinstance(own, Dispatch):
        return actions, source(Dispatch(**{**own.fields(), "checkpoint": node.checkpoint}))  # type: ignore[arg-type]
    task = actions[0] if len(actions) == 1 else f'"\\n".join({laid("", actions, "[]", 12)})'
    given = ["AgentRole.QUALITY_REVIEWER", f"task={task}", f"checkpoint={quoted(node.checkpoint)}"]
    return [quoted(_REVIEW)], laid("Dispatch", given, "()", 8)


def _routes(node: Node, ids: Mapping[int, str]) -> str:
    ends = [(outcome, node.outcomes[outcome]) for outcome in Outcome if outcome in node.outcomes]
    return laid("", [f"Outcome.{one.name}: {quoted(ids[end]) if end else None}" for one, end in ends], "{}", 8)


def _run_arg(parameter: Parameter, decides: bool) -> str:
    if parameter.default or (decides and parameter.default is not None):
        return _call("Arg", parameter, [f"default={source(parameter.default)}"])
    return _call("Arg", parameter, [] if parameter.required or decides else ["required=False"])


def _call(kind: str, parameter: Parameter, more: list[str]) -> str:
    given = [quoted(parameter.name)]
    if parameter.type != "text":
        given.append(quoted(parameter.type))
    if parameter.choices:
        given.append(f"choices={source(parameter.choices)}")
    given += more
    if parameter.help:
        given.append(f"help={quoted(parameter.help)}")
    return laid(kind, given, "()", 8)
