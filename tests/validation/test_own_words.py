"""Words of a workflow's own are checked: spelling, naming, bounds, gates, ends of sub-agents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest

from skills.lib.validation.rules import RULES
from skills.lib.validation.validator import validate, validate_source, validate_tree
from skills.lib.workflow.core import Registered, StepDef, Workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.types import Dispatch, Outcome, Passes, person
from tests.validation.conftest import Load


def errors(*steps: StepDef, **more: Any) -> list[tuple[str, str]]:
    return [(found.rule, found.what) for found in validate(Workflow("w", *steps, **more)) if found.severity == "error"]


def taste(word: str, **more: Any) -> StepDef:
    """A step that ends by ``ok`` or by the word, each with its meaning."""
    routes = {"ok": None, word: None}
    return StepDef("taste", "Taste", next=routes, when=dict.fromkeys(routes, "so it is"), **more)  # type: ignore[arg-type]


@pytest.mark.req("E-07")
@pytest.mark.parametrize(
    "word, meant",
    [
        ("fial", "fail"),
        ("fails", "fail"),
        ("fall", "fail"),
        ("skipp", "skip"),
        ("ship", "skip"),
        ("iterat", "iterate"),
        ("itreate", "iterate"),
        ("defautl", "default"),
    ],
)
def test_a_word_one_letter_from_a_standard_one_is_refused(word: str, meant: str) -> None:
    assert errors(taste(word)) == [("misspelt-outcome", f"taste has the outcome {word}; did you mean {meant}?")]


@pytest.mark.parametrize("word", ["fai", "ko", "failed", "iterates-on", "more-tasks", "done", "next", "taste", "retry"])
def test_other_words_are_free(word: str) -> None:
    assert errors(taste(word)) == []


def test_a_word_beside_the_standard_one_is_no_slip() -> None:
    routes = {"ok": None, "fail": None, "fails": None}
    step = StepDef("a", "A", next=routes, when=dict.fromkeys(routes, "so it is"))  # type: ignore[arg-type]
    assert errors(step) == []


@pytest.mark.parametrize(
    "step",
    [
        StepDef("a", "A", next={"ok": None}, when={"ok": "good", "fial": "bad"}),  # type: ignore[dict-item]
        StepDef("a", "A", next={"ok": None}, handler=person("Go?", {"yes": "ok", "no": "fial"})),  # type: ignore[dict-item]
        StepDef("a", "A", next={"ok": None}, handler=lambda context: Outcome.OK, outcomes=["ok", "fial"]),  # type: ignore[dict-item, list-item]
    ],
)
def test_a_slip_is_one_finding_wherever_it_is(step: StepDef) -> None:
    assert errors(step) == [("misspelt-outcome", "a has the outcome fial; did you mean fail?")]


@pytest.mark.req("E-07")
def test_a_word_that_only_one_place_names_is_found() -> None:
    routes: dict[Any, str | None] = {"ok": None, "more-tasks": None}
    said: dict[Any, str] = {"ok": "all is done"}
    assert errors(StepDef("a", "A", next=routes, when=said)) == [
        ("word-named-once", "a -more-tasks-> end: nothing but this route names more-tasks")
    ]
    assert errors(StepDef("a", "A", next={"ok": None}, when={**said, "more-tasks": "there is another"})) == [  # type: ignore[dict-item]
        ("when-without-route", "a says when more-tasks is right, and has no route for it")
    ]
    assert errors(StepDef("a", "A", next={"ok": None}, handler=len, outcomes=["ok", "more-tasks"])) == [  # type: ignore[dict-item, list-item, arg-type]
        ("unrouted-outcome", "a can end with more-tasks, which has no route; it has ok")
    ]
    assert errors(StepDef("a", "A", next=routes, handler=len, outcomes=["ok", "more-tasks"])) == []  # type: ignore[list-item, arg-type]


def test_a_lone_route_of_an_own_word_says_when() -> None:
    lone: dict[Any, str | None] = {"brewed": None}
    assert [rule for rule, _ in errors(StepDef("a", "A", next=lone))] == ["word-named-once"]
    assert errors(StepDef("a", "A", next=lone, when={"brewed": "it is dark"})) == []  # type: ignore[dict-item]


def test_two_spellings_of_one_word_are_one_finding() -> None:
    routes: dict[Any, str | None] = {"ok": None, "more-tasks": None}
    step = StepDef("a", "A", next=routes, when={"ok": "done", "more-taks": "another"})  # type: ignore[dict-item]
    assert errors(step) == [
        ("when-without-route", "a says when more-taks is right, and has no route for it; did you mean more-tasks?")
    ]


@pytest.mark.req("E-07")
def test_no_gate_and_no_sub_agents_end_by_an_own_word() -> None:
    reviewer = Dispatch("quality-reviewer", task="Review it.")
    loop = review_loop("brew", work="brew", passed=None, reviewer=reviewer)
    gate = StepDef(**cast("Any", {**loop[1].fields(), "next": {**loop[1].next, Outcome("later"): None}}))
    found = errors(StepDef("brew", "Brew", next={Outcome.OK: "brew-review"}), loop[0], gate)
    assert found[0] == (
        "route-never-given",
        "brew-gate -later-> end is never taken: its Gate gives ok and fail, never later",
    )
    explore = StepDef(
        "a", "A", next={Outcome.OK: None, Outcome("later"): None}, handler=Dispatch("explore", task="Look.")
    )
    assert [rule for rule, _ in errors(explore)] == ["route-never-given"]


def loop(**more: Any) -> list[StepDef]:
    routes = {"more-tasks": "pick", "ok": None, "no-time": None, "again": "pick"}
    return [
        StepDef("pick", "Pick", next={Outcome.OK: "work"}),
        StepDef("work", "Work", next=routes, when=dict.fromkeys(routes, "so it is"), **more),  # type: ignore[arg-type]
    ]


@pytest.mark.req("E-07")
def test_a_loop_by_an_own_word_needs_a_bound() -> None:
    found = errors(*loop())
    assert found == [
        (
            "unbounded-word-loop",
            "nothing bounds the loop pick -ok-> work -more-tasks-> pick, which work -more-tasks-> pick leads round",
        )
    ]
    assert errors(*loop(max_iterations=3)) == []
    assert (
        errors(*loop(handler=person("Go on?", {"yes": "more-tasks", "no": "ok", "late": "no-time", "a": "again"})))
        == []
    )


def test_the_advice_is_not_to_set_the_bound_that_is_set() -> None:
    """A bound counts the words that have a route of their own, and DEFAULT serves another."""
    routes = {"default": "pick", "ok": None}
    work = StepDef("work", "Work", next=routes, handler=len, outcomes=["more-tasks", "ok"], max_iterations=3)  # type: ignore[arg-type, list-item]
    found = validate(Workflow("w", StepDef("pick", "Pick", next={Outcome.OK: "work"}), work))
    assert [one.do for one in found if one.rule == "unbounded-word-loop"] == [
        "give each word of work that leads round a route of its own: a bound counts only those with one"
    ]


@pytest.mark.parametrize(
    "at_limit, what",
    [
        ("no-time", None),
        ("again", "work goes round by again, and at the limit again goes round again"),
        ("fail", "work ends with fail when its 3 iterations are used up: it has no route"),
        ("later", "work ends with later when its 3 iterations are used up: it has no route"),
    ],
)
def test_what_is_stated_for_the_limit_leaves_the_loop(at_limit: str, what: str | None) -> None:
    found = errors(*loop(max_iterations=3, at_limit=at_limit))
    assert found == ([("iteration-limit", what)] if what else [])


@pytest.mark.parametrize("routes", [{"more-tasks": "a", "enough": None}, {"more-tasks": "a", "again": "b"}])
def test_a_person_can_go_on_at_the_limit_by_any_other_outcome(routes: dict[str, str | None]) -> None:
    leave = {"more-tasks": "a", "enough": None}
    steps = [
        StepDef(name, name, next=ways, when=dict.fromkeys(ways, "so"), max_iterations=3)  # type: ignore[arg-type]
        for name, ways in (("a", routes), ("b", leave))
    ]
    assert errors(*steps[: 1 + ("again" in routes)]) == []


def test_ends_fail_counts_as_failing_in_properties_of_all_paths() -> None:
    routes = {"ok": "check", "gave-up": None}
    steps = [
        StepDef("work", "Work", next=routes, when=dict.fromkeys(routes, "so")),  # type: ignore[arg-type]
        StepDef("check", "Check", next={Outcome.OK: None}),
    ]
    assert [rule for rule, _ in errors(*steps, always=[Passes("check")])] == ["always"]
    assert errors(*steps, always=[Passes("check")], ends={"gave-up": "fail"}) == []


@pytest.mark.req("E-07")
def test_a_sub_agents_workflow_says_what_its_words_mean_at_the_end(load: Load, skill: Path) -> None:
    page = RULES["end-without-meaning"].text

    def found(code: str) -> list[tuple[str, str]]:
        parts = re.split(r"^# (\w+)\.py$", code, flags=re.MULTILINE)[1:]
        registered = [Registered(*load(code, name)) for name, code in zip(parts[::2], parts[1::2], strict=True)]
        tree = validate_tree(str(skill.parent), registered)
        return [(one.where, one.what) for one in tree if one.rule == "end-without-meaning"]

    bad, good = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert found(bad) == [
        (
            "explore:search:nothing-there",
            "search ends the run by nothing-there, and explore is walked by sub-agents of survey:explore",
        )
    ]
    assert found(good) == []


def test_words_that_a_function_returns_are_read_from_its_source(load: Load) -> None:
    code = """
def weigh(ctx):
    if ctx.iteration > 1:
        return {word}
    return Outcome.OK


WORKFLOW = Workflow("tea", StepDef("weigh", "Weigh", next={{"ok": None, "later": None}}, handler=weigh{more}))
"""

    def found(word: str, more: str = ', outcomes=["ok", "later"]') -> list[str]:
        workflow, file = load(code.format(word=word, more=more))
        return [one.what for one in (*validate(workflow, file), *validate_source(workflow, file))]

    assert found('Outcome("later")') == []
    assert found('Outcome("sooner")') == ["the handler of weigh can return sooner; the step has ok and later"]
    assert found('Outcome("So on")') == ["the handler of weigh returns Outcome('So on')"]
    assert found("Outcome.OK", ', when={"later": "in May"}') == [
        "weigh -later-> end is never taken: its handler returns ok"
    ]
