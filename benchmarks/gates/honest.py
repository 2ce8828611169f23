"""Ends a run honestly from any state that the adversary left: true reports, and answers to the questions to a person.

A reviewer fails exactly the unsound files, and so does a command that judges. The work makes the files sound and
changes the file of each open finding; what it reports as fixed is fixed. If several outcomes may be
reported, or several answers given, it takes the one that is nearest to the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills.lib.engine import answers, fixes
from skills.lib.engine.decision import Move
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Outcome, Person

if TYPE_CHECKING:
    from benchmarks.gates.walking import World
    from skills.lib.workflow.core import StepDef, Workflow


def bound(workflow: Workflow) -> int:
    """How many commands the honest way out may take: three for each step, and the bounds of loops and gates."""
    bounds = sum(step.max_iterations or 0 for step in workflow.steps)
    bounds += sum(step.gate.bound for step in workflow.steps if step.handler is not None and step.gate)
    return 3 * len(workflow.steps) + bounds


def end(world: World) -> str:
    """Go on to the end; empty if it is reached in time, else what stops it. Each sub-agent's run has a bound too.

    Where the nearest way does not do, all honest ones are tried, the shortest first.
    """
    if world.run.status == "pending":
        world.open()
    first = world.fork()
    why = _nearest(world)
    if not why:
        return ""
    found = _shortest(first)
    if found is None:
        return why
    world.become(found)
    return ""


def _nearest(world: World) -> str:
    limit = bound(world.workflow)
    distance = _distances(world.workflow)
    while not world.run.ended and world.commands < limit:
        why = _end_children(world)
        if why:
            return why
        way, _ = min(_ways(world), key=lambda one: distance[one[1]])
        done = _ask(world, way)
        if not isinstance(done, Move):
            return f"{done} at {world.run.step}: {world.trail}"
    return "" if world.run.ended else f"not at the end after {world.commands} commands: {world.trail}"


def _shortest(world: World) -> World | None:
    """The run at its end after the fewest commands, or None if no choice of outcomes ends it in time."""
    level, seen = [world], set()
    for _ in range(bound(world.workflow)):
        onward = []
        for at in level:
            if _end_children(at):
                continue
            for choice, _ in _ways(at):
                other = at.fork()
                if not isinstance(_ask(other, choice), Move):
                    continue
                if other.run.ended:
                    return other
                key = repr(_decisive(other))
                if key not in seen:
                    seen.add(key)
                    onward.append(other)
        level = onward
    return None


def _decisive(world: World) -> object:
    """What the honest ways out of a state depend on."""
    run = world.run
    reviews = [{**review, "items": len(review["items"])} for review in run.reviews.values()]
    parts = [state.get("parts") for state in run.state.values()]
    return run.step, run.status, run.question, run.rounds, reviews, parts, world.tree.unsound()


def _end_children(world: World) -> str:
    for child in world.left:
        why = end(child)
        if why:
            return f"{child.run.id}: {why}"
    return ""


def _ways(world: World) -> list[tuple[dict[str, Any], str | None]]:
    """What may be reported or answered truthfully, each with the step that it leads to."""
    run, step = world.run, world.step
    asked = run.question or {}
    if run.status == "waiting" and asked.get("about"):
        return [({"answer": "accept"}, None), ({"answer": "revise"}, step.id)]
    if isinstance(step.handler, Person) and run.status == "waiting":
        return [({"answer": one}, step.next.get(outcome, step.id)) for one, outcome in step.handler.choices.items()]
    ways: list[tuple[dict[str, Any], str | None]] = [({}, None)]
    if step.handler is None and len(step.next) > 1:
        ways = [({"outcome": outcome.value}, target) for outcome, target in step.next.items()]
    if any(isinstance(spec, Field) and spec.name == "parts" for spec in step.requires):
        ways += [({**way, "parts": []}, step.id) for way, _ in ways]
    return ways


def _ask(world: World, way: dict[str, Any]) -> object:
    """Report or answer in that way, and truly in all else."""
    if world.run.status == "waiting":
        return world.ask("person", **way, reason="it was looked at")
    records = {**_records(world, world.step), **_fixes(world, world.step)}
    if "parts" in way:
        records["parts"] = way["parts"]
    fields: dict[str, Any] = {"outcome": way["outcome"]} if "outcome" in way else {}
    if records:
        fields["records"] = records
    return world.ask(**fields)


def _fixes(world: World, step: StepDef) -> dict[str, list[str]]:
    """Make the work sound before it is reviewed, change the file of each finding that is asked about, and report it.

    What another reported before of a finding may be wrong, so it is reported anew.
    """
    run = world.run
    found = []
    for checkpoint in fixes.asked_at(world.workflow, run, step):
        for item in fixes.open_findings(run)[checkpoint]:
            changed = item.get("file") or "one"
            world.change(changed)
            found.append(f"{fixes.name_of(run, checkpoint, item)} | changed | {changed}")
    if found or (step.handler is None and step.id.startswith(("work", "more"))):
        for name in world.tree.unsound():
            world.change(name)
    return {"fixes": found} if found else {}


def _records(world: World, step: StepDef) -> dict[str, Any]:
    run = world.run
    found: dict[str, Any] = {}
    for spec in step.requires:
        if not isinstance(spec, Field):
            continue
        if spec.type == "statements":
            found[spec.name] = [f"all | {run.id} {step.id} is sound"]
        elif spec.type == "answers":
            found[spec.name] = [_judged(world, item) for item in answers.to_answer(world.workflow, run).values()]
        elif spec.type == "items":
            known = answers.to_judge(world.workflow, run.spec) or [
                {"id": "sound", "check": f"{run.id} is sound", "severity": "MUST"}
            ]
            keep = ("check", "severity")
            found[spec.name] = [{**_judged(world, item), **{name: item[name] for name in keep}} for item in known]
        elif spec.type == "list":
            found[spec.name] = run.state.get(step.id, {}).get(spec.name) or ["one" if spec.name == "files" else "A"]
        else:
            found[spec.name] = "pass" if spec.choices else f"looked at it {run.turn} times"
    return found


def _judged(world: World, item: dict[str, Any]) -> dict[str, str]:
    """What is true of an item: it fails while a file that the review covers is unsound."""
    covers = world.run.spec.get("covers")
    bad = world.tree.unsound(covers)
    there = bad or list(world.tree.covered(covers or ()))
    reported = {"id": item["id"], "place": there[0] if there else "one"}
    if not bad:
        return {**reported, "status": "PASS", "finding": "it is sound"}
    severity = {} if item.get("severity") else {"severity": "MUST"}
    return {**reported, "status": "FAIL", "finding": f"{bad[0]} is unsound", **severity}


def _distances(workflow: Workflow) -> dict[str | None, int]:
    """How many steps it is from each step to the end, by FAIL only if there is no other way."""
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
