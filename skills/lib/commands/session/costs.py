"""``lockstep agent cost``."""

from __future__ import annotations

import datetime
import re
import time
from typing import TYPE_CHECKING

import click

from skills.lib import paths
from skills.lib.agent.configuration import lockstep_toml
from skills.lib.agent.money import costs
from skills.lib.agent.money.budgeting import dollars
from skills.lib.agent.money.pricing import Pricing
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.commands.console.options import complete_run, examples, json_option, project_option, skill_option
from skills.lib.commands.console.screen import Screen, counted
from skills.lib.commands.queries import runs
from skills.lib.errors import UsageError

if TYPE_CHECKING:
    from skills.lib.agent.money.costs import Call, Sum

_AGO = re.compile(r"([0-9]+(?:\.[0-9]+)?)([hd])", re.ASCII)
_SECONDS = {"h": 3600.0, "d": 86_400.0}
_HEADINGS = ("CALLS", "READ", "FROM CACHE", "WRITTEN", "COST")


@click.command(
    short_help="Show what model calls took and cost.",
    epilog=examples(
        "lockstep agent cost  # every run of this project, by model",
        "lockstep agent cost k3f9q2mx  # one run, its sub-agents with it",
        "lockstep agent cost --by skill --since 7d  # the last seven days, by skill",
        "lockstep agent cost --by day --since 2026-11-01 --json  # since a day (UTC), for a program",
    ),
)
@click.argument("run_id", metavar="[RUN]", required=False, shell_complete=complete_run)
@skill_option
@click.option("--since", metavar="WHEN", help="Only calls since then: 7d, 12h, or a day (UTC) as 2026-11-01.")
@click.option("--by", type=click.Choice(list(costs.KEYS)), default="model", help="By what they are summed up.")
@json_option
@project_option
@click.pass_obj
def cost(
    screen: Screen,
    run_id: str | None,
    skill: str | None,
    since: str | None,
    by: str,
    as_json: bool,
    project: str,
) -> None:
    """Show what the model calls of RUN, or of all runs by sessions, took in tokens and cost in US dollars.

    A price that is not known is shown as unknown, and never as 0: it can be set in lockstep.toml.
    """
    found = list(_calls(project, run_id, skill, _time(since) if since else 0.0))
    groups, total = costs.grouped(found, by), costs.Sum.of(found)
    if as_json:
        screen.json({"by": by, "groups": {name: one.fields() for name, one in groups.items()}, "total": total.fields()})
        return
    if not found:
        screen.say("No model call was made" + (f" in run {run_id}." if run_id else f" in {project}."))
        return
    rows = [[name or "(unknown)", *_cells(one)] for name, one in groups.items()]
    screen.table((by.upper(), *_HEADINGS), [*rows, *([["total", *_cells(total)]] if len(rows) > 1 else [])])
    _say_what_is_missing(screen, found, total)


def _calls(project: str, run_id: str | None, skill: str | None, since: float) -> list[Call]:
    records = runs.require_records(project) if run_id else runs.open_records(project)
    if records is None:
        return []
    pricing = Pricing(lockstep_toml.load(project).prices)
    roots = [records.run(run_id)] if run_id else [run for run in records.roots(True) if runs.is_of(run, skill)]
    found: list[Call] = []
    with Activity(path_in(paths.home(project))) as activity:
        for root in roots:
            tree = [one.id for _, one in records.tree(root)]
            found += costs.calls(activity, root.id, runs.skill_of(root), tree, pricing, since)
    return found


def _time(since: str) -> float:
    """The time that a text names, as seconds since the epoch."""
    ago = _AGO.fullmatch(since.strip())
    if ago:
        return time.time() - float(ago[1]) * _SECONDS[ago[2]]
    try:
        return datetime.datetime.fromisoformat(since.strip()).replace(tzinfo=datetime.UTC).timestamp()
    except ValueError:
        raise UsageError(f"--since {since!r:.40} is no time", valid="7d, 12h, 2026-11-01") from None


def _cells(one: Sum) -> list[str]:
    return [f"{one.calls:,}", f"{one.input:,}", f"{one.cached:,}", f"{one.output:,}", price(one)]


def price(one: Sum) -> str:
    """What some calls cost, in words: an unknown part is named."""
    known = one.calls - one.unanswered - one.unpriced
    if not one.unpriced:
        return dollars(one.usd) if known else "-"
    return f"{dollars(one.usd)} + {counted(one.unpriced, 'call')} of unknown price" if known else "unknown"


def _say_what_is_missing(screen: Screen, found: list[Call], total: Sum) -> None:
    """Say of which calls the figures are no full ones, and what can be done."""
    unpriced = sorted({call.model for call in found if call.usage is not None and call.usd is None})
    for model in unpriced:
        screen.say(f'The price of {model} is not known: set [agent.prices."{model}"] in {lockstep_toml.user_file()}.')
    if total.unanswered:
        screen.say(f"{counted(total.unanswered, 'call')} got no answer: what that took is not known.")
    if total.estimated:
        screen.say(f"Of {counted(total.estimated, 'call')} the provider gave no figures: their tokens are estimates.")
