"""A whole step of an author's own script, its review gate, and the sections that lead on from it.

A Workflow's documents are made by the engine, which knows the run and reads a gate's verdict from the ledger. These
carry no run and no turn, and believe their caller.
"""

from __future__ import annotations

from skills.lib.blocks import parts
from skills.lib.blocks.formatters.arguments import (
    INTERPRETER,
    check_filled,
    command_line,
    exactly,
    position,
    review_options,
    script_command,
    texts,
)
from skills.lib.blocks.formatters.dispatch import dispatch_block
from skills.lib.blocks.xml import render
from skills.lib.errors import UsageError
from skills.lib.model.standalone import BranchRouting, GateConfig, LinearRouting, QRState, Routing, TerminalRouting
from skills.lib.model.types import Dispatch, Element, QRStatus, Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.model.requirements import Arg, Requirement

_PASS_RULES = ("Do not open the reviewed work again in this step.", "Do not take any other way on.")
_FAIL_RULES = ("Do not go on past this gate.", "Do not change what no finding is about.")
_OPEN_RULES = ("Do not go on past this gate without a verdict.", "Do not give a verdict that no review has given.")


def format_step_output(
    step: int | str,
    total: int,
    title: str,
    actions: Sequence[str] | str = (),
    routing: Routing | None = None,
    dispatch: Dispatch | None = None,
    *,
    script: str | None = None,
    next_command: Sequence[str] | Rendered | None = None,
    invoke_after: Rendered | None = None,
    qr: QRState | None = None,
    options: Mapping[str, str] | None = None,
    context: Rendered | None = None,
    record: Rendered | None = None,
    forbidden: Rendered | None = None,
    interpreter: str = INTERPRETER,
) -> Rendered:
    """Print one step of an author's own script: actions, and the command that goes on.

    The actions mix text and fragments. With ``script`` the next command follows from the routing: the step after this
    one, or one command for each verdict; ``qr`` and ``options`` are carried along in it. After the last step, or a
    TerminalRouting, there is none. ``next_command`` (arguments, or what ``format_next_block`` made) and
    ``invoke_after`` (of ``format_invoke_after``) replace what the routing says. ``context``, ``record`` and
    ``forbidden`` take the results of ``format_context``, ``format_record_block`` and ``format_forbidden``. The fields
    of a ``Step`` fit as they are: ``format_step_output(step=1, total=4, script="script.py", **STEPS[1].fields())``.

    The document carries no run and no turn. Raises UsageError for a step past the total, and if no next command can be
    found.
    """
    position(step, total)
    lines = list(texts(actions, "actions")) if actions else []
    if dispatch is not None:
        lines.append(dispatch_block(dispatch, interpreter))
    onward: list[Element | Rendered]
    if next_command is not None or invoke_after is not None:
        onward = [invoke_after] if invoke_after is not None else []
        if isinstance(next_command, Rendered):
            onward.append(next_command)
        elif next_command is not None:
            onward.append(parts.next_element(command_line(next_command, "next_command")))
    else:
        carried: dict[str, object] = {**(options or {}), **review_options(qr)}
        onward = [*_routed(routing or LinearRouting(), step, total, script, carried, interpreter)]
    state = f"Step {step} of {total}." + ("" if onward else " This is the last step.")
    attributes = {"number": step, "of": total, "title": title, "iteration": qr and qr.iteration}
    return render(
        parts.assemble(
            "step", attributes, state, lines, context=context, record=record, forbidden=forbidden, onward=onward
        )
    )


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
    The document carries no run and no turn, and believes the given verdict: a Workflow's gate does not.
    """
    position(step, total)
    target: int | str | None
    carried: dict[str, object]
    if qr.passed:
        state, rules = f"{gate.qr_name}: passed at iteration {qr.iteration}.", _PASS_RULES
        lines = [gate.pass_message, *(["This was the last step."] if gate.pass_step is None else [])]
        target, carried = gate.pass_step, {}
    elif qr.status is QRStatus.FAIL:
        state, rules = f"{gate.qr_name}: the review at iteration {qr.iteration} found issues.", _FAIL_RULES
        lines, target = [_fixing(gate)], gate.work_step
        carried = review_options(QRState(qr.iteration + 1, failed=True, status=qr.status))
    else:
        state, rules = f"{gate.qr_name}: no verdict was given for iteration {qr.iteration}.", _OPEN_RULES
        lines = ["Take the verdict of the review, pass or fail, and put it in the place of FILL_qr_status."]
        target, carried = step, {**review_options(qr), "qr_status": "FILL_qr_status"}
    onward = []
    if target is not None:
        command = script_command(script, target, total, {**(options or {}), **carried}, interpreter)
        onward = [parts.next_element(command)]
    attributes = {
        "number": step,
        "of": total,
        "title": title,
        "iteration": qr.iteration,
        "gate": gate.qr_name,
        "verdict": qr.status or "none",
    }
    return render(parts.assemble("step", attributes, state, lines, forbidden=parts.forbidden(rules), onward=onward))


def format_record_block(requirements: Sequence[Requirement | Arg]) -> Rendered:
    """List what to report and what will be checked: fields, then parameters, files and commands."""
    check_filled(requirements, "requirements", "Field, Arg, Artifact or Command")
    return render(parts.record(requirements))


def format_invoke_after(
    next: Mapping[str, int | str | None],
    when: Mapping[str, str] | None = None,
    commands: Mapping[str, Sequence[str]] | None = None,
) -> Rendered:
    """Say where each outcome leads, None being the end, when it is the right one, and by which command.

    Raises UsageError for a condition or a command of an outcome that leads nowhere.
    """
    check_filled(next, "next", "outcome and the step that it leads to")
    strays = [name for name in {**(when or {}), **(commands or {})} if name not in next]
    if strays:
        raise UsageError(f"outcome {strays[0]!r} has no step to lead to", valid=", ".join(next))
    lines = {name: command_line(command) for name, command in (commands or {}).items()}
    ways = [
        parts.outcome(name, target, (when or {}).get(name, ""), command=lines.get(name, ""))
        for name, target in next.items()
    ]
    return render(Element("INVOKE_AFTER", None, *ways))


def format_next_block(command: Sequence[str]) -> Rendered:
    """Print the one command that goes on, every argument quoted for the shell."""
    return render(parts.next_element(command_line(command)))


def format_post_qr_routing(
    script: str,
    step: int | str,
    total: int,
    qr: QRState | None = None,
    options: Mapping[str, str] | None = None,
    interpreter: str = INTERPRETER,
) -> Rendered:
    """Say which gate command follows from a review's result; ``step`` is the gate's.

    After a sub-agent's review nothing printed before it ran is read again. There, have the sub-agent's own result say
    it, with ``format_qr_file_output``.
    """
    qr = qr or QRState()
    routes = []
    for status in QRStatus:
        carried = {**(options or {}), **review_options(QRState(qr.iteration, qr.failed, status))}
        command = script_command(script, step, total, carried, interpreter)
        routes.append(Element("on", {"result": status}, Element("command", None, command)))
    rule = "Run the command that the result calls for before you fix anything."
    return render(Element("post_qr_routing", None, Element("rule", None, rule), *routes))


def format_qr_file_output(qr_name: str, path: str, gate_command: Sequence[str]) -> Rendered:
    """Tell a reviewer to write its findings to a file and what to answer, with the orchestrator's next action.

    The answer carries that action because a sub-agent's answer is all that the orchestrator reads when it goes on.
    """
    wording = "RESULT: PASS or FAIL\nFINDINGS: " + exactly(path)
    inside = [
        Element("write", {"path": path}, "Write every finding to this file, with its severity and its place."),
        Element("answer", None, "Answer with these two lines, then the orchestrator's action below, word for word."),
        Element("wording", None, wording),
        _action("Do not fix anything yet. Run the gate with this result:", gate_command),
    ]
    return render(Element("qr_file_output", {"review": qr_name}, *inside))


def format_orchestrator_action(action: str, command: Sequence[str]) -> Rendered:
    """Tell the orchestrator, in a sub-agent's own last words, what it does next."""
    return render(_action(action, command))


def _action(action: str, command: Sequence[str]) -> Element:
    onward = Element("command", None, command_line(command))
    return Element("orchestrator_action", None, Element("action", None, action), onward)


def _fixing(gate: GateConfig) -> str:
    back = "Go back to the work step with the next command, and there"
    if gate.self_fix:
        role = f", in the role of {gate.fix_target}" if gate.fix_target else ""
        return f"{back} fix every finding yourself{role}."
    if gate.fix_target:
        return f"{back} dispatch the {gate.fix_target} to fix every finding. Do not fix any yourself."
    return f"{back} see to it that every finding is fixed."


def _routed(
    routing: Routing, step: int | str, total: int, script: str | None, options: dict[str, object], interpreter: str
) -> list[Element]:
    if isinstance(routing, TerminalRouting) or (isinstance(routing, LinearRouting) and step == total):
        return []
    if script is None:
        raise UsageError("the next command is not known", remedy="give script, next_command, or TerminalRouting()")
    if isinstance(routing, BranchRouting):
        ways = []
        for verdict, target, when in (
            ("pass", routing.if_pass, "nothing that blocks is open"),
            ("fail", routing.if_fail, "a finding that blocks is open"),
        ):
            command = script_command(script, target, total, {**options, "qr_status": verdict}, interpreter)
            ways.append(parts.outcome(verdict, target, when, command=command))
        return [Element("INVOKE_AFTER", None, *ways)]
    if isinstance(step, str):
        raise UsageError(f"step {step!r} has no number to count on from", remedy="give next_command")
    return [parts.next_element(script_command(script, step + 1, total, options, interpreter))]
