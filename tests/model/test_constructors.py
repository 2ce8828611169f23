"""Every constructor refuses a value of the wrong type, and names the value, its place and what is valid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skills.lib.workflow import core, requirements, types
from skills.lib.workflow.types import Outcome

# As a caller sees them whose types nobody checks.
StepDef: Any = core.StepDef
Workflow: Any = core.Workflow
register_workflow: Any = core.register_workflow
Arg: Any = requirements.Arg
Artifact: Any = requirements.Artifact
Command: Any = requirements.Command
Field: Any = requirements.Field
BranchRouting: Any = types.BranchRouting
Dispatch: Any = types.Dispatch
Gate: Any = types.Gate
GateConfig: Any = types.GateConfig
Person: Any = types.Person
Step: Any = types.Step
person: Any = types.person
STEP = StepDef("boil", "Boil", next={Outcome.OK: None})
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "step id": (lambda: StepDef(5), "step 5 id: 5 is not text"),
    "step title": (lambda: StepDef("boil", ["A"]), "step 'boil' title: ['A'] is not text"),
    "step actions": (lambda: StepDef("boil", "", [5]), "step 'boil' actions: 5 is not text"),
    "step actions at all": (lambda: StepDef("boil", "", 5), "step 'boil' actions: 5 is not a list"),
    "next as text": (
        lambda: StepDef("plan", "Plan", next="audience"),
        "step 'plan' next: 'audience' is not a mapping; write {Outcome.OK: 'audience'}: next maps outcomes to step ids",
    ),
    "next as a list": (lambda: StepDef("boil", next=["a"]), "write {Outcome.OK: 'the-id-of-a-step'}"),
    "a target": (
        lambda: StepDef("boil", next={"ok": 2}),
        "step 'boil' next: 2 is not a step id, and not None for the end",
    ),
    "an outcome": (lambda: StepDef("boil", next={"Good": "a"}), "step 'boil' next: 'Good' is not an Outcome: use one"),
    "an outcome twice": (
        lambda: StepDef("boil", next={"ok": "a", "OK": "b"}),
        "step 'boil' next: one outcome stands twice among 'ok', 'OK'",
    ),
    "handler": (lambda: StepDef("boil", handler="gate"), "step 'boil': handler is a function, a Dispatch, a Person"),
    "needs": (lambda: StepDef("boil", needs=[5]), "step 'boil' needs: 5 is not text"),
    "one requirement": (
        lambda: StepDef("boil", requires=Field("x")),
        "is not a list; write requires=[Field(…)]",
    ),
    "a requirement": (
        lambda: StepDef("boil", requires=["x"]),
        "step 'boil' requires: 'x' is not a Field, an Artifact or a Command",
    ),
    "when as text": (lambda: StepDef("boil", when="hot"), "step 'boil' when: 'hot' is not a mapping; write {Outcome.O"),
    "a text of when": (lambda: StepDef("boil", when={"ok": 5}), "step 'boil' when: 5 is not text"),
    "repeat": (lambda: StepDef("boil", repeat=[None]), "step 'boil' repeat: None is not text"),
    "forbidden": (lambda: StepDef("boil", forbidden={"a": 1}), "step 'boil' forbidden: {'a': 1} is not a list"),
    "max_iterations": (
        lambda: StepDef("boil", max_iterations="many"),
        "step 'boil' max_iterations: 'many' is not a whole number",
    ),
    "at_limit": (lambda: StepDef("boil", at_limit=["ok"]), "step 'boil' at_limit: ['ok'] is not a Outcome: use one of"),
    "outcomes": (lambda: StepDef("boil", outcomes=[3]), "step 'boil' outcomes: 3 is not an Outcome: use one of ok"),
    "tools": (lambda: StepDef("boil", tools=[3]), "step 'boil' tools: 3 is not text"),
    "allow": (lambda: StepDef("boil", allow=["trap"]), "step 'boil' allow: ['trap'] is not a mapping; write {'rule-na"),
    "workflow name": (lambda: Workflow(None, STEP), "workflow name: None is not text"),
    "steps as a list": (
        lambda: Workflow("tea", [STEP]),
        "not a StepDef; unpack it with *",
    ),
    "a step": (
        lambda: Workflow("tea", STEP, "steep"),
        "workflow 'tea': argument 2 after the name is 'steep', not a St",
    ),
    "workflow title": (lambda: Workflow("tea", STEP, title=["A"]), "workflow 'tea' title: ['A'] is not text"),
    "start": (lambda: Workflow("tea", STEP, start=1), "workflow 'tea' start: 1 is not text"),
    "output": (lambda: Workflow("tea", STEP, output=["xml"]), "workflow 'tea' output: ['xml'] is not one of xml, text"),
    "closing": (lambda: Workflow("tea", STEP, closing=["A"]), "workflow 'tea' closing: ['A'] is not text"),
    "params": (lambda: Workflow("tea", STEP, params=Arg("x")), "is not a list; write params=[Arg('topic')]"),
    "a parameter": (lambda: Workflow("tea", STEP, params=["x"]), "workflow 'tea' params: 'x' is not an Arg"),
    "registered": (lambda: register_workflow("tea"), "register_workflow: 'tea' is not a Workflow"),
    "parameter name": (lambda: Arg(5), "Arg name: 5 is not text"),
    "parameter default of another type": (
        lambda: Arg("cups", "int", default="x"),
        "Arg cups default: cups: 'x' is not",
    ),
    "parameter default as text": (
        lambda: Arg("cups", "int", default="3"),
        "Arg cups default: '3' is not a whole number; write 3",
    ),
    "parameter default that is no choice": (
        lambda: Arg("cups", choices=("a", "b"), default="c"),
        "'c' is not one of a, b",
    ),
    "parameter default out of range": (lambda: Arg("cups", "int", minimum=3, default=1), "1 is out of range"),
    "parameter default of a switch": (lambda: Arg("hot", "bool", default="maybe"), "'maybe' is not true or false"),
    "parameter type": (lambda: Arg("cups", ["int"]), "Arg type: ['int'] is not text"),
    "choices as text": (lambda: Arg("cups", choices="high"), "Arg cups choices: 'high' is not a list; write choices=["),
    "a choice": (lambda: Field("cups", choices=[None]), "Field cups choices: None is not a text or number"),
    "a bound": (lambda: Field("cups", minimum="3"), "Field cups: the bound '3' is not a number"),
    "an endless bound": (
        lambda: Field("cups", maximum=float("inf")),
        "Field cups: the bound inf is not a finite number",
    ),
    "a default": (lambda: Arg("cups", default=object), "is not a text, number, list or mapping"),
    "the step of a parameter": (lambda: Arg("cups", step=1), "Arg step: 1 is not text"),
    "field help": (lambda: Field("cups", help=5), "Field help: 5 is not text"),
    "path": (lambda: Artifact(5), "Artifact path: 5 is not text"),
    "schema": (lambda: Artifact("a.json", "object"), "Artifact 'a.json' schema: 'object' is not a mapping; write {"),
    "argv": (lambda: Command("make test"), "Command: argv is a list of arguments, not 'make test'"),
    "an argument": (lambda: Command(["make", None]), "Command ('make', None): the argument None is not text"),
    "a timeout of text": (lambda: Command(["make"], "5"), "timeout: '5' is not a number of seconds"),
    "a timeout of nothing": (lambda: Command(["make"], 0), "timeout: 0 is not a number of seconds above 0"),
    "a timeout below": (lambda: Command(["make"], -1), "timeout: -1 is not a number of seconds above 0"),
    "agent": (lambda: Dispatch(["explore"]), "Dispatch agent: ['explore'] is not a AgentRole: use one of quality"),
    "script": (lambda: Dispatch("explore", 5), "Dispatch script: 5 is not text, and not None"),
    "task": (lambda: Dispatch("explore", task=["a"]), "Dispatch task: ['a'] is not text"),
    "tasks as text": (
        lambda: Dispatch("explore", tasks="do it"),
        "Dispatch tasks: 'do it' is not a list; write tasks=",
    ),
    "targets": (lambda: Dispatch("explore", targets=[1]), "Dispatch targets: 1 is not text"),
    "child parameters": (lambda: Dispatch("explore", params=["x"]), "Dispatch params: ['x'] is not a mapping"),
    "a child parameter": (lambda: Dispatch("explore", params={"n": 3}), "Dispatch params n: 3 is not text; write '3'"),
    "cap": (lambda: Dispatch("explore", cap="all"), "Dispatch cap: 'all' is not a whole number of 1 or more"),
    "no cap": (lambda: Dispatch("explore", cap=0), "Dispatch cap: 0 is not a whole number of 1 or more"),
    "question": (lambda: Person(["Good?"]), "Person question: ['Good?'] is not text"),
    "answers": (
        lambda: Person("Good?", ["yes"]),
        "Person choices: ['yes'] is not a mapping; write {'yes': Outcome.OK}",
    ),
    "answers as text": (lambda: person("Good?", "yes"), "person choices: 'yes' is not a list; write ['yes', 'no']"),
    "checkpoint": (lambda: Gate(5), "Gate checkpoint: 5 is not text"),
    "gate bound": (lambda: Gate("tea", "5"), "Gate bound: '5' is not a whole number of 1 or more"),
    "bare route": (lambda: BranchRouting(1.5, 2), "BranchRouting if_pass: 1.5 is not the number or id of a step"),
    "bare gate": (lambda: GateConfig(5, 1, 2, "m"), "GateConfig qr_name: 5 is not text"),
    "bare step": (lambda: Step("A", dispatch="explore"), "Step 'A' dispatch: 'explore' is not a Dispatch"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_value_of_the_wrong_type_is_refused_with_what_is_valid(name: str) -> None:
    build, message = WRONG[name]
    with pytest.raises((TypeError, ValueError)) as raised:
        build()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_one_text_stands_for_a_list_of_texts() -> None:
    step = StepDef("boil", "Boil", "Boil it.", needs="cups", forbidden="Spill nothing.", outcomes="ok")
    assert (step.actions, step.needs, step.forbidden) == (("Boil it.",), ("cups",), ("Spill nothing.",))
    assert step.outcomes == (Outcome.OK,)


def test_lists_of_every_kind_are_taken() -> None:
    names = {"a": 1, "b": 2}
    step = StepDef("boil", "Boil", (text for text in ["x", "y"]), needs=names.keys(), tools=iter(["read"]))
    assert (step.actions, step.needs, step.tools) == (("x", "y"), ("a", "b"), ("read",))
    assert Dispatch("explore", targets=names.keys()).targets == ("a", "b")
