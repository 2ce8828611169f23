"""What a run left undone: noted as it happens, completed at its end, and listed where the run ends."""

from __future__ import annotations

from skills.lib.engine import verdicts
from skills.lib.model.requirements import Field
from skills.lib.model.run import Run
from skills.lib.model.steps import Workflow
from skills.lib.model.types import ItemStatus, QRStatus, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Entry = dict[str, str]

# The kinds of entries, and the severities of findings, the gravest first.
KINDS = ("gate", "verdict", "finding", "evidence", "sub-agent", "answer", "limit", "review", "unchecked")
SEVERITIES = tuple(Severity)


def gravest(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, the gravest first."""

    def weight(entry: Entry) -> tuple[int, int]:
        severity = entry["what"].partition("(")[2].partition(",")[0]  # of a finding: "id (severity, …"
        return _rank(entry["kind"], KINDS), _rank(severity, SEVERITIES)

    return sorted(entries, key=weight)


def _rank(word: str, words: Sequence[str]) -> int:
    return words.index(word) if word in words else len(words)


def at_end(workflow: Workflow, run: Run) -> Run:
    """The run with the entries that only its end shows: gates that it never entered, findings that are open."""
    left = [*_gates(workflow, run), *_findings(run), *_fallen(run), *_waived(workflow, run), *_unstated(workflow, run)]
    if workflow.unchecked:
        left.append(("unchecked", "", f"no check tells {workflow.unchecked}"))
    for kind, step, what in left:
        run = run.noted(kind, step, what)
    return run


def at_abandoning(run: Run) -> Run:
    """The run with an entry for each finding that is open when a person or an agent gives the run up."""
    for kind, step, what in _findings(run):
        run = run.noted(kind, step, what)
    return run


def _gates(workflow: Workflow, run: Run) -> Iterator[tuple[str, str, str]]:
    gates = list(verdicts.gates(workflow))
    entered = {gate.checkpoint for step, gate in gates if run.visits.get(step.id)}
    listed = set()
    for step, gate in gates:
        review = run.reviews.get(gate.checkpoint)
        if review is None:
            how = "was passed without a review" if run.visits.get(step.id) else "was never entered"
            yield "gate", step.id, f"the gate of {gate.checkpoint} {how}"
        elif gate.checkpoint not in listed and not review.get("passed"):
            listed.add(gate.checkpoint)
            if gate.checkpoint not in entered:
                yield "gate", step.id, f"the gate of {gate.checkpoint} was never entered, though it was reviewed"
            elif review["status"] == QRStatus.PASS:
                yield "gate", step.id, f"the gate of {gate.checkpoint} was not entered again after the last review"


def _fallen(run: Run) -> Iterator[tuple[str, str, str]]:
    for checkpoint, review in run.reviews.items():
        heard = review.get("heard", {})
        if review.get("passed") and review.get("changed") and heard.get("content"):
            yield "verdict", heard["step"], let_stand(checkpoint, heard["reason"] or "no reason given")


def let_stand(checkpoint: str, reason: str) -> str:
    """The entry for a verdict that a person let stand though its files were changed."""
    return f"files that the review of {checkpoint} covers were changed since; a person let it stand: {reason}"


def _findings(run: Run) -> Iterator[tuple[str, str, str]]:
    for checkpoint, review in run.reviews.items():
        for item in review["items"]:
            if item["status"] != ItemStatus.PASS:
                how = "accepted by a person" if item.get("accepted") or review.get("accepted") else "open"
                if how == "open" and review.get("heard") and verdicts.failed(review):
                    how = f"open, as a person was told at {review['heard']['step']}"
                yield "finding", checkpoint, f"{item['id']} ({item['severity']}, {how}): {item['finding']}"


def _unstated(workflow: Workflow, run: Run) -> Iterator[tuple[str, str, str]]:
    steps: dict[str, list[str]] = {}
    stated: list[bool] = []
    for step in workflow.steps if "checkpoint" in run.spec else ():
        for spec in step.requires:
            value = run.state.get(step.id, {}).get(spec.name) if isinstance(spec, Field) else None
            if value and isinstance(spec, Field) and spec.type == "statements":
                stated.append(isinstance(value, list))
                if isinstance(value, str):
                    steps.setdefault(value.partition(": ")[2], []).append(step.id)
    whole = " at all" if not any(stated) else ""
    for reason, named in steps.items():
        yield "review", named[0], f"nothing{whole} was stated to check at {', '.join(named)}: {reason}"


def _waived(workflow: Workflow, run: Run) -> Iterator[tuple[str, str, str]]:
    for arg in workflow.params:
        value = run.state.get(arg.step, {}).get(arg.name) if arg.step else run.params.get(arg.name)
        if arg.waives and value:
            yield "evidence", arg.step or "", f"{arg.waives} was waived: {value}"
    for step in workflow.steps:
        for spec in step.requires:
            if isinstance(spec, Field) and spec.waives:
                given = run.state.get(step.id, {}).get(spec.name) or []
                for entry in given if isinstance(given, list) else [given]:
                    yield "evidence", step.id, f"{spec.waives} was waived: {entry}"
