"""``lockstep prune``."""

from __future__ import annotations

import os
import shutil
import time

import click

from skills.lib import paths, status_files, terminal
from skills.lib.commands.console.options import examples, project_option
from skills.lib.commands.console.screen import Screen, counted
from skills.lib.commands.queries import runs
from skills.lib.hosts.doctor.records import link_to
from skills.lib.ledger import removal
from skills.lib.model.texts import number
from skills.lib.runtime.project import is_of_another_project

_HEADINGS = ("RUN", "SKILL", "STATUS", "ENDED", "SUB-AGENTS")


@click.command(
    epilog=examples(
        "lockstep prune --dry-run  # what would be removed",
        "lockstep prune --older 7  # runs that ended more than a week ago",
    )
)
@click.option(
    "--older", type=click.FloatRange(min=0), default=30, show_default=True, metavar="DAYS", help="Keep younger ones."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation at a terminal.")
@project_option
@click.pass_obj
def prune(screen: Screen, older: float, dry_run: bool, yes: bool, project: str) -> None:
    """Remove the records of runs that ended long ago, with those of their sub-agents. Open runs always stay."""
    records = runs.open_records(project)
    ended = [run for run in records.roots(ended=True) if run.ended] if records else []
    roots = [run for run in ended if not is_of_another_project(run, project)]
    before = time.time() - older * 86_400
    removed = [run for run in roots if records is not None and records.moved_at(run) <= before]
    if records is None or not removed:
        screen.say(f"Nothing to remove: no run of {project} ended more than {number(older)} days ago.")
        return
    trees = {run.id: [one.id for _, one in records.tree(run)] for run in removed}
    rows = [
        [run.id, runs.skill_of(run), run.status, runs.moment(records.moved_at(run)), str(len(trees[run.id]) - 1)]
        for run in removed
    ]
    screen.table(_HEADINGS, rows)
    count = sum(len(ids) for ids in trees.values())
    what = counted(count, "record")
    if dry_run:
        screen.say(f"{what} would be removed.")
        return
    if terminal.is_there() and not yes:
        click.confirm(f"Remove {what} for good?", abort=True, err=True)
    ids = [run_id for tree in trees.values() for run_id in tree]
    removal.remove(records.ledger, ids)
    _remove_texts(project, ids)
    screen.say(f"{what} removed.")


def _remove_texts(project: str, ids: list[str]) -> None:
    """Remove the texts that were kept beside the ledger for these runs; nothing through a link."""
    folder = os.path.join(paths.home(project), "context")
    if link_to(project, folder):
        return
    for run_id in filter(status_files.is_id, ids):
        shutil.rmtree(os.path.join(folder, run_id), ignore_errors=True)
