"""Who walks a random graph to get past its gates, and who ends it honestly from wherever the other left it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.gates.walking import MUST, SHOULD
from skills.lib.workflow.decision import Move
from skills.lib.workflow.types import Outcome, Person

if TYPE_CHECKING:
    import random

    from benchmarks.gates.walking import World
    from skills.lib.workflow.core import Workflow

# A walk that is not at its end by then is left there.
MOST = 40
FILES = ("one", "two", "three", "other")


def walk(world: World, rng: random.Random) -> list[World]:
    """Take whatever the engine admits until the run ends; the states on the way, as copies."""
    states = []
    for _ in range(MOST):
        if world.run.ended:
            break
        states.append(world.fork())
        if rng.random() < 0.4:
            world.change(rng.choice(FILES))
        for _ in range(6):
            if isinstance(_attempt(world, rng), Move):
                break
        else:
            break
    return states


def _attempt(world: World, rng: random.Random) -> object:
    run, step = world.run, world.step
    if run.status == "waiting":
        choices = (run.question or {}).get("choices") or ["yes"]
        return world.ask(rng.choice(("agent", "person")), answer=rng.choice(choices), reason="it may well be so")
    fields: dict[str, Any] = {}
    if world.brood and not all(child.ended for child in world.brood):
        if rng.random() < 0.1:
            world.lose()
        else:
            verdicts = [(rng.choice((MUST, MUST, SHOULD)), rng.choice(("PASS", "FAIL"))) for _ in range(2)]
            world.judge(verdicts, rng.choice(FILES[:3]))
    if step.handler is None and len(step.next) > 1:
        fields["outcome"] = rng.choice(list(step.next)).value
    open_items = [
        item["id"]
        for review in run.reviews.values()
        for item in review["items"]
        if item["status"] == "FAIL" and not review.get("passed")
    ]
    if open_items and rng.random() < 0.7:
        how = rng.choice(("disputed | the finding is wrong", f"changed | {rng.choice(FILES)}"))
        fields["records"] = {"fixes": [f"{name} | {how}" for name in dict.fromkeys(open_items)]}
    return world.ask(**fields)


def bound(workflow: Workflow) -> int:
    """How many commands the honest way out may take: three for each step, and the bounds of loops and gates."""
    bounds = sum(step.max_iterations or 0 for step in workflow.steps)
    bounds += sum(step.gate.bound for step in workflow.steps if step.handler is not None and step.gate)
    return 3 * len(workflow.steps) + bounds


def end_honestly(world: World) -> str:
    """Go on with true reports and a person's answers; empty if the end is reached in time, else what stops it."""
    limit = bound(world.workflow)
    distance = _distances(world.workflow)
    changed = False
    while not world.run.ended and world.commands <= limit:
        run, step = world.run, world.step
        if run.status == "waiting":
            done = world.ask("person", answer=_answer(world, distance), reason="it was looked at")
        else:
            if world.brood and not all(child.ended for child in world.brood):
                world.judge([(MUST, "PASS")], "one")
            fields: dict[str, Any] = {}
            if step.handler is None and len(step.next) > 1:
                fields["outcome"] = min(step.next, key=lambda outcome: distance[step.next[outcome]]).value
            open_items = _open(world)
            if open_items and not changed:
                for name in ("one", "two", "three"):
                    world.change(name)
                changed = True
            if not open_items:
                changed = False
            done = world.ask(**fields)
        if not isinstance(done, Move):
            return f"{done} at {world.run.step}: {world.trail}"
    return "" if world.run.ended else f"not at the end after {world.commands} commands: {world.trail}"


def _open(world: World) -> list[str]:
    return [
        item["id"]
        for review in world.run.reviews.values()
        for item in review["items"]
        if item["status"] == "FAIL" and not review.get("passed") and not item.get("accepted")
    ]


def _answer(world: World, distance: dict[str | None, int]) -> str:
    asked, step = world.run.question or {}, world.step
    if asked.get("about"):
        return "accept"
    handler = step.handler
    assert isinstance(handler, Person)
    return min(handler.choices, key=lambda choice: distance[step.next.get(handler.choices[choice], step.id)])


def _distances(workflow: Workflow) -> dict[str | None, int]:
    """How many steps it is from each step to the end."""
    found: dict[str | None, int] = {None: 0}
    for _ in workflow.steps:
        for step in workflow.steps:
            ways = [
                found[target]
                for outcome, target in step.next.items()
                if target in found and outcome is not Outcome.FAIL
            ]
            ways += [found[target] for target in step.next.values() if target in found and not ways]
            if ways:
                found[step.id] = min(found.get(step.id, 10_000), 1 + min(ways))
    return {**dict.fromkeys([step.id for step in workflow.steps], 10_000), **found}
