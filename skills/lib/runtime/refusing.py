"""Every refusal of a desk: why, what would be valid, and the command that goes on; it is noted in the run's ledger."""

from __future__ import annotations

import os

from skills.lib import paths
from skills.lib.errors import REFUSED
from skills.lib.ledger import database
from skills.lib.runtime.desk import Reply, is_of_another_project
from skills.lib.workflow import document, values
from skills.lib.workflow.decision import Refusal
from skills.lib.workflow.refused import asked_for, refused_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.runtime.desk import Desk
    from skills.lib.workflow.core import Workflow
    from skills.lib.workflow.state import Request, Run

# How long a parameter may be that a refused opening gives back in the command that goes on.
TOLD = 1_000
# After these the step's sub-agents are still to be seen to: the present block lists them with their commands.
_SHOWN = ("unaccounted-child", "unknown-child", "child-ended")


def refuse(
    desk: Desk, workflow: Workflow, run: Run | None, refusal: Refusal, asked: Request | str, next_line: str = ""
) -> Reply:
    """Refuse what was ``asked``; without a ``next_line`` the run's own next command goes on."""
    words = asked if isinstance(asked, str) else asked_for(asked)
    show = ""
    if run is not None and not run.ended:
        show = desk.caller.step("current", run, turn=False)
        if not next_line:
            shows = run.status == "pending" or refusal.code in _SHOWN
            next_line = show if shows else document.next_command(workflow, run, desk.caller)
        if next_line == show:
            show = ""
    if run is not None:
        detail = {"code": refusal.code, "why": refusal.why, "asked": words, "evidence": list(refusal.evidence)}
        desk.ledger.note(run.id, run.turn, "refused", desk.actor, {**detail, "step": run.step})
    return Reply(refused_document(workflow, run, refusal, words, next_line, show), REFUSED, run, workflow)


def opening(desk: Desk, workflow: Workflow, refusal: Refusal, given: Mapping[str, Any]) -> Reply:
    """Refuse to open a run with the parameters that were given."""
    return refuse(desk, workflow, None, refusal, "--step 1", _start_line(desk, workflow, given))


def twin(desk: Desk, workflow: Workflow, other: Run) -> Reply:
    """Refuse to open what is open already and has gone further."""
    why = (
        f"Run {other.id} of this skill is open with the same parameters, at {other.step}, turn {other.turn}. Go on "
        "with it by the command below. If a second run is wanted, add --new to the command that was refused."
    )
    resume = desk.caller.step("current", other, turn=False)
    return refuse(desk, workflow, other, Refusal("already-open", why), "--step 1, to open a run", resume)


def changed_definition(desk: Desk, workflow: Workflow, run: Run, changed: Sequence[str], asked: Request) -> Reply:
    """Refuse to go on with a graph that was changed where it matters to the run."""
    why = f"The workflow was changed under this run: {'; '.join(changed)}. Put it back, or begin a new run."
    refusal = Refusal("definition-changed", why)
    return refuse(desk, workflow, run, refusal, asked, _start_line(desk, workflow, new=True))


def other_project(desk: Desk, workflow: Workflow, run: Run, asked: Request) -> Reply:
    """Refuse to move a run of another project that keeps its runs in the same ledger."""
    why = f"Run {run.id} belongs to the project {run.project}, not to {desk.caller.project}."
    own = type(desk.caller)(**{**desk.caller.fields(), "project": run.project})  # type: ignore[arg-type]
    return refuse(desk, workflow, None, Refusal("other-project", why), asked, own.step("current", run, turn=False))


def other_workflow(desk: Desk, workflow: Workflow, run: Run, asked: Request) -> Reply:
    """Refuse to move a run by the script of another workflow."""
    why = f"Run {run.id} is of {run.workflow}, and this script walks {workflow.name}."
    command = document.child_command(run, desk.caller)
    return refuse(desk, workflow, None, Refusal("other-workflow", why), asked, command)


def no_run(desk: Desk, workflow: Workflow, asked: Request) -> Reply:
    """Refuse a step that names no run, and list the runs that it may have meant."""
    why = f"--step {asked.step} needs --run: only --step 1 begins without one."
    if asked.step == workflow.start:
        why = "What this reports belongs to a run, and it names none: --step 1 begins one, with parameters alone."
    return _lost(desk, workflow, Refusal("no-run", why), asked)


def unknown_run(desk: Desk, workflow: Workflow, asked: Request) -> Reply:
    """Refuse a run that the ledger does not have, and list those that may have been meant."""
    why = f"The ledger {desk.ledger.path} has no run {asked.run!r:.80}."
    return _lost(desk, workflow, Refusal("unknown-run", why), asked)


def _lost(desk: Desk, workflow: Workflow, refusal: Refusal, asked: Request) -> Reply:
    commands = [desk.caller.step("current", other, turn=False) for other in _known_runs(desk, workflow)]
    opening = _start_line(desk, workflow, asked.params)
    if not commands:
        return refuse(desk, workflow, None, refusal, asked, opening)
    why = f"{refusal.why} The runs of this skill that are open are shown by the commands below"
    why += ", the last moved first." if len(commands) > 1 else "."
    why += f" To open another: {opening}"
    return refuse(desk, workflow, None, Refusal(refusal.code, why, tuple(commands)), asked, commands[0])


def _known_runs(desk: Desk, workflow: Workflow) -> list[Run]:
    """The open runs of the workflow in this project, the last moved first."""
    there = os.path.exists(os.path.join(paths.home(desk.caller.project), database.FILE))
    if not there:
        return []
    moves = desk.ledger.last_moves()
    known = sorted(desk.ledger.open_runs(workflow.name), key=lambda run: -moves.get(run.id, 0))
    return [run for run in known if not is_of_another_project(run, desk.caller.project)]


def _start_line(desk: Desk, workflow: Workflow, given: Mapping[str, Any] | None = None, new: bool = False) -> str:
    """The command that opens a run, with what was given and fits; a placeholder for what else is required."""
    words, missing = [], ""
    for arg in workflow.run_params():
        value = (given or {}).get(arg.name)
        is_short = isinstance(value, str) and len(value) <= TOLD and not values.is_secret(arg.name)
        if is_short and values.fits(arg, str(value)):
            words += [arg.flag, str(value)]
        elif arg.required or value is not None:
            missing += f" {arg.flag} {document.placeholder(arg)}"
    return desk.caller.start(*words, *(["--new"] if new else [])) + missing
