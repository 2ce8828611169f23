"""Random graphs with reviews, gates, loops, people and sub-workflows, seeded; many are such that validation admits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Command, Field
from skills.lib.workflow.types import (
    AgentRole,
    Before,
    Check,
    Dispatch,
    Gate,
    NeverEndsFailed,
    Outcome,
    Passes,
    Person,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping

    Steps = list[dict[str, Any]]

OK, FAIL, SKIP, ITERATE = Outcome.OK, Outcome.FAIL, Outcome.SKIP, Outcome.ITERATE
# The files of every world, and what a review may cover of them.
FILES = ("one", "two", "three", "src/a", "src/b", "other")
PATTERNS = ("one", "two", "three", "src/**")
WHEN = dict.fromkeys(Outcome, "it is so")
JUDGE, AGAIN, PART = "judge.py", "again.py", "part.py"
_ASKED = {"yes": OK, "no": FAIL}


class Graph(NamedTuple):
    """A workflow with the workflows of the scripts that it dispatches, by name."""

    workflow: Workflow
    scripts: Mapping[str, Workflow]


def graph(rng: random.Random) -> Graph:
    """A workflow of three to some twenty steps."""
    scripts = {JUDGE: _judge(), AGAIN: _again(rng), PART: _workflow(rng, "part", _steps(rng, 1, nested=True))}
    steps = _steps(rng, rng.randint(1, 3))
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        _disturb(rng, steps)
    return Graph(_workflow(rng, "random", steps), scripts)


def _workflow(rng: random.Random, name: str, steps: Steps) -> Workflow:
    names = [step["id"] for step in steps]
    always: list[Before | Passes | NeverEndsFailed] = []
    if rng.random() < 0.2:
        handlers = [step["handler"] for step in steps if step.get("handler")]
        checkpoints = [handler.checkpoint for handler in handlers if isinstance(handler, Gate)]
        always.append(rng.choice((Passes(rng.choice(names)), Before(*sorted(rng.sample(names, 2), key=names.index)))))
        always += [NeverEndsFailed(rng.choice(checkpoints))] if checkpoints and rng.random() < 0.5 else []
    return Workflow(name, *[_step(step) for step in steps], always=always)


def _step(fields: dict[str, Any]) -> StepDef:
    when = WHEN if fields.get("handler") is None and len(fields["next"]) > 1 else {}
    return StepDef(
        fields["id"],
        fields["id"],
        "Do it.",
        fields["next"],
        fields.get("handler"),
        requires=fields.get("requires", ()),
        when={outcome: text for outcome, text in when.items() if outcome in fields["next"]},
        max_iterations=fields.get("max_iterations"),
        at_limit=fields.get("at_limit", OK),
    )


def _judge() -> Workflow:
    split = StepDef("split", "Split", "Split.", {OK: "tell"}, requires=[Field("statements", "statements")])
    return Workflow("judge", split, StepDef("tell", "Tell", "Tell.", {OK: None}, requires=_answers()))


def _again(rng: random.Random) -> Workflow:
    """A reviewer's workflow that verifies again from another step on; a command judges in some."""
    runs = [Command(["true"], severity=rng.choice(("MUST", "SHOULD")))] if rng.random() < 0.5 else []
    return Workflow(
        "again",
        StepDef("first", "First", "Split.", {OK: "second"}, requires=[Field("statements", "statements")]),
        StepDef("second", "Second", "Split.", {OK: "tell"}, requires=[Field("more", "statements")]),
        StepDef("tell", "Tell", "Tell.", {OK: None}, requires=[*runs, *_answers()]),
        reverify="tell",
    )


def _answers() -> list[Field]:
    return [Field("answers", "answers")]


def _steps(rng: random.Random, parts: int, nested: bool = False) -> Steps:
    steps: Steps = []
    for part in range(parts):
        _segment(rng, part, f"work{part + 1}" if part + 1 < parts else "last", steps, nested)
    steps.append({"id": "last", "next": {OK: None}})
    if rng.random() < 0.3:
        steps[-1]["next"] = {OK: None, FAIL: rng.choice(steps)["id"]}
        steps[-1]["max_iterations"] = rng.randint(1, 3)
    elif nested and rng.random() < 0.3:
        steps[-1]["next"] = {OK: None, FAIL: None}
    names = [step["id"] for step in steps]
    for at, step in enumerate(steps[:-1]):
        step["next"] = {outcome: names[at + 1] if target == "+" else target for outcome, target in step["next"].items()}
    return steps


def _segment(rng: random.Random, part: int, after: str, steps: Steps, nested: bool) -> None:
    """Work, perhaps loops, people or a sub-workflow, and a review with its gate; "+" is the step that follows."""
    work = f"work{part}"
    steps.append({"id": work, "next": {OK: "+"}, "requires": []})
    for kind in rng.choices(("", "loop", "self", "pick", "ask", "prepare", "bounded", "part"), k=rng.choice((1, 1, 2))):
        if kind and not (nested and kind == "part") and steps[-1]["id"] != f"{kind}{part}":
            steps.append(_between(rng, kind, part, work))
    _review(rng, part, work, after, steps)
    if rng.random() < 0.15:
        # A second gate of the checkpoint: behind a review of its own, or none.
        steps.append({"id": f"more{part}", "next": {OK: "+"}})
        gate = next((step["handler"] for step in reversed(steps) if isinstance(step.get("handler"), Gate)), None)
        first = next(step for step in reversed(steps) if isinstance(step.get("handler"), Dispatch))
        if rng.random() < 0.8:
            steps.append({**first, "id": f"again{part}", "next": {**first["next"], OK: "+"}})
        if gate is not None:
            steps.append({"id": f"second{part}", "next": {OK: "+", FAIL: f"more{part}"}, "handler": gate})


def _between(rng: random.Random, kind: str, part: int, work: str) -> dict[str, Any]:
    step: dict[str, Any] = {"id": f"{kind}{part}", "next": {OK: "+"}}
    if kind in ("loop", "self"):
        step["next"][ITERATE] = work if kind == "loop" else step["id"]
        step["max_iterations"] = rng.randint(1, 3)
    elif kind == "pick":
        step["next"][SKIP] = work
    elif kind in ("ask", "prepare"):
        step["next"][FAIL] = work
        step["handler"] = Person("Is it good?", _ASKED, at_terminal=rng.random() < 0.3)
        step["requires"] = [Field("note")] if kind == "prepare" else []
    elif kind == "bounded":
        step["next"][FAIL] = work
        step["max_iterations"] = rng.randint(1, 3)
        if rng.random() < 0.5:
            step["next"][SKIP] = "+"
            step["at_limit"] = SKIP
    else:
        step["handler"] = Dispatch(AgentRole.DEVELOPER, script=PART, targets=rng.choice(((), ("A", "B"))))
        if rng.random() < 0.5:
            step["next"][FAIL] = work
            step["max_iterations"] = rng.randint(1, 3)
    return step


def _review(rng: random.Random, part: int, work: str, after: str, steps: Steps) -> None:
    asked = next(step for step in steps if step["id"] == work)["requires"]
    checkpoint = f"c{part if rng.random() < 0.8 else max(0, part - 1)}"
    fields: dict[str, Any] = {}
    skips: dict[Outcome, str] = {}
    if rng.random() < 0.65:
        fields["covers"] = rng.sample(PATTERNS, rng.randint(1, 2))
        if rng.random() < 0.15:
            fields["covers"].append(f"{{{work}.files}}")
            asked.append(Field("files", "list"))
    kind = rng.random()
    if kind < 0.2:
        fields["targets"] = ("A", "B")
    elif kind < 0.35:
        fields["targets"], skips = f"{work}.parts", {SKIP: after}
        asked.append(Field("parts", "list"))
    if rng.random() < 0.35:
        over = rng.choice(((), ("X", "Y"), f"{work}.parts" if kind >= 0.2 and skips else ("X",)))
        fields["checks"] = [Check("keeps", rng.choice(("MUST", "SHOULD")), "it keeps", over)]
        fields["checks"] += [Check("reads", "COULD", "it reads")] if rng.random() < 0.3 else []
        fields["checks"] = fields["checks"][-1:] if rng.random() < 0.2 else fields["checks"]
    fields["script"] = rng.choice((None, None, JUDGE, AGAIN))
    review = f"review{part}"
    dispatch = Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint=checkpoint, **fields)
    if rng.random() < 0.12:
        steps.append({"id": review, "next": {OK: "+", FAIL: work, **skips}, "handler": dispatch})
        return
    steps.append({"id": review, "next": {OK: "+", **skips}, "handler": dispatch})
    if rng.random() < 0.1:
        steps.append({"id": f"between{part}", "next": {OK: "+"}})
    stale = (rng.choice((review, work)) if rng.random() < 0.95 else None) if dispatch.covers else None
    gate = Gate(checkpoint, rng.choice((1, 2, 3, 5)), stale)
    steps.append({"id": f"gate{part}", "next": {OK: "+", FAIL: work}, "handler": gate})
    if rng.random() < 0.15:
        steps[-1]["next"][FAIL] = f"judge{part}"
        steps.append({"id": f"judge{part}", "next": {OK: "+", FAIL: work}, "handler": Person("Go on?", _ASKED)})


def _disturb(rng: random.Random, steps: Steps) -> None:
    """Lead one step elsewhere, or give it one more way."""
    step = rng.choice(steps)
    target = rng.choice((*[other["id"] for other in steps], None))
    handler = step.get("handler")
    if isinstance(handler, (Person, Gate)):
        step["next"][rng.choice((OK, FAIL))] = target
    elif handler is not None:
        step["next"][OK] = target
    else:
        step["next"][rng.choice((OK, SKIP))] = target


def features(made: Graph) -> set[str]:
    """What the graph has, read from its workflows."""
    used = {script_of(step) for step in made.workflow.steps}
    found = set(_features(made.workflow, made.scripts))
    if PART in used:
        found.add("a sub-workflow")
        found |= {f"a sub-workflow with {what}" for what in ("a review",) if _reviews(made.scripts[PART])}
    return found


def script_of(step: StepDef) -> str | None:
    """The script that a step's sub-agents run, if they run any."""
    return step.handler.script if isinstance(step.handler, Dispatch) else None


def _reviews(workflow: Workflow) -> list[StepDef]:
    return [step for step in workflow.steps if step.checkpoint and step.handler is not None]


def _features(workflow: Workflow, scripts: Mapping[str, Workflow]) -> Iterator[str]:
    gates = [step.handler.checkpoint for step in workflow.steps if isinstance(step.handler, Gate)]
    if len({step.checkpoint for step in _reviews(workflow)}) > 1:
        yield "several checkpoints"
    if len(set(gates)) < len(gates):
        yield "several gates of a checkpoint"
    if _is_nested(workflow):
        yield "a loop in a loop"
    if workflow.always:
        yield "properties under always"
    for step in workflow.steps:
        handler = step.handler
        if isinstance(handler, Person):
            yield "a person at a terminal" if handler.at_terminal else "a person"
            if step.asks_later:
                yield "a person who is asked once the step's work is done"
        elif isinstance(handler, Gate) and handler.stale:
            yield "a route for a fallen verdict"
        elif isinstance(handler, Dispatch) and step.checkpoint:
            yield from _of_review(step, handler, scripts)
        if step.max_iterations and FAIL in step.next and step.gate is None:
            yield "a bounded FAIL with a route at its limit" if step.at_limit is SKIP else "a bounded FAIL"


def _of_review(step: StepDef, dispatch: Dispatch, scripts: Mapping[str, Workflow]) -> Iterator[str]:
    yield "a reviewer with a script" if dispatch.script else "a free-form reviewer"
    workflow = scripts.get(dispatch.script or "")
    if workflow is not None and workflow.reverify:
        yield "a reviewer that verifies again from another step"
        if any(isinstance(spec, Command) for one in workflow.steps for spec in one.requires):
            yield "a command that judges"
    if step.gate:
        yield "a review that is its own gate"
    if dispatch.covers:
        yield "covered files"
    if any("{" in text for text in dispatch.covers):
        yield "covered files that are recorded"
    if dispatch.targets:
        yield "several reviewers"
    if isinstance(dispatch.targets, str):
        yield "reviewers of recorded targets, perhaps none"
    if dispatch.checks:
        yield "checks that reviewers must make"


def _is_nested(workflow: Workflow) -> bool:
    """True if one step's way back, by ITERATE or FAIL, lies within another's."""
    at = {step.id: number for number, step in enumerate(workflow.steps)}
    back = [
        (at[target], at[step.id])
        for step in workflow.steps
        for outcome, target in step.next.items()
        if outcome in (ITERATE, FAIL) and target is not None and at[target] <= at[step.id]
    ]
    return any(one != other and one[0] <= other[0] <= other[1] <= one[1] for one in back for other in back)
