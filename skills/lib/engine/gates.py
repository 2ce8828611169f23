"""What reviews demand before a run leaves a step, and the questions to people.

At a gate there must be a verdict, before a review each finding must be answered, and at the end the files must be as
they were reviewed. A review or a loop that cannot go on without a decision, and a step that asks, wait for a person.
"""

from __future__ import annotations

from skills.lib.engine import fixes, verdicts
from skills.lib.engine.decision import Detour, Leaving, Move, Refused
from skills.lib.model.requirements import Field, fill
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef
from skills.lib.model.texts import counted, listed, present
from skills.lib.model.types import Gate, Outcome, Person, QRStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

# How many open findings, or changed files, a question names; the rest is counted.
SHOWN = 10
ACCEPT, REVISE, ABANDON = "accept", "revise", "abandon"
# How many changed files are named in the record.
NAMED = 20


def verdict(run: Run, gate: Gate) -> Outcome:
    """OK or FAIL as the ledger has it. Raises Refused if there is no verdict, or it has passed a gate already."""
    review = run.reviews.get(gate.checkpoint)
    if not review:
        raise Refused("not-reviewed", f"Nobody has reviewed {gate.checkpoint} in this run.")
    if review.get("passed"):
        why = f"The verdict on {gate.checkpoint} let this run through a gate already: it serves once."
        raise Refused("spent-verdict", why)
    return Outcome.OK if review["status"] == QRStatus.PASS else Outcome.FAIL


def apply_verdict(
    leaving: Leaving, run: Run, gate: Gate, outcome: Outcome, detail: dict[str, Any]
) -> Run | Move | Detour:
    """The run as the outcome of its gate leaves it, or what it does instead.

    At the gate's bound a person is asked. If files were changed since the review, the run goes where ``_fall`` says.
    """
    checkpoint = gate.checkpoint
    if outcome is Outcome.OK:
        files = verdicts.changed(run, checkpoint, leaving.proof)
        if files:
            return _fall(leaving, run, outcome, checkpoint, files, detail)
        return verdicts.pass_on(run, checkpoint)
    if outcome is not Outcome.FAIL:  # a review without a target was skipped
        return run
    if run.reviews[checkpoint]["iteration"] >= gate.bound:
        return ask_at_bound(leaving, run, gate, detail)
    return verdicts.send_back(run, checkpoint, (leaving.step.route(Outcome.FAIL) or (None,))[0])


def settle(
    leaving: Leaving, run: Run, outcome: Outcome, target: str | None, detail: dict[str, Any]
) -> Run | Move | Detour:
    """The run as it may go on to ``target``, or where it goes instead.

    Before a review, its findings must be answered, unless a person has just decided. Before the end, no verdict may
    have fallen with its files.
    """
    if target is None:
        fallen = verdicts.first_fallen(run, leaving.proof) if outcome is not Outcome.FAIL else None
        return _fall(leaving, run, outcome, *fallen, detail) if fallen else run
    return run if leaving.answered else answer_findings(leaving, run, (target,), {**detail, "outcome": outcome})


def answer_findings(leaving: Leaving, run: Run, targets: Iterable[str | None], detail: dict[str, Any]) -> Run | Move:
    """The run with the findings answered of each review that one of the targets leads to, or the question about them.

    A step that asks a person at once changes nothing, so the step before it answers for the review behind it.
    """
    ahead = verdicts.reviews_ahead(leaving.workflow, targets)
    for checkpoint in dict.fromkeys(review.checkpoint or "" for review in ahead):
        review = run.reviews.get(checkpoint, {})
        if not review or not verdicts.failed(review) or review.get("settled"):
            continue
        if fixes.decides(leaving.step, checkpoint):
            continue
        settled, undecided = fixes.settle(run, leaving.step, checkpoint, leaving.proof)
        if undecided:
            return ask_about_disputes(leaving, run, checkpoint, undecided, detail)
        run = settled
    return run


def _fall(
    leaving: Leaving, run: Run, outcome: Outcome, checkpoint: str, files: list[str], detail: dict[str, Any]
) -> Move | Detour:
    """Go to where a fallen verdict leads, or ask a person if it has fallen as often as its gate allows.

    A person is also asked if it fell with the same files before and they were not reviewed since: their review was
    skipped, or it led to a question that somebody else answered.
    """
    gate = verdicts.gate_of(leaving.workflow, checkpoint)
    detail = {**detail, "outcome": outcome, "stale": {"checkpoint": checkpoint, "files": files[:NAMED]}}
    returns = run.reviews[checkpoint].get("returns", 0)
    spent = gate is None or returns >= gate.bound or verdicts.was_raised(run, checkpoint, leaving.proof)
    if gate is None or gate.stale is None or spent:
        return ask_about_change(leaving, run, checkpoint, files, detail)
    return Detour(verdicts.fall(run, checkpoint, files, gate.stale, leaving.proof), gate.stale, detail)


def question(run: Run, step: StepDef) -> dict[str, Any]:
    """What a person is asked at a step, with what was recorded for it put in, and the findings that are open."""
    asked = step.handler
    assert isinstance(asked, Person)
    optional = {f"{step.id}.{spec.name}": "" for spec in step.requires if isinstance(spec, Field)}
    known = {**optional, **run.params, **run.recorded}
    shown = {name: present(value) if isinstance(value, list) else value for name, value in known.items()}
    text = fill(asked.question, shown)
    for checkpoint, review in run.reviews.items():
        if verdicts.failed(review):
            text += f"\n\nThe review of {checkpoint} failed, and these findings are open: {_named(run, review)}"
        elif verdicts.fell_to(review, step):
            text += f"\n\n{_changed(checkpoint, review['changed'])}"
    found = {"text": text, "choices": list(asked.choices), "at_terminal": asked.at_terminal}
    return {**found, "reasons": list(asked.reasons)} if asked.reasons else found


def ask(leaving: Leaving, run: Run, detail: dict[str, Any]) -> Move:
    """Put the question of a step whose requirements are met, and wait."""
    step = leaving.step
    run = run.changed(state={**run.state, step.id: leaving.state})
    last = leaving.last(run, leaving.state)
    asked = run.changed(status="waiting", question=question(run, step), turn=run.turn + 1, last=last)
    return Move(asked, "asked", {"from": step.id, "to": step.id, **detail})


def ask_at_bound(leaving: Leaving, run: Run, gate: Gate, detail: dict[str, Any]) -> Move:
    """Put the findings that are open at a gate's bound to a person, and wait."""
    review = run.reviews[gate.checkpoint]
    text = f"{gate.checkpoint} was reviewed {review['iteration']} times and these findings are open: "
    return _put(leaving, run, "bound", gate.checkpoint, text + _named(run, review), detail)


def ask_about_change(leaving: Leaving, run: Run, checkpoint: str, files: Sequence[str], detail: dict[str, Any]) -> Move:
    """Put files that were changed since their review passed to a person, and wait."""
    returns = run.reviews[checkpoint].get("returns", 0)
    text = _changed(checkpoint, files)
    if returns:
        text += f" It was sent back for that {counted(returns, 'time')} already."
    return _put(leaving, run, "change", checkpoint, text, detail)


def _changed(checkpoint: str, files: Sequence[str]) -> str:
    return f"The review of {checkpoint} passed, and what it covers was changed since: {listed(files, SHOWN)}."


def ask_about_disputes(leaving: Leaving, run: Run, checkpoint: str, ids: Sequence[str], detail: dict[str, Any]) -> Move:
    """Put findings on which reviewer and worker disagree twice to a person, and wait."""
    review = run.reviews[checkpoint]
    found = [
        f"- {item['id']} ({item['severity']}) {item['check']:.200}: {item['finding']:.300}"
        + (f" [{item['place']:.100}]" if item.get("place") else "")
        + f"\n  Disputed: {review['fixes'][item['id']]['why']:.300}"
        for item in review["items"]
        if item["id"] in ids
    ]
    text = "\n".join([f"Reviewers of {checkpoint} found this twice, and the work disputes it twice.", *found])
    return _put(leaving, run, "dispute", checkpoint, text, detail, ids=list(ids))


def ask_at_limit(leaving: Leaving, run: Run, outcome: Outcome, detail: dict[str, Any]) -> Move:
    """Put a step that ended with ``outcome`` as often as it may to a person, and wait."""
    name, times = leaving.step.id, counted(run.iteration, "time")
    text = f"{name} ended with {outcome} {times}. accept goes on as if it had not; revise tries again."
    return _put(leaving, run, "limit", name, text, {**detail, "outcome": outcome})


def _named(run: Run, review: dict[str, Any]) -> str:
    """The open findings of a review, the first SHOWN of them in words."""
    items = verdicts.blocking_now(review)
    named = [f"{item['id']} ({item['severity']}): {item['finding']:.200}" for item in items[:SHOWN]]
    if len(items) > SHOWN:
        named.append(f"and {len(items) - SHOWN} more, which lockstep trace {run.id} --values shows")
    return "; ".join(named)


def _put(leaving: Leaving, run: Run, about: str, name: str, text: str, detail: dict[str, Any], **more: Any) -> Move:
    """Ask a person at a terminal to accept, revise or abandon; ``about`` and ``name`` say what is to be decided."""
    put = {
        "text": text,
        "choices": [ACCEPT, REVISE, ABANDON],
        "at_terminal": True,
        "gate": name,
        "about": about,
        **more,
    }
    # A step that asks a person later has no outcome yet.
    put["outcome"] = detail.get("outcome", Outcome.FAIL)
    last = {**leaving.last(run), "outcome": put["outcome"]}
    states = {**run.state, leaving.step.id: leaving.state}
    asked = run.changed(status="waiting", question=put, turn=run.turn + 1, last=last, state=states)
    return Move(asked, "asked", {"from": run.step, "to": run.step, **detail})
