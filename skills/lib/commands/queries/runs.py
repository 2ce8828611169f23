"""A project's runs: by id, as trees of runs and their sub-agents' runs, with when they moved."""

from __future__ import annotations

import os

import click

from skills.lib import paths
from skills.lib.blocks.command_line import here
from skills.lib.commands.console.screen import Cell, Screen
from skills.lib.hosts import skills
from skills.lib.ledger import Ledger, is_shared
from skills.lib.ledger.database import FILE
from skills.lib.model.run import Run
from skills.lib.model.steps import Workflow
from skills.lib.runtime import Runner, serving
from skills.lib.views.records import SHOWN as SHOWN
from skills.lib.views.records import Records as Records
from skills.lib.views.records import about as about
from skills.lib.views.records import ago as ago
from skills.lib.views.records import asked as asked
from skills.lib.views.records import command as command
from skills.lib.views.records import described as described
from skills.lib.views.records import is_of as is_of
from skills.lib.views.records import iso as iso
from skills.lib.views.records import left_undone as left_undone
from skills.lib.views.records import moment as moment
from skills.lib.views.records import number_of as number_of
from skills.lib.views.records import outcome_of as outcome_of
from skills.lib.views.records import script_by_name as script_by_name
from skills.lib.views.records import short as short
from skills.lib.views.records import short_command as short_command
from skills.lib.views.records import showing as showing
from skills.lib.views.records import skill_of as skill_of
from skills.lib.views.records import status_line as status_line
from skills.lib.views.records import undone as undone

COLOURS = {
    "open": "green",
    "waiting": "yellow",
    "pending": "cyan",
    "done": "dim",
    **dict.fromkeys(("failed", "abandoned", "lost"), "red"),
}


def open_records(project: str) -> Records | None:
    """The project's records; None if it never had a ledger. Raises LedgerError if its ledger is missing."""
    ledger = Ledger.existing(paths.home(project))
    return None if ledger is None else _records(ledger, project)


def require_records(project: str) -> Records:
    """The project's records; raises LedgerError if it has none."""
    return open_records(project) or _records(Ledger(paths.home(project), create=False), project)


def _records(ledger: Ledger, project: str) -> Records:
    context = click.get_current_context(silent=True)
    if context is not None:
        context.call_on_close(ledger.close)
    return Records(ledger, project)


def runner_for(screen: Screen, run: Run, project: str, actor: str = "agent") -> tuple[Runner, Workflow]:
    """The runner that serves a run, and its workflow, as ``serving.runner_for`` has them; its errors are raised.

    If the skill moved, it is found by its name, and a notice says where.
    """
    script = run.script if not run.script or os.path.exists(run.script) else script_by_name(run, project)
    if script != run.script:
        screen.say(f"The skill {skill_of(run)} is not where run {run.id} was opened; this one is taken: {script}")
    return serving.runner_for(run, project, actor, script)


def plain_runner(run: Run, project: str, actor: str) -> Runner:
    """The runner that serves a run, even if its skill cannot be loaded."""
    return Runner(here(run.script, project), actor)


def records_to_list(screen: Screen, project: str, skill: str | None, as_json: bool) -> Records | None:
    """The project's records; None, after saying so, if no run was ever opened in it.

    Raises UsageError, with the nearest name, for a skill or workflow that neither was run nor is known here.
    """
    records = open_records(project)
    if skill is not None:
        ran: set[str] = set()
        for run in records.ledger.each_run() if records else ():
            ran |= {skill_of(run), run.workflow}
            if skill in ran:
                break
        else:
            skills.check_name(project, skill, ran)
    if records is None:
        if as_json:
            screen.json([])
        lacks = "the shared database has no ledger of it"
        if not is_shared():
            lacks = f"there is no {os.path.join(paths.home(project), FILE)}"
        screen.say(f"No run was ever opened in {project}: {lacks}.")
    return records


def none_of(skill: str | None, project: str, state: str) -> str:
    """That a project has no run of a skill (or of any) in that state, in one sentence."""
    return f"No run{f' of {skill}' if skill else ''} is {state} in {project}."


def row(screen: Screen, records: Records, depth: int, run: Run) -> list[Cell]:
    """A run as a line of a table: id, skill, status, step with its number, when it last moved."""
    undone_at_the_end = f", {len(run.not_done)} not done" if run.ended and run.not_done else ""
    status = screen.styled(run.status + undone_at_the_end, COLOURS.get(run.status, ""))
    name = screen.styled("  " * depth + run.id, "bold")
    skill = run.workflow if run.workflow.startswith(skill_of(run)) else f"{skill_of(run)}/{run.workflow}"
    number = number_of(run, records)
    step = f"{run.step} {number}/{len(records.steps(run))}" if number else run.step or ""
    return [name, skill, status, step, ago(records.moved_at(run))]
