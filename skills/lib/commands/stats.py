"""``lockstep stats``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import click

from skills.lib.commands.console.options import examples, json_option, project_option, skill_option, verify_option
from skills.lib.commands.console.screen import TIMES, Cell, Screen, counted
from skills.lib.commands.queries import runs
from skills.lib.ledger import Ledger, listing, verification
from skills.lib.model.run import Run


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
    """Show where agents stumble: by step how often it was entered, repeated and refused, and for what."""
    records = runs.records_to_list(screen, project, skill, as_json)
    if records is None:
        return
    if verify:
        verification.verify(records.ledger)
    found = _counted(records.ledger, skill)
    if as_json:
        screen.json([asdict(workflow) for workflow in found])
        return
    if not found:
        screen.say(runs.none_of(skill, project, "recorded"))
    for at, workflow in enumerate(found):
        if at:
            screen.print("")
        _print_workflow(screen, workflow)


@dataclass
class StepRefusals:
    """The refusal statistics of one step over all runs; ``refused`` counts the refusals by their code."""

    entered: int = 0
    repeated: int = 0
    most_in_one_run: int = 0
    refusals: int = 0
    refused: dict[str, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Refusals per entry."""
        return self.refusals / max(self.entered, 1)


@dataclass
class WorkflowRefusals:
    """The refusal statistics of one workflow; ``statuses`` counts its runs by their status."""

    skill: str
    workflow: str
    runs: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    transitions: int = 0
    steps: dict[str, StepRefusals] = field(default_factory=dict)


def _counted(ledger: Ledger, skill: str | None) -> list[WorkflowRefusals]:
    """The refusal statistics of every workflow that has run, by name."""
    found: dict[str, WorkflowRefusals] = {}
    for run in ledger.each_run("1=1 ORDER BY id"):
        if runs.is_of(run, skill):
            of_workflow = found.setdefault(run.workflow, WorkflowRefusals(runs.skill_of(run), run.workflow))
            _add(of_workflow, run, ledger)
    return [found[name] for name in sorted(found)]


def _add(of_workflow: WorkflowRefusals, run: Run, ledger: Ledger) -> None:
    of_workflow.runs += 1
    of_workflow.statuses[run.status] = of_workflow.statuses.get(run.status, 0) + 1
    for step_id, visits in run.visits.items():
        step = of_workflow.steps.setdefault(step_id, StepRefusals())
        step.entered += visits
        step.repeated += visits - 1
        step.most_in_one_run = max(step.most_in_one_run, visits)
    for detail in listing.refusals(ledger, run.id):
        step = of_workflow.steps.setdefault(str(detail.get("step") or "(ended)"), StepRefusals())
        step.refusals += 1
        code = str(detail.get("code"))
        step.refused[code] = step.refused.get(code, 0) + 1
    of_workflow.transitions += listing.transitions(ledger, run.id)


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
