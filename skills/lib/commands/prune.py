"""``lockstep prune``."""

from __future__ import annotations

import math
import os
import shutil
import time

import click

from skills.lib import launching, paths, status_files, terminal
from skills.lib.agent.kept.removal import forget
from skills.lib.agent.watching.activity import FOLDER
from skills.lib.commands.console import prompts
from skills.lib.commands.console.options import examples, project_option
from skills.lib.commands.console.screen import Screen, counted, one_line
from skills.lib.commands.queries import runs
from skills.lib.errors import RefusedError, UsageError
from skills.lib.fleet.repository import Repository
from skills.lib.hosts.doctor.records import link_to
from skills.lib.ledger import removal
from skills.lib.model.texts import number
from skills.lib.runtime.project import is_of_another_project

# How many days ago a run has ended that is removed, unless --older says otherwise.
_OLDER = 30
_HEADINGS = ("RUN", "SKILL", "STATUS", "ENDED", "SUB-AGENTS")


@click.command(
    epilog=examples(
        "lockstep prune --dry-run  # what would be removed",
        "lockstep prune --older 7  # runs that ended more than a week ago",
        "lockstep prune --unreadable  # runs that damage made unreadable, so that the others go on",
    )
)
@click.option(
    "--older",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help=f"Keep younger ones; {_OLDER} unless given.",
)
@click.option("--unreadable", is_flag=True, help="Instead: the runs that cannot be read any more, open ones too.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation at a terminal.")
@project_option
@click.pass_obj
def prune(screen: Screen, older: float | None, unreadable: bool, dry_run: bool, yes: bool, project: str) -> None:
    """Remove the records of runs that ended long ago, with those of their sub-agents. Open runs always stay.

    The ref of git that keeps what a submitted run made (refs/lockstep/RUN) goes with the run.

    With --unreadable the runs are removed, with their sub-agents', that doctor calls damaged. It takes a person at a
    terminal.
    """
    if unreadable and older is not None:
        raise UsageError(
            "when a run that cannot be read has ended is not known, so --older does not go with --unreadable",
            remedy="lockstep prune --unreadable --dry-run  # shows which runs would be removed",
        )
    older = _OLDER if older is None else older
    if math.isnan(older):
        raise UsageError("--older is no number of days", valid="0, 7, 0.5", remedy="lockstep prune --older 30")
    if unreadable:
        _prune_unreadable(screen, dry_run, yes, project)
        return
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
    ids = [run_id for tree in trees.values() for run_id in tree]
    if _is_to_go(screen, len(ids), dry_run, yes):
        removal.remove(records.ledger, ids)
        _say_removed(screen, project, ids)


def _prune_unreadable(screen: Screen, dry_run: bool, yes: bool, project: str) -> None:
    """Remove the runs that cannot be read, each with the whole tree that it is of."""
    if not dry_run:
        terminal.require_person("which damaged runs go is a person's to say", "ask the user to run it")
    records = runs.open_records(project)
    found = removal.unreadable(records.ledger) if records else {}
    if records is None or not found:
        screen.say(f"Nothing to remove: every run of {project} can be read.")
        return
    rows = [[one_line(str(root)), str(len(tree) - 1), one_line(fault)] for root, (fault, tree) in found.items()]
    screen.table(("RUN", "SUB-AGENTS", "WHAT IS WRONG"), rows)
    ids = [run_id for _, tree in found.values() for run_id in tree]
    if _is_to_go(screen, len(ids), dry_run, yes):
        removal.remove_unreadable(records.ledger, ids)
        _say_removed(screen, project, ids)


def _is_to_go(screen: Screen, count: int, dry_run: bool, yes: bool) -> bool:
    """True if so many records are to be removed: not to be looked at alone, and confirmed at a terminal."""
    if dry_run:
        screen.say(f"{counted(count, 'record')} would be removed.")
    elif terminal.is_there() and not yes and not prompts.confirmed(f"Remove {counted(count, 'record')} for good?"):
        screen.say("Nothing was removed.")
        raise click.Abort
    return not dry_run


def _say_removed(screen: Screen, project: str, ids: list[str]) -> None:
    """Remove what was kept beside the ledger for these runs, and say that they are gone."""
    _remove_texts(project, ids)
    known = [run_id for run_id in ids if isinstance(run_id, str) and status_files.is_id(run_id)]
    launching.remove(project, known)
    screen.say(f"{counted(len(ids), 'record')} removed.")
    if not link_to(project, os.path.join(paths.home(project), FOLDER)):
        forget(paths.home(project), known)
    try:
        repository = Repository(project)
    except RefusedError:  # in no repository there is no ref of a run
        return
    repository.forget(known)


def _remove_texts(project: str, ids: list[str]) -> None:
    """Remove the texts that were kept beside the ledger for these runs; nothing through a link."""
    folder = os.path.join(paths.home(project), "context")
    if link_to(project, folder):
        return
    for run_id in ids:
        if not isinstance(run_id, str) or not status_files.is_id(run_id):  # anybody may have written it
            continue
        shutil.rmtree(os.path.join(folder, run_id), ignore_errors=True)
