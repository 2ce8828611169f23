"""Random graphs with reviews, gates, loops and people, seeded; many are of the kind that validation admits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import AgentRole, Dispatch, Gate, Outcome, Person

if TYPE_CHECKING:
    import random

OK, FAIL, SKIP, ITERATE = Outcome.OK, Outcome.FAIL, Outcome.SKIP, Outcome.ITERATE
# Each review covers one or two of these files.
FILES = ("one", "two", "three")
WHEN = dict.fromkeys(Outcome, "it is so")


def graph(rng: random.Random) -> Workflow:
    """One workflow of three to some twelve steps."""
    steps: list[dict[str, Any]] = []
    names: list[str] = []
    for part in range(rng.randint(1, 3)):
        _segment(rng, part, steps)
    steps.append({"id": "last", "next": {OK: None}})
    if rng.random() < 0.3:
        steps[-1]["next"] = {OK: None, FAIL: rng.choice(steps)["id"]}
        steps[-1]["max_iterations"] = rng.randint(1, 3)
    names = [step["id"] for step in steps]
    for at, step in enumerate(steps[:-1]):
        step["next"] = {outcome: names[at + 1] if target == "+" else target for outcome, target in step["next"].items()}
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        _disturb(rng, steps, names)
    return Workflow("random", *[_step(step) for step in steps])


def _step(fields: dict[str, Any]) -> StepDef:
    told = WHEN if fields.get("handler") is None and len(fields["next"]) > 1 else {}
    return StepDef(
        fields["id"],
        fields["id"],
        "Do it.",
        fields["next"],
        fields.get("handler"),
        when={outcome: text for outcome, text in told.items() if outcome in fields["next"]},
        max_iterations=fields.get("max_iterations"),
        at_limit=fields.get("at_limit", OK),
    )


def _segment(rng: random.Random, part: int, steps: list[dict[str, Any]]) -> None:
    """Work, perhaps a loop or a person, and a review with its gate; "+" is the step that follows."""
    work, checkpoint = f"work{part}", f"c{part if rng.random() < 0.8 else max(0, part - 1)}"
    steps.append({"id": work, "next": {OK: "+"}})
    kind = rng.random()
    if kind < 0.2:
        steps.append({"id": f"loop{part}", "next": {OK: "+", ITERATE: work}, "max_iterations": rng.randint(1, 3)})
    elif kind < 0.35:
        asked = Person("Is it good?", {"yes": OK, "no": FAIL})
        steps.append({"id": f"ask{part}", "next": {OK: "+", FAIL: work}, "handler": asked})
    elif kind < 0.45:
        steps.append({"id": f"pick{part}", "next": {OK: "+", SKIP: work}})
    covers = rng.sample(FILES, rng.randint(1, 2)) if rng.random() < 0.6 else []
    review = f"review{part}"
    dispatch = Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint=checkpoint, covers=covers)
    if rng.random() < 0.15:
        steps.append({"id": review, "next": {OK: "+", FAIL: work}, "handler": dispatch})
        return
    steps.append({"id": review, "next": {OK: "+"}, "handler": dispatch})
    if rng.random() < 0.15:
        steps.append({"id": f"between{part}", "next": {OK: "+"}})
    stale = (rng.choice((review, work)) if rng.random() < 0.9 else None) if covers else None
    gate = Gate(checkpoint, rng.randint(1, 3), stale)
    steps.append({"id": f"gate{part}", "next": {OK: "+", FAIL: work}, "handler": gate})
    if rng.random() < 0.15:
        asked = Person("Go on?", {"yes": OK, "no": FAIL})
        steps[-1]["next"][FAIL] = f"judge{part}"
        steps.append({"id": f"judge{part}", "next": {OK: "+", FAIL: work}, "handler": asked})


def _disturb(rng: random.Random, steps: list[dict[str, Any]], names: list[str]) -> None:
    """Lead one step elsewhere, or give it one more way."""
    step = rng.choice(steps)
    target = rng.choice((*names, None))
    handler = step.get("handler")
    if isinstance(handler, (Person, Gate)):
        step["next"][rng.choice((OK, FAIL))] = target
    elif handler is not None:
        step["next"][OK] = target
    else:
        step["next"][rng.choice((OK, SKIP))] = target
