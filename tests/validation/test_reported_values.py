"""Choices, ranges and secrets: findings about the values that are reported, and what is rightly no finding."""

from __future__ import annotations

import pytest

from skills.lib.validation.validator import validate
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Outcome, Person, person
from tests.validation.conftest import HEAD_LINES, Load


def _recording(*fields: Field | Command) -> Workflow:
    return Workflow("w", StepDef("one", "One", next={Outcome.OK: None}, requires=fields))


def _asking(question: Person) -> Workflow:
    return Workflow("w", StepDef("one", "One", next={Outcome.OK: None}, handler=question))


@pytest.mark.req("W-02")
@pytest.mark.parametrize(
    "field",
    [
        Field("cups", "int", choices=("-1", "0", "1")),
        Field("cups", "int", choices=("1", "2"), minimum=1, maximum=2),
        Field("cups", "float", choices=("-0.5", "1")),
        Field("sure", "bool", choices=("true", "false")),
        Field("tea", "list", choices=("green", "black"), minimum=3, maximum=9),
        Field("tea", "list", maximum=0),
        Field("tea", choices=("green tea", "black-tea", "A", "a")),
        Field("tea", "json", choices=("1", "true")),
        Field("cups", "int", minimum=2, maximum=2),
    ],
    ids=lambda field: f"{field.type} {field.choices}",
)
def test_choices_and_ranges_that_can_be_met_have_no_findings(field: Field) -> None:
    assert validate(_recording(field)) == []


def test_what_is_wrong_with_choices_and_ranges_is_said_in_words() -> None:
    fields = (
        Field("cups", "int", choices=("1", "01", "two", "many"), minimum=1, maximum=5),
        Field("milk", "float", minimum=2.5, maximum=1),
        Field("tea", choices=("green|black", " white", "-", "a\nb")),
    )
    assert [(finding.rule, finding.what) for finding in validate(_recording(*fields))] == [
        ("empty-range", "the field milk of one has the minimum 2.5 and the maximum 1: nothing lies between"),
        (
            "impossible-choice",
            "the field cups of one takes a whole number from 1 to 5, which its choices 'two', 'many' are not",
        ),
        ("repeated-choice", "the field cups of one has the same choice twice: '1' and '01'"),
        (
            "ambiguous-choice",
            "the field tea of one has a choice that reads as something else: 'green|black' holds |, "
            "' white' begins with a space, '-' begins with -, 'a\\nb' holds a line break",
        ),
    ]


def test_an_empty_range_is_not_reported_again_for_each_choice() -> None:
    found = validate(_recording(Field("cups", "int", choices=("1", "2"), minimum=5, maximum=1)))
    assert [finding.rule for finding in found] == ["empty-range"]


@pytest.mark.parametrize("answer", ["", " ", "\u200b", "FILL_answer"])
def test_an_answer_that_nobody_can_give_is_found(answer: str) -> None:
    assert [finding.rule for finding in validate(_asking(person("Go on?", ["yes", answer])))] == ["impossible-choice"]


def test_an_answer_in_words_and_any_answer_have_no_findings() -> None:
    assert validate(_asking(person("Go on?", ["yes, do", "no: wait"]))) == []
    assert validate(_asking(person("Go on?"))) == []


def test_a_parameter_is_reported_with_its_own_line_and_switched_off_at_its_step(load: Load) -> None:
    code = """
WORKFLOW = Workflow(
    "w",
    StepDef("one", "One", next={Outcome.OK: None}%s),
    params=[
        Arg("cups", choices=("1|2", "3"), step="one"),
        Arg("tea", choices=("a|b", "c")),
    ],
)
"""
    found = [
        (finding.rule, finding.where, finding.severity, finding.line - HEAD_LINES)
        for finding in validate(*load(code % ""))
    ]
    run = ("ambiguous-choice", "w", "warning", 7)
    assert found == [run, ("ambiguous-choice", "w:one", "warning", 6)]
    allowed = validate(*load(code % ', allow={"ambiguous-choice:cups": "one cup or two"}'))
    assert [(finding.rule, finding.where) for finding in allowed] == [("ambiguous-choice", "w")]


@pytest.mark.req("W-02")
def test_a_name_may_be_used_by_two_steps_and_not_twice_by_one() -> None:
    def found(*params: Arg) -> list[str]:
        one = StepDef("one", "One", next={Outcome.OK: "two"}, requires=[Field("note")])
        two = StepDef("two", "Two", next={Outcome.OK: None}, requires=[Field("note")])
        return [finding.what for finding in validate(Workflow("w", one, two, params=params))]

    assert found(Arg("note")) == []
    assert found(Arg("sure", step="one"), Arg("sure", step="two")) == []
    assert found(Arg("note", step="two")) == ["two asks for note as a field and as a parameter"]
    assert found(Arg("sure", step="one"), Arg("sure", "int", step="one")) == ["one asks for sure twice"]
    assert found(Arg("topic"), Arg("topic", "int")) == ["the parameter topic of the run stands twice"]
    assert found(Arg("topic"), Arg("topic", step="one")) == [
        "the parameter topic of the run is also reported on leaving a step"
    ]


@pytest.mark.req("W-02")
def test_a_step_uses_its_own_secret_and_no_other_step_has_it() -> None:
    log_in = Command(["log-in", "--", "{password}"])
    one = StepDef("one", "One", next={Outcome.OK: "two"}, requires=[Field("password"), log_in])
    assert validate(Workflow("w", one, StepDef("two", "Two", next={Outcome.OK: None}))) == []
    told = Dispatch(AgentRole.EXPLORE, task="Log in.", context="With {one.password}, as {one.password}.")
    two = StepDef("two", "Two", next={Outcome.OK: None}, needs=["one.password"], handler=told)
    (finding,) = validate(Workflow("w", one, two))
    assert (finding.rule, finding.where, finding.severity) == ("secret-read", "w:two", "warning")
    assert finding.what == "two reads one.password (needs), which is named like a secret (password)"


def test_a_secret_parameter_is_read_when_it_is_reported_and_not_if_the_run_was_opened_with_it() -> None:
    log_in = Command(["log-in", "--", "{token}"])
    one = StepDef("one", "One", next={Outcome.OK: None}, requires=[log_in])
    assert validate(Workflow("w", one, params=[Arg("token", step="one")])) == []
    assert [finding.rule for finding in validate(Workflow("w", one, params=[Arg("token")]))] == ["secret-read"]


def test_a_secret_that_nobody_records_is_reported_once() -> None:
    steps = (
        StepDef("one", "One", next={Outcome.OK: "two"}, requires=[Field("password")]),
        StepDef("two", "Two", next={Outcome.OK: None}, needs=["one.token"]),
    )
    assert [finding.rule for finding in validate(Workflow("w", *steps))] == ["read-before-write"]
