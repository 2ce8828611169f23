"""Counts over many runs: where agents stumble."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from skills.lib.commands.console.screen import TIMES, Cell, Screen
from skills.lib.commands.queries.runs import Records, is_of, skill_of
from skills.lib.ledger import Event
from skills.lib.model.run import Run


@dataclass
class StepTally:
    """What happened at one step in all runs; ``most`` is the largest number of entries in one run."""

    entered: int = 0
    repeated: int = 0
    most: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def refusals(self) -> int:
        """How often a request was refused while a run stood here."""
        return sum(self.refused.values())

    @property
    def rate(self) -> float:
        """Refusals per entry."""
        return self.refusals / max(self.entered, 1)


@dataclass
class WorkflowTally:
    """All runs of one workflow."""

    skill: str
    name: str
    runs: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    steps: dict[str, StepTally] = field(default_factory=dict)

    def step(self, step_id: str) -> StepTally:
        """The counts of a step."""
        return self.steps.setdefault(step_id, StepTally())

    def as_data(self) -> dict[str, Any]:
        """The counts for a program."""
        steps = {
            name: {
                "entered": step.entered,
                "repeated": step.repeated,
                "most_in_one_run": step.most,
                "refusals": step.refusals,
                "refused": dict(step.refused),
            }
            for name, step in self.steps.items()
        }
        about = {"skill": self.skill, "workflow": self.name, "runs": self.runs, "statuses": dict(self.statuses)}
        return {**about, "transitions": self.turns, "steps": steps}


def count(records: Records, skill: str | None) -> list[WorkflowTally]:
    """The counts of every workflow that has run, by name."""
    found: dict[str, WorkflowTally] = {}
    for run in records.runs():
        if is_of(run, skill):
            tally = found.setdefault(run.workflow, WorkflowTally(skill_of(run), run.workflow))
            _add(tally, run, records.events(run.id))
    return [found[name] for name in sorted(found)]


def _add(tally: WorkflowTally, run: Run, events: list[Event]) -> None:
    tally.runs += 1
    tally.statuses[run.status] += 1
    for step_id, visits in run.visits.items():
        step = tally.step(step_id)
        step.entered += visits
        step.repeated += visits - 1
        step.most = max(step.most, visits)
    for event in events:
        if event.kind == "refused":
            tally.step(str(event.detail.get("step") or "(ended)")).refused[str(event.detail.get("code"))] += 1
        tally.turns += event.kind in ("moved", "finished", "asked")


def print_workflow(screen: Screen, tally: WorkflowTally) -> None:
    """The counts for a person, and the step that was refused most often."""
    statuses = ", ".join(f"{number} {status}" for status, number in sorted(tally.statuses.items()))
    many = "1 run" if tally.runs == 1 else f"{tally.runs} runs"
    screen.print(screen.styled(tally.name, "bold"), f"  {many} ({statuses}), {tally.turns} transitions")
    rows: list[list[Cell]] = []
    for name, step in tally.steps.items():
        codes = ", ".join(f"{code} {TIMES}{number}" for code, number in step.refused.most_common())
        refused = screen.styled(step.refusals, "red" if step.refusals else "")
        rows.append([name, str(step.entered), str(step.repeated), str(step.most), refused, codes])
    screen.table(("STEP", "ENTERED", "REPEATED", "MOST IN A RUN", "REFUSED", "FOR"), rows)
    worst = max(tally.steps.items(), key=lambda pair: pair[1].rate, default=None)
    if worst and worst[1].refusals:
        screen.print(f"Agents stumble most at {worst[0]}: {worst[1].rate:.1f} refusals an entry.")
