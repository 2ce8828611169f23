"""What fields, parameters and people are asked for: names, ranges, choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from skills.lib.model import values
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.run import FIXES
from skills.lib.model.texts import number
from skills.lib.model.types import Person
from skills.lib.validation.locations import Lines
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.templates import as_choice, has_empty_range
from skills.lib.validation.view import GraphView

# What a person says: any text that is one.
_ANSWER = Field("answer")


@dataclass(frozen=True, slots=True)
class _Requested:
    """One requested value: ``name`` is its name in a message, ``step`` is None for a parameter of the run.

    A parameter has the ``lines`` of the file; the location of a field is its step's.
    """

    spec: Arg | Field
    name: str
    step: int | None
    lines: Lines | None = None

    @property
    def line(self) -> int | None:
        """The line of a parameter; None for a field."""
        return self.lines.of_parameter(self.spec.name) if self.lines else None


def _requested(graph: GraphView) -> Iterator[_Requested]:
    """Every field and parameter with choices or a range, in the order of the workflow."""
    for at, step in enumerate(graph.steps):
        for spec in step.requires:
            if isinstance(spec, Field) and _is_limited(spec):
                yield _Requested(spec, f"the field {spec.name} of {step.id}", at)
    for arg in graph.workflow.params:
        if _is_limited(arg):
            at_step = None if arg.step is None else graph.index.get(arg.step)
            yield _Requested(arg, f"the parameter {arg.flag}", at_step, graph.lines)


@rule("error", GRAPH, stops=True)
def repeated_name(graph: GraphView) -> Iterator[Problem]:
    """Two values are reported under one name.

    ## What it does
    Reports a name that a step records twice: as fields, as outputs of commands, as parameters of leaving it, or as one of
    each; a parameter of the run of which another parameter has the name; and in a workflow with reviews a field that is
    called `fixes`: in that record the findings of a review are answered.

    ## Why it is bad
    One name holds one value: the other is lost, or refused because the run was opened with it.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("taste", "Taste it", next={Outcome.OK: None}, requires=[Field("note"), Field("note", "list")]),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("taste", "Taste it", next={Outcome.OK: None}, requires=[Field("note"), Field("faults", "list")]),
    )
    ```
    """
    of_step: dict[str, list[str]] = {}
    for arg in graph.workflow.params:
        if arg.step is not None:
            of_step.setdefault(arg.step, []).append(arg.name)
    for at, step in enumerate(graph.steps):
        fields = list(step.records)
        params = of_step.get(step.id, [])
        if FIXES in fields and any(other.checkpoint for other in graph.steps):
            yield Problem(
                f"{step.id} asks for {FIXES}, the record in which findings of a review are answered",
                why="an answer to a finding and the step's own value would be one",
                do="give the field another name",
                step=at,
            )
        if len(fields) + len(params) < 2:
            continue
        for name in _twice([*fields, *params]):
            what = "as a field and as a parameter" if name in fields and name in params else "twice"
            yield Problem(
                f"{step.id} asks for {name} {what}",
                why="one name holds one value: the other is lost",
                do="give one of them another name, or leave it out",
                step=at,
            )
    of_run = [arg.name for arg in graph.workflow.run_params()]
    elsewhere = {name for names in of_step.values() for name in names}
    for name in dict.fromkeys([*_twice(of_run), *(name for name in of_run if name in elsewhere)]):
        other = "is also reported on leaving a step" if name in elsewhere else "stands twice"
        yield Problem(
            f"the parameter {name} of the run {other}",
            why="it is fixed when the run opens: under that name nothing else can be given",
            do="give one of them another name, or leave it out",
            line=graph.lines.of_parameter(name),
        )


def _twice(names: list[str]) -> list[str]:
    """The names that stand more than once, each once."""
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


@rule("error", GRAPH, stops=True)
def empty_range(graph: GraphView) -> Iterator[Problem]:
    """No value lies in a range.

    ## What it does
    Reports a Field or an Arg whose `minimum` is greater than its `maximum`.

    ## Why it is bad
    Whatever the agent reports is refused: no run can leave the step, or open.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("pour", "Pour", next={Outcome.OK: None}, requires=[Field("cups", "int", minimum=8, maximum=1)]),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("pour", "Pour", next={Outcome.OK: None}, requires=[Field("cups", "int", minimum=1, maximum=8)]),
    )
    ```
    """
    for one in _requested(graph):
        low, high = one.spec.minimum, one.spec.maximum
        if low is None or high is None or not has_empty_range(one.spec):
            continue
        yield Problem(
            f"{one.name} has the minimum {number(low)} and the maximum {number(high)}: nothing lies between",
            why="whatever is reported for it is refused",
            do="set a minimum that is not above the maximum, or leave one of them out",
            step=one.step,
            line=one.line,
        )


@rule("error", GRAPH, finds="name")
def impossible_choice(graph: GraphView) -> Iterator[Problem]:
    """A choice can never be given.

    ## What it does
    Reports a choice of a Field or an Arg that is no value of its type or lies outside of its range, and any choice, of a
    Person too, that is blank or looks like a placeholder.

    ## Why it is bad
    The block offers it, and whoever takes it is refused. If no choice is left, no run can go on.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("taste", "Taste it", next={Outcome.OK: None}, requires=[Field("good", "bool", choices=("yes", "no"))]),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("taste", "Taste it", next={Outcome.OK: None}, requires=[Field("good", choices=("yes", "no"))]),
    )
    ```
    """
    for one in _requested(graph):
        spec = as_choice(one.spec)
        refused = [choice for choice in one.spec.choices if not values.fits(spec, choice)]
        if refused:
            yield Problem(
                f"{one.name} takes {values.expectation(spec)}, which its {_choices_are(refused)} not",
                why="the block offers it, and whoever takes it is refused",
                do="leave it out, or give the value another type or range",
                step=one.step,
                value=one.spec.name,
                line=one.line,
            )
    for at, step, person in graph.handled_by(Person):
        refused = [choice for choice in person.choices if not values.fits(_ANSWER, choice)]
        if refused:
            yield Problem(
                f"the Person of {step.id} takes a text as answer, which its {_choices_are(refused)} not",
                why="the person is offered it, and whoever takes it is refused",
                do="put the answer in words",
                step=at,
                value=_ANSWER.name,
            )


def _choices_are(choices: list[str]) -> str:
    names = ", ".join(map(repr, choices))
    return f"choice {names} is" if len(choices) == 1 else f"choices {names} are"


@rule("error", GRAPH, finds="name")
def repeated_choice(graph: GraphView) -> Iterator[Problem]:
    """A choice stands twice.

    ## What it does
    Reports a Field or an Arg with two choices that are the same value: `green` and `green`, or the numbers `1` and `01`.

    ## Why it is bad
    One of them was meant to be another: what it was to say cannot be said.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("buy", "Buy leaves", next={Outcome.OK: None}, requires=[Field("leaves", choices=("green", "green"))]),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("buy", "Buy leaves", next={Outcome.OK: None}, requires=[Field("leaves", choices=("green", "black"))]),
    )
    ```
    """
    for one in _requested(graph):
        alike: dict[str, list[str]] = {}
        for choice in one.spec.choices:
            alike.setdefault(_read_choice(one.spec, choice), []).append(choice)
        again = [" and ".join(map(repr, choices)) for choices in alike.values() if len(choices) > 1]
        if again:
            yield Problem(
                f"{one.name} has the same choice twice: {', '.join(again)}",
                why="one of them was meant to be another, which cannot be given",
                do="leave one out, or write what it was to be",
                step=one.step,
                value=one.spec.name,
                line=one.line,
            )


@rule("warning", GRAPH, finds="name")
def ambiguous_choice(graph: GraphView) -> Iterator[Problem]:
    """A choice reads as something else.

    ## What it does
    Reports a choice of a Person, a Field or an Arg that holds `|` or a line break, begins or ends with a space, or begins
    with `-` and is no number.

    ## Why it is bad
    A block prints the choices in one line, joined by `|`, and they are given on command lines. Such a choice reads as two,
    is retyped without its space, or passes for a flag.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("taste", "Taste it", next={Outcome.OK: None}, handler=Person("How was it?", {"weak|bitter": Outcome.OK})),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "taste",
            "Taste it",
            next={Outcome.OK: None},
            handler=Person("How was it?", {"weak": Outcome.OK, "bitter": Outcome.OK}),
        ),
    )
    ```
    """
    found = [
        (one.name, one.spec.name, _ambiguous(one.spec.choices, one.spec.type), one.step, one.line)
        for one in _requested(graph)
    ]
    found += [
        (f"the Person of {step.id}", "answer", _ambiguous(person.choices), at, None)
        for at, step, person in graph.handled_by(Person)
    ]
    for name, value, faults, step, line in found:
        if faults:
            yield Problem(
                f"{name} has a choice that reads as something else: {', '.join(faults)}",
                why="choices are printed in one line, joined by |, and given on command lines",
                do="choose a plain word for it",
                step=step,
                value=value,
                line=line,
            )


def _ambiguous(choices: Iterable[str], type: str = "text") -> list[str]:
    """Each ambiguous choice with the reason; impossible-choice reports a blank one."""
    signed = type in ("int", "float")
    found = ((choice, _ambiguity(choice, signed)) for choice in choices if choice.strip())
    return [f"{choice!r} {fault}" for choice, fault in found if fault]


def _ambiguity(choice: str, signed: bool) -> str:
    if "|" in choice:
        return "holds |"
    if len(choice.splitlines()) > 1:
        return "holds a line break"
    if choice != choice.strip():
        return "has a space at its end" if choice == choice.lstrip() else "begins with a space"
    return "begins with -" if choice.startswith("-") and not signed else ""


def _read_choice(spec: Arg | Field, choice: str) -> str:
    """The value that the choice stands for, as text, so that equal choices compare equal; itself if it is no value."""
    one = as_choice(spec)
    return repr(values.read(one, choice)) if values.fits(one, choice) else choice


def _is_limited(spec: Arg | Field) -> bool:
    return bool(spec.choices) or (spec.minimum is not None and spec.maximum is not None)
