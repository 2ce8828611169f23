"""``lockstep stats``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from skills.lib.agent.money.costs import grouped
from skills.lib.agent.watching.session_stats import SessionStats
from skills.lib.commands.console.options import examples, json_option, project_option, skill_option, verify_option
from skills.lib.commands.console.screen import TIMES, Cell, Screen, counted
from skills.lib.commands.queries import runs
from skills.lib.commands.session.costs import price
from skills.lib.errors import LedgerError
from skills.lib.ledger import verification
from skills.lib.views import statistics
from skills.lib.views.statistics import WorkflowRefusals


@click.command(
    epilog=examples(
        "lockstep stats  # every skill of this project",
        "lockstep stats --skill planner --json  # one skill, for a program",
    )
)
@skill_option
@verify_option
@json_option
@project_option
@click.pass_obj
def stats(screen: Screen, skill: str | None, verify: bool, as_json: bool, project: str) -> None:
    """Show where agents stumble: by step how often it was entered, repeated and refused, and for what.

    Of runs that an autonomous agent followed it shows how many succeeded, what failed, and what they cost.
    """
    records = runs.records_to_list(screen, project, skill, as_json)
    if records is None:
        return
    if verify:
        verification.verify(records.ledger)
    found = statistics.refusals(records.ledger, skill)
    sessions = _sessions(screen, records, skill)
    if as_json:
        screen.json([{**asdict(one), "sessions": _data(sessions.get(one.workflow))} for one in found])
        return
    if not found:
        screen.say(runs.none_of(skill, project, "recorded"))
    for at, workflow in enumerate(found):
        if at:
            screen.print("")
        _print_workflow(screen, workflow)
        if workflow.workflow in sessions:
            _print_sessions(screen, sessions[workflow.workflow])


def _sessions(screen: Screen, records: runs.Records, skill: str | None) -> dict[str, SessionStats]:
    """The figures of the runs that agents' sessions followed, by workflow; a notice says why there are none."""
    try:
        return statistics.of_sessions(records, skill)
    except LedgerError as error:  # the ledger's own figures do not need it
        screen.say(f"What agents' sessions did is left out: {error.what}")
        return {}


def _data(sessions: SessionStats | None) -> dict[str, Any] | None:
    return sessions.data() if sessions else None


def _print_sessions(screen: Screen, sessions: SessionStats) -> None:
    """The figures of sessions for a person; those that there are none of are left out."""
    data = sessions.data()
    screen.print(f"Followed by an agent: {counted(sessions.runs, 'run')}, {counted(len(sessions.calls), 'model call')}")
    if sessions.ended:
        screen.print(
            f"  success rate   {data['success_rate']:.0%}  "
            f"({sessions.done} of {sessions.ended} that ended or stopped are done)"
        )
    if sessions.done:
        screen.print(f"  model calls    {data['model_calls_a_run']:.1f}  in a run that is done")
    if sessions.failed:
        screen.print(
            f"  recovery rate  {data['recovery_rate']:.0%}  ({sessions.recovered} of "
            f"{counted(sessions.failed, 'failed call')})"
        )
    if common := data["most_common_recovery"]:
        share = common["times"] / sessions.recovered
        what = f"{common['tool']}, {common['failure']}: {common['then']}"
        screen.print(f"  most often     {what}  ({share:.0%})")
    if any(sessions.classes.values()):
        screen.print(f"  failures       {sessions.classes['retryable']} retryable, {sessions.classes['fatal']} fatal")
    costs_by_model = grouped(sessions.calls, "model").items()
    screen.print("  cost           ", "; ".join(f"{model} {price(one)}" for model, one in costs_by_model))


def _print_workflow(screen: Screen, of_workflow: WorkflowRefusals) -> None:
    """The counts for a person, and the step that was refused most often."""
    statuses = ", ".join(f"{number} {status}" for status, number in sorted(of_workflow.statuses.items()))
    screen.print(
        screen.styled(of_workflow.workflow, "bold"),
        f"  {counted(of_workflow.runs, 'run')} ({statuses}), {of_workflow.transitions} transitions",
    )
    rows: list[list[Cell]] = []
    for name, step in of_workflow.steps.items():
        refused_for = sorted(step.refused.items(), key=lambda pair: -pair[1])
        codes = ", ".join(f"{code} {TIMES}{number}" for code, number in refused_for)
        refused = screen.styled(step.refusals, "red" if step.refusals else "")
        rows.append([name, str(step.entered), str(step.repeated), str(step.most_in_one_run), refused, codes])
    screen.table(("STEP", "ENTERED", "REPEATED", "MOST IN A RUN", "REFUSED", "FOR"), rows)
    worst = max(of_workflow.steps.items(), key=lambda pair: pair[1].rate, default=None)
    if worst and worst[1].refusals:
        screen.print(f"Agents stumble most at {worst[0]}: {worst[1].rate:.1f} refusals an entry.")
