"""Who walks a random graph to get past its gates: it takes any outcome, answer, verdict and change that is admitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.gates.graphs import FILES
from benchmarks.gates.walking import UNSOUND
from skills.lib.engine import answers
from skills.lib.engine.decision import Move
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import ItemStatus

if TYPE_CHECKING:
    import random

    from benchmarks.gates.walking import World

# A walk that is not at its end by then is left there; so is a step that is not left by so many attempts.
MOST, ATTEMPTS = 40, 6
_SEVERITIES = ("MUST", "MUST", "SHOULD", "SHOULD", "COULD")
_STATUSES = ("PASS", "PASS", "PASS", "FAIL", "FAIL", "TODO")


def walk(world: World, rng: random.Random, most: int = MOST) -> list[World]:
    """Take whatever the engine admits until the run ends; the states on the way, as copies."""
    states: list[World] = []
    for _ in range(most):
        if world.run.ended:
            break
        states.append(world.fork())
        if rng.random() < 0.3:
            _change(world, rng)
        if not any(isinstance(_attempt(world, rng), Move) for _ in range(ATTEMPTS)):
            break
    return states


def _change(world: World, rng: random.Random) -> None:
    """Change a file, delete it, or put back what it was."""
    name, kind = rng.choice(FILES), rng.random()
    if kind < 0.1 and name != "one":
        world.tree.files.pop(name, None)
        world.trail.append(f"delete {name}")
    elif kind < 0.25:
        world.tree.files[name] = "#0"
        world.trail.append(f"put {name} back")
    else:
        world.change(name, rng.choice(("", UNSOUND)))


def _attempt(world: World, rng: random.Random) -> object:
    run, step = world.run, world.step
    if run.status == "waiting":
        choices = (run.question or {}).get("choices")
        actor = rng.choice(("agent", "person", "person"))
        return world.ask(actor, answer=rng.choice(choices or ["yes"]), reason="it may well be so")
    if world.left and rng.random() < 0.15:
        name = rng.choice(world.left).run.id
        return world.ask(**rng.choice(({"lost": name, "reason": "gone"}, {"replace": name})))
    for child in world.left:
        if child.run.status == "pending":
            child.open()
        walk_child(child, rng)
    fields: dict[str, Any] = {}
    if step.handler is None and len(step.next) > 1:
        fields["outcome"] = rng.choice(list(step.next)).value
    if rng.random() < 0.05:
        fields["step"] = rng.choice([*[other.id for other in world.workflow.steps], "done"])
    records = _records(world, rng)
    if records:
        fields["records"] = records
    return world.ask(**fields)


def walk_child(child: World, rng: random.Random) -> None:
    """Let a sub-agent act at random too; it may never reach its end."""
    for _ in range(MOST):
        if child.run.ended or not any(isinstance(_attempt(child, rng), Move) for _ in range(ATTEMPTS)):
            break


def _records(world: World, rng: random.Random) -> dict[str, Any]:
    run = world.run
    found: dict[str, Any] = {}
    for spec in world.step.requires:
        if not isinstance(spec, Field):
            continue
        if spec.type == "statements":
            said = [f"all | {run.id} {world.step.id} holds {at}" for at in range(rng.randint(1, 2))]
            found[spec.name] = "none: nothing to be stated" if rng.random() < 0.2 else said
        elif spec.type == "answers":
            found[spec.name] = [_judged(item, rng) for item in answers.to_answer(world.workflow, run).values()]
        elif spec.type == "items":
            known = answers.to_judge(world.workflow, run.spec) or [
                {"id": f"i{at}", "check": f"{run.id} holds {at}"} for at in range(rng.randint(1, 2))
            ]
            given = [{**_judged(item, rng), "check": item["check"]} for item in known]
            found[spec.name] = [{"severity": "MUST", **item} for item in given]
        elif spec.type == "list":
            among = FILES if spec.name == "files" else ("A", "B", "C")
            found[spec.name] = rng.sample(among, rng.randint(0, 2))
        else:
            found[spec.name] = rng.choice(("pass", "fail")) if spec.choices else "a word or two"
    open_items = [
        item["id"]
        for review in run.reviews.values()
        for item in review["items"]
        if item["status"] == ItemStatus.FAIL and not review.get("passed")
    ]
    if open_items and rng.random() < 0.7:
        how = rng.choice(("disputed | the finding is wrong", f"changed | {rng.choice(FILES)}"))
        found["fixes"] = [f"{name} | {how}" for name in dict.fromkeys(open_items)]
    return found


def _judged(item: dict[str, Any], rng: random.Random) -> dict[str, str]:
    severity = item.get("severity") or rng.choice(_SEVERITIES)
    reported = {"id": item["id"], "status": rng.choice(_STATUSES), "finding": "it is so", "severity": severity}
    return {**reported, "place": rng.choice(FILES)}
