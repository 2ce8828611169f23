"""The gate of a review loop in an author's own script, and what leads to it.

A Workflow's gate is built by the engine, which reads the verdict from the ledger. These believe their caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skills.lib.blocks.formatters.commands import INTERPRETER, command_line, review_options, script_arguments
from skills.lib.blocks.formatters.fragments import block, exactly, position
from skills.lib.blocks.xml import render
from skills.lib.model.standalone import GateConfig, QRState
from skills.lib.model.types import Element, QRStatus, Rendered

_PASS_RULES = ("Do not open the reviewed work again in this step.", "Do not take any other way on.")
_FAIL_RULES = ("Do not go on past this gate.", "Do not change what no finding is about.")
_OPEN_RULES = ("Do not go on past this gate without a verdict.", "Do not give a verdict that no review has given.")


def format_gate_step(
    script: str,
    step: int | str,
    total: int,
    title: str,
    qr: QRState,
    gate: GateConfig,
    options: Mapping[str, str] | None = None,
    interpreter: str = INTERPRETER,
) -> Rendered:
    """Print the stop condition of a review loop: on with a pass, back to the work step without one.

    A fail leads to ``gate.work_step`` with the iteration grown by one; with no verdict yet the command asks for one.
    What it prints carries no run and no turn, and it believes the verdict that it is given: a Workflow's gate does not.
    """
    position(step, total)
    if qr.passed:
        state, rules = f"{gate.qr_name}: passed at iteration {qr.iteration}.", _PASS_RULES
        lines = [gate.pass_message, *(["This was the last step."] if gate.pass_step is None else [])]
        target, carried = gate.pass_step, {}
    elif qr.status is QRStatus.FAIL:
        state = f"{gate.qr_name}: the review at iteration {qr.iteration} found issues."
        lines, rules, target = _fixing(gate), _FAIL_RULES, gate.work_step
        carried = review_options(QRState(qr.iteration + 1, failed=True, status=qr.status))
    else:
        state = f"{gate.qr_name}: no verdict was given for iteration {qr.iteration}."
        lines = ["Take the verdict of the review, pass or fail, and put it in the place of FILL_qr_status."]
        rules, target = _OPEN_RULES, step
        carried = {**review_options(qr), "qr_status": "FILL_qr_status"}
    parts = [
        Element("STATE", None, state),
        Element("DO", None, *lines, prose=True),
        Element("FORBIDDEN", None, *(Element("rule", None, rule) for rule in rules)),
    ]
    if target is not None:
        arguments = script_arguments(script, target, total, {**(options or {}), **carried}, interpreter)
        parts.append(Element("NEXT", {"required": True}, command_line(arguments)))
    attributes = {"number": step, "of": total, "title": title, "iteration": qr.iteration, "gate": gate.qr_name}
    return block("step", attributes | {"verdict": qr.status or "none"}, *parts)


def format_post_qr_routing(
    script: str,
    step: int | str,
    total: int,
    qr: QRState | None = None,
    options: Mapping[str, str] | None = None,
    interpreter: str = INTERPRETER,
) -> Rendered:
    """Say which gate command follows from a review's result; ``step`` is the gate's.

    It is soon forgotten where a sub-agent reviews: nothing printed before it ran is read again. There, have the
    sub-agent's own result say it, with ``format_qr_file_output``.
    """
    qr = qr or QRState()
    routes = []
    for status in QRStatus:
        carried = {**(options or {}), **review_options(QRState(qr.iteration, qr.failed, status))}
        command = command_line(script_arguments(script, step, total, carried, interpreter))
        routes.append(Element("on", {"result": status}, Element("command", None, command)))
    rule = "Run the command that the result calls for before you fix anything."
    return block("post_qr_routing", None, Element("rule", None, rule), *routes)


def format_qr_file_output(qr_name: str, path: str, gate_command: Sequence[str]) -> Rendered:
    """Tell a reviewer to write its findings to a file and what to answer, the orchestrator's next action included.

    The answer carries that action because a sub-agent's answer is all that the orchestrator reads when it goes on.
    """
    wording = "RESULT: PASS or FAIL\nFINDINGS: " + exactly(path)
    parts = [
        Element("write", {"path": path}, "Write every finding to this file, with its severity and its place."),
        Element("answer", None, "Answer with these two lines, then the orchestrator's action below, word for word."),
        Element("wording", None, wording),
        _action("Do not fix anything yet. Run the gate with this result:", gate_command),
    ]
    return block("qr_file_output", {"review": qr_name}, *parts)


def format_orchestrator_action(action: str, command: Sequence[str]) -> Rendered:
    """Tell the orchestrator, in a sub-agent's own last words, what it does next."""
    return Rendered(render(_action(action, command)))


def _action(action: str, command: Sequence[str]) -> Element:
    return Element(
        "orchestrator_action", None, Element("action", None, action), Element("command", None, command_line(command))
    )


def _fixing(gate: GateConfig) -> list[str]:
    if gate.self_fix:
        role = f", in the role of {gate.fix_target}" if gate.fix_target else ""
        return [f"Go back to the work step with the next command, and there fix every finding yourself{role}."]
    if gate.fix_target:
        return [
            f"Go back to the work step with the next command, and there dispatch the {gate.fix_target} to fix every"
            " finding. Do not fix any yourself."
        ]
    return ["Go back to the work step with the next command, and there see to it that every finding is fixed."]
