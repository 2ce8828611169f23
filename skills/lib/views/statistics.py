"""Where agents stumble, by workflow and step, and how the sessions of Lockstep's own agent went."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from skills.lib import paths
from skills.lib.agent.configuration import lockstep_toml
from skills.lib.agent.money.pricing import Pricing
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.agent.watching.session_stats import SessionStats
from skills.lib.ledger import Ledger, listing
from skills.lib.model.run import Run
from skills.lib.views.records import Records, is_of, skill_of


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


def refusals(ledger: Ledger, skill: str | None = None) -> list[WorkflowRefusals]:
    """The refusal statistics of every workflow that has run, by name."""
    found: dict[str, WorkflowRefusals] = {}
    for run in ledger.each_run("1=1 ORDER BY id"):
        if is_of(run, skill):
            of_workflow = found.setdefault(run.workflow, WorkflowRefusals(skill_of(run), run.workflow))
            _add(of_workflow, run, ledger)
    return [found[name] for name in sorted(found)]


def of_sessions(records: Records, skill: str | None = None) -> dict[str, SessionStats]:
    """The figures of the runs that agents' sessions followed, by workflow. Raises LedgerError if they are damaged."""
    home = paths.home(records.project)
    found: dict[str, SessionStats] = {}
    if not os.path.exists(path_in(home)):
        return found
    pricing = Pricing(lockstep_toml.load(records.project).prices)
    with Activity(path_in(home)) as activity:
        for root in records.roots(ended=True):
            if is_of(root, skill):
                tree = [one for _, one in records.tree(root)]
                found.setdefault(root.workflow, SessionStats()).add(tree, skill_of(root), activity, pricing)
    return {workflow: one for workflow, one in found.items() if one.runs}


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
