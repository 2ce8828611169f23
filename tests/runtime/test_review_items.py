"""What reviewers report and what of it counts: targets, successors, items, findings that are accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from tests.fixtures.skill import install, source_of
from tests.runtime.calls import LOOP, OPEN_ENDED, item, leave, review

Skill = Callable[..., Agent]


def test_items_of_a_target_that_is_there_no_more_are_still_verified(skill: Skill) -> None:
    agent = skill(
        'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}, requires=[Field("files", "list")]), '
        '*review_loop("d", work="work", passed="last", gate_actions="Go.", '
        'reviewer=Dispatch("quality-reviewer", task="{target}", targets="work.files")), ' + OPEN_ENDED
    )
    block = leave(agent, agent.open(), "next", files=["one", "two"])
    sent_back = review(agent, block, [item("x", "PASS")], [item("x", "FAIL", "the second file is right")])
    assert sent_back.step == "work"

    again = leave(agent, sent_back, "next", files=["one"], fixes=["x.2 | changed | it was put right"])
    assert [child.target for child in again.children] == ["one", "two"]
    shown = agent.run_command(again.children[1].command)
    assert shown.context["items"] == "- x.2 (MUST, whole): the second file is right"
    assert "the step does not name it any more" in shown.words("DO")
    alone = leave(agent, shown, "done", items=[item("y", "PASS")])
    assert (alone.exit_code, alone.code) == (3, "other-items")
    leave(agent, shown, "done", items=[item("x.2", "FAIL")])
    last = leave(agent, agent.run_command(again.children[0].command), "done", items=[item("x", "PASS")])
    assert agent.follow(agent.run_command(last.next)).step == "work"


def test_the_successor_of_a_lost_reviewer_makes_the_review(skill: Skill) -> None:
    agent = skill(LOOP.replace("{bound}", "5"))
    block = agent.follow(agent.open())
    sent_back = agent.follow(agent.follow(agent.lose(block, block.children[0].id)))
    assert "reviewer-1 (MUST) the review was made: not reviewed" in sent_back.context["d.findings"]

    shown = agent.run_command(agent.follow(sent_back).children[0].command)
    assert "items" not in shown.context
    assert "Split the review into items" in shown.text
    found = leave(agent, shown, "done", items=[item("new", "FAIL")])
    assert agent.follow(agent.run_command(found.next)).step == "work"


def test_a_re_verification_rewords_no_check(skill: Skill) -> None:
    agent = skill(LOOP.replace("{bound}", "5"))
    sent_back = review(agent, agent.follow(agent.open()), [item("x", "FAIL", "nothing is injected")])
    block = agent.follow(sent_back, fixes=["x | changed | it was put right"])
    closed = review(agent, block, [item("x", "PASS", "the file exists")])
    [kept] = agent.state(closed.run).reviews["d"]["items"]
    assert (kept["check"], kept["status"]) == ("nothing is injected", "PASS")


def test_open_findings_are_not_accepted_for_a_placeholder(skill: Skill) -> None:
    agent = skill(LOOP.replace("{bound}", "1"))
    asked = review(agent, agent.follow(agent.open()), [item("x", "FAIL")])
    assert asked.kind == "waiting"
    with pytest.raises(AssertionError, match="--reason still stands as a placeholder"):
        agent.answer(asked, "accept", "FILL_reason")


JUDGES = {
    "first": (
        'StepDef("judge", "Judge", "Judge.", {Outcome.OK: "tell"}, requires=[Field("items", "items")]), '
        'StepDef("tell", "Tell", "Tell.", {Outcome.OK: None}, requires=[Field("summary")])'
    ),
    "asked": (
        'StepDef("judge", "Judge", "Judge.", {Outcome.OK: "look"}, requires=[Field("items", "items")]), '
        'StepDef("look", "Look", "Look.", {Outcome.OK: "tell"}, requires=[Field("items", "items")]), '
        'StepDef("tell", "Tell", "Tell.", {Outcome.OK: None}, person("Fine?", ["yes"]), requires=[Field("summary")])'
    ),
    **{
        kind: f'StepDef("judge", "Judge", "Judge.", {{Outcome.OK: None}}, requires=[Field("items", "{kind}")])'
        for kind in ("json", "list", "text")
    },
}


def judged(tmp_path: Path, project: Path, kind: str) -> Agent:
    """An agent of a skill whose reviewers walk a script of that kind."""
    name = f"judged{kind}"
    steps = LOOP.replace(", bound={bound}", f', reviewer=Dispatch("quality-reviewer", script="{name}part.py")')
    entry = install(tmp_path, name, source_of(name, steps))
    for file in install(tmp_path / "part", f"{name}part", source_of(f"{name}part", JUDGES[kind])).parent.glob("*.py"):
        file.rename(entry.parent / file.name)
    return Agent(entry, project)


@pytest.mark.parametrize("kind", ["first", "asked"])
def test_the_last_items_that_a_reviewers_script_recorded_count(tmp_path: Path, project: Path, kind: str) -> None:
    agent = judged(tmp_path, project, kind)
    review = agent.follow(agent.open())
    end = agent.follow(agent.run_command(review.children[0].command), items=[item("leak", "FAIL")])
    if kind == "asked":
        end = agent.follow(agent.follow(end, items=[item("leak", "FAIL", "nothing leaks")]), summary="one leak")
        end = agent.follow(end, answer="yes")
    else:
        end = agent.follow(end, summary="one leak")
    sent_back = agent.follow(agent.run_command(end.next))
    check = {"first": "it holds", "asked": "nothing leaks"}[kind]
    assert sent_back.context == {"d.findings": f"- leak (MUST) {check}: it does not"}


@pytest.mark.parametrize(
    "kind, given",
    [
        ("json", {"leak": "FAIL"}),
        ("json", [3]),
        ("json", []),
        ("list", ["leak"]),
        ("text", "a leak"),
    ],
)
def test_what_is_no_list_of_items_counts_as_none(tmp_path: Path, project: Path, kind: str, given: object) -> None:
    agent = judged(tmp_path, project, kind)
    review = agent.follow(agent.open())
    end = agent.follow(agent.run_command(review.children[0].command), items=given)
    sent_back = agent.follow(agent.run_command(end.next))
    assert sent_back.step == "work"
    assert sent_back.context["d.findings"].endswith("not reviewed: the reviewer recorded no items")


def test_items_that_were_recorded_as_json_count_and_must_be_those_asked_for(tmp_path: Path, project: Path) -> None:
    agent = judged(tmp_path, project, "json")
    work = agent.open()
    for given, finding in (("leak", "it does not"), ("other", "not reviewed: the reviewer recorded no items")):
        review = agent.follow(work, fixes=["leak | changed | it was put right"])
        end = agent.follow(agent.run_command(review.children[0].command), items=[item(given, "FAIL")])
        work = agent.follow(agent.run_command(end.next))
        assert work.context == {"d.findings": f"- leak (MUST) it holds: {finding}"}
