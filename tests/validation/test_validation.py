"""The package: what it raises, the order of findings, the off switch, lines, scale, and what it imports."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.errors import InvalidWorkflow
from skills.lib.validation.rule import Finding
from skills.lib.validation.validator import require_valid, validate
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Gate, Outcome, Person
from tests.extent import extent
from tests.validation.conftest import HEAD_LINES, Load
from tests.validation.defects import DEFECTS, SPAN, Plan

ROOT = Path(__file__).parents[2]
EXPLAINED = {Outcome.OK: "all is done", Outcome.SKIP: "nothing is to be done"}


@pytest.mark.req("W-02")
def test_an_invalid_workflow_is_refused_with_every_finding(load: Load, snapshot: SnapshotAssertion) -> None:
    workflow, file = load(
        """
WORKFLOW = Workflow(
    "broken",
    StepDef("one", "One", next={Outcome.OK: "tow", Outcome.SKIP: "three"}, when={Outcome.OK: "a", Outcome.SKIP: "b"}),
    StepDef("two", next={Outcome.OK: "two"}),
    StepDef("three", "Three"),
    StepDef("done", "Four", next={Outcome.OK: None}),
)
"""
    )
    with pytest.raises(InvalidWorkflow) as raised:
        require_valid(workflow, file)
    findings = [finding for finding in raised.value.findings if isinstance(finding, Finding)]
    assert len(findings) == len(raised.value.findings)
    rules = [(finding.rule, finding.where, finding.line - HEAD_LINES) for finding in findings]
    assert rules == [
        ("unknown-target", "broken:one:ok", 4),
        ("trap", "broken:two", 5),
        ("missing-title", "broken:two", 5),
        ("dead-end", "broken:three", 6),
        ("reserved-id", "broken:done", 7),
        ("unreachable-step", "broken:done", 7),
    ]
    assert "\n".join(raised.value.lines()).replace(file, "tea_workflow.py") == snapshot


def test_a_warning_does_not_refuse_a_workflow() -> None:
    workflow = Workflow("w", StepDef("one", next={Outcome.OK: None}))
    assert [finding.severity for finding in validate(workflow)] == ["warning"]
    require_valid(workflow, "")


def test_the_order_is_the_same_every_time() -> None:
    plan = Plan(2 + len(DEFECTS) * (SPAN + 1) + 2)
    for number, plant in enumerate(DEFECTS.values()):
        plant(plan, 2 + number * (SPAN + 1))
    first = validate(plan.workflow())
    assert first == validate(plan.workflow())
    assert [finding.position for finding in first] == sorted(finding.position for finding in first)


def test_steps_that_hang_together_and_are_not_reached_are_one_finding() -> None:
    workflow = Workflow(
        "w",
        StepDef("first", "First", next={Outcome.OK: "last"}),
        StepDef("one", "One", next={Outcome.OK: "both"}),
        StepDef("two", "Two", next={Outcome.OK: "both"}),
        StepDef("both", "Both", next={Outcome.OK: "last"}),
        StepDef("last", "Last", next={Outcome.OK: None}),
        StepDef("apart", "Apart", next={Outcome.OK: "last"}),
    )
    found = [(finding.where, finding.what, finding.why, finding.do) for finding in validate(workflow)]
    assert found == [
        (
            "w:one",
            "no path leads from the start first to one and two: no route leads there; "
            "both is not reached for the same reason",
            "no run ever does what these steps ask",
            "lead first, or another step that is reached, to one and two; or delete all that is not reached",
        ),
        (
            "w:apart",
            "no path leads from the start first to apart: no route leads there",
            "no run ever does what this step asks",
            "lead last, or another step that is reached, to apart; or delete it",
        ),
    ]


def test_a_way_in_may_be_left_out_on_purpose_while_the_other_is_reported() -> None:
    workflow = Workflow(
        "w",
        StepDef("first", "First", next={Outcome.OK: None}),
        StepDef("one", "One", next={Outcome.OK: "both"}, allow={"unreachable-step": "kept for later"}),
        StepDef("two", "Two", next={Outcome.OK: "both"}),
        StepDef("both", "Both", next={Outcome.OK: None}),
    )
    assert [(finding.rule, finding.where) for finding in validate(workflow)] == [("unreachable-step", "w:two")]


@pytest.mark.parametrize("reason", ["kept for the demonstration", ""])
def test_a_rule_is_switched_off_for_one_step_with_a_reason(reason: str) -> None:
    workflow = Workflow(
        "w",
        StepDef("one", next={Outcome.OK: "two"}, allow={"missing-title": reason}),
        StepDef("two", next={Outcome.OK: None}),
    )
    found = [(finding.rule, finding.where) for finding in validate(workflow)]
    if reason:
        assert found == [("missing-title", "w:two")]
    else:
        assert found == [("missing-title", "w:one"), ("invalid-allow", "w:one"), ("missing-title", "w:two")]


def test_the_off_switch_cannot_switch_off_its_own_rule() -> None:
    allow = {"invalid-allow": "no", "nonsense": "no"}
    workflow = Workflow("w", StepDef("one", "One", next={Outcome.OK: None}, allow=allow))
    assert [finding.rule for finding in validate(workflow)] == ["invalid-allow", "invalid-allow"]


def test_a_line_is_that_of_the_route(load: Load) -> None:
    workflow, file = load(
        """
NAME = "one"
WORKFLOW = Workflow(
    "w",
    StepDef(
        id=NAME,
        title="One",
        next={
            Outcome.OK: None,
            Outcome.FAIL: "nowhere-at-all",
        },
        when={Outcome.OK: "it went well", Outcome.FAIL: "it did not"},
    ),
)
"""
    )
    assert [(finding.rule, finding.line - HEAD_LINES) for finding in validate(workflow, file)] == [
        ("unknown-target", 10)
    ]


def test_a_misspelt_start_is_one_finding() -> None:
    steps = (StepDef("one", "One", next={Outcome.OK: "two"}), StepDef("two", "Two", next={Outcome.OK: None}))
    assert [finding.rule for finding in validate(Workflow("w", *steps, start="onee"))] == ["unknown-start"]
    assert [finding.rule for finding in validate(Workflow("w", *steps, start=""))] == ["unknown-start"]
    assert [finding.rule for finding in validate(Workflow("w", *steps, start="zzzz"))] == ["unknown-start"]


def test_the_start_may_be_any_step() -> None:
    steps = (StepDef("two", "Two", next={Outcome.OK: None}), StepDef("one", "One", next={Outcome.OK: "two"}))
    assert [finding.where for finding in validate(Workflow("w", *steps))] == ["w:one"]
    assert validate(Workflow("w", *steps, start="one")) == []


def test_a_workflow_without_any_end_says_so_once() -> None:
    steps = (StepDef("one", "One", next={Outcome.OK: "two"}), StepDef("two", "Two", next={Outcome.OK: "one"}))
    assert [finding.rule for finding in validate(Workflow("w", *steps)) if finding.severity == "error"] == ["no-end"]


@pytest.mark.parametrize("word", ["done", "end", "END", "None", "null"])
def test_a_word_for_the_end_is_reported_once_and_no_rule_reports_its_consequences(word: str) -> None:
    steps = (StepDef("one", "One", next={Outcome.OK: "two"}), StepDef("two", "Two", next={Outcome.OK: word}))
    (finding,) = validate(Workflow("w", *steps))
    assert (finding.rule, finding.where) == ("unknown-target", "w:two:ok")
    assert finding.do == f"{word} is the end of a run: write None"


def test_a_step_that_is_called_like_the_end_is_led_to_all_the_same() -> None:
    steps = (StepDef("one", "One", next={Outcome.OK: "end"}), StepDef("end", "End", next={Outcome.OK: None}))
    assert [(finding.rule, finding.where) for finding in validate(Workflow("w", *steps))] == [("reserved-id", "w:end")]


@pytest.mark.parametrize("handler", [Gate("w"), Person("Go on?", {"yes": Outcome.OK, "no": Outcome.FAIL})])
def test_a_gate_and_a_person_bound_a_loop(handler: Gate | Person) -> None:
    workflow = Workflow(
        "w",
        StepDef("work", "Work", next={Outcome.OK: "check"}),
        StepDef("check", "Check", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=handler),
    )
    assert "loop-without-bound" not in {finding.rule for finding in validate(workflow)}


def test_an_exponentially_branching_graph_costs_no_more_than_its_size() -> None:
    steps = [
        StepDef(f"s{at}", f"Step {at}", next={Outcome.OK: f"s{at + 1}", Outcome.SKIP: f"s{at + 2}"}, when=EXPLAINED)
        for at in range(2_000)
    ]
    steps += [StepDef(f"s{at}", f"Step {at}", next={Outcome.OK: None}) for at in (2_000, 2_001)]
    began = time.process_time()
    assert validate(Workflow("w", *steps)) == []
    assert time.process_time() - began < 5


def _chain(length: int, *, broken: bool) -> Workflow:
    """Every step reads the one before; if it is broken, every other step is bypassed and every tenth misspelt."""
    steps = []
    for at in range(length):
        ways: dict[Outcome, str | None] = {Outcome.OK: f"s{at + 1}" if at + 1 < length else None}
        if broken and at % 2 and at + 2 < length:
            ways[Outcome.SKIP] = f"s{at + 2}"
        if broken and at % 10 == 0:
            ways[Outcome.FAIL] = f"t{at}"
        needs = [f"s{at - 1}.value"] if at else []
        when = dict.fromkeys(ways, "it is so")
        steps.append(StepDef(f"s{at}", f"Step {at}", next=ways, requires=[Field("value")], needs=needs, when=when))
    return Workflow("w", *steps)


@pytest.mark.slow
def test_very_many_steps_are_validated() -> None:
    began = time.process_time()
    assert validate(_chain(extent(25_000, 100_000), broken=False)) == []
    assert time.process_time() - began < 60


@pytest.mark.slow
def test_many_findings_take_no_quadratic_time() -> None:
    began = time.process_time()
    found = validate(_chain(20_000, broken=True))
    assert {finding.rule for finding in found} == {"unknown-target", "read-on-some-paths"}
    assert sum(finding.rule == "unknown-target" for finding in found) == 2_000
    assert sum(finding.rule == "read-on-some-paths" for finding in found) == 9_999
    assert time.process_time() - began < 60


@pytest.mark.slow
@pytest.mark.parametrize("exit", [True, False])
def test_many_loops_take_no_quadratic_time(exit: bool) -> None:
    """A chain with a loop beside every step; without their exits the loops are traps."""
    steps = []
    for at in range(15_000):
        on = f"s{at + 1}" if at < 14_999 else None
        steps.append(StepDef(f"s{at}", f"Step {at}", next={Outcome.OK: on, Outcome.SKIP: f"l{at}"}, when=EXPLAINED))
        ways: dict[Outcome, str | None] = {Outcome.ITERATE: f"l{at}", **({Outcome.OK: on} if exit else {})}
        steps.append(StepDef(f"l{at}", f"Loop {at}", next=ways, when=dict.fromkeys(ways, "it is so")))
    began = time.process_time()
    found = {finding.rule for finding in validate(Workflow("w", *steps))}
    assert found == ({"loop-without-bound"} if exit else {"trap"})
    assert time.process_time() - began < 30


@pytest.mark.slow
@pytest.mark.parametrize("together", [True, False])
def test_many_steps_that_are_not_reached_take_no_quadratic_time(together: bool) -> None:
    """As many steps beside a chain as it has: another chain, or each by itself."""
    steps = [StepDef(f"s{at}", f"Step {at}", next={Outcome.OK: f"s{at + 1}"}) for at in range(15_000)]
    steps.append(StepDef("s15000", "Last", next={Outcome.OK: None}))
    for at in range(15_000):
        on = f"l{at + 1}" if together and at < 14_999 else None
        steps.append(StepDef(f"l{at}", f"Left {at}", next={Outcome.OK: on}))
    began = time.process_time()
    found = validate(Workflow("w", *steps))
    assert {finding.rule for finding in found} == {"unreachable-step"}
    assert len(found) == (1 if together else 15_000)
    assert time.process_time() - began < 20


def test_registration_brings_no_graph_library() -> None:
    code = "import sys; import skills.lib.validation.registration; print('networkx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
