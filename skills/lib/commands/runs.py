"""``lockstep runs``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, project_option, skill_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.lookup import runs as lookup

_HEADINGS = ("RUN", "SKILL", "STATUS", "STEP", "TURN", "OPENED", "MOVED")


@click.command(
    epilog=examples(
        "lockstep runs  # the runs that go on",
        "lockstep runs --all --skill planner  # every run of one skill",
        "lockstep runs --json  # for a program",
    )
)
@click.option("--all", "everything", is_flag=True, help="Show ended runs too.")
@skill_option
@json_option
@project_option
@click.pass_obj
def runs(screen: Screen, everything: bool, skill: str | None, as_json: bool, project: str) -> None:
    """List the runs of a project, the last opened first, with the runs of their sub-agents below them."""
    records = lookup.open_records(project)
    if records is None:
        if as_json:
            screen.json([])
        screen.say(f"No run was ever opened in {project}: there is no {lookup.ledger_path(project)}.")
        return
    lookup.check_skill(records, skill)
    roots = [run for run in records.roots() if lookup.is_of(run, skill)]
    shown = [
        (depth, run)
        for root in (roots if everything else lookup.only_open(roots))
        for depth, run in records.tree(root)
        if everything or not run.ended
    ]
    if as_json:
        screen.json([lookup.described(run, records) for _, run in shown])
    elif shown:
        screen.table(_HEADINGS, [lookup.row(screen, records, depth, run) for depth, run in shown])
    else:
        screen.say(f"No run {'is recorded' if everything else 'is open'} in {project}." + _hint(everything, records))


def _hint(everything: bool, records: lookup.Records) -> str:
    ended = len(records.roots())
    return f" {ended} ended: lockstep runs --all" if ended and not everything else ""
