"""The block of a run that has ended; a sub-agent's says what its orchestrator does next."""

from __future__ import annotations

from skills.lib.blocks import parts
from skills.lib.model.requirements import Field, fill
from skills.lib.model.run import FINISHED, Run
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.blocks.command_line import CommandLine

# How much is printed of why a run was given up, and of a parameter in what is to be done at the end.
REASON_LIMIT, CLOSING_LIMIT = 1_000, 400
# How much is printed of what was not done.
UNDONE_LIMIT = 3_000


def done_document(
    workflow: Workflow,
    run: Run,
    command_line: CommandLine,
    parent: Run | None = None,
    parent_command: str = "",
    siblings: Sequence[Run] = (),
    notices: Sequence[Element] = (),
    max_parallel: int | None = None,
) -> Element:
    """The block of a run that has ended; for a sub-agent's run, with what its orchestrator does next."""
    attributes = {"protocol": "1", "skill": workflow.name, "run": run.id, "turn": run.turn, "status": run.status}
    last = run.last.get("step", "")
    notices, not_done = list(notices), []
    if run.status in FINISHED or run.status == "abandoned":
        not_done = _undone(run, command_line)
    if run.status in FINISHED and workflow.closing and parent is None:
        notices.append(parts.notice(_closing(workflow, run, command_line)))
    values = [parts.value(last, name, one) for name, one in result_values(workflow, run, last)]
    body = parts.filled(Element("NOT_DONE", None, *not_done), Element("RESULT", None, *values))
    if parent is not None:
        body += _orchestrator(parent, parent_command, siblings, command_line, max_parallel)
    return Element("done", attributes, Element("STATE", None, _state(workflow, run)), *notices, *body)


def _state(workflow: Workflow, run: Run) -> str:
    """How the run ended, in words."""
    if run.status not in FINISHED:
        reason = parts.clipped(run.last.get("reason") or "", REASON_LIMIT)
        return f"This run is {run.status}{f': {reason}' if reason else ''}."
    ending = f"failed at {run.last.get('step', '')}" if run.status == "failed" else "is complete"
    words = f"{workflow.title or workflow.name} {ending}, after {run.turn - 1} transition{'s' * (run.turn != 2)}."
    if "left" in run.last:
        from skills.lib.blocks import walked  # few steps are walked through

        words += walked.through(workflow, run)
    return " ".join([words, *parts.limits_met(run)])


def _orchestrator(
    parent: Run, parent_command: str, siblings: Sequence[Run], command_line: CommandLine, max_parallel: int | None
) -> list[Element]:
    """What the orchestrator of a sub-agent does next."""
    left = len([child for child in siblings if not child.ended])
    count = len([child for child in siblings if child.status != "replaced"])
    if left:
        pending = len([child for child in siblings if child.status == "pending"])
        held = pending > 0
        if held and not max_parallel:
            from skills.lib.blocks import dispatching  # only for a sub-agent among many

            held = dispatching.are_held(siblings, command_line)
        text = "This sub-agent is finished. " + _others(left, count, pending, held, max_parallel)
        command = command_line.step("current", parent, turn=False) if held else ""
    else:
        text = "This was the last sub-agent. The orchestrator goes on with NEXT, before anything else."
        command = parent_command
    found = [Element("ORCHESTRATOR", {"left": left, "of": count}, text)]
    return [*found, parts.next_element(command)] if command else found


def _undone(run: Run, command_line: CommandLine) -> list[Element]:
    """What the run left undone; only the gravest entries if there are many."""
    entries = run.not_done
    room = UNDONE_LIMIT - sum(len(entry["what"]) for entry in entries)
    if room < 0:
        from skills.lib.engine import not_done  # seldom so much is left

        entries = not_done.gravest(entries)
        while room < 0:
            room += len(entries.pop()["what"])
    shown = [Element("entry", {"kind": entry["kind"], "step": entry["step"]}, entry["what"]) for entry in entries]
    if len(entries) < len(run.not_done):
        left = f"{len(run.not_done) - len(entries)} more, shown by: {command_line.person('trace', run.id)}"
        shown.append(Element("entry", {"kind": "more", "step": ""}, left))
    return shown


def _others(left: int, count: int, pending: int, held: bool, max_parallel: int | None) -> str:
    """How many other sub-agents are left, and what to do about them; ``held`` means that some have no command yet."""
    if not pending:
        found = f"{left} of {count} are not finished: wait for them, start no other."
        return f"{found} Without sub-agents, go on with their commands."
    found = f"{left} of {count} are left: {left - pending} at work, {pending} not begun"
    if not held:
        return f"{found}. Wait for each whose command a sub-agent was given; what nobody was given is run next."
    why = f"at most {max_parallel} work at once" if max_parallel else "not each has a command yet"
    return f"{found}; {why}. The orchestrator gets the next command from the block that the command below prints."


def _closing(workflow: Workflow, run: Run, command_line: CommandLine) -> str:
    """What is to be done at the end, with the run's parameters in it; long ones are cut."""
    texts = {name: fill(f"{{{name}}}", run.params) for name in run.params if f"{{{name}}}" in workflow.closing}
    text = fill(workflow.closing, {name: parts.clipped(value, CLOSING_LIMIT) for name, value in texts.items()})
    if any(len(value) > CLOSING_LIMIT for value in texts.values()):
        text += f" What is cut is shown whole by: {command_line.person('trace', run.id, '--values')}"
    return text


def result_values(workflow: Workflow, run: Run, last: str) -> list[tuple[str, Any]]:
    """What the last step recorded, in the order of its fields: the ledger keeps no order, and a repeat prints the same.

    For a review, answers and what commands judged are left out: the items say the same and more.
    """
    state = run.state.get(last, {})
    specs = [spec for spec in workflow.step(last).requires if isinstance(spec, Field)] if workflow.has(last) else []
    if "checkpoint" in run.spec and isinstance(state.get("items"), list):
        known = ["judged", *[spec.name for spec in specs if spec.type == "answers"]]
        state = {name: value for name, value in state.items() if name not in known}
        # The place of an item says which file: a reader needs no digest.
        known = ["file", "content", "text", "failed"]
        state["items"] = [
            {name: part for name, part in item.items() if name not in known} if isinstance(item, dict) else item
            for item in state["items"]
        ]
    names = [spec.name for spec in specs if spec.name in state]
    return [(name, state[name]) for name in [*names, *sorted(set(state) - set(names))]]
