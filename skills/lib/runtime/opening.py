"""Opens runs: a new one, the one that a key names, and a sub-agent's."""

from __future__ import annotations

import os

from skills.lib import paths, user_key
from skills.lib.blocks import parts
from skills.lib.blocks.command_line import join
from skills.lib.engine import engine
from skills.lib.engine.decision import Refused
from skills.lib.errors import UsageError, tell
from skills.lib.ledger import Stale, is_shared, keyed_id, new_id, open_runs
from skills.lib.ledger.tracked import tracked
from skills.lib.model.run import Request, Run
from skills.lib.runtime import arguments
from skills.lib.runtime.project import Evidence, noting, unknown_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.engine.decision import Move
    from skills.lib.model.steps import Workflow
    from skills.lib.model.types import Element
    from skills.lib.runtime.project import Led, Project, Response

# How many other open runs a block names with their commands; one more line counts the rest.
SHOWN = 3
_NO_LAUNCHER = "If the shell does not find the program of NEXT, this prints the block again and restores it:"


def start(
    project: Project, workflow: Workflow, parameters: Mapping[str, Any], new: bool, key: str, origin: str
) -> Response | None:
    """Open a run, show the one that an earlier opening made, or refuse; None if the key opened one: it is shown."""
    project.max_parallel()  # a wrong setting is told before anything is recorded
    arguments.check_workflow(workflow)
    arguments.check_values(parameters, "parameters")
    if origin:
        arguments.check_id(origin)
    if key:
        arguments.check_line(key, "key")
        if new:
            raise UsageError("new opens another run, and a key opens one", remedy="give one of the two")
    if origin and project.ledger.run(origin) is None:
        raise unknown_run(project.ledger.path, origin)
    request = Request("1", params=parameters, new=new)
    line = project.command_line
    run_id = keyed_id(key) if key else new_id()
    run = Run(id=run_id, workflow=workflow.name, script=line.script, project=line.project, turn=1)
    try:
        move = engine.open_run(workflow, run, parameters, Evidence(project, run))
    except Refused as refused:
        return _refused(project, workflow, None, request, refused)
    noted = {name: value for name, value in (("key", key), ("origin", origin)) if value}
    move = noting(_opening(move), noted)
    led: Led = []
    way = _open_once if key else _open
    while True:
        try:
            return way(project, workflow, move, request, led)
        except Stale:
            continue


def _open_once(project: Project, workflow: Workflow, move: Move, request: Request, led: Led) -> Response | None:
    """Open the run that has its id from a key; None if it was opened before."""
    run_id, ledger = move.run.id, project.use_ledger(create=True)
    found = ledger.run(run_id) if ledger.has(run_id) else None
    if found is None:
        return project.show(workflow, _recorded(project, workflow, move, led))
    if (found.workflow, found.params) != (workflow.name, move.run.params):
        other = "other parameters" if found.workflow == workflow.name else f"the workflow {found.workflow}"
        why = f"The key opened run {run_id} with {other}. Give the same again, or another key."
        return _refused(project, workflow, found, request, Refused("other-opening", why))
    return None


def _open(project: Project, workflow: Workflow, move: Move, request: Request, led: Led) -> Response | None:
    ledger = project.use_ledger(create=True)
    beside = None if request.new else open_runs.like(ledger, workflow.name, move.run.params)
    twins = [other for other in beside or () if _is_twin(project, other, move)]
    for twin in twins:
        if not twin.has_moved:
            project.check_step(workflow, twin)
            return project.show(workflow, project.at_its_script(twin), _notices_of(project, workflow, twin))
    if twins:
        twin = twins[0]
        why = f"Run {twin.id} of this skill is open with the same parameters{_where(workflow, twin)}, turn {twin.turn}."
        how = (
            "Go on with it by the command below. If a second run is wanted, add --new to the command that was refused."
        )
        return _refused(project, workflow, twin, request, Refused("already-open", why, how=how))
    opened = _recorded(project, workflow, move, led, beside)
    notices = () if opened.ended else _notices_of(project, workflow, opened)
    return project.show(workflow, opened, notices)


def _recorded(
    project: Project,
    workflow: Workflow,
    move: Move,
    led: Led,
    beside: Sequence[Run] | None = None,
) -> Run:
    """The run that the move opens, committed."""
    if workflow.policy or workflow.layers:
        from skills.lib.runtime import run_policy  # few workflows have one

        move, _ = run_policy.noted(project, workflow, move)
    onward = project.onward(workflow, move, led)
    opened = project.commit(None, move, workflow.to_data(), beside=beside, onward=onward)
    _warn_of_commits(project)
    user_key.make()  # so that what this script prints is known for its own later
    return opened


def _refused(project: Project, workflow: Workflow, run: Run | None, request: Request, refusal: Refused) -> Response:
    from skills.lib.runtime import refusing  # with what it imports, which an opening does without

    return refusing.refuse(project, workflow, run, request, refusal)


def _warn_of_commits(project: Project) -> None:
    """Write to standard error if git has the ledger among the files of a commit."""
    root = "" if is_shared() else tracked(project.ledger.path)
    if root:
        folder = os.path.dirname(project.ledger.path)
        command = join(["git", "-C", root, "rm", "-rfq", "--cached", "--", os.path.relpath(folder, root)])
        tell(f"lockstep: git tracks the ledger {project.ledger.path}: a commit shows what runs record.\n")
        tell(f"  try:   {command}\n")


def begin(
    project: Project, workflow: Workflow, run: Run, request: Request, working: Sequence[str], limit: int | None
) -> Move:
    """Open a sub-agent's run. Raises Refused if it cannot begin, or not while the sub-agents ``working`` are."""
    why = "This sub-agent's run has not begun: "
    if request.step not in (workflow.start, workflow.steps[0].id, "current"):
        raise Refused("skipped-step", f"{why}its first step comes first.", (workflow.start,), of="steps")
    if request.reports:
        why += "there is nothing to report yet. Show its first step, and do it."
        raise Refused("skipped-step", why, (workflow.start,), of="steps")
    parent = project.ledger.run(run.parent or "")
    if parent is not None and parent.ended:
        lead = f"The run that this sub-agent was to work for is {parent.status}"
        raise Refused("run-ended", f"{lead}: stop here, nothing more is wanted of it.")
    if limit and len(working) >= limit:
        named = "" if project.has_own_limit else " (LOCKSTEP_AGENTS)"
        why = f"At most {limit} sub-agents of a run work at once{named}, and these are at work: {', '.join(working)}."
        how = "Wait until one has finished, then run the command again."
        raise Refused("agents-busy", why, how=how)
    params = run.spec["params"] if run.spec.get("script") else {}
    try:
        return _opening(engine.open_run(workflow, run.changed(turn=1), params, Evidence(project, run)))
    except Refused as refused:
        # No command of its own goes on: its orchestrator gives it up.
        why = "The step that started this sub-agent gave it parameters that do not fit: "
        why += f"{refused.why} Run nothing more."
        if parent is None:
            raise Refused(refused.code, why) from None
        how = "Tell this to your orchestrator: it gives the sub-agent up with the command below."
        lost = project.command_line.step("current", parent, "--lost", run.id) + " --reason 'FILL_reason'"
        raise Refused(refused.code, why, (lost,), of="commands", how=how) from None


def _is_twin(project: Project, other: Run, opening: Move) -> bool:
    """True if ``other`` has the same parameters, project and script; until it moved the definition must match too.

    If the run to open names the one that it comes from, so does ``other``.
    """
    run, origin = opening.run, opening.detail.get("origin")
    same = other.params == run.params and project.command_line.script_of(other) == run.script
    same = same and not project.is_elsewhere(other) and (other.has_moved or other.fingerprint == run.fingerprint)
    return same and (origin is None or project.ledger.opening(other.id).get("origin") == origin)


def _notices_of(project: Project, workflow: Workflow, run: Run) -> list[Element]:
    """A notice for each other open run of the skill, with its command; beyond SHOWN they are only counted.

    Before them, how to restore the launcher if commands are short: a shell says only that it does not find it.
    """
    others, count = _others(project, workflow, run, SHOWN + 2)  # the run is among them, and more than are shown
    if any(map(project.is_elsewhere, others)):
        others, count = _others(project, workflow, run, None)
    is_short = project.command_line.is_short(project.command_line.step("current", run))
    notices = [parts.notice(_NO_LAUNCHER, project.command_line.restoring(run))] if is_short else []
    notices += [
        parts.notice(
            f"Another run of this skill is open: {other.id}{_where(workflow, other)}, turn {other.turn}. "
            "To go on with it:",
            project.command_line.step("current", other, turn=False),
        )
        for other in others[:SHOWN]
    ]
    if count > SHOWN:
        words = f"{count - SHOWN} more runs of this skill are open. To list them:"
        notices.append(parts.notice(words, project.command_line.person("runs")))
    return notices


def _others(project: Project, workflow: Workflow, run: Run, limit: int | None) -> tuple[list[Run], int]:
    """The other open runs of the skill, and how many there are: the first of them, or all of this project."""
    ids = open_runs.ids(project.ledger, workflow.name, limit)
    read = [run_id for run_id in ids if run_id != run.id][: None if limit is None else SHOWN]
    others = [other for other in map(project.ledger.run, read) if other is not None]
    if limit is None:
        others = [other for other in others if not project.is_elsewhere(other)]
        return others, len(others)
    return others, (open_runs.count(project.ledger, workflow.name) if len(ids) == limit else len(ids)) - 1


def _where(workflow: Workflow, run: Run) -> str:
    """The step of another run in words; empty if this version of the workflow does not have it."""
    return f", at {run.step}" if workflow.has(run.step or "") else ""


def _opening(move: Move) -> Move:
    """The move that opens a run, with the present search paths: evidence names those that changed since."""
    return noting(move, {"search_paths": paths.search_paths()})
