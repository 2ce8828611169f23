"""Small changes to a workflow, as a slip of its author makes them: each kind yields every place for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import Dispatch, Gate, Outcome, Person, Rendered

OK, FAIL, SKIP, ITERATE, DEFAULT = Outcome.OK, Outcome.FAIL, Outcome.SKIP, Outcome.ITERATE, Outcome.DEFAULT


@dataclass(frozen=True)
class Subject:
    """A workflow with its file, and the workflows of its skill by their files."""

    workflow: Workflow
    file: str
    family: Mapping[str, Workflow]

    def child_of(self, step: StepDef) -> tuple[str, Workflow] | None:
        """The file and the workflow of the sub-agents that the step starts."""
        script = step.handler.script if isinstance(step.handler, Dispatch) else None
        file = _beside(self.file, script).removesuffix(".py") + "_workflow.py" if script else ""
        return (file, self.family[file]) if file in self.family else None


@dataclass(frozen=True)
class Mutant:
    """A change that can be made: ``build`` gives the workflows that it replaces, by file."""

    about: str
    build: Callable[[], Mapping[str, Workflow]]


Kind = Callable[[Subject], Iterator[Mutant]]
KINDS: dict[str, Kind] = {}
# Kinds for which the rules over a folder of skills are run too.
TREE_KINDS: set[str] = set()


def kind(name: str, *, tree: bool = False) -> Callable[[Kind], Kind]:
    def add(function: Kind) -> Kind:
        KINDS[name] = function
        if tree:
            TREE_KINDS.add(name)
        return function

    return add


# -- rebuilding


def workflow_with(workflow: Workflow, steps: Iterable[StepDef] | None = None, **changes: Any) -> Workflow:
    fields = {**workflow.fields(), **changes}
    made = list(steps if steps is not None else workflow.steps)
    name = fields.pop("name")
    fields.pop("steps")
    if fields["start"] == workflow.steps[0].id and "start" not in changes:
        fields["start"] = None
    return Workflow(name, *made, **fields)


def step_with(step: StepDef, **changes: Any) -> StepDef:
    return StepDef(**{**step.fields(), **changes})


def dispatch_with(step: StepDef, **changes: Any) -> StepDef:
    assert isinstance(step.handler, Dispatch)
    fields = {**step.handler.fields(), **changes}
    return step_with(step, handler=Dispatch(fields.pop("agent"), **fields))


def replaced(subject: Subject, step: StepDef, *others: StepDef) -> Mapping[str, Workflow]:
    """The workflow with other steps in the place of one."""
    steps = [one for old in subject.workflow.steps for one in (others if old is step else (old,))]
    return {subject.file: workflow_with(subject.workflow, steps)}


def of_step(subject: Subject, step: StepDef, about: str, /, **changes: Any) -> Mutant:
    return Mutant(
        f"{subject.workflow.name}:{step.id} {about}", lambda: replaced(subject, step, step_with(step, **changes))
    )


def of_dispatch(subject: Subject, step: StepDef, about: str, /, **changes: Any) -> Mutant:
    return Mutant(
        f"{subject.workflow.name}:{step.id} {about}", lambda: replaced(subject, step, dispatch_with(step, **changes))
    )


def of_workflow(subject: Subject, about: str, /, steps: Iterable[StepDef] | None = None, **changes: Any) -> Mutant:
    return Mutant(
        f"{subject.workflow.name} {about}", lambda: {subject.file: workflow_with(subject.workflow, steps, **changes)}
    )


def of_requirement(subject: Subject, step: StepDef, old: Any, new: Any, about: str) -> Mutant:
    requires = [one for spec in step.requires for one in ((new,) if spec is old else (spec,)) if one is not None]
    return of_step(subject, step, about, requires=requires)


def spec_with(spec: Any, **changes: Any) -> Any:
    return type(spec)(**{**spec.fields(), **changes})


def renamed(workflow: Workflow, step_id: str, name: str) -> list[StepDef]:
    """The steps with one renamed wherever it is led to or read."""
    made = []
    for step in workflow.steps:
        ways = {outcome: name if target == step_id else target for outcome, target in step.next.items()}
        needs = [re.sub(rf"^{re.escape(step_id)}\.", f"{name}.", need) for need in step.needs]
        made.append(step_with(step, id=name if step.id == step_id else step.id, next=ways, needs=needs))
    return made


def misspelt(name: str) -> str:
    """The name with two letters of its middle swapped, or one doubled."""
    at = len(name) // 2
    swapped = name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :] if len(name) > 2 else name * 2
    return swapped if swapped != name else name[:at] + name[at] + name[at:]


def _beside(file: str, name: str) -> str:
    import os

    return os.path.normpath(os.path.join(os.path.dirname(file), name))


def fields_of(step: StepDef) -> list[Field]:
    return [spec for spec in step.requires if isinstance(spec, Field)]


def is_work(step: StepDef) -> bool:
    return not isinstance(step.handler, (Dispatch, Gate, Person))


def dispatches(subject: Subject) -> Iterator[tuple[StepDef, Dispatch]]:
    for step in subject.workflow.steps:
        if isinstance(step.handler, Dispatch):
            yield step, step.handler


def routes(subject: Subject) -> Iterator[tuple[StepDef, Outcome, str | None]]:
    for step in subject.workflow.steps:
        for outcome, target in step.next.items():
            yield step, outcome, target


def in_review(subject: Subject, step: StepDef) -> bool:
    """Whether the step reviews or decides on a review."""
    return bool(step.checkpoint or step.gate)


# -- routes


@kind("drop a route")
def _(subject: Subject) -> Iterator[Mutant]:
    for step, outcome, _ in routes(subject):
        ways = {key: value for key, value in step.next.items() if key is not outcome}
        if not in_review(subject, step):
            when = {key: value for key, value in step.when.items() if key in ways}
            yield of_step(subject, step, f"loses {outcome}", next=ways, when=when)


def retargeting(name: str, target: Callable[[Subject, StepDef, str | None], Any]) -> None:
    @kind(name)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step, outcome, old in routes(subject):
            new = target(subject, step, old)
            if new is not ... and new != old and not in_review(subject, step):
                yield of_step(subject, step, f"{outcome} leads to {new}", next={**step.next, outcome: new})


def _after(subject: Subject, step_id: str | None) -> Any:
    """Where the first route of a step leads, which a slip may lead to at once."""
    step = next((one for one in subject.workflow.steps if one.id == step_id), None)
    return next(iter(step.next.values())) if step and not in_review(subject, step) else ...


retargeting("misspell a target", lambda subject, step, old: misspelt(old) if old else ...)
retargeting("lead a route to a step that never was", lambda subject, step, old: "nowhere-at-all")
retargeting("lead a route to the start", lambda subject, step, old: subject.workflow.start)
retargeting("lead a route to its own step", lambda subject, step, old: step.id)
retargeting("lead a route to the end", lambda subject, step, old: None)
retargeting("write a word for the end", lambda subject, step, old: "done" if old is None else ...)
retargeting("lead a route past a step", lambda subject, step, old: _after(subject, old))


@kind("swap two routes")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        if len(step.next) > 1 and not in_review(subject, step):
            (one, first), (other, second), *rest = step.next.items()
            yield of_step(subject, step, f"swaps {one} and {other}", next={one: second, other: first, **dict(rest)})


@kind("drop all routes")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        if not in_review(subject, step):
            yield of_step(subject, step, "leads nowhere", next={}, when={})


@kind("add a loop that nothing bounds")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        if step.handler is None and ITERATE not in step.next:
            ways = {**step.next, ITERATE: step.id}
            yield of_step(subject, step, "loops", next=ways, when=dict.fromkeys(ways, "it is so"), max_iterations=None)


@kind("add a route that is never taken")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        given = step.handler.choices.values() if isinstance(step.handler, Person) else ()
        decided = isinstance(step.handler, (Gate, Person, Dispatch)) and not step.function
        if decided and ITERATE not in (*step.next, *given):
            yield of_step(subject, step, "may iterate", next={**step.next, ITERATE: step.id})


@kind("route by an outcome that the handler does not give")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        if step.function and OK in step.next and FAIL not in step.next and not in_review(subject, step):
            ways = {FAIL if key is OK else key: target for key, target in step.next.items()}
            yield of_step(subject, step, "ok becomes fail", next=ways, when={})


# -- ids


def renaming(name: str, new: Callable[[Workflow, StepDef], str | None]) -> None:
    @kind(name)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step in subject.workflow.steps:
            other = new(subject.workflow, step)
            if other and not in_review(subject, step) and step.handler is None:
                yield of_workflow(
                    subject,
                    f"{step.id} becomes {other}",
                    renamed(subject.workflow, step.id, other),
                    params=_led(subject, step.id, other),
                )


def _led(subject: Subject, step_id: str, name: str) -> list[Arg]:
    return [spec_with(arg, step=name) if arg.step == step_id else arg for arg in subject.workflow.params]


renaming("give a step the number as id", lambda workflow, step: str(workflow.number(step.id)))
renaming("give a step a reserved id", lambda workflow, step: "done")
renaming("give a step an id with a space", lambda workflow, step: f"{step.id} now")
renaming(
    "give a step the id of another in capitals",
    lambda workflow, step: workflow.steps[0].id.upper() if step is not workflow.steps[0] else None,
)


@kind("rename a step and not what leads there")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        if not in_review(subject, step):
            yield of_step(subject, step, "is renamed", id=misspelt(step.id))


@kind("give two steps one id")
def _(subject: Subject) -> Iterator[Mutant]:
    for before, step in zip(subject.workflow.steps, subject.workflow.steps[1:], strict=False):
        if not in_review(subject, step):
            yield of_step(subject, step, f"is called {before.id}", id=before.id)


@kind("delete a step")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        if not in_review(subject, step) and len(subject.workflow.steps) > 1:
            yield Mutant(f"{subject.workflow.name}:{step.id} is deleted", partial(replaced, subject, step))


@kind("misspell the start")
def _(subject: Subject) -> Iterator[Mutant]:
    yield of_workflow(subject, "starts nowhere", start=misspelt(subject.workflow.start))


@kind("start at a later step")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps[1:3]:
        yield of_workflow(subject, f"starts at {step.id}", start=step.id)


# -- values


@kind("drop a field")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        for spec in fields_of(step):
            yield of_requirement(subject, step, spec, None, f"loses {spec.name}")


@kind("rename a field")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        for spec in fields_of(step):
            new = spec_with(spec, name=misspelt(spec.name))
            yield of_requirement(subject, step, spec, new, f"{spec.name} becomes {new.name}")


@kind("move a field to a later step")
def _(subject: Subject) -> Iterator[Mutant]:
    for step, later in zip(subject.workflow.steps, subject.workflow.steps[1:], strict=False):
        for spec in fields_of(step):
            if later.automatic or not is_work(later) or any(one.name == spec.name for one in fields_of(later)):
                continue
            steps = [
                step_with(one, requires=[old for old in one.requires if old is not spec])
                if one is step
                else step_with(one, requires=[spec, *one.requires])
                if one is later
                else one
                for one in subject.workflow.steps
            ]
            yield of_workflow(subject, f"{step.id}.{spec.name} moves to {later.id}", steps)


def needing(name: str, new: Callable[[Subject, StepDef, str], str | None]) -> None:
    @kind(name)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step in subject.workflow.steps:
            for need in step.needs:
                other = new(subject, step, need)
                if other:
                    needs = [other if one == need else one for one in step.needs]
                    yield of_step(subject, step, f"needs {other} for {need}", needs=needs)


needing("misspell a value that is needed", lambda subject, step, need: need[:-1] + misspelt(need[-3:])[-1] + "x")
needing(
    "misspell the step of a value that is needed",
    lambda subject, step, need: f"{misspelt(need.partition('.')[0])}.{need.partition('.')[2]}" if "." in need else None,
)


@kind("need a value of a later step")
def _(subject: Subject) -> Iterator[Mutant]:
    steps = subject.workflow.steps
    for at, step in enumerate(steps):
        for later in steps[at + 1 :]:
            for spec in fields_of(later)[:1]:
                if f"{later.id}.{spec.name}" not in step.needs and not _leads_back(subject.workflow, later.id, step.id):
                    yield of_step(subject, step, f"needs {later.id}", needs=[*step.needs, f"{later.id}.{spec.name}"])


def _leads_back(workflow: Workflow, origin: str, goal: str) -> bool:
    seen, stack = set(), [origin]
    while stack:
        step_id = stack.pop()
        for target in workflow.step(step_id).next.values():
            if target == goal:
                return True
            if target and target not in seen and workflow.has(target):
                seen.add(target)
                stack.append(target)
    return False


@kind("need no value any more")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        for need in step.needs:
            yield of_step(subject, step, f"does not need {need}", needs=[one for one in step.needs if one != need])


def respecifying(name: str, change: Callable[[Field], dict[str, Any] | None]) -> None:
    @kind(name)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step in subject.workflow.steps:
            for spec in fields_of(step):
                changes = change(spec)
                if changes is not None:
                    new = spec_with(spec, **changes)
                    yield of_requirement(subject, step, spec, new, f"{spec.name} {changes}")


respecifying(
    "swap the bounds of a field",
    lambda spec: (
        {"minimum": spec.maximum, "maximum": spec.minimum or 1}
        if spec.maximum and (spec.minimum or 1) < spec.maximum and spec.type in ("text", "list", "int")
        else None
    ),
)
respecifying("make a text with choices a number", lambda spec: {"type": "int"} if spec.choices else None)
respecifying("repeat a choice", lambda spec: {"choices": [*spec.choices, spec.choices[0]]} if spec.choices else None)
respecifying("add a blank choice", lambda spec: {"choices": [*spec.choices, " "]} if spec.choices else None)


@kind("make the list of a dispatch a text")
def _(subject: Subject) -> Iterator[Mutant]:
    for _, dispatch in dispatches(subject):
        for step in subject.workflow.steps:
            for spec in fields_of(step):
                if dispatch.targets == f"{step.id}.{spec.name}":
                    new = Field(spec.name, help=spec.help)
                    yield of_requirement(subject, step, spec, new, f"{spec.name} is a text")


@kind("ask for one name twice")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        for spec in fields_of(step)[:2]:
            yield of_step(subject, step, f"asks for {spec.name} twice", requires=[*step.requires, Field(spec.name)])


@kind("name a value like a secret")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        for spec in fields_of(step):
            name, key = f"{spec.name}_token", f"{step.id}.{spec.name}"
            if any(key in one.needs for one in subject.workflow.steps if one is not step):
                steps = [
                    step_with(
                        one,
                        needs=[f"{step.id}.{name}" if need == key else need for need in one.needs],
                        requires=[spec_with(spec, name=name) if old is spec else old for old in one.requires],
                    )
                    for one in subject.workflow.steps
                ]
                yield of_workflow(subject, f"{key} is called {name}", steps)


# -- parameters


def parametrizing(name: str, change: Callable[[Subject, Arg], Arg | str | None]) -> None:
    @kind(name, tree=True)
    def _(subject: Subject) -> Iterator[Mutant]:
        for arg in subject.workflow.params:
            new = change(subject, arg)
            if isinstance(new, str):
                continue
            params = [one for old in subject.workflow.params for one in ((new,) if old is arg else (old,)) if one]
            yield of_workflow(subject, f"--{arg.name}: {name}", params=params)


parametrizing("drop a parameter", lambda subject, arg: None)
parametrizing("rename a parameter", lambda subject, arg: spec_with(arg, name=misspelt(arg.name)))
parametrizing("ask for a parameter at no step", lambda subject, arg: spec_with(arg, step="nowhere-at-all"))
parametrizing(
    "swap the bounds of a parameter",
    lambda subject, arg: (
        spec_with(arg, minimum=arg.maximum, maximum=1, default=None, required=False)
        if arg.maximum and arg.maximum > 1
        else ""
    ),
)
parametrizing(
    "make the choices of a parameter numbers",
    lambda subject, arg: spec_with(arg, type="int", default=None) if arg.choices else "",
)


@kind("add a parameter that nobody reads")
def _(subject: Subject) -> Iterator[Mutant]:
    params = [*subject.workflow.params, Arg("forgotten", required=False)]
    yield of_workflow(subject, "asks for --forgotten", params=params)


@kind("misspell a name in closing")
def _(subject: Subject) -> Iterator[Mutant]:
    closing = subject.workflow.closing
    for arg in subject.workflow.run_params():
        said = f"{closing} It was about {{{misspelt(arg.name)}}}."
        yield of_workflow(subject, f"closing names {misspelt(arg.name)}", closing=said)


# -- evidence


def requiring(name: str, change: Callable[[StepDef, Any], Any]) -> None:
    @kind(name)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step in subject.workflow.steps:
            for spec in step.requires:
                new = change(step, spec)
                if new is not None:
                    yield of_requirement(subject, step, spec, new, name)


def _argv(spec: Any, at: int, change: Callable[[str], str]) -> Command | None:
    if not isinstance(spec, Command) or len(spec.argv) <= at:
        return None
    argv = [change(part) if place == at else part for place, part in enumerate(spec.argv)]
    return spec_with(spec, argv=argv) if tuple(argv) != spec.argv else None


def _brace(text: str) -> str:
    return re.sub(r"\{([\w.-]+)\}", lambda found: f"{{{misspelt(found[1])}}}", text, count=1)


def _braced(spec: Any) -> Command | None:
    at = next((at for at, part in enumerate(spec.argv) if "{" in part), None) if isinstance(spec, Command) else None
    return None if at is None else _argv(spec, at, _brace)


requiring(
    "misspell the script of a command",
    lambda step, spec: _argv(spec, 0, lambda name: misspelt(name.removesuffix(".py")) + ".py"),
)
requiring("have a command always pass", lambda step, spec: Command(["true"]) if isinstance(spec, Command) else None)
requiring("misspell a name in a command", lambda step, spec: _braced(spec))
requiring(
    "misspell a name in the path of a file",
    lambda step, spec: (
        spec_with(spec, path=_brace(spec.path)) if isinstance(spec, Artifact) and "{" in spec.path else None
    ),
)
requiring(
    "ask for a file outside of the project",
    lambda step, spec: spec_with(spec, path="../report.md") if isinstance(spec, Artifact) else None,
)
requiring(
    "give a file a schema that is none",
    lambda step, spec: spec_with(spec, schema={"type": "objekt"}) if isinstance(spec, Artifact) else None,
)


@kind("forbid writing where a file is asked for")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        if any(isinstance(spec, Artifact) for spec in step.requires):
            yield of_step(subject, step, "may only read", tools=["read", "search"])


@kind("ask for a file where writing is forbidden")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        if is_work(step):
            requires = [*[spec for spec in step.requires if isinstance(spec, Field)], Artifact("notes.md")]
            yield of_step(subject, step, "writes, and may only read", tools=["read", "search"], requires=requires)


# -- sub-agents


@kind("forbid agents at a dispatch")
def _(subject: Subject) -> Iterator[Mutant]:
    for step, _ in dispatches(subject):
        yield of_step(subject, step, "starts no agents", tools=["read", "search", "shell"])


@kind("misspell the script of a dispatch", tree=True)
def _(subject: Subject) -> Iterator[Mutant]:
    for step, dispatch in dispatches(subject):
        if dispatch.script:
            script = misspelt(dispatch.script.removesuffix(".py")) + ".py"
            yield of_dispatch(subject, step, f"runs {script}", script=script)


def giving(name: str, change: Callable[[Mapping[str, str], str], Mapping[str, str]]) -> None:
    @kind(name, tree=True)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step, dispatch in dispatches(subject):
            for param in dispatch.params:
                yield of_dispatch(subject, step, f"{name}: {param}", params=change(dispatch.params, param))


def _renamed(params: Mapping[str, str], name: str) -> Mapping[str, str]:
    return {misspelt(key) if key == name else key: value for key, value in params.items()}


giving("drop a child parameter", lambda params, name: {key: one for key, one in params.items() if key != name})
giving("misspell a child parameter", _renamed)
giving("add an unknown child parameter", lambda params, name: {**params, f"other_{name}": "x"})
giving("misspell a name in a child parameter", lambda params, name: {**params, name: _brace(params[name])})


@kind("give a child a value that it refuses", tree=True)
def _(subject: Subject) -> Iterator[Mutant]:
    for step, dispatch in dispatches(subject):
        child = subject.child_of(step)
        for arg in child[1].run_params() if child else ():
            if arg.choices or arg.type not in ("text", "list", "json"):
                yield of_dispatch(subject, step, f"{arg.name} is odd", params={**dispatch.params, arg.name: "odd one"})


def childing(name: str, change: Callable[[Workflow, Dispatch], Iterator[Workflow]]) -> None:
    @kind(name, tree=True)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step, dispatch in dispatches(subject):
            child = subject.child_of(step)
            for number, other in enumerate(change(child[1], dispatch)) if child else ():
                assert child is not None
                yield Mutant(
                    f"{subject.workflow.name}:{step.id} {child[1].name} {name} {number}",
                    partial(dict, {subject.file: subject.workflow, child[0]: other}),
                )


def _requires_more(child: Workflow, dispatch: Dispatch) -> Iterator[Workflow]:
    first = step_with(child.steps[0], needs=[*child.steps[0].needs, "more"])
    yield workflow_with(child, [first, *child.steps[1:]], params=[*child.params, Arg("more")])


def _takes_less(child: Workflow, dispatch: Dispatch) -> Iterator[Workflow]:
    for arg in child.run_params():
        if arg.name in dispatch.params:
            steps = [step_with(one, needs=[need for need in one.needs if need != arg.name]) for one in child.steps]
            yield workflow_with(child, steps, params=[one for one in child.params if one is not arg])


def _takes_numbers(child: Workflow, dispatch: Dispatch) -> Iterator[Workflow]:
    for arg in child.run_params():
        if arg.name in dispatch.params and not dispatch.params[arg.name].startswith("{target}"):
            yield workflow_with(child, params=[Arg(arg.name, "int") if one is arg else one for one in child.params])


def _dispatches(child: Workflow, dispatch: Dispatch) -> Iterator[Workflow]:
    for step in child.steps:
        if step.handler is None and len(step.next) == 1:
            steps = [
                step_with(one, handler=Dispatch("explore", task="Look."), tools=[]) if one is step else one
                for one in child.steps
            ]
            yield workflow_with(child, steps)


childing("a child comes to require more", _requires_more)
childing("a child comes to take less", _takes_less)
childing("a child comes to take a number", _takes_numbers)
childing("a child starts sub-agents", _dispatches)


@kind("let a child's value be left out", tree=True)
def _(subject: Subject) -> Iterator[Mutant]:
    for step, dispatch in dispatches(subject):
        child = subject.child_of(step)
        for name, template in dispatch.params.items():
            required = child is not None and any(arg.required and arg.name == name for arg in child[1].run_params())
            for source in subject.workflow.steps:
                for spec in fields_of(source):
                    if required and template == f"{{{source.id}.{spec.name}}}":
                        new = spec_with(spec, required=False)
                        yield of_requirement(subject, source, spec, new, f"{spec.name} may be left out, {step.id}")


@kind("shrink a cap below the targets")
def _(subject: Subject) -> Iterator[Mutant]:
    for step, dispatch in dispatches(subject):
        if isinstance(dispatch.targets, tuple) and len(dispatch.targets) > 1:
            yield of_dispatch(subject, step, "cap", cap=len(dispatch.targets) - 1)
        if isinstance(dispatch.targets, str) and dispatch.targets:
            for source in subject.workflow.steps:
                for spec in fields_of(source):
                    if dispatch.targets == f"{source.id}.{spec.name}":
                        new = spec_with(spec, minimum=dispatch.cap + 1, maximum=None)
                        yield of_requirement(subject, source, spec, new, "is longer than the cap")


@kind("hand out more tasks than the cap")
def _(subject: Subject) -> Iterator[Mutant]:
    for step, _ in dispatches(subject):
        fields: dict[str, Any] = {
            "tasks": ["one", "two", "three"],
            "targets": (),
            "script": None,
            "params": {},
            "cap": 2,
        }
        if not in_review(subject, step):
            yield of_dispatch(subject, step, "three tasks", **fields)


@kind("misspell the targets of a dispatch")
def _(subject: Subject) -> Iterator[Mutant]:
    for step, dispatch in dispatches(subject):
        if isinstance(dispatch.targets, str) and dispatch.targets:
            source, _, name = dispatch.targets.partition(".")
            yield of_dispatch(subject, step, "misspelt targets", targets=f"{source}.{misspelt(name)}")


@kind("misspell a name in a task")
def _(subject: Subject) -> Iterator[Mutant]:
    for step, dispatch in dispatches(subject):
        for name in ("task", "context"):
            text = getattr(dispatch, name)
            if _brace(text) != text:
                yield of_dispatch(subject, step, f"misspelt {name}", **{name: _brace(text)})


@kind("hand out what a skipped step may leave empty")
def _(subject: Subject) -> Iterator[Mutant]:
    for step, dispatch in dispatches(subject):
        if SKIP in step.next and callable(dispatch.targets) and not in_review(subject, step):
            ways = {outcome: target for outcome, target in step.next.items() if outcome is not SKIP}
            when = {outcome: text for outcome, text in step.when.items() if outcome is not SKIP}
            yield of_step(subject, step, "loses skip", next=ways, when=when)


@kind("give parameters to sub-agents without a script", tree=True)
def _(subject: Subject) -> Iterator[Mutant]:
    for step, dispatch in dispatches(subject):
        if not dispatch.script:
            yield of_dispatch(subject, step, "params without script", params={"area": "code"})


# -- limits


def limiting(name: str, change: Callable[[StepDef], dict[str, Any] | None]) -> None:
    @kind(name)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step in subject.workflow.steps:
            changes = change(step)
            if changes is not None:
                yield of_step(subject, step, name, **changes)


limiting("drop a limit", lambda step: {"max_iterations": None} if step.max_iterations else None)
limiting("set a limit of none", lambda step: {"max_iterations": 0} if step.max_iterations else None)
limiting("iterate at the limit", lambda step: {"at_limit": ITERATE} if step.max_iterations else None)
limiting(
    "end at the limit where nothing leads on",
    lambda step: (
        {"at_limit": next(one for one in (SKIP, FAIL) if one not in step.next)}
        if step.max_iterations and {SKIP, FAIL} - set(step.next)
        else None
    ),
)
limiting(
    "limit a step that does not loop",
    lambda step: {"max_iterations": 3} if step.handler is None and not {ITERATE, FAIL} & set(step.next) else None,
)

# -- texts

limiting(
    "drop the words of a branch", lambda step: {"when": {}} if step.handler is None and len(step.next) > 1 else None
)
limiting("drop a title", lambda step: {"title": ""})
limiting("say nothing", lambda step: {"actions": ()} if is_work(step) else None)
limiting("say only blanks", lambda step: {"actions": [" ", ""]} if is_work(step) else None)
limiting("say too much", lambda step: {"actions": [*step.actions, "word " * 2_500]})
limiting(
    "say when an outcome is right that has no route",
    lambda step: {"when": {**step.when, FAIL: "it failed"}} if FAIL not in step.next else None,
)


@kind("give two steps one title")
def _(subject: Subject) -> Iterator[Mutant]:
    for before, step in zip(subject.workflow.steps, subject.workflow.steps[1:], strict=False):
        yield of_step(subject, step, f"is titled like {before.id}", title=before.title)


@kind("misspell a value in a text")
def _(subject: Subject) -> Iterator[Mutant]:
    steps = {step.id for step in subject.workflow.steps}
    for step in subject.workflow.steps:
        for at, text in enumerate(step.actions):
            if isinstance(text, Rendered):
                continue
            for found in re.finditer(r"`([\w-]+)\.(\w+)`", text):
                if found[1] in steps and found[2] not in ("md", "json", "py"):
                    new = text.replace(found[0], f"`{found[1]}.{misspelt(found[2])}`")
                    actions = [new if place == at else one for place, one in enumerate(step.actions)]
                    yield of_step(subject, step, f"names {found[1]}.{misspelt(found[2])}", actions=actions)


# -- people


def asking(name: str, change: Callable[[StepDef, Person], dict[str, Any] | None]) -> None:
    @kind(name)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step in subject.workflow.steps:
            changes = change(step, step.handler) if isinstance(step.handler, Person) else None
            if changes is not None and isinstance(step.handler, Person):
                handler = Person(**{**step.handler.fields(), **changes})
                yield of_step(subject, step, name, handler=handler)


asking(
    "map an answer to an outcome without a route",
    lambda step, person: {"choices": {**(person.choices or {"yes": OK}), "never": ITERATE}},
)
asking("offer a blank answer", lambda step, person: {"choices": {**(person.choices or {"yes": OK}), " ": OK}})
asking(
    "misspell a name in a question",
    lambda step, person: {"question": _brace(person.question)} if "{" in person.question else None,
)

# -- reviews


@kind("work between a review and its gate")
def _(subject: Subject) -> Iterator[Mutant]:
    for step in subject.workflow.steps:
        if step.checkpoint and not step.gate:
            gate = step.next[OK]
            between = StepDef("tidy-up", "Tidy up", "Tidy up what was reviewed.", {OK: gate}, tools=["read", "edit"])
            led = step_with(step, next={**step.next, OK: "tidy-up"})
            about = f"{subject.workflow.name}:{step.id} tidy-up"
            yield Mutant(about, partial(replaced, subject, step, led, between))


def reviewing(name: str, change: Callable[[Subject, StepDef], Mutant | None]) -> None:
    @kind(name)
    def _(subject: Subject) -> Iterator[Mutant]:
        for step in subject.workflow.steps:
            mutant = change(subject, step) if in_review(subject, step) else None
            if mutant is not None:
                yield mutant


def _without(subject: Subject, step: StepDef) -> Mutant:
    """The workflow without a step; what led there leads on."""
    steps = [
        step_with(one, next={key: step.next[OK] if to == step.id else to for key, to in one.next.items()})
        for one in subject.workflow.steps
        if one is not step
    ]
    return of_workflow(subject, f"{step.id} is dropped", steps)


def _gate(subject: Subject, step: StepDef, **changes: Any) -> Mutant | None:
    return of_step(subject, step, str(changes), **changes) if isinstance(step.handler, Gate) else None


reviewing("drop a gate", lambda subject, step: _without(subject, step) if step.gate else None)
reviewing("drop a review", lambda subject, step: _without(subject, step) if not step.gate else None)
reviewing(
    "swap ok and fail of a gate",
    lambda subject, step: _gate(subject, step, next={OK: step.next[FAIL], FAIL: step.next[OK]}) if step.gate else None,
)
reviewing(
    "lead fail to the end",
    lambda subject, step: _gate(subject, step, next={**step.next, FAIL: None}),
)
reviewing(
    "lead fail to the review again",
    lambda subject, step: _gate(subject, step, next={**step.next, FAIL: _reviewer(subject, step)}),
)
reviewing(
    "lead fail where ok leads",
    lambda subject, step: _gate(subject, step, next={**step.next, FAIL: step.next.get(OK)}),
)
reviewing(
    "drop the fail route of a gate",
    lambda subject, step: _gate(subject, step, next={OK: step.next.get(OK)}),
)
reviewing(
    "change the checkpoint of a gate",
    lambda subject, step: _gate(subject, step, handler=Gate(f"{step.id}-other")),
)
reviewing(
    "change the checkpoint of a review",
    lambda subject, step: of_dispatch(subject, step, "other", checkpoint=f"{step.id}-other") if not step.gate else None,
)
reviewing(
    "pass a review by",
    lambda subject, step: (
        of_step(subject, step, "may be skipped", next={**step.next, SKIP: step.next[OK]}, handler=_dynamic(step))
        if isinstance(step.handler, Dispatch)
        else None
    ),
)
reviewing(
    "let a second gate pass on the verdict that the first used",
    lambda subject, step: _second_gate(subject, step) if isinstance(step.handler, Gate) else None,
)
reviewing(
    "walk past a failed review",
    lambda subject, step: _past(subject, step) if isinstance(step.handler, Gate) else None,
)


def _reviewer(subject: Subject, gate: StepDef) -> str | None:
    checkpoint = gate.gate.checkpoint if gate.gate else None
    return next((one.id for one in subject.workflow.steps if one.checkpoint == checkpoint), None)


def _dynamic(step: StepDef) -> Dispatch:
    assert isinstance(step.handler, Dispatch)
    fields = {**step.handler.fields(), "targets": _none}
    return Dispatch(fields.pop("agent"), **fields)  # type: ignore[arg-type]


def _none(ctx: Any) -> list[str]:
    return [one for one in ctx.run_state if one == "nothing"]


def _second_gate(subject: Subject, step: StepDef) -> Mutant:
    """After the gate some more work, and a second gate of the same checkpoint without a review of it."""
    assert isinstance(step.handler, Gate)
    more = StepDef("more-work", "Do more", "Do some more.", {OK: "second-gate"})
    second = StepDef("second-gate", "Gate again", "Go on.", {OK: step.next[OK], FAIL: step.next[FAIL]}, step.handler)
    first = step_with(step, next={**step.next, OK: "more-work"})
    return Mutant(f"{subject.workflow.name}:{step.id} second", lambda: replaced(subject, step, first, more, second))


def _past(subject: Subject, step: StepDef) -> Mutant | None:
    """The work step to which FAIL leads may be skipped to the target of OK."""
    work = next((one for one in subject.workflow.steps if one.id == step.next[FAIL]), None)
    if work is None or work.handler is not None:
        return None
    ways = {**work.next, SKIP: step.next[OK]}
    return of_step(subject, work, "skips the review", next=ways, when=dict.fromkeys(ways, "it is so"))
