"""What an author states of all paths, and budgets that no path spends."""

from __future__ import annotations

from typing import Any

import pytest

from skills.lib.validation.validator import validate
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.types import Before, Dispatch, NeverEndsFailed, Outcome, Passes, person

BUILD: dict[Any, Any] = {Outcome.OK: "test", Outcome.SKIP: "publish"}


def _found(*steps: StepDef, **fields: Any) -> list[tuple[str, str]]:
    return [(one.rule, one.what) for one in validate(Workflow("release", *steps, **fields))]


def _release(ways: dict[Any, Any]) -> list[StepDef]:
    return [
        StepDef("build", "Build", next=ways, when=dict.fromkeys(ways, "it is so") if len(ways) > 1 else {}),
        StepDef("test", "Test", next={Outcome.OK: "publish"}),
        StepDef("publish", "Publish", next={Outcome.OK: None}),
    ]


@pytest.mark.req("S-04")
@pytest.mark.parametrize(
    "stated, told",
    [
        (Before("test", "publish"), "Before(first='test', then='publish')"),
        (Passes("test"), "Passes(step='test')"),
    ],
)
def test_a_path_that_breaks_what_an_author_states_is_found_and_shown(stated: Any, told: str) -> None:
    ((rule, what),) = _found(*_release(BUILD), always=[stated])
    assert (rule, what.partition(": ")[0]) == ("always", told)
    assert "build -skip-> publish" in what
    assert _found(*_release({Outcome.OK: "test"}), always=[stated]) == []


@pytest.mark.req("S-04")
def test_an_end_past_a_failed_review_breaks_what_an_author_states() -> None:
    ways: dict[Any, Any] = {Outcome.OK: "look", Outcome.SKIP: None}
    loop = review_loop("look", work="work", passed=None, reviewer=Dispatch("quality-reviewer", task="Look."))
    open_end = StepDef(
        "work", "Work", next={Outcome.OK: loop[0].id, Outcome.SKIP: None}, when=dict.fromkeys(ways, "so")
    )
    found = _found(open_end, *loop, always=[NeverEndsFailed("look")])
    assert "always" in [rule for rule, _ in found]
    assert _found(StepDef("work", "Work", next={Outcome.OK: loop[0].id}), *loop, always=[NeverEndsFailed("look")]) == []


@pytest.mark.req("S-04")
def test_an_end_past_a_review_that_fails_by_the_default_route_breaks_it_too() -> None:
    ways: dict[Any, Any] = {Outcome.OK: None, Outcome.DEFAULT: "ask"}
    loop = review_loop("look", work="work", passed=None, reviewer=Dispatch("quality-reviewer", task="Look."))
    gate = StepDef("look", "Look", next=ways, handler=loop[1].handler)
    review = StepDef(loop[0].id, "Review", next={Outcome.OK: "look"}, handler=loop[0].handler)
    ask = StepDef("ask", "Ask", next={Outcome.OK: None}, handler=person("Ship?", ["yes"]))
    steps = (StepDef("work", "Work", next={Outcome.OK: review.id}), review, gate, ask)
    assert "always" in [rule for rule, _ in _found(*steps, always=[NeverEndsFailed("look")])]


@pytest.mark.req("S-04")
def test_a_budget_on_a_step_that_nothing_repeats_is_found_beside_the_loop_that_has_none() -> None:
    again: dict[Any, Any] = {Outcome.OK: "report", Outcome.ITERATE: "measure"}
    found = _found(
        StepDef("measure", "Measure", next={Outcome.OK: "judge"}, max_iterations=3),
        StepDef("judge", "Judge", next=again, when=dict.fromkeys(again, "it is so")),
        StepDef("report", "Report", next={Outcome.OK: None}),
    )
    assert sorted(rule for rule, _ in found) == ["loop-without-bound", "unused-limit"]
