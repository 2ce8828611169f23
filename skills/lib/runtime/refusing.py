"""Refusals: why, what would be valid, and the command that goes on; each is noted in the run's ledger."""

from __future__ import annotations

import os

from skills.lib import compact_json, paths
from skills.lib.blocks import document, parts
from skills.lib.blocks.command_line import quote
from skills.lib.blocks.refused import asked_for, printed, refused_document
from skills.lib.engine import inputs
from skills.lib.engine.decision import Refusal
from skills.lib.errors import REFUSED
from skills.lib.ledger import database
from skills.lib.model import values
from skills.lib.runtime import retrying
from skills.lib.runtime.project import Response, is_of_another_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime.project import Project

# How much of parameters a refused opening gives back in the command that goes on: of each, and of all.
TOLD, TOLD_TOGETHER = 1_000, 2_000
# How many sub-agents are listed for an agent that lost its run, and how much of what each is for.
LISTED, ABOUT = 8, 80
# After these the step's sub-agents are still to be seen to: the present block lists them with their commands.
_SHOWN = ("unaccounted-child", "unknown-child", "child-ended")


def refuse(
    project: Project,
    workflow: Workflow,
    run: Run | None,
    refusal: Refusal,
    asked: Request | str,
    next_line: str | None = None,
    shows: bool = True,
) -> Response:
    """Refuse what was ``asked``; where no ``next_line`` is given the run's own next command goes on.

    ``shows`` is whether the run's present block can be printed, now or once its graph is put back.
    """
    words = asked if isinstance(asked, str) else asked_for(asked)
    show = ""
    if run is not None and not run.ended:
        show = project.command_line.step("current", run, turn=False)
        if next_line is None:
            looks = run.status == "pending" or refusal.code in _SHOWN
            next_line = show if looks else retrying.next_command(project, workflow, run, asked, refusal)
        if next_line == show or not shows:
            show = ""
    if run is not None:
        detail = {"code": refusal.code, "why": refusal.why, "asked": words, "evidence": list(refusal.evidence)}
        project.ledger.note(run.id, run.turn, "refused", project.actor, {**detail, "step": run.step})
    return Response(refused_document(workflow, run, refusal, words, next_line or "", show), REFUSED, run, workflow)


def opening(project: Project, workflow: Workflow, refusal: Refusal, given: Mapping[str, Any], new: bool) -> Response:
    """Refuse to open a run with the parameters that were given; those that fit are given back where they may do."""
    again = _start_line(project, workflow, given, new, kept=refusal.code != "bad-targets")
    return refuse(project, workflow, None, refusal, "--step 1", again)


def twin(project: Project, workflow: Workflow, other: Run) -> Response:
    """Refuse to open what is open already and has gone further."""
    why = (
        f"Run {other.id} of this skill is open with the same parameters, at {other.step}, turn {other.turn}. Go on "
        "with it by the command below. If a second run is wanted, add --new to the command that was refused."
    )
    resume = project.command_line.step("current", other, turn=False)
    return refuse(project, workflow, other, Refusal("already-open", why), "--step 1, to open a run", resume)


def changed_definition(
    project: Project, workflow: Workflow, run: Run, changed: Sequence[str], asked: Request
) -> Response:
    """Refuse to go on with a graph that was changed where it matters to the run."""
    what = "; ".join(changed)
    if run.parent:
        why = (
            f"The workflow was changed under this sub-agent's run: {what}. Where it cannot be put back, stop here and "
            f"tell your orchestrator to start another in its place: --replace {run.id}."
        )
        return refuse(project, workflow, run, Refusal("definition-changed", why), asked, "", shows=False)
    why = (
        f"The workflow was changed under this run: {what}. Put it back, and go on with SHOW; or begin a new run with "
        "NEXT."
    )
    anew = _start_line(project, workflow, run.params, new=True)
    return refuse(project, workflow, run, Refusal("definition-changed", why), asked, anew)


def other_project(project: Project, workflow: Workflow, run: Run, asked: Request) -> Response:
    """Refuse to move a run of another project that keeps its runs in the same ledger."""
    why = f"Run {run.id} belongs to the project {run.project}, not to {project.command_line.project}."
    own = type(project.command_line)(**{**project.command_line.fields(), "project": run.project})  # type: ignore[arg-type]
    return refuse(project, workflow, None, Refusal("other-project", why), asked, own.step("current", run, turn=False))


def other_workflow(project: Project, workflow: Workflow, run: Run, asked: Request) -> Response:
    """Refuse to move a run by the script of another workflow."""
    why = f"Run {run.id} is of {run.workflow}, and this script walks {workflow.name}."
    command = parts.child_command(run, project.command_line)
    return refuse(project, workflow, None, Refusal("other-workflow", why), asked, command)


def no_run(project: Project, workflow: Workflow, asked: Request) -> Response:
    """Refuse a step that names no run, and list the runs that it may have meant."""
    why = f"--step {asked.step} needs --run: only --step 1 begins without one."
    if asked.step == workflow.start:
        why = "What this reports belongs to a run, and it names none: --step 1 begins one, with parameters alone."
    return _lost(project, workflow, Refusal("no-run", why), asked)


def unknown_run(project: Project, workflow: Workflow, asked: Request) -> Response:
    """Refuse a run that the ledger does not have, and list those that may have been meant."""
    why = f"The ledger {project.ledger.path} has no run {asked.run!r:.80}."
    return _lost(project, workflow, Refusal("unknown-run", why), asked)


def _lost(project: Project, workflow: Workflow, refusal: Refusal, asked: Request) -> Response:
    """Refuse an agent that has lost its run. Where sub-agents are at work it may be any of them: there is no NEXT."""
    opening = _start_line(project, workflow, asked.params, asked.new)
    known = _known_runs(project, workflow)
    brood = _sub_agents(project, known, asked)
    if not known and not brood:
        return refuse(project, workflow, None, refusal, asked, opening)
    commands = [project.command_line.step("current", other, turn=False) for other in known]
    order = ", the last moved first" if len(known) > 1 else ""
    if not brood:
        why = f"{refusal.why} VALID has the command of each open run of this skill{order}; its last opens another."
        return refuse(project, workflow, None, Refusal(refusal.code, why, (*commands, opening)), asked, commands[0])
    why = (
        f"{refusal.why} Sub-agents are at work, so take the command of your own run from VALID: first those of the "
        f"sub-agents, each with what it is for, then those of the open runs of this skill{order}, then one "
        "that opens another run. If none is yours, stop and say so."
    )
    if len(brood) > LISTED:
        why += f" {len(brood) - LISTED} more sub-agents are not listed."
    lines = [f"{parts.child_command(child, project.command_line)}  # {_about(child)}" for child in brood[:LISTED]]
    return refuse(project, workflow, None, Refusal(refusal.code, why, (*lines, *commands, opening)), asked, "")


def _about(child: Run) -> str:
    """A sub-agent's run and what it is for, on one line: it stands behind its command, as a comment of the shell."""
    task = " ".join((child.spec.get("target") or child.spec.get("task") or "").split())
    return f"sub-agent {child.id}, {child.status}" + (f": {parts.clipped(task, ABOUT)}" if task else "")


def _sub_agents(project: Project, known: Sequence[Run], asked: Request) -> list[Run]:
    """The sub-agents at work of these runs, and those of this script; nearest to what was asked for first."""
    if not _has_ledger(project):
        return []
    roots = {run.id for run in known}
    family = (asked.run or "").rpartition(".")[0]
    found = [
        child
        for child in project.ledger.every_run("parent IS NOT NULL AND status IN ('pending','open','waiting')")
        if child.id.partition(".")[0] in roots
        or (
            project.command_line.place_of(child.script) == project.command_line.script
            and not _is_elsewhere(project, child)
        )
    ]
    numbers = {child.id: [int(part) for part in child.id.split(".")[1:]] for child in found}
    return sorted(found, key=lambda child: (child.parent != family, child.id.partition(".")[0], numbers[child.id]))


def _known_runs(project: Project, workflow: Workflow) -> list[Run]:
    """The open runs of the workflow in this project, the last moved first."""
    if not _has_ledger(project):
        return []
    moves = project.ledger.last_moves()
    known = sorted(project.ledger.open_runs(workflow.name), key=lambda run: -moves.get(run.id, 0))
    return [run for run in known if not _is_elsewhere(project, run)]


def _is_elsewhere(project: Project, run: Run) -> bool:
    return is_of_another_project(run, project.command_line.project)


def _has_ledger(project: Project) -> bool:
    return os.path.exists(os.path.join(paths.home(project.command_line.project), database.FILE))


def _start_line(
    project: Project, workflow: Workflow, given: Mapping[str, Any], new: bool | None = False, kept: bool = True
) -> str:
    """The command that opens a run, with what was given and fits; a placeholder for what else is required or given.

    Where it is not ``kept``, each of the parameters that were given is to be filled in anew.
    """
    words, missing, room = [], "", TOLD_TOGETHER
    for arg in workflow.run_params():
        value = given.get(arg.name)
        text = value if isinstance(value, str) or value is None else compact_json.readable(value)
        size = printed(quote(text or ""))
        fits = size <= min(TOLD, room) and kept and not values.is_secret(arg.name)
        if text is not None and fits and inputs.fits_parameter(arg, text):
            words += [arg.flag, text]
            room -= size
        elif arg.required or text is not None:
            missing += f" {arg.flag} {document.placeholder(arg)}"
    return project.command_line.start(*words, *(["--new"] if new else [])) + missing
