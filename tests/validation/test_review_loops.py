"""No pillar of a review loop can be left out: each loop is built whole, and then one part of it is taken away."""

from __future__ import annotations

import pytest

from skills.lib.validation.validator import validate
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import AgentRole, Dispatch, Gate, Outcome
from tests.validation.conftest import HEAD_LINES, Load

OK, FAIL = Outcome.OK, Outcome.FAIL
REVIEWER = Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="plan")


def _found(*steps: StepDef) -> list[tuple[str, str]]:
    return [(finding.rule, finding.where) for finding in validate(Workflow("w", *steps))]


def _work(to: str) -> StepDef:
    return StepDef("work", "Work", next={OK: to})


def _review(to: str | None) -> StepDef:
    return StepDef("review", "Review", next={OK: to}, handler=REVIEWER)


def _gate(**fields: str | None) -> StepDef:
    routes = {Outcome(name): target for name, target in fields.items()}
    return StepDef("gate", "Gate", next=routes, handler=Gate("plan"))


@pytest.mark.req("W-10")
def test_the_construct_builds_a_loop_without_findings() -> None:
    assert _found(_work("plan-review"), *review_loop("plan", work="work", passed=None)) == []


@pytest.mark.req("W-10")
def test_a_loop_built_by_hand_has_no_findings() -> None:
    assert _found(_work("review"), _review("gate"), _gate(ok=None, fail="work")) == []


def _of_parts(gate_ok: str, polishing: str, last: StepDef | None = None) -> list[tuple[str, str]]:
    """What is found of work whose parts are reviewed, none if it has none, and whose gate leads to that step."""
    parts = [Field("parts", "list")]
    targets = Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="plan", targets=f"{polishing}.parts")
    return _found(
        StepDef("work", "Work", "Work.", {OK: "polish"}, requires=parts),
        StepDef("polish", "Polish", "Polish.", {OK: "review"}, requires=parts if polishing == "polish" else []),
        StepDef("review", "Review", next={OK: "gate", Outcome.SKIP: "last"}, handler=targets),
        _gate(ok=gate_ok, fail="work"),
        last or StepDef("last", "Last", "Stop.", {OK: None}),
    )


@pytest.mark.req("W-10")
def test_a_loop_that_is_left_only_for_want_of_targets_that_were_recorded_before_it_is_never_left() -> None:
    assert _of_parts("polish", "work") == [("loop-without-exit", "w:polish")]
    assert _of_parts("polish", "polish") == []
    assert _of_parts("last", "work") == []
    back = StepDef("last", "Last", "Stop.", {OK: None, FAIL: "work"}, when={OK: "all is well", FAIL: "it is not"})
    assert ("loop-without-exit", "w:polish") in _of_parts("polish", "work", back)
    assert "loop-without-exit" not in dict(_of_parts("last", "work", back))


@pytest.mark.parametrize("lister, expected", [("work", True), ("last", False)])
def test_a_loop_that_is_left_only_with_targets_that_were_recorded_before_it_is_never_left(
    lister: str, expected: bool
) -> None:
    parts = [Field("parts", "list")]
    explore = Dispatch(AgentRole.EXPLORE, task="Look.", targets=f"{lister}.parts")
    found = _found(
        StepDef("work", "Work", "Work.", {OK: "last"}, requires=parts),
        StepDef("last", "Last", "Last.", {OK: "look"}, requires=parts if lister == "last" else []),
        StepDef("look", "Look", next={OK: None, Outcome.SKIP: "last"}, handler=explore),
    )
    assert (("loop-without-exit", "w:last") in found) == expected


def test_a_loop_that_is_left_only_by_as_many_iterations_as_there_may_be_is_never_left_after_them() -> None:
    found = _found(
        StepDef("make", "Make", "Make.", {OK: "try"}),
        StepDef(
            "try",
            "Try",
            "Try.",
            {OK: "look", Outcome.ITERATE: "last"},
            when={OK: "it works", Outcome.ITERATE: "it does not"},
            max_iterations=2,
        ),
        StepDef("look", "Look", "Look.", {OK: "make"}),
        StepDef("last", "Last", "Stop.", {OK: None}),
    )
    assert ("loop-without-exit", "w:make") in found


def test_a_loop_that_only_a_sub_agent_that_fails_would_leave_is_never_left() -> None:
    found = _found(
        StepDef("make", "Make", "Make.", {OK: "try"}),
        StepDef("try", "Try", next={OK: "make", FAIL: "last"}, handler=Dispatch(AgentRole.DEVELOPER, task="Try it.")),
        StepDef("last", "Last", "Stop.", {OK: None}),
    )
    assert ("loop-without-exit", "w:make") in found


@pytest.mark.req("W-10")
@pytest.mark.parametrize(
    "steps,expected",
    [
        ((_work("review"), _review(None)), [("review-without-gate", "w:review")]),
        ((_work("gate"), _gate(ok=None, fail="work")), [("gate-without-review", "w:gate")]),
        ((_work("review"), _review("gate"), _gate(ok=None)), [("fail-without-return", "w:gate:fail")]),
        ((_work("review"), _review("gate"), _gate(ok=None, fail=None)), [("fail-without-return", "w:gate:fail")]),
        ((_work("review"), _review("gate"), _gate(ok=None, fail="review")), [("fail-without-return", "w:gate:fail")]),
        ((_work("review"), _review("gate"), _gate(ok=None, fail="gate")), [("fail-without-return", "w:gate:fail")]),
        ((_work("review"), _review("gate"), _gate(fail="work", skip=None)), [
            ("route-never-given", "w:gate:skip"),
            ("unrouted-outcome", "w:gate:ok"),
        ]),
    ],
    ids=["no gate", "no review", "no fail", "fail ends", "fail to review", "fail to gate", "no way on"],
)  # fmt: skip
def test_a_loop_that_lacks_a_part_is_refused(steps: tuple[StepDef, ...], expected: list[tuple[str, str]]) -> None:
    assert [found for found in _found(*steps) if found[0] != "loop-without-exit"] == expected


@pytest.mark.req("W-10")
def test_a_review_that_is_its_own_gate_must_lead_back_to_itself_past_some_work() -> None:
    reviewer = Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.")
    whole = StepDef("review", "Review", next={OK: None, FAIL: "work"}, handler=reviewer)
    assert _found(_work("review"), whole) == []
    alone = StepDef("review", "Review", next={OK: None, FAIL: "review"}, handler=reviewer)
    assert _found(_work("review"), alone) == [("fail-without-return", "w:review:fail")]


def _told(*steps: StepDef) -> list[tuple[str, str]]:
    return [(finding.where, finding.what) for finding in validate(Workflow("w", *steps))]


def _mending(to: str) -> tuple[StepDef, ...]:
    """A loop whose gate has passed once, tests after it, and a fix that leads to ``to``."""
    return (
        _work("review"),
        _review("gate"),
        _gate(ok="test", fail="work"),
        StepDef("test", "Test", next={OK: None, FAIL: "mend"}, when={OK: "all pass", FAIL: "one fails"}),
        StepDef("mend", "Mend", next={OK: to}),
    )


@pytest.mark.req("W-10")
def test_a_gate_that_has_passed_is_not_come_to_again_without_a_review() -> None:
    assert _found(*_mending("review")) == []
    assert _told(*_mending("gate")) == [
        (
            "w:gate",
            "a path leads from the Gate gate back to it without a review of plan: "
            "gate -ok-> test -fail-> mend -ok-> gate",
        )
    ]


@pytest.mark.req("W-10")
def test_a_gate_that_has_failed_is_not_come_to_again_without_a_review() -> None:
    ways = {OK: "it was mended", Outcome.SKIP: "nothing could be"}
    mend = StepDef("mend", "Mend", next={OK: "review", Outcome.SKIP: "gate"}, when=ways)
    assert _told(_work("review"), _review("gate"), _gate(ok=None, fail="mend"), mend) == [
        (
            "w:gate",
            "a path leads from the Gate gate back to it without a review of plan: gate -fail-> mend -skip-> gate",
        )
    ]


def _by_part(**routes: str | None) -> tuple[StepDef, StepDef]:
    """Work that may come to no part, and a review of each part."""
    work = StepDef("work", "Work", next={OK: "review"}, requires=[Field("parts", "list")])
    reviewer = Dispatch(AgentRole.QUALITY_REVIEWER, task="Review {target}.", targets="work.parts", checkpoint="plan")
    return work, StepDef("review", "Review", next={Outcome(name): to for name, to in routes.items()}, handler=reviewer)


@pytest.mark.req("W-10")
def test_a_review_that_is_skipped_is_none() -> None:
    told = "a path comes to the Gate gate without a review of plan: work -ok-> review -skip-> "
    gate = _gate(ok=None, fail="work")
    assert _told(*_by_part(ok="gate", skip="gate"), gate) == [("w:gate", told + "gate")]
    later = StepDef("later", "Later", next={OK: "gate"})
    assert _told(*_by_part(ok="gate", skip="later"), later, gate) == [("w:gate", told + "later -ok-> gate")]


def test_what_is_proposed_for_a_skipped_review_has_no_findings() -> None:
    (finding,) = validate(Workflow("w", *_by_part(ok="gate", skip="gate"), _gate(ok=None, fail="work")))
    assert finding.do == (
        "give review a target in any case and leave its skip out, "
        "or let it be its own gate: Outcome.FAIL with the step that does the work, in place of gate"
    )
    assert _found(*_by_part(ok="gate"), _gate(ok=None, fail="work")) == []
    assert _found(*_by_part(ok=None, fail="work", skip=None)) == []


def test_a_skip_that_no_run_takes_does_not_count() -> None:
    reviewer = Dispatch(AgentRole.QUALITY_REVIEWER, task="Review {target}.", targets=["a"], checkpoint="plan")
    review = StepDef("review", "Review", next={OK: "gate", Outcome.SKIP: "gate"}, handler=reviewer)
    assert _found(_work("review"), review, _gate(ok=None, fail="work")) == [("route-never-given", "w:review:skip")]


def test_a_review_before_the_skipped_one_counts() -> None:
    work, second = _by_part(ok="gate", skip="gate")
    first = StepDef("first", "First review", next={OK: "review"}, handler=REVIEWER)
    work = StepDef("work", "Work", next={OK: "first"}, requires=work.requires)
    assert _found(work, first, second, _gate(ok=None, fail="work")) == []


def test_a_checkpoint_may_have_several_reviewers_one_on_each_path() -> None:
    ways = {OK: "the code", Outcome.SKIP: "the documents alone"}
    fork = StepDef("fork", "Fork", next={OK: "first", Outcome.SKIP: "second"}, when=ways)
    first = StepDef("first", "First review", next={OK: "gate"}, handler=REVIEWER)
    second = StepDef("second", "Second review", next={OK: "gate"}, handler=REVIEWER)
    assert _found(fork, first, second, _gate(ok=None, fail="fork")) == []


def test_a_misspelt_checkpoint_is_reported_with_the_nearest() -> None:
    review = StepDef("review", "Review", next={OK: "gate"}, handler=REVIEWER)
    gate = StepDef("gate", "Gate", next={OK: None, FAIL: "work"}, handler=Gate("plann"))
    messages = [finding.what for finding in validate(Workflow("w", _work("review"), review, gate))]
    assert messages == [
        "the review of plan at review is followed by no Gate: review -ok-> gate -ok-> end",
        "gate is the Gate of plann, which no step reviews; did you mean plan?",
    ]


def test_another_agent_may_be_dispatched_without_a_gate() -> None:
    explore = StepDef("explore", "Explore", next={OK: None}, handler=Dispatch(AgentRole.EXPLORE, task="Look."))
    assert _found(explore) == []


def test_a_step_of_review_loop_is_reported_with_the_line_of_its_call(load: Load) -> None:
    workflow, file = load(
        """
WORKFLOW = Workflow(
    "w",
    StepDef("label", "Label", next={Outcome.OK: "label-review"}),
    *review_loop(
        "label",
        work="lable",
        passed="clos",
    ),
    StepDef("close", "Close", next={Outcome.OK: None}),
)
"""
    )
    found = [(finding.line - HEAD_LINES, finding.what) for finding in validate(workflow, file)]
    assert found == [
        (
            8,
            "label-gate -ok-> clos: there is no step 'clos'; did you mean close? "
            '(review_loop("label") makes label-gate; its passed is where ok leads)',
        ),
        (
            7,
            "label-gate -fail-> lable: there is no step 'lable'; did you mean label? "
            '(review_loop("label") makes label-gate; its work is where fail leads)',
        ),
    ]


def test_a_finding_about_a_whole_step_of_review_loop_names_the_call(load: Load) -> None:
    workflow, file = load(
        """
WORKFLOW = Workflow(
    "w",
    StepDef("work", "Work", next={Outcome.OK: None}),
    *review_loop("plan", work="again", passed=None),
    StepDef("again", "Again", next={Outcome.OK: "plan-review"}, allow={"unreachable-step": "not yet"}),
)
"""
    )
    (found,) = validate(workflow, file)
    assert (found.rule, found.where, found.line - HEAD_LINES) == ("unreachable-step", "w:plan-review", 5)
    assert found.what.endswith(' (review_loop("plan") makes plan-review)')


def test_steps_of_a_function_of_the_module_that_builds_loops_are_found_too(load: Load) -> None:
    workflow, file = load(
        """
def loop(checkpoint, work):
    return review_loop(checkpoint, work=work, passed=None)


WORKFLOW = Workflow(
    "w",
    StepDef("label", "Label", next={Outcome.OK: "label-review"}),
    *loop("label", "lable"),
)
"""
    )
    (found,) = validate(workflow, file)
    assert found.line - HEAD_LINES == 9
    assert found.what.endswith('did you mean label? (loop("label") makes label-gate)')


def test_a_loop_that_no_run_comes_to_is_one_finding_at_its_work(load: Load) -> None:
    workflow, file = load(
        """
WORKFLOW = Workflow(
    "w",
    StepDef("triage", "Triage", next={Outcome.OK: "close"}),
    StepDef("label", "Label", next={Outcome.OK: "label-review"}),
    *review_loop("label", work="label", passed="close"),
    StepDef("close", "Close", next={Outcome.OK: None}),
)
"""
    )
    (found,) = validate(workflow, file)
    assert (found.rule, found.where, found.line - HEAD_LINES) == ("unreachable-step", "w:label", 5)
    assert found.what == (
        "no path leads from the start triage to label: only label-gate leads there, which comes after it; "
        "label-review and label-gate are not reached for the same reason"
    )
    assert found.do == "lead triage, or another step that is reached, to label; or delete all that is not reached"


def test_a_gate_that_no_run_reaches_is_only_reported_as_unreachable() -> None:
    steps = (
        _work("close"),
        *review_loop("plan", work="work", passed="close"),
        StepDef("close", "End", next={OK: None}),
    )
    assert _found(*steps) == [("unreachable-step", "w:plan-review")]
