"""Questions to people: those of a step, and those of a review or a loop that cannot go on without a decision."""

from __future__ import annotations

from skills.lib.engine import quality, verdicts
from skills.lib.engine.decision import Leaving, Move
from skills.lib.model.requirements import Field, fill
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef
from skills.lib.model.texts import listed, present
from skills.lib.model.types import Gate, Outcome, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# How many open findings, or changed files, a question names; the rest is counted.
NAMED = 10
ACCEPT, REVISE, ABANDON = "accept", "revise", "abandon"


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
    return {"text": text, "choices": list(asked.choices), "at_terminal": asked.at_terminal}


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
        text += f" It was sent back for that {returns} times already."
    return _put(leaving, run, "change", checkpoint, text, detail)


def _changed(checkpoint: str, files: Sequence[str]) -> str:
    return f"The review of {checkpoint} passed, and what it covers was changed since: {listed(files, NAMED)}."


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


def ask_at_limit(leaving: Leaving, run: Run, detail: dict[str, Any]) -> Move:
    """Put a step that failed as often as it may to a person, and wait."""
    name = leaving.step.id
    text = f"{name} ended with fail {run.iteration} times. accept goes on as if it had not; revise tries again."
    return _put(leaving, run, "limit", name, text, {**detail, "outcome": Outcome.FAIL})


def _named(run: Run, review: dict[str, Any]) -> str:
    """The open findings of a review, the first NAMED of them in words."""
    items = quality.blocking_now(review)
    named = [f"{item['id']} ({item['severity']}): {item['finding']:.200}" for item in items[:NAMED]]
    if len(items) > NAMED:
        named.append(f"and {len(items) - NAMED} more, which lockstep trace {run.id} --values shows")
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
