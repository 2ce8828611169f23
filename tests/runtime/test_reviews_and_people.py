"""Review loops to their bound, and the questions that a person answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from tests.fixtures.deviations import assert_refused, assert_way_on
from tests.fixtures.skill import install, source_of

Factory = Callable[[str], Agent]


# Both reviewers call their item a: that of the second is a.2.
FIXED = ["a | changed | out.txt", "a.2 | changed | out.txt"]
FOUND = "it does not hold"


def item(severity: str = "MUST", status: str = "FAIL", name: str = "a") -> dict[str, str]:
    return {"id": name, "scope": "all", "check": "it holds", "severity": severity, "status": status, "finding": FOUND}


@pytest.fixture
def gated(agent: Factory) -> Agent:
    walker = agent("gated")
    walker.write("out.txt", "done")
    return walker


def reviewed(gated: Agent, write: PrintedBlock, *items: dict[str, str]) -> PrintedBlock:
    """The gate after a review in which both reviewers reported these items."""
    gated.write("out.txt", f"done by turn {write.turn}")
    review = gated.follow(write, fixes=FIXED)
    for child in review.children:
        task = gated.run_command(child.command)
        again = ".2 (" in task.context.get("items", "")
        named = [{**one, "id": one["id"] + ".2"} for one in items] if again else list(items)
        last = gated.follow(task, items=named)
        assert last.exit_code == 0, last.text
    return gated.run_command(last.next)


def after(gated: Agent, reviews: int, *items: dict[str, str]) -> PrintedBlock:
    """The gate after so many reviews with the same items."""
    write = gated.open()
    for _ in range(reviews - 1):
        write = gated.run_command(reviewed(gated, write, *items).next)
        assert write.step == "write"
    return reviewed(gated, write, *items)


@pytest.mark.req("W-10")
def test_the_loop_counts_its_reviews_and_shows_what_to_fix(gated: Agent) -> None:
    write, states = gated.open(), []
    for _ in range(3):
        gate = reviewed(gated, write, item())
        states.append(gate.words("STATE").partition("Review of ")[2])
        write = gated.run_command(gate.next)
    assert states == [
        "design: iteration 1 of 5, reviewed, verdict fail.",
        "design: iteration 2 of 5, reviewed, verdict fail.",
        "design: iteration 3 of 5, reviewed, verdict fail.",
    ]
    assert write.context == {
        "design.findings": "- a (MUST) it holds: it does not hold\n- a.2 (MUST) it holds: it does not hold"
    }
    assert write.words("DO").strip() == "Mend what was found."


@pytest.mark.req("W-10", "W-12")
def test_a_re_verification_gets_the_items_and_not_the_verdicts(gated: Agent) -> None:
    write = gated.run_command(after(gated, 1, item(), item("COULD", "PASS", "b")).next)
    review = gated.follow(write, fixes=FIXED)
    assert "iteration 2 of 5, re-verification, with fresh eyes" in review.words("STATE")
    again = gated.run_command(review.children[0].command)
    assert again.context == {"items": "- a (MUST, all): it holds\n- b (COULD, all): it holds"}
    assert "judge each item of CONTEXT again" in again.words("DO")
    assert "FAIL" not in again.words("DO")


@pytest.mark.req("W-10")
@pytest.mark.parametrize(
    "severity, passes_at",
    [("SHOULD", 4), ("MUST", None)],
)
def test_what_blocks_shrinks_with_the_iterations(gated: Agent, severity: str, passes_at: int | None) -> None:
    write = gated.open()
    for iteration in range(1, 6):
        gate = reviewed(gated, write, {**item(severity), "place": "out.txt:1"})
        onward = gated.run_command(gate.next)
        if iteration == passes_at:
            assert onward.step == "close"
            return
        if iteration == 5:
            assert (onward.kind, onward.step) == ("waiting", "design-gate")
            return
        assert onward.step == "write"
        write = onward


@pytest.mark.req("W-10")
@pytest.mark.parametrize(
    "items, words",
    [
        ([item(name="b")], "missing: a; unknown: b"),
        ([item(), item(name="b")], "unknown: b"),
        ([item("COULD")], "severity is MUST since the first review, not COULD"),
        ([], "at least one item"),
        ([{**item(), "status": "GOOD"}], "status 'GOOD' is not one of PASS, FAIL, TODO"),
        ([{**item(), "verdict": "x"}], "verdict is not part of it"),
        ([item(), item()], "the id a is given twice"),
        ([{**item(), "finding": ""}], "finding is empty"),
        ("nothing", "is not JSON"),
    ],
)
def test_a_re_verification_of_other_items_is_refused(gated: Agent, items: object, words: str) -> None:
    write = gated.run_command(after(gated, 1, item()).next)
    task = gated.run_command(gated.follow(write, fixes=FIXED).children[0].command)
    code = "other-items" if "since the first" in words or "unknown" in words else "bad-value"
    refused = assert_refused(gated, filled(task.next, {"items": items}), code, task.run)
    assert words in refused.why
    assert assert_way_on(gated, refused, items=[item(status="PASS")]).kind == "done"


@pytest.mark.req("W-10")
def test_one_reviewer_is_not_enough(gated: Agent) -> None:
    review = gated.follow(gated.open())
    gated.follow(gated.run_command(review.children[0].command), items=[item(status="PASS")])
    assert_refused(gated, review.next, "unaccounted-child", review.run)
    gated.lose(review, review.children[1].id)
    gate = gated.run_command(review.next)
    assert "verdict fail" in gate.words("STATE")
    write = gated.run_command(gate.next)
    assert write.step == "write"
    assert "not reviewed: it never came back" in write.context["design.findings"]


@pytest.mark.req("W-10", "W-24")
def test_at_the_bound_a_person_decides(gated: Agent) -> None:
    waiting = gated.run_command(after(gated, 5, item()).next)
    assert (waiting.kind, waiting.step) == ("waiting", "design-gate")
    question = waiting.root.find("QUESTION")
    assert question is not None
    assert (question.get("by"), question.get("choices")) == ("person", "accept|revise|abandon")
    assert "design was reviewed 5 times and these findings are open: a (MUST): it does not hold" in (
        question.text or ""
    )
    assert "answer" in waiting.words("ANSWER")
    assert waiting.next.endswith(" --answer 'FILL_answer' --reason 'FILL_reason'")
    assert gated.show(waiting.run).text == waiting.text
    for answer in ("accept", "revise", "FILL_answer"):
        command = filled(waiting.next, {"answer": answer, "reason": "fine"})
        assert_refused(gated, command, "person-needed", waiting.run)


@pytest.mark.req("W-24")
def test_a_person_accepts_with_a_reason_that_is_kept(gated: Agent) -> None:
    waiting = gated.run_command(after(gated, 5, item()).next)
    with pytest.raises(AssertionError, match="Accepting what is open takes a reason, in more than a word"):
        gated.answer(waiting, "accept")
    close = gated.answer(waiting, "accept", "known, and harmless here")
    assert close.step == "close"
    [answered] = [event for event in gated.events(close.run) if event.detail.get("answer")]
    assert (answered.actor, answered.detail["answer"], answered.detail["by"], answered.detail["reason"]) == (
        "person (terminal)",
        "accept",
        "person",
        "known, and harmless here",
    )


@pytest.mark.req("W-24")
def test_a_person_sends_the_work_back_once_more(gated: Agent) -> None:
    waiting = gated.run_command(after(gated, 5, item()).next)
    write = gated.answer(waiting, "revise", "mend it")
    assert write.step == "write"
    assert "a (MUST) it holds: it does not hold" in write.context["design.findings"]
    gate = reviewed(gated, write, item())
    assert "iteration 6" in gate.words("STATE")
    assert gated.run_command(gate.next).kind == "waiting"


@pytest.mark.req("W-10")
def test_a_reviewer_with_a_way_for_fail_is_its_own_gate(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("work", "Work", "Do.", {Outcome.OK: "qr_gate"}),'
        'StepDef("qr_gate", "Gate", "Review.", {Outcome.OK: None, Outcome.FAIL: "work"},'
        ' Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it."))'
    )
    own = Agent(install(tmp_path, "own", source_of("own", steps)), project)
    review = own.follow(own.open())
    for verdict, step in (("FAIL", "work"), ("PASS", "")):
        last = own.follow(own.run_command(review.children[0].command), items=[item(status=verdict)])
        onward = own.run_command(last.next)
        assert onward.step == step
        if step:
            own.write("out.txt", "done")
            review = own.follow(onward, fixes=FIXED[:1])
    assert onward.kind == "done"


@pytest.mark.req("W-24")
def test_an_answer_through_the_agent_is_recorded_as_reported(agent: Factory) -> None:
    tour = agent("tour")
    waiting = tour.follow(tour.follow(tour.follow(tour.open(topic="why"), summary="s"), mode="quick"), outcome="skip")
    assert (waiting.kind, waiting.words("QUESTION")) == ("waiting", "Is it good?")
    assert_refused(tour, waiting.next.partition(" --answer")[0], "unanswered", waiting.run)
    assert_refused(tour, waiting.next, "unfilled", waiting.run)
    refused = assert_refused(tour, filled(waiting.next, {"answer": "perhaps"}), "bad-value", waiting.run)
    assert refused.valid == ["yes", "no"]
    close = assert_way_on(tour, refused, answer="yes")
    assert (close.step, close.context["ask.answer"]) == ("close", "yes")
    [answered] = [event for event in tour.events(close.run) if event.detail.get("answer")]
    assert (answered.actor, answered.detail["by"]) == ("agent", "reported")


def test_an_answer_that_nobody_asked_for_is_refused(agent: Factory) -> None:
    tour = agent("tour")
    block = tour.open(topic="why")
    assert_refused(tour, filled(block.next, {"summary": "s"}) + " --answer yes", "no-question", block.run)


@pytest.mark.req("W-24")
def test_a_question_at_the_terminal_is_not_answered_by_the_agent(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("ask", "Ask", "Ask.", {Outcome.OK: None, Outcome.FAIL: "ask"},'
        ' person("Ship?", {"yes": "ok", "no": "fail"}, at_terminal=True))'
    )
    asks = Agent(install(tmp_path, "asks", source_of("asks", steps)), project)
    waiting = asks.open()
    command = filled(waiting.next, {"answer": "yes"})
    refused = assert_refused(asks, command, "person-needed", waiting.run)
    assert refused.next == command
    assert asks.run_command(refused.show).text == waiting.text
    assert asks.answer(waiting, "no").turn == 2
    assert asks.answer(asks.blocks[-1], "yes").kind == "done"


def test_items_are_kept_as_they_were_judged(gated: Agent) -> None:
    gate = after(gated, 1, item(), item("SHOULD", "TODO", "b"))
    review = gated.state(gate.run).reviews["design"]
    assert json.loads(json.dumps(review["items"][1])) == {
        **item("SHOULD", "TODO", "b"),
        "owner": 1,
        "target": "form",
    }
    assert (review["iteration"], review["status"]) == (1, "fail")


def test_a_reviewers_block_says_what_an_item_is(gated: Agent) -> None:
    gated.write("out.txt", "done")
    child = gated.run_command(gated.follow(gated.open()).children[0].command)
    for name in ("scope", "check", "severity", "status", "place", "finding"):
        assert f'"{name}": ' in child.words("RECORD/file")


def test_all_faults_of_reported_items_are_reported_at_once(gated: Agent) -> None:
    gated.write("out.txt", "done")
    child = gated.run_command(gated.follow(gated.open()).children[0].command)
    refused = gated.run_command(filled(child.next, {"items": '[{"id": "a"}, {"id": "-"}, "b"]'}))
    assert "item 1: severity '' is not one of MUST" in refused.why
    assert "item 1: status ''" in refused.why
    assert "item 2: the id '-' is not one" in refused.why
    assert 'An item is {"scope": …' in refused.why
    refused = gated.run_command(filled(child.next, {"items": "fine"}))
    assert "items is not JSON" in refused.why
    assert '"severity": "MUST|SHOULD|COULD"' in refused.why


PARTS = (
    'StepDef("work", "Work", "Do a part.", {Outcome.OK: "d-review"}),'
    '*review_loop("d", work="work", passed="more", bound=1),'
    'StepDef("more", "More", "Look.", {Outcome.OK: None, Outcome.ITERATE: "work"}, max_iterations=3,'
    ' when={Outcome.OK: "it was the last part", Outcome.ITERATE: "a part is left"})'
)


@pytest.mark.req("W-10")
def test_after_a_checkpoint_passed_the_next_review_of_it_is_a_first_one(tmp_path: Path, project: Path) -> None:
    parts = Agent(install(tmp_path, "parts", source_of("parts", PARTS)), project)
    work = parts.open()
    for part, status in (("one", "PASS"), ("two", "FAIL"), ("three", "PASS")):
        review = parts.follow(work)
        assert "iteration 1 of 1, first review" in review.words("STATE")
        child = parts.run_command(review.children[0].command)
        assert child.context == {}
        last = parts.follow(child, items=[item(status=status, name=part)])
        assert parts.run_command(review.next + " --qr-iteration 2").code == "forged-verdict"
        gate = parts.run_command(review.next + " --qr-iteration 1")
        assert f"iteration 1 of 1, reviewed, verdict {status.lower()}" in gate.words("STATE")
        more = parts.follow(gate)
        if status == "FAIL":
            more = parts.answer(more, "accept", "it can stay")
        if part != "three":
            work = parts.follow(more, outcome="iterate")
    assert [one["id"] for one in parts.state(last.run.partition(".")[0]).reviews["d"]["items"]] == ["three"]
