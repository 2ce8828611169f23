"""What a run left undone: noted as it happens, completed at its end, told to whoever reads the end."""

from __future__ import annotations

from skills.lib.workflow import verdicts
from skills.lib.workflow.core import Workflow
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.state import Run
from skills.lib.workflow.texts import printable
from skills.lib.workflow.types import ItemStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Entry = dict[str, str]

# How much of an answer, a reason or a finding stands in an entry.
SHORT = 300


def noted(run: Run, kind: str, step: str, what: str) -> Run:
    """The run with one more entry: its kind in a word, the step or checkpoint that it is about, what was not done."""
    what = printable(what)
    text = what if len(what) <= SHORT else what[: SHORT - 1] + "…"
    return run.changed(not_done=[*run.not_done, {"kind": kind, "step": step, "what": text}])


def from_children(run: Run, step: str, children: Sequence[Run]) -> Run:
    """The run with what its finished sub-agents left undone."""
    for child in children:
        for entry in child.not_done:
            run = noted(run, entry["kind"], step, f"sub-agent {child.id}: {entry['what']}")
    return run


def at_end(workflow: Workflow, run: Run) -> Run:
    """The run with what can only be told at its end: gates that it never entered, findings that are open."""
    left = (*_gates(workflow, run), *_findings(run), *_fallen(run), *_waived(workflow, run), *_unstated(workflow, run))
    for kind, step, what in left:
        run = noted(run, kind, step, what)
    return run


def _gates(workflow: Workflow, run: Run) -> Iterator[tuple[str, str, str]]:
    for step, gate in verdicts.gates(workflow):
        if gate.checkpoint not in run.reviews:
            entered = "was passed without a review" if run.visits.get(step.id) else "was never entered"
            yield "gate", step.id, f"the gate of {gate.checkpoint} {entered}"


def _fallen(run: Run) -> Iterator[tuple[str, str, str]]:
    for checkpoint, review in run.reviews.items():
        heard = review.get("heard", {})
        if review.get("passed") and review.get("changed") and heard.get("content"):
            what = f"files that the review of {checkpoint} covers were changed since; a person let it stand"
            yield "verdict", heard["step"], f"{what}: {heard['reason'] or 'no reason given'}"


def _findings(run: Run) -> Iterator[tuple[str, str, str]]:
    for checkpoint, review in run.reviews.items():
        for item in review["items"]:
            if item["status"] != ItemStatus.PASS:
                how = "accepted by a person" if item.get("accepted") or review.get("accepted") else "open"
                if how == "open" and review.get("heard") and verdicts.failed(review):
                    how = f"open, as a person was told at {review['heard']['step']}"
                yield "finding", checkpoint, f"{item['id']} ({item['severity']}, {how}): {item['finding']}"


def _unstated(workflow: Workflow, run: Run) -> Iterator[tuple[str, str, str]]:
    for step in workflow.steps if "checkpoint" in run.spec else ():
        for spec in step.requires:
            value = run.state.get(step.id, {}).get(spec.name) if isinstance(spec, Field) else None
            if isinstance(value, str) and isinstance(spec, Field) and spec.type == "statements":
                yield "review", step.id, f"{step.id} stated nothing: {value.partition(': ')[2]}"


def _waived(workflow: Workflow, run: Run) -> Iterator[tuple[str, str, str]]:
    for arg in workflow.params:
        value = run.state.get(arg.step, {}).get(arg.name) if arg.step else run.params.get(arg.name)
        if arg.waives and value:
            yield "evidence", arg.step or "", f"{arg.waives} was waived: {value}"
