"""``lockstep runs``."""

from __future__ import annotations

from itertools import islice

import click

from skills.lib.commands.console.options import examples, json_option, project_option, skill_option, verify_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs as queries
from skills.lib.engine import not_done
from skills.lib.ledger import listing, verification
from skills.lib.model.run import Run

# How many runs are listed, with those of their sub-agents, if nothing else is asked for.
NEWEST = 50
# How many runs are listed with what they left undone, and how many entries of each.
LISTED, ENTRIES = 10, 5
_HEADINGS = ("RUN", "SKILL", "STATUS", "STEP", "TURN", "OPENED", "MOVED")


@click.command(
    epilog=examples(
        "lockstep runs  # the runs that go on",
        "lockstep runs --all --skill planner  # every run of one skill",
        "lockstep runs --limit 500 --json  # the last 500, for a program",
    )
)
@click.option("--all", "everything", is_flag=True, help="Show ended runs too.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=NEWEST, show_default=True, metavar="N", help="Show the last N."
)
@verify_option
@skill_option
@json_option
@project_option
@click.pass_obj
def runs(
    screen: Screen, everything: bool, limit: int, verify: bool, skill: str | None, as_json: bool, project: str
) -> None:
    """List the runs of a project, the last opened first, with the runs of their sub-agents below them.

    Standard error says how many more there are. Where two runs of one skill are among those that are listed, ABOUT says
    what each is for.
    """
    records = queries.records_to_list(screen, project, skill, as_json)
    if records is None:
        return
    if verify:
        verification.verify(records.ledger)
    roots, more = _last(records, everything, limit, skill)
    shown = [(depth, run) for root in roots for depth, run in records.tree(root) if everything or not run.ended]
    if as_json:
        screen.json([queries.described(run, records) for _, run in shown])
    elif shown:
        rows = [queries.row(screen, records, depth, run) for depth, run in shown]
        skills = [run.workflow for depth, run in shown if not depth]
        if len(set(skills)) == len(skills):
            screen.table(_HEADINGS, rows)
        else:
            with_purpose = [[*row, queries.about(run)] for row, (_, run) in zip(rows, shown, strict=True)]
            screen.table((*_HEADINGS, "ABOUT"), with_purpose)
        _print_not_done(screen, [run for depth, run in shown if not depth and run.ended and run.not_done], project)
    else:
        screen.say(
            queries.none_of(skill, project, "recorded" if everything else "open") + _hint(records, everything, skill)
        )
    if more:
        screen.say(f"{more} more, opened earlier, are not listed: --limit {limit + more} lists them.")


def _last(records: queries.Records, everything: bool, limit: int, skill: str | None) -> tuple[list[Run], int]:
    """The runs that were opened last and that no other run started, and how many more there are."""
    found = (run for run in records.roots(everything) if queries.is_of(run, skill))
    last = list(islice(found, limit))
    if skill is not None:  # which skill a run is of stands in the run
        return last, sum(1 for _ in found)
    return last, max(0, listing.count_roots(records.ledger, everything) - len(last))


def _print_not_done(screen: Screen, ended: list[Run], project: str) -> None:
    """Print what the ended runs left undone, the gravest first."""
    for run in ended[:LISTED]:
        screen.print(screen.styled(f"Not done by {run.id}", "bold"))
        for entry in not_done.gravest(run.not_done)[:ENTRIES]:
            screen.print(f"  {queries.undone(entry)}")
        if len(run.not_done) > ENTRIES:
            screen.print(f"  and {len(run.not_done) - ENTRIES} more: {queries.command(project, 'trace', run.id)}")
    if len(ended) > LISTED:
        screen.print(f"{len(ended) - LISTED} more runs left something undone: lockstep trace RUN says what.")


def _hint(records: queries.Records, everything: bool, skill: str | None) -> str:
    """How to see the runs that ended, if all of them have."""
    of = ["--skill", skill] if skill else []
    last, more = _last(records, True, 1, skill)
    ended = len(last) + more
    return (
        f" {ended} ended: {queries.command(records.project, 'runs', '--all', *of)}" if ended and not everything else ""
    )
