"""``lockstep runs``."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import click
from rich.cells import cell_len

from skills.lib.commands.console.options import examples, json_option, project_option, skill_option, verify_option
from skills.lib.commands.console.screen import Screen, cut_to
from skills.lib.commands.queries import runs as queries
from skills.lib.engine import not_done
from skills.lib.errors import UsageError
from skills.lib.ledger import listing, verification
from skills.lib.model.run import ENDED, Run

# How many runs are listed, with those of their sub-agents, if nothing else is asked for.
NEWEST = 50
# How many runs are listed with what they left undone, and how many entries of each.
LISTED, ENTRIES = 10, 5
# How many columns a row takes if no run has a long name, and how many its last cell has at least.
WIDTH, LEAST = 120, 24
_STATUSES = ("open", "waiting", "pending", "done", "failed", "abandoned", "lost", "replaced")
_HEADINGS = ("RUN", "SKILL", "STATUS", "STEP", "MOVED")


@click.command(
    epilog=examples(
        "lockstep runs  # the runs that go on, those that wait for a person first",
        "lockstep runs --status waiting  # only what waits for a person",
        "lockstep runs --all --skill planner  # every run of one skill",
        "lockstep runs --limit 500 --json  # the last 500, for a program",
        "lockstep runs --line  # one line on what goes on, for a status line",
    )
)
@click.option("--all", "everything", is_flag=True, help="Show ended runs too.")
@click.option(
    "--status",
    "statuses",
    type=click.Choice(_STATUSES),
    metavar="STATUS",
    multiple=True,
    help=f"Only runs with this status, sub-agents' too: {', '.join(_STATUSES)}. Repeatable.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=NEWEST, show_default=True, metavar="N", help="Show the last N."
)
@click.option("--line", "in_line", is_flag=True, help="Print one line on what goes on; nothing if nothing does.")
@verify_option
@skill_option
@json_option
@project_option
@click.pass_obj
def runs(
    screen: Screen,
    everything: bool,
    statuses: tuple[str, ...],
    limit: int,
    in_line: bool,
    verify: bool,
    skill: str | None,
    as_json: bool,
    project: str,
) -> None:
    """List the runs of a project: those that wait for a person, then the last opened, sub-agents' runs below theirs.

    Standard error says how many more there are. ABOUT says what a run asks, or what each of several runs of one skill
    is for.
    """
    if in_line:
        if as_json or everything or statuses or verify:
            raise UsageError("--line is about the runs that go on", remedy="give it with --skill and --project alone")
        records = queries.open_records(project)
        if line := _line(records, skill) if records else "":
            screen.print(line)
        return
    records = queries.records_to_list(screen, project, skill, as_json)
    if records is None:
        return
    if verify:
        verification.verify(records.ledger)
    wanted = _Wanted(everything or bool(ENDED.intersection(statuses)), frozenset(statuses), skill)
    shown, more = _listed(records, wanted, limit)
    if as_json:
        screen.json([queries.described(run, records) for _, run in shown])
    elif shown:
        _print_table(screen, records, shown)
        _say_command(screen, [run for _, run in shown if not run.ended], project)
        _print_not_done(screen, [run for _, run in shown if run.parent is None and run.ended and run.not_done], project)
    else:
        state = " or ".join(statuses) or ("recorded" if everything else "open")
        screen.say(queries.none_of(skill, project, state) + ("" if statuses else _hint(records, wanted)))
    if more:
        screen.say(f"{more} more, opened earlier, are not listed: --limit {limit + more} lists them.")


def _line(records: queries.Records, skill: str | None) -> str:
    """The run to look at first in one line: its skill, how far it is, whether it waits; and how many more go on."""
    shown, more = _listed(records, _Wanted(False, frozenset(), skill), NEWEST)
    trees = [run for _, run in shown if run.parent is None]
    if not trees:
        return ""
    run = trees[0]
    waits = any(one.status == "waiting" for _, one in shown if one.id.partition(".")[0] == run.id)
    steps = records.steps(run)
    place = f"{steps.index(run.step) + 1}/{len(steps)} " if run.step in steps else ""
    others = len(trees) + more - 1
    parts = [
        f"{run.workflow} {place}{run.step or ''}".strip(),
        *(["waits for you"] if waits else []),
        *([f"{others} more"] if others else []),
    ]
    return " · ".join(parts)


class _Wanted(NamedTuple):
    """Which runs are listed: ended ones too, of any of these statuses (or all), of a skill."""

    ended: bool
    statuses: frozenset[str]
    skill: str | None

    def admits(self, run: Run) -> bool:
        """True if a run of the skill is among them."""
        return run.status in self.statuses if self.statuses else self.ended or not run.ended


def _listed(records: queries.Records, wanted: _Wanted, limit: int) -> tuple[list[tuple[int, Run]], int]:
    """The runs to list, each with its depth, those that wait for a person first; how many trees more there are."""
    waiting = dict.fromkeys(run_id.partition(".")[0] for run_id in listing.waiting(records.ledger))
    first = [run for run_id in waiting if (run := records.ledger.run(run_id)) and queries.is_of(run, wanted.skill)]
    others = (run for run in records.roots(wanted.ended) if run.id not in waiting and queries.is_of(run, wanted.skill))
    trees: list[list[tuple[int, Run]]] = []
    more = 0
    for root in chain(first, others):
        if len(trees) >= limit and not wanted.statuses and wanted.skill is None:
            return list(chain(*trees)), listing.count_roots(records.ledger, wanted.ended) - len(trees)
        tree = [(depth, run) for depth, run in records.tree(root) if wanted.admits(run)]
        if tree and len(trees) < limit:
            trees.append(tree)
        elif tree:
            more += 1
    return list(chain(*trees)), more


def _print_table(screen: Screen, records: queries.Records, shown: list[tuple[int, Run]]) -> None:
    rows = [queries.row(screen, records, depth, run) for depth, run in shown]
    skills = [run.workflow for _, run in shown if run.parent is None]
    is_about = len(set(skills)) < len(skills)
    about = [queries.asked(run) or (queries.about(run) if is_about else "") for _, run in shown]
    if not any(about):
        screen.table(_HEADINGS, rows)
        return
    taken = sum(max(cell_len(str(row[at])) for row in [_HEADINGS, *rows]) + 2 for at in range(len(_HEADINGS)))
    room = max(LEAST, WIDTH - taken)
    cut = [[*row, cut_to(text, room)] for row, text in zip(rows, about, strict=True)]
    screen.table((*_HEADINGS, "ABOUT"), cut)


def _say_command(screen: Screen, runs_shown: list[Run], project: str) -> None:
    """Say which short command prints the present block of a run, if there is one."""
    known = [command for run in runs_shown if (command := queries.short_command(run.id, project))]
    if known:
        shown = known[0] if len(known) == 1 else f"{known[0].rpartition(' ')[0]} RUN"
        screen.say(f"The present block of a run, for its agent: {shown}")


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


def _hint(records: queries.Records, wanted: _Wanted) -> str:
    """How to see the runs that ended, if all of them have."""
    of = ["--skill", wanted.skill] if wanted.skill else []
    _, more = _listed(records, wanted._replace(ended=True), 0)
    return (
        f" {more} ended: {queries.command(records.project, 'runs', '--all', *of)}" if more and not wanted.ended else ""
    )
