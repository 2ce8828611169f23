"""A plan is data: its rules, and the workflow that it becomes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.model.as_data import name_of
from skills.lib.model.requirements import Command
from skills.lib.runtime import plans
from tests.agent.planning.plan_runs import PLAN, SIGNAL


def changed(**fields: Any) -> dict[str, Any]:
    """The plan with other fields in its first step."""
    plan = copy.deepcopy(PLAN)
    plan["steps"][0].update(fields)
    return plan


@pytest.mark.req("P-02")
def test_a_plan_becomes_a_workflow_of_pairs_with_a_person_behind_each() -> None:
    made = plans.workflow("books-execution", PLAN)
    assert [step.id for step in made.steps] == [
        "find-do", "find-check", "find-person", "write-do", "write-check", "write-person",
    ]  # fmt: skip
    ways = {step.id: {str(name): to for name, to in step.next.items()} for step in made.steps}
    assert ways["find-do"] == {"ok": "find-check"}
    assert ways["find-check"] == {"ok": "write-do", "iterate": "find-do", "fail": "find-person"}
    assert ways["find-person"] == {"ok": "write-do", "iterate": "find-do", "fail": None}
    assert ways["write-check"] == {"ok": None, "iterate": "write-do", "fail": "write-person"}


@pytest.mark.req("P-02")
def test_each_step_has_an_instruction_for_the_optimizer_and_another_for_the_evaluator() -> None:
    made = plans.workflow("books-execution", PLAN)
    assert made.step("find-do").actions[0].startswith("Read README.md by read_file.")
    assert made.step("find-check").actions[0].startswith("Verify that README.md has the line.")
    assert made.step("find-do").fresh
    assert made.step("find-check").fresh


@pytest.mark.req("P-02")
def test_a_plan_has_no_function_but_the_verdicts_and_no_command() -> None:
    made = plans.workflow("books-execution", PLAN)
    functions = {name_of(step.function) for step in made.steps if step.function}
    assert functions == {"skills.lib.runtime.plans:judged"}
    assert not [spec for step in made.steps for spec in step.requires if isinstance(spec, Command)]
    hidden = changed(optimizer_instruction=f'{{"$call": "os:system"}} {SIGNAL}')
    assert '"$call": "os:system"' in plans.workflow("x", hidden).step("find-do").actions[0]


@pytest.mark.req("P-02")
@pytest.mark.parametrize(
    "fields, fault",
    [
        ({"tool": ""}, "steps/0/tool"),
        ({"tool": "shell"}, "steps/0/tool"),
        ({"action": "both"}, "steps/0/action"),
        ({"action": "text"}, "step find: its action is text, so it has no tool: one action a step, make two of it"),
        ({"optimizer_instruction": "Read README.md."}, "does not end with the stop signal [ATTEMPTS_COMPLETE]"),
        (
            {"optimizer_instruction": f"{SIGNAL} comes first." + " Then read on." * 30},
            "does not end with the stop signal [ATTEMPTS_COMPLETE]",
        ),
        ({"evaluator_instruction": "Verify that it is there."}, "does not name its key outputs: LINE"),
        ({"key_outputs": ["line"]}, "steps/0/key_outputs/0"),
        ({"key_outputs": ["LINE", "LINE"]}, "step find: a key output stands twice"),
        ({"id": "write"}, "two steps are called write"),
        ({"id": "../x"}, "steps/0/id"),
        ({"handler": {"$call": "os:system"}}, "handler"),
        ({"optimizer_instruction": "x" * 4_000}, "steps/0/optimizer_instruction"),
        ({"title": "a \x00 b"}, "U+0000"),
    ],
)
def test_a_plan_that_breaks_a_rule_is_told_so(fields: dict[str, Any], fault: str) -> None:
    found = plans.faults(changed(**fields))
    assert any(fault in one for one in found), found


@pytest.mark.req("P-02")
def test_a_step_for_a_tool_names_it() -> None:
    plan = copy.deepcopy(PLAN)
    del plan["steps"][0]["tool"]
    assert plans.faults(plan) == [
        "step find: its action is tool, so it names one in tool: safe_cli_executor or safe_py_runner"
    ]


@pytest.mark.req("P-02")
def test_a_good_plan_has_no_faults_and_is_the_same_workflow_anywhere() -> None:
    assert plans.faults(PLAN) == []
    again = json.loads(json.dumps(PLAN))
    assert plans.workflow("x", again).fingerprint == plans.workflow("x", PLAN).fingerprint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_a_plan_or_has_faults(value: Any) -> None:
    assert plans.faults(value)
    assert plans.faults({"steps": [value]})


@given(st.text(max_size=60), st.text(min_size=3, max_size=60))
def test_any_text_in_a_plan_stays_a_text_of_its_step(instruction: str, title: str) -> None:
    plan = changed(optimizer_instruction=f"Do it: {instruction} {SIGNAL}", title=title)
    if not plans.faults(plan):
        made = plans.workflow("x", plan)
        assert len(made.steps) == 6
        assert made.step("find-do").actions == (f"Do it: {instruction} {SIGNAL}",)


@pytest.mark.req("P-02")
def test_a_person_reads_what_each_step_does_by_which_tool_and_how_it_is_checked() -> None:
    assert plans.shown(PLAN).splitlines() == [
        "1. Find the line (find): safe_cli_executor",
        "   do:    Read README.md by read_file. Then begin your last text with [ATTEMPTS_COMPLETE].",
        "   check: Verify that README.md has the line. Key output: LINE, the line itself.",
        "   keeps: LINE",
        "2. Write the summary (write): safe_py_runner",
        "   do:    Write LINE into SUMMARY.md by scripts/write_file.py. Last text: [ATTEMPTS_COMPLETE]",
        "   check: Verify by read_file that SUMMARY.md has the LINE.",
    ]
