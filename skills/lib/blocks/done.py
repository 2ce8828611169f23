"""The block of a run that has ended; a sub-agent's says what its orchestrator does next."""

from __future__ import annotations

from skills.lib.blocks.parts import clipped, limit_met, notice, result_values, value_element
from skills.lib.model.requirements import fill
from skills.lib.model.run import FINISHED, Run
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.blocks.command_line import CommandLine
    from skills.lib.blocks.parts import Offloaded

# How much is printed of why a run was given up, and of a parameter in what is to be done at the end.
REASON_LIMIT, CLOSING_LIMIT = 1_000, 400
# How much of what was not done is told, in characters.
UNDONE_LIMIT = 3_000


def done_document(
    workflow: Workflow,
    run: Run,
    command_line: CommandLine,
    parent: Run | None = None,
    parent_command: str = "",
    siblings: Sequence[Run] = (),
    notices: Sequence[Element] = (),
    offloaded: Offloaded | None = None,
    at_once: int | None = None,
) -> Element:
    """What is printed when nothing is left to do; a sub-agent's last words carry what its orchestrator does next."""
    attributes = {"protocol": "1", "skill": workflow.name, "run": run.id, "turn": run.turn, "status": run.status}
    last = run.last.get("step", "")
    ending = f"failed at {last}" if run.status == "failed" else "is complete"
    words = f"{workflow.title or workflow.name} {ending}, after {run.turn - 1} transition{'s' * (run.turn != 2)}."
    if "limit" in run.last and run.status in FINISHED:
        words += " " + limit_met(run)
    if run.status not in FINISHED:
        reason = clipped(run.last.get("reason") or "", REASON_LIMIT)
        words = f"This run is {run.status}" + (f": {reason}" if reason else "") + "."
    parts = [Element("STATE", {}, words), *notices]
    if workflow.closing and run.status in FINISHED and parent is None:
        parts.append(notice(_closing(workflow, run, command_line)))
    if run.not_done and run.status in FINISHED:
        parts.append(Element("NOT_DONE", {}, *_undone(run, command_line)))
    files = offloaded or {}
    result = [
        value_element(last, name, value, files.get(f"{last}.{name}"))
        for name, value in result_values(workflow, run, last)
    ]
    if result:
        parts.append(Element("RESULT", {}, *result))
    if parent is None:
        return Element("done", attributes, *parts)
    left = len([child for child in siblings if not child.ended])
    count = len([child for child in siblings if child.status != "replaced"])
    if left:
        pending = len([child for child in siblings if child.status == "pending"])
        held = pending > 0
        if held and not at_once:
            from skills.lib.blocks import dispatching

            held = dispatching.are_held(siblings, command_line)
        text = "This sub-agent is finished. " + _others(left, count, pending, held, at_once)
        parts.append(Element("ORCHESTRATOR", {"left": left, "of": count}, text))
        if held:
            parts.append(Element("NEXT", {"required": "true"}, command_line.step("current", parent, turn=False)))
        return Element("done", attributes, *parts)
    text = "This was the last sub-agent. The orchestrator goes on with the command below, before anything else."
    parts.append(Element("ORCHESTRATOR", {"left": 0, "of": count}, text))
    parts.append(Element("NEXT", {"required": "true"}, parent_command))
    return Element("done", attributes, *parts)


def _undone(run: Run, command_line: CommandLine) -> list[Element]:
    """What the run left undone; the gravest of it if it is much."""
    entries = run.not_done
    room = UNDONE_LIMIT - sum(len(entry["what"]) for entry in entries)
    if room < 0:
        from skills.lib.engine import not_done

        entries = not_done.gravest(entries)
        while room < 0:
            room += len(entries.pop()["what"])
    told = [Element("entry", {"kind": entry["kind"], "step": entry["step"]}, entry["what"]) for entry in entries]
    if len(entries) < len(run.not_done):
        left = f"{len(run.not_done) - len(entries)} more, shown by: {command_line.person('trace', run.id)}"
        told.append(Element("entry", {"kind": "more", "step": ""}, left))
    return told


def _others(left: int, count: int, pending: int, held: bool, at_once: int | None) -> str:
    """How many other sub-agents are left, and what to do about them; ``held`` means that some have no command yet."""
    if not pending:
        found = f"{left} of {count} are not finished: wait for them, start no other."
        return f"{found} Without sub-agents, go on with their commands."
    found = f"{left} of {count} are left: {left - pending} at work, {pending} not begun"
    if not held:
        return f"{found}. Wait for each whose command a sub-agent was given; what nobody was given is run next."
    why = f"at most {at_once} work at once" if at_once else "not each has a command yet"
    return f"{found}; {why}. The orchestrator gets the next command from the block that the command below prints."


def _closing(workflow: Workflow, run: Run, command_line: CommandLine) -> str:
    """What is to be done at the end, with the run's parameters in it, cut where they are long."""
    texts = {name: fill(f"{{{name}}}", run.params) for name in run.params if f"{{{name}}}" in workflow.closing}
    text = fill(workflow.closing, {name: clipped(value, CLOSING_LIMIT) for name, value in texts.items()})
    if any(len(value) > CLOSING_LIMIT for value in texts.values()):
        text += f" What is cut is shown whole by: {command_line.person('trace', run.id, '--values')}"
    return text
