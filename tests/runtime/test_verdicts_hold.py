"""Gates that cannot be argued with: what opens one is the record, and what ends a run has passed them all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.follower import InProcess
from skills.lib.validation import registration
from tests.fixtures.agents import Skill, git
from tests.fixtures.deviations import assert_refused

END = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
WORK = 'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"})'
COVERED = 'reviewer=Dispatch("quality-reviewer", task="Review it.", covers=["src/**"])'
LOOP = f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go."), {END}'
COVERING = f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {COVERED}), {END}'


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are not validated: what the engine itself holds is seen."""
    monkeypatch.setattr(registration, "demanded", False)


def item(status: str = "PASS", severity: str = "MUST", name: str = "a", **more: str) -> dict[str, str]:
    finding = "it holds now" if status == "PASS" else "it does not hold"
    return {"id": name, "check": "it holds", "severity": severity, "status": status, "finding": finding, **more}


def judge(agent: Agent, review: PrintedBlock, *items: dict[str, str]) -> PrintedBlock:
    """Have the one reviewer of a step report these items; the gate's block."""
    assert len(review.children) == 1, review.text
    last = agent.follow(agent.run_command(review.children[0].command), items=list(items))
    assert last.kind == "done", last.text
    return agent.run_command(last.next)


def answered(agent: Agent, *findings: str) -> dict[str, Any]:
    return {"fixes": [f"{name} | changed | it was put right" for name in findings]}


def record(agent: Agent, block: PrintedBlock, **values: Any) -> PrintedBlock:
    """Leave the step with these values, whether or not its command names them."""
    file = agent.project / f"record-{block.turn}.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    words = block.next.split(" --record ")[0]
    return agent.run_command(f"{words} --record-file {file}")


def undone(block: PrintedBlock) -> list[tuple[str, str]]:
    return [(entry.get("kind", ""), entry.text or "") for entry in block.root.iterfind("NOT_DONE/entry")]


# The end


WALKED_PAST = (
    'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review", Outcome.SKIP: "last"},'
    ' when={Outcome.OK: "there is something to review", Outcome.SKIP: "there is not"}),'
    f'*review_loop("d", work="work", passed="last", gate_actions="Go."), {END}'
)


@pytest.mark.req("S-01")
@pytest.mark.usefixtures("unchecked")
def test_a_run_that_walks_past_a_failed_review_ends_as_failed(skill: Skill) -> None:
    agent = skill(WALKED_PAST)
    work = agent.follow(judge(agent, agent.follow(agent.open(), outcome="ok"), item("FAIL")))
    assert work.step == "work"
    last = agent.run_command(filled(work.next.split(" --record")[0], {}) + " --outcome skip")
    end = agent.follow(last)
    assert (end.kind, end.root.get("status")) == ("done", "failed")
    assert undone(end) == [("finding", "a (MUST, open): it does not hold")]


@pytest.mark.req("S-01")
def test_a_run_that_ends_by_fail_has_failed_and_its_parent_sees_it(skill: Skill) -> None:
    agent = skill(
        'StepDef("ask", "Ask", "Ask.", {Outcome.OK: None, Outcome.FAIL: None},'
        ' Dispatch("explore", script="part.py"), when={Outcome.OK: "fine", Outcome.FAIL: "not"})',
        part='StepDef("look", "Look", "Look.", {Outcome.OK: None, Outcome.FAIL: None},'
        ' when={Outcome.OK: "there", Outcome.FAIL: "nothing is there"})',
    )
    block = agent.open()
    child = agent.run_command(block.children[0].command)
    ended = agent.follow(child, outcome="fail")
    assert (ended.root.get("status"), agent.state(child.run).status) == ("failed", "failed")
    end = agent.run_command(ended.next)
    assert end.root.get("status") == "failed"
    assert agent.state(block.run).state["ask"]["results"][0]["verdict"] == "fail"


@pytest.mark.req("S-03")
@pytest.mark.parametrize("handler", ["", ", then=lambda ctx: Outcome.OK"])
def test_the_end_tells_a_sub_agent_that_failed_and_was_not_heeded(skill: Skill, handler: str) -> None:
    agent = skill(
        f'StepDef("ask", "Ask", "Ask.", {{Outcome.OK: "last"}}, Dispatch("explore", script="part.py"{handler})), {END}',
        part='StepDef("look", "Look", "Look.", {Outcome.OK: None, Outcome.FAIL: None},'
        ' when={Outcome.OK: "there", Outcome.FAIL: "nothing is there"})',
    )
    child = agent.run_command(agent.open().children[0].command)
    ended = agent.follow(child, outcome="fail")
    end = agent.follow(agent.run_command(ended.next))
    assert end.root.get("status") == "done"
    assert undone(end) == [("sub-agent", f"{child.run} (part.py) ended as failed, and nothing followed from it")]


@pytest.mark.req("S-01")
def test_no_verdict_stands_under_a_sub_agent_that_nobody_judged(skill: Skill) -> None:
    agent = skill('StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, Dispatch("explore", task="look"))')
    block = agent.open()
    agent.run_command(agent.finish(block.children[0].command).next)
    [result] = agent.state(block.run).state["ask"]["results"]
    assert "verdict" not in result


@pytest.mark.req("S-01")
@pytest.mark.usefixtures("unchecked")
def test_a_second_gate_of_a_checkpoint_refuses_the_verdict_that_the_first_used(skill: Skill) -> None:
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="more", gate_actions="Go."), '
        'StepDef("more", "More", "More.", {Outcome.OK: "again"}), '
        'StepDef("again", "Again", "Go.", {Outcome.OK: None, Outcome.FAIL: "work"}, Gate("d"))'
    )
    more = agent.follow(judge(agent, agent.follow(agent.open()), item()))
    assert_refused(agent, agent.follow(more).next, "spent-verdict")


PERSON = (
    f'{WORK}, StepDef("d-review", "Review", "Have it reviewed.", {{Outcome.OK: "gate"}},'
    ' Dispatch("quality-reviewer", task="Review it.", checkpoint="d")),'
    'StepDef("gate", "Gate", "Go.", {Outcome.OK: None, Outcome.FAIL: "ask"}, Gate("d")),'
    'StepDef("ask", "Ask", "", {Outcome.OK: None, Outcome.FAIL: "work"},'
    ' person("Ship it all the same?", {"yes": "ok", "no": "fail"}))'
)


@pytest.mark.req("S-01", "W-24")
@pytest.mark.parametrize(
    "severity, who, status",
    [("MUST", "agent", "failed"), ("MUST", "person", "done"), ("SHOULD", "agent", "done")],
)
def test_a_person_who_knows_of_the_findings_may_let_a_run_end(
    skill: Skill, severity: str, who: str, status: str
) -> None:
    agent = skill(PERSON)
    asked = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", severity)))
    assert asked.words("QUESTION").startswith("Ship it all the same?")
    assert f"these findings are open: a ({severity}): it does not hold" in asked.words("QUESTION")
    if who == "person":
        agent.answer(asked, "yes", "known")
    else:
        agent.follow(asked, answer="yes")
    assert agent.state(asked.run).status == status


def test_a_person_who_sends_the_work_back_accepts_nothing(skill: Skill) -> None:
    ways = "when={Outcome.OK: 'it is done', Outcome.SKIP: 'it is not needed'}"
    agent = skill(
        f'StepDef("work", "Work", "Work.", {{Outcome.OK: "d-review", Outcome.SKIP: "last"}}, {ways}),'
        'StepDef("d-review", "Review", "Have it reviewed.", {Outcome.OK: "gate"},'
        ' Dispatch("quality-reviewer", task="Review it.", checkpoint="d")),'
        'StepDef("gate", "Gate", "Go.", {Outcome.OK: "last", Outcome.FAIL: "ask"}, Gate("d")),'
        'StepDef("ask", "Ask", "", {Outcome.OK: "last", Outcome.ITERATE: "work"},'
        ' person("Ship it, or fix it?", {"ship": "ok", "fix": "iterate"}, at_terminal=True)),' + END
    )
    asked = agent.follow(judge(agent, agent.follow(agent.open(), outcome="ok"), item("FAIL")))
    work = agent.answer(asked, "fix", "it must be fixed")
    agent.follow(agent.follow(work, outcome="skip", fixes=[]))
    assert agent.state(asked.run).status == "failed"


# What a reviewer reports


SPLIT = (
    'StepDef("split", "Split", "Split.", {Outcome.OK: "more"}, requires=[Field("statements", "statements")]),'
    'StepDef("more", "More", "Split.", {Outcome.OK: "verify"}, requires=[Field("statements", "statements")]),'
    'StepDef("verify", "Verify", "Verify.", {Outcome.OK: None}, needs=["split.statements", "more.statements"],'
    ' requires=[Field("answers", "answers")]) ## reverify="verify"'
)
BY_SCRIPT = 'reviewer=Dispatch("quality-reviewer", script="part.py")'
SCRIPTED = f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {BY_SCRIPT}), {END}'


def answer(name: str, status: str = "PASS", **more: Any) -> dict[str, Any]:
    finding = "it holds now" if status == "PASS" else "it does not hold"
    return {"id": name, "status": status, "place": "src/a.py:1", "severity": "MUST", "finding": finding, **more}


def split(agent: Agent, *statements: list[str] | str) -> PrintedBlock:
    """Begin the reviewer of a scripted review, and record these statements; the block that wants answers."""
    review = agent.follow(agent.open())
    block = agent.run_command(review.children[0].command)
    for entries in statements:
        block = agent.follow(block, statements=entries)
    return block


@pytest.mark.req("S-02")
def test_the_engine_numbers_the_statements_of_all_steps(skill: Skill) -> None:
    agent = skill(SCRIPTED, part=SPLIT)
    verify = split(agent, ["M-1 | one is so", "M-2 | two is so"], ["all | three is | so"])
    assert verify.context == {
        "split.statements": "- S1 | M-1 | one is so\n- S2 | M-2 | two is so",
        "more.statements": "- S3 | all | three is | so",
    }


@pytest.mark.req("S-02")
def test_items_follow_from_the_answers_and_are_not_typed_again(skill: Skill) -> None:
    agent = skill(SCRIPTED, part=SPLIT)
    verify = split(agent, ["M-1 | one is so"], "none: nothing more hangs on it")
    end = agent.follow(verify, answers=[answer("S1", "FAIL")])
    assert end.result == {
        "verify.items": "- id: S1\n  scope: M-1\n  check: one is so\n  severity: MUST\n  status: FAIL\n"
        "  finding: it does not hold\n  place: src/a.py:1"
    }
    gate = agent.run_command(end.next)
    assert "verdict fail" in gate.words("STATE")
    [kept] = agent.state(gate.run).reviews["d"]["items"]
    assert (kept["id"], kept["scope"], kept["check"]) == ("S1", "M-1", "one is so")
    assert (kept["severity"], kept["status"], kept["place"]) == ("MUST", "FAIL", "src/a.py:1")


@pytest.mark.req("S-02")
@pytest.mark.parametrize(
    "given, words",
    [
        ([], "no answer to S1, S2"),
        ([answer("S1")], "no answer to S2"),
        ([answer("S1"), answer("S2"), answer("S3")], "'S3' is nothing that was asked"),
        ([answer("S1"), answer("S1"), answer("S2")], "S1 is answered twice"),
        ([answer("S1"), answer("S2", place="")], "place is empty"),
        ([answer("S1"), answer("S2", "FAIL", finding="")], "finding is empty"),
        ([answer("S1"), answer("S2", "FAIL", severity="")], "S2: severity is missing"),
        ([answer("S1"), answer("S2", check="other")], "check is not part of it"),
        ([answer("S1"), answer("S2", status="FINE")], "status 'FINE' is not one of"),
        ([answer("S1"), answer("s2")], "did you mean S2?"),
        ([answer("S1"), answer("S2", place={"all": "x"})], "place is a text"),
    ],
)
def test_an_answer_that_answers_nothing_is_refused_and_says_what_is_asked(
    skill: Skill, given: list[dict[str, Any]], words: str
) -> None:
    agent = skill(SCRIPTED, part=SPLIT)
    verify = split(agent, ["M-1 | one is so"], ["M-2 | two is so"])
    refused = agent.run_command(filled(verify.next, {"answers": given}))
    assert (refused.exit_code, refused.kind) == (3, "refused")
    assert words in refused.why
    assert agent.follow(verify, answers=[answer("S1"), answer("S2", "TODO", place="")]).kind == "done"


@pytest.mark.req("S-02", "S-03")
def test_a_split_that_states_nothing_says_why_and_the_end_tells_it(skill: Skill) -> None:
    agent = skill(SCRIPTED, part=SPLIT)
    for given in (
        "none:",
        "none: nothing",
        "none: nothing, nothing",
        [],
        ["one is so"],
        ["M-1 | so"],
        [" | one is so"],
    ):
        review = agent.follow(agent.open("--new"))
        first = agent.run_command(review.children[0].command)
        assert agent.run_command(filled(first.next, {"statements": given})).exit_code == 3, given
    verify = split_again(agent, review, "none: the part has no code", ["M-2 | two is so"])
    end = agent.follow(verify, answers=[answer("S1")])
    told = "nothing was stated to check at split: the part has no code"
    assert undone(end) == [("review", told)]
    last = agent.follow(agent.run_command(end.next))
    assert undone(agent.follow(last)) == [("review", f"sub-agent {end.run}: {told}")]


def split_again(agent: Agent, review: PrintedBlock, *statements: list[str] | str) -> PrintedBlock:
    block = agent.run_command(review.children[0].command)
    for entries in statements:
        block = agent.follow(block, statements=entries)
    return block


@pytest.mark.req("S-02")
def test_a_re_verification_begins_at_the_step_of_the_answers(skill: Skill) -> None:
    agent = skill(SCRIPTED, part=SPLIT)
    verify = split(agent, ["M-1 | one is so"], "none: nothing more hangs on it")
    work = agent.follow(agent.run_command(agent.follow(verify, answers=[answer("S1", "FAIL", place="the text")]).next))
    work_again = agent.follow(work, **answered(agent, "S1"))
    again = agent.run_command(work_again.children[0].command)
    assert (again.step, again.turn) == ("verify", 1)
    assert again.context == {"items": "- S1 (MUST, M-1): one is so"}
    assert agent.run_command(work_again.children[0].command).text == again.text
    bare = {name: value for name, value in answer("S1", finding="").items() if name != "severity"}
    refused = agent.run_command(filled(again.next, {"answers": [bare]}))
    assert "S1 was a finding before: say in finding what is there now" in refused.why
    end = agent.follow(again, answers=[{**bare, "finding": "line 3 says so now"}])
    assert agent.follow(agent.run_command(end.next)).step == "last"


@pytest.mark.req("S-02")
def test_after_a_first_review_that_was_lost_the_next_one_splits_statements_off(skill: Skill) -> None:
    checked = BY_SCRIPT.replace('"part.py"', '"part.py", checks=[Check("order", "MUST", "the order holds")]')
    agent = skill(SCRIPTED.replace(BY_SCRIPT, checked), part=SPLIT)
    review = agent.follow(agent.open())
    work = agent.follow(agent.run_command(agent.lose(review, review.children[0].id).next))
    assert work.context["d.findings"] == "- order-1 (MUST) the order holds: not reviewed: it never came back"
    again = agent.run_command(agent.follow(work).children[0].command)
    assert (again.step, again.context) == ("split", {"checks": "- order (MUST): the order holds."})


SUITE = SPLIT.replace(
    ' requires=[Field("answers", "answers")]',
    ' requires=[Field("answers", "answers"), Command(["test", "!", "-e", "red"], 20, severity="MUST")]',
)


@pytest.mark.req("S-02")
def test_what_a_command_judges_is_asked_of_no_reviewer(skill: Skill) -> None:
    agent = skill(SCRIPTED, part=SUITE)
    agent.write("red", "x")
    verify = split(agent, ["M-1 | one is so"], "none: nothing more hangs on it")
    work = agent.follow(agent.run_command(agent.follow(verify, answers=[answer("S1", place="the text")]).next))
    assert work.context["d.findings"].startswith("- verify:1 (MUST) test ! -e red ends with 0: ")
    (agent.project / "red").unlink()
    again = agent.run_command(agent.follow(work, **answered(agent, "verify:1")).children[0].command)
    assert again.context == {"items": "- S1 (MUST, M-1): one is so"}
    both = [answer("S1", place="the text"), answer("verify:1", place="the text")]
    end = agent.follow(again, answers=both)
    assert agent.follow(agent.run_command(end.next)).step == "last"


@pytest.mark.req("S-02")
def test_a_reviewer_without_the_command_judges_what_another_reviewers_command_judged(skill: Skill) -> None:
    agent = skill(
        'StepDef("work", "Work", "Work.", {Outcome.OK: "first"}),'
        ' StepDef("first", "First", "First.", {Outcome.OK: "fix"},'
        ' Dispatch("quality-reviewer", script="part.py", checkpoint="d")),'
        ' StepDef("fix", "Fix", "Fix.", {Outcome.OK: "second"}),'
        ' StepDef("second", "Second", "Second.", {Outcome.OK: "gate"},'
        ' Dispatch("quality-reviewer", task="Review it.", checkpoint="d")),'
        ' StepDef("gate", "Gate", "Gate.", {Outcome.OK: "last", Outcome.FAIL: "work"}, Gate("d")),'
        f" {END}",
        part=SUITE,
    )
    agent.write("red", "x")
    verify = split(agent, ["M-1 | one is so"], "none: nothing more hangs on it")
    fix = agent.run_command(agent.follow(verify, answers=[answer("S1", place="the text")]).next)
    assert fix.step == "fix"
    (agent.project / "red").unlink()
    again = agent.run_command(agent.follow(fix, **answered(agent, "verify:1")).children[0].command)
    assert again.context["items"].splitlines() == [
        "- S1 (MUST, M-1): one is so",
        "- verify:1 (MUST, all): test ! -e red ends with 0",
    ]
    ids = {"S1": "", "verify:1": "red is gone: `ls` shows no such file"}
    items = [item(name=name, place="the text", **({"finding": why} if why else {})) for name, why in ids.items()]
    gate = agent.run_command(agent.follow(again, items=items).next)
    assert agent.follow(gate).step == "last"


@pytest.mark.req("S-02")
def test_a_command_that_several_reviewers_run_settles_what_it_judged_for_each_of_them(skill: Skill) -> None:
    by_two = 'reviewer=Dispatch("quality-reviewer", script="part.py", targets=("A", "B"))'
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {by_two}), {END}', part=SUITE
    )
    agent.write("red", "x")
    review = agent.follow(agent.open())
    for at, child in enumerate(review.children):
        more = agent.follow(agent.run_command(child.command), statements=[f"{at} | all is so"])
        verify = agent.follow(more, statements="none: nothing more hangs on it")
        last = agent.follow(verify, answers=[answer("S1", place="the text")])
    work = agent.follow(agent.run_command(last.next))
    assert work.step == "work"
    (agent.project / "red").unlink()
    review = agent.follow(work, **answered(agent, "verify:1", "verify:1.2"))
    for child, stated in zip(review.children, ("S1", "S1.2"), strict=True):
        last = agent.follow(agent.run_command(child.command), answers=[answer(stated, place="the text")])
    assert agent.follow(agent.run_command(last.next)).step == "last"
    found = agent.state(work.run).reviews["d"]["items"]
    assert sorted(one["id"] for one in found) == ["S1", "S1.2", "verify:1", "verify:1.2"]


@pytest.mark.req("S-02")
def test_a_review_in_which_nothing_is_stated_ends_by_its_commands(skill: Skill) -> None:
    agent = skill(SCRIPTED, part=SUITE)
    verify = split(agent, "none: there is no code", "none: nothing hangs on it")
    end = agent.follow(verify, answers=[])
    last = agent.follow(agent.run_command(end.next))
    assert last.step == "last"
    told = [what.partition(": ")[2] for kind, what in undone(agent.follow(last)) if kind == "review"]
    assert told == [
        "nothing at all was stated to check at split: there is no code",
        "nothing at all was stated to check at more: nothing hangs on it",
    ]


@pytest.mark.req("S-02")
def test_a_reviewer_who_states_nothing_at_all_ends_and_has_not_reviewed(skill: Skill) -> None:
    agent = skill(SCRIPTED, part=SPLIT)
    verify = split(agent, "none: there is no code", "none: nothing hangs on it")
    end = agent.follow(verify, answers=[])
    assert end.kind == "done", end.text
    work = agent.follow(agent.run_command(end.next))
    assert work.step == "work"
    [found] = agent.state(work.run).reviews["d"]["items"]
    assert (found["severity"], found["status"]) == ("MUST", "TODO")
    assert "the reviewer recorded no items" in found["finding"]


CHECKS = (
    'checks=[Check("keeps", "MUST", "behaviour stays", over="work.parts"),'
    ' Check("order", "SHOULD", "the order holds"), Check("taste", "COULD", "it reads well", over="work.parts")]'
)
CHECKED = (
    'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}, requires=[Field("parts", "list")]),'
    '*review_loop("d", work="work", passed="last", gate_actions="Go.",'
    f' reviewer=Dispatch("quality-reviewer", task="Review.", {CHECKS})), {END}'
)


def checked(agent: Agent, parts: list[str]) -> PrintedBlock:
    return agent.run_command(agent.follow(agent.open(), parts=parts).children[0].command)


@pytest.mark.req("S-02")
def test_each_check_is_made_for_each_target_with_its_own_severity(skill: Skill) -> None:
    agent = skill(CHECKED)
    task = checked(agent, ["W1", "W2"])
    assert task.context["checks"] == (
        "- keeps (MUST): behaviour stays. Targets: W1, W2\n"
        "- order (SHOULD): the order holds.\n"
        "- taste (COULD): it reads well. Targets: W1, W2"
    )
    one = {"id": "keeps", "status": "PASS", "place": {"W1": "a.json:1"}, "finding": ""}
    refused = agent.run_command(filled(task.next, {"answers": [one]}))
    assert "no answer to keeps-2, order-1, taste-1, taste-2" in refused.why
    end = agent.follow(
        task,
        answers=[
            {"id": "keeps", "status": "PASS", "place": {"W1": "a.json:1"}, "finding": ""},
            {"id": "keeps", "status": "FAIL", "place": {"W2": "a.json:9"}, "finding": "the total changes"},
            {"id": "order", "status": "PASS", "place": "a.json:3", "finding": ""},
            {"id": "taste", "status": "FAIL", "place": {"W1": "a.json:1", "W2": "a.json:9"}, "finding": "it is long"},
        ],
    )
    work = agent.follow(agent.run_command(end.next))
    assert work.context["d.findings"] == "- keeps-2 (MUST) behaviour stays: the total changes [a.json:9]"


@pytest.mark.req("S-02")
def test_a_target_may_say_what_must_be_so_of_it(skill: Skill) -> None:
    agent = skill(CHECKED)
    task = checked(agent, ["W1 | the total is rounded once", "W2"])
    assert task.context["checks"].splitlines()[:4] == [
        "- keeps (MUST): behaviour stays. Targets:",
        "  W1: the total is rounded once",
        "  W2: behaviour stays",
        "- order (SHOULD): the order holds.",
    ]


@pytest.mark.req("S-02")
def test_a_target_that_a_lost_reviewer_was_to_check_is_checked_though_it_is_recorded_no_more(skill: Skill) -> None:
    agent = skill(CHECKED)
    review = agent.follow(agent.open(), parts=["W1", "W2 | the total is rounded once"])
    work = agent.follow(agent.run_command(agent.lose(review, review.children[0].id).next))
    again = agent.run_command(agent.follow(work, parts=["W1"]).children[0].command)
    assert again.context["checks"].splitlines()[:3] == [
        "- keeps (MUST): behaviour stays. Targets:",
        "  W1: behaviour stays",
        "  W2: the total is rounded once",
    ]


@pytest.mark.req("S-02")
def test_a_target_that_is_new_is_checked_beside_the_items_that_are_verified_again(skill: Skill) -> None:
    agent = skill(CHECKED)
    task = checked(agent, ["W1"])
    found = [
        {"id": "keeps", "status": "FAIL", "place": "a.json:1", "finding": "the total changes"},
        {"id": "order", "status": "PASS", "place": "a.json:3", "finding": ""},
        {"id": "taste", "status": "PASS", "place": "a.json:3", "finding": ""},
    ]
    work = agent.follow(agent.run_command(agent.follow(task, answers=found).next))
    review = agent.follow(work, parts=["W1", "W2"], **answered(agent, "keeps-1"))
    again = agent.run_command(review.children[0].command)
    assert again.context["items"].splitlines()[0] == "- keeps-1 (MUST, W1): behaviour stays"
    assert again.context["checks"] == (
        "- keeps (MUST): behaviour stays. Targets: W2\n- taste (COULD): it reads well. Targets: W2"
    )


@pytest.mark.req("S-02")
def test_a_check_whose_finding_a_person_accepted_is_not_made_again(skill: Skill) -> None:
    agent = skill(CHECKED)
    block = agent.follow(agent.open(), parts=["W1", "W2"])
    for name in ("keeps", "keeps-1"):
        task = agent.run_command(block.children[0].command)
        first: dict[str, Any] = {"id": name, "status": "FAIL", "finding": "the total changes"}
        first["place"] = {"W1": "a.json:1"} if name == "keeps" else "a.json:1"
        rest = ("keeps-2", "order-1", "taste-1", "taste-2")
        passed = [{"id": one, "status": "PASS", "place": "a.json:9", "finding": ""} for one in rest]
        work = agent.follow(agent.run_command(agent.follow(task, answers=[first, *passed]).next))
        block = agent.follow(work, parts=["W1", "W2"], fixes=["keeps-1 | disputed | the total was wrong before"])
    review = agent.answer(block, "accept", "the total was wrong before")
    task = agent.run_command(review.children[0].command)
    assert [line.partition(" (")[0] for line in task.context["items"].splitlines()] == [
        *("- keeps-2", "- order-1", "- taste-1", "- taste-2")
    ]
    assert "checks" not in task.context


@pytest.mark.req("S-02")
def test_a_could_alone_never_blocks_and_is_no_review_alone(skill: Skill) -> None:
    agent = skill(LOOP)
    task = agent.run_command(agent.follow(agent.open()).children[0].command)
    assert_refused(agent, filled(task.next, {"items": [item("FAIL", "COULD")]}), "bad-value", task.run)
    end = agent.follow(task, items=[item("FAIL", "COULD"), item("PASS", "MUST", "b")])
    last = agent.follow(agent.run_command(end.next))
    assert last.step == "last"
    assert undone(agent.follow(last)) == [("finding", "a (COULD, open): it does not hold")]


JUDGED = (
    'StepDef("run", "Run", "Run it.", {Outcome.OK: "verify"}, requires=[Field("statements", "statements")]),'
    'StepDef("verify", "Verify", "Verify.", {Outcome.OK: None}, requires=[Field("answers", "answers"),'
    ' Command(["test", "-e", "green"], 10, "the tests are green", "MUST")]) ## reverify="verify"'
)


@pytest.mark.req("S-02")
def test_a_red_command_is_a_finding_whatever_the_reviewer_says(skill: Skill, project: Path) -> None:
    agent = skill(SCRIPTED, part=JUDGED)
    verify = split(agent, ["all | it is good"])
    work = agent.follow(agent.run_command(agent.follow(verify, answers=[answer("S1")]).next))
    assert work.step == "work"
    assert work.context["d.findings"].startswith("- verify:1 (MUST) the tests are green: test -e green ended with 1")
    (project / "green").write_text("", encoding="utf-8")
    again = agent.run_command(agent.follow(work, **answered(agent, "verify:1")).children[0].command)
    end = agent.follow(again, answers=[answer("S1")])
    assert agent.follow(agent.run_command(end.next)).step == "last"


# What binds a verdict to the work


@pytest.mark.req("S-01")
def test_a_verdict_falls_with_a_file_that_changes_after_the_gate(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    last = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    assert last.step == "last"
    assert [way.get("to") for way in last.root.iterfind("INVOKE_AFTER/stale")] == ["d-review"]
    agent.write("src/a.py", "changed\n")
    review = agent.follow(last)
    assert (review.kind, review.step) == ("step", "d-review")
    assert review.context["d.findings"] == "- src/a.py was changed after this review passed it"
    last = agent.follow(judge(agent, review, item(place="src/a.py:1")))
    assert agent.follow(last).root.get("status") == "done"


@pytest.mark.req("S-01")
def test_a_verdict_falls_with_a_file_that_changes_under_review(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    review = agent.follow(agent.open())
    agent.write("src/new.py", "new\n")
    gate = judge(agent, review, item(place="src/a.py:1"))
    assert agent.follow(gate).step == "d-review"


@pytest.mark.req("S-01")
@pytest.mark.parametrize("name", [b"src/b\xff.py", b"src/b\n&.py", b"src/b\x1b[1m.py"])
def test_a_changed_file_of_any_name_is_reported_and_the_run_goes_on(
    skill: Skill, repository: Path, name: bytes
) -> None:
    file = os.path.join(os.fsencode(repository), name)
    with open(file, "w") as new:
        new.write("one")
    agent = skill(COVERING)
    block = agent.follow(agent.open())
    os.unlink(file)
    gate = judge(agent, block, item(place="src/a.py:1"))
    told = agent.follow(gate)
    assert (told.exit_code, told.kind) == (0, "step"), told.text + told.errors
    assert "src/b?" in told.text
    last = agent.follow(judge(agent, told, item(place="src/a.py:1")))
    with open(file, "w") as new:
        new.write("two")
    fallen = agent.follow(last)
    assert (fallen.kind, fallen.step) == ("step", "d-review"), fallen.text + fallen.errors
    assert "src/b?" in fallen.text
    last = agent.follow(judge(agent, fallen, item(place="src/a.py:1")))
    assert agent.follow(last).root.get("status") == "done"


@pytest.mark.parametrize("path", ["README.md", "build/out.txt", ".lockstep/notes.txt"])
def test_a_change_outside_of_what_is_covered_drops_no_verdict(skill: Skill, repository: Path, path: str) -> None:
    agent = skill(COVERING)
    last = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    agent.write(path, "changed\n")
    git(repository, "add", "-A")
    git(repository, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "second", "--allow-empty")
    (repository / "src/a.py").touch()
    assert agent.follow(last).root.get("status") == "done"


@pytest.mark.req("S-01")
def test_a_verdict_that_falls_as_often_as_its_gate_allows_is_a_persons_to_decide(
    skill: Skill, repository: Path
) -> None:
    agent = skill(COVERING.replace("covers=", "covers=").replace(COVERED, f"{COVERED}, bound=2"))
    block = agent.follow(agent.open())
    for at in range(2):
        last = agent.follow(judge(agent, block, item(place="src/a.py:1")))
        agent.write("src/a.py", f"changed {at}\n")
        block = agent.follow(last)
        assert block.step == "d-review"
    last = agent.follow(judge(agent, block, item(place="src/a.py:1")))
    agent.write("src/a.py", "changed at last\n")
    asked = agent.follow(last)
    assert (asked.kind, asked.step) == ("waiting", "last")
    assert "what it covers was changed since: src/a.py" in asked.words("QUESTION")
    with pytest.raises(AssertionError, match="takes a reason"):
        agent.answer(asked, "accept")
    end = agent.answer(asked, "accept", "only a comment was changed")
    assert end.root.get("status") == "done"


@pytest.mark.req("S-01")
def test_a_later_review_takes_over_the_verdict_on_what_it_covers(skill: Skill, repository: Path) -> None:
    docs = 'reviewer=Dispatch("quality-reviewer", task="Review it.", covers=["src/a.py", "*.md"])'
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="write", gate_actions="Go.", {COVERED}),'
        'StepDef("write", "Write", "Write.", {Outcome.OK: "docs-review"}),'
        f'*review_loop("docs", work="write", passed="last", gate_actions="Go.", {docs}), {END}'
    )
    write = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    agent.write("src/a.py", "# documented\none\n")
    review = agent.follow(write)
    task = agent.run_command(review.children[0].command)
    assert task.context["changed"] == "- src/a.py (since d passed)"
    last = agent.follow(judge(agent, review, item(place="src/a.py:1")))
    assert agent.follow(last).root.get("status") == "done"


@pytest.mark.req("S-01")
def test_a_fallen_verdict_whose_review_has_nothing_to_review_any_more_is_a_persons_to_decide(
    skill: Skill, repository: Path
) -> None:
    of_parts = COVERED.replace("task=", 'targets="work.parts", task=')
    agent = skill(
        'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}, requires=[Field("parts", "list")]),'
        f'*review_loop("d", work="work", passed="last", gate_actions="Go.", {of_parts},'
        f' stale="work", skipped="last"), {END}'
    )
    last = agent.follow(judge(agent, agent.follow(agent.open(), parts=["A"]), item(place="src/a.py:1")))
    agent.write("src/a.py", "changed\n")
    work = agent.follow(last)
    assert (work.step, work.context["d.findings"]) == ("work", "- src/a.py was changed after this review passed it")
    asked = agent.follow(agent.follow(work, parts=[]))
    assert (asked.kind, asked.step) == ("waiting", "last")
    assert "what it covers was changed since: src/a.py" in asked.words("QUESTION")
    again = agent.answer(asked, "revise", "have it reviewed")
    assert (again.step, again.context["d.findings"]) == ("work", "- src/a.py was changed after this review passed it")
    last = agent.follow(judge(agent, agent.follow(again, parts=["A"]), item(place="src/a.py:1")))
    assert agent.follow(last).root.get("status") == "done"


@pytest.mark.req("S-01")
def test_a_file_that_fell_with_an_accepted_verdict_stays_covered_though_it_is_recorded_no_more(
    skill: Skill, repository: Path
) -> None:
    of_files = COVERED.replace('"src/**"', '"{work.files}"')
    agent = skill(
        'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}, requires=[Field("files", "list")]),'
        f'*review_loop("d", work="work", passed="last", gate_actions="Go.", {of_files}, stale="work", bound=1), {END}'
    )
    review = agent.follow(agent.open(), files=["src/a.py"])
    asked = agent.follow(judge(agent, review, item("FAIL", place="src/a.py:1")))
    last = agent.answer(asked, "accept", "it is as it should be")
    agent.write("src/a.py", "changed\n")
    review = agent.follow(agent.follow(last), files=["src/b.py"])
    judge(agent, review, item(place="src/b.py:1"))
    assert sorted(agent.state(review.run).reviews["d"]["covers"]) == ["src/a.py", "src/b.py"]


@pytest.mark.req("S-01")
def test_what_a_later_review_does_not_cover_still_falls(skill: Skill, repository: Path) -> None:
    docs = 'reviewer=Dispatch("quality-reviewer", task="Review it.", covers=["src/a.py"])'
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="write", gate_actions="Go.", {COVERED}),'
        'StepDef("write", "Write", "Write.", {Outcome.OK: "docs-review"}),'
        f'*review_loop("docs", work="write", passed="last", gate_actions="Go.", {docs}), {END}'
    )
    write = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    agent.write("src/b.py", "changed\n")
    last = agent.follow(judge(agent, agent.follow(write), item(place="src/a.py:1")))
    assert agent.follow(last).step == "d-review"


@pytest.mark.req("S-01")
def test_files_are_covered_without_git_too(skill: Skill, project: Path) -> None:
    agent = skill(COVERING)
    agent.write("src/a.py", "one\n")
    last = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    agent.write("src/__pycache__/a.pyc", "made\n")
    agent.write("src/a.py", "two\n")
    assert agent.follow(last).step == "d-review"


@pytest.mark.req("S-01")
def test_a_folder_that_git_ignores_is_covered_with_what_hides_in_it(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING.replace("src/**", "made"))
    for path in (".gitignore", "made/.ci/a.yml"):
        agent.write(path, "made/\n")
    last = agent.follow(judge(agent, agent.follow(agent.open()), item(place="made/.ci/a.yml:1")))
    agent.write("made/.ci/a.yml", "changed\n")
    assert agent.follow(last).step == "d-review"


@pytest.mark.req("S-01")
def test_a_verdict_falls_with_a_file_of_a_project_in_a_subfolder_of_a_repository(skill: Skill, project: Path) -> None:
    agent = skill(COVERING)
    agent.write("src/a.py", "one\n")
    (project / ".lockstep").mkdir(exist_ok=True)
    git(project.parent, "init", "-q")
    git(project.parent, "add", project.name)
    last = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    agent.write("src/a.py", "changed\n")
    assert agent.follow(last).step == "d-review"


@pytest.mark.req("S-01")
def test_running_the_tests_drops_no_verdict_if_git_ignores_nothing(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    last = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    for path in ("src/__pycache__/a.cpython-311.pyc", "src/.pytest_cache/README.md"):
        agent.write(path, "made\n")
    assert agent.follow(last).root.get("status") == "done"


@pytest.mark.req("S-01")
def test_a_place_in_a_folder_with_brackets_in_its_name_is_covered(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING.replace("src/**", "app/[id]"))
    agent.write("app/[id]/page.js", "one\n")
    last = agent.follow(judge(agent, agent.follow(agent.open()), item(place="app/[id]/page.js:1")))
    agent.write("app/[id]/page.js", "changed\n")
    assert agent.follow(last).step == "d-review"


# What answers a finding


@pytest.mark.req("S-01")
def test_work_that_changes_nothing_and_disputes_nothing_is_refused(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:2")))
    assert work.context["d.findings"] == "- a (MUST) it holds: it does not hold [src/a.py:2]"
    assert "fixes" not in work.next
    refused = assert_refused(agent, work.next, "unanswered-finding", work.run)
    assert "a (src/a.py is as the reviewer saw it)" in refused.why
    agent.write("src/b.py", "another file\n")
    assert_refused(agent, work.next, "unanswered-finding", work.run)
    agent.write("src/a.py", "one\nput right\nthree\n")
    assert agent.run_command(work.next).step == "d-review"


@pytest.mark.req("S-01")
@pytest.mark.parametrize("text", ["one  \ntwo\nthree\n", "one\n\ntwo\nthree\n\n\n", "one\r\ntwo\r\nthree\r\n"])
def test_a_change_of_blanks_at_line_ends_answers_no_finding_by_itself(
    skill: Skill, repository: Path, text: str
) -> None:
    agent = skill(COVERING)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", "SHOULD", place="src/a.py:2")))
    (repository / "src/a.py").write_bytes(text.encode())
    refused = assert_refused(agent, work.next, "unanswered-finding", work.run)
    assert 'only blanks at line ends of src/a.py differ; say "a | changed | src/a.py" if that settles it' in refused.why
    review = record(agent, work, fixes=["a | changed | src/a.py"])
    last = agent.follow(judge(agent, review, item("PASS", "SHOULD", place="src/a.py:2")))
    assert agent.state(last.run).reviews["d"]["level"] == 1
    assert undone(agent.follow(last)) == [("finding", "a was answered by a change of blanks alone")]


@pytest.mark.req("S-01")
def test_other_blanks_in_front_of_a_line_are_a_change(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:2")))
    agent.write("src/a.py", "one\n  two\nthree\n")
    assert agent.run_command(work.next).step == "d-review"


@pytest.mark.req("S-02")
def test_a_finding_names_the_line_that_is_wrong(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    (repository / "src/logo.png").write_bytes(b"\x89PNG\0")
    review = agent.follow(agent.open())
    task = agent.run_command(review.children[0].command)
    refused = agent.follow(task, items=[item("FAIL", place="src/a.py")])
    assert (refused.exit_code, refused.code) == (3, "bad-value")
    assert "a: src/a.py is a whole file; name the line that is wrong, as path:line" in refused.why
    ended = agent.follow(task, items=[item("FAIL", place="src/logo.png"), item(name="b", place="src/a.py")])
    assert ended.kind == "done"


@pytest.mark.req("S-01")
@pytest.mark.parametrize(
    "fix, words",
    [
        ("a | changed | src/a.py:2", "src/a.py is as the reviewer saw it"),
        ("a | changed | src/b.py", "src/a.py is as the reviewer saw it"),
        ("a | disputed | no", "a | disputed | why it is wrong"),
        ("a | disputed | no no", "a | disputed | why it is wrong"),
        ("b | disputed | the line is right", "'b' is no finding that is open"),
        ("a | done | it is right", "a | changed | path that settles it"),
        ("a", "a | changed | path that settles it"),
    ],
)
def test_an_answer_to_a_finding_that_is_none_is_refused(skill: Skill, repository: Path, fix: str, words: str) -> None:
    agent = skill(COVERING)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:2")))
    refused = record(agent, work, fixes=[fix])
    assert (refused.exit_code, refused.kind) == (3, "refused")
    assert words in refused.why


@pytest.mark.req("S-01")
def test_work_that_others_do_asks_for_the_answers_in_the_command_that_the_last_of_them_prints(
    skill: Skill, repository: Path
) -> None:
    sent = 'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}, Dispatch("developer", task="Do it."))'
    agent = skill(COVERING.replace(WORK, sent))
    block = agent.open()
    for _ in range(2):
        [child] = block.children
        last = agent.follow(agent.run_command(child.command), result="done")
        review = agent.follow(last, fixes=[]) if "fixes" in last.next else agent.run_command(last.next)
        assert review.step == "d-review", review.text
        block = agent.follow(judge(agent, review, item("FAIL", place="src/a.py:2")))
        assert "FILL_fixes" in block.next
        agent.write("src/a.py", f"one\nput right {block.turn}\n")


@pytest.mark.req("S-01")
def test_what_needs_no_answer_may_be_answered(skill: Skill) -> None:
    agent = skill(LOOP)
    found = [item("FAIL", name="a"), item("TODO", name="b"), item("FAIL", "COULD", name="c")]
    gate = judge(agent, agent.run_command(agent.open().next), *found)
    work = agent.run_command(gate.next)
    assert work.step == "work"
    assert record(agent, work, **answered(agent, "a", "b", "c")).step == "d-review"


def test_a_finding_may_be_settled_in_another_file(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:2")))
    agent.write("src/b.py", "a test of it\n")
    assert record(agent, work, fixes=["a | changed | src/b.py"]).step == "d-review"


@pytest.mark.req("S-01")
@pytest.mark.parametrize("named", ["src/b.py", "the work of last week", "src/a.py"])
@pytest.mark.parametrize("place", ["src/a.py:1", ""])
def test_answers_over_the_same_work_never_make_a_finding_light(
    skill: Skill, repository: Path, named: str, place: str
) -> None:
    agent = skill(LOOP)
    found = item("FAIL", "SHOULD", **({"place": place} if place else {}))
    work = agent.follow(judge(agent, agent.follow(agent.open()), found))
    rounds = 1
    while work.step == "work":
        review = record(agent, work, fixes=[f"a | changed | {named}"])
        if review.kind == "refused":
            assert review.code == "unanswered-finding"
            break
        work = agent.follow(judge(agent, review, found))
        rounds += 1
    last = agent.state(work.run).reviews["d"]
    assert (last["level"], last["status"]) == (1, "fail")
    assert (rounds, work.kind) == ((5, "waiting") if named.count(" ") and not place else (rounds, "step"))


@pytest.mark.req("S-01")
def test_a_file_that_answered_a_finding_answers_it_again_only_with_another_content(
    skill: Skill, repository: Path
) -> None:
    agent = skill(LOOP)
    found = item("FAIL", place="src/a.py:1")
    work = agent.follow(judge(agent, agent.follow(agent.open()), found))
    work = agent.follow(judge(agent, record(agent, work, fixes=["a | changed | src/b.py"]), found))
    refused = record(agent, work, fixes=["a | changed | src/b.py"])
    assert "src/b.py is as it was when it was last reviewed or named" in refused.why
    agent.write("src/b.py", "a test of it\n")
    review = record(agent, work, fixes=["a | changed | src/b.py"])
    assert agent.state(judge(agent, review, item()).run).reviews["d"]["level"] == 2


@pytest.mark.req("S-01")
@pytest.mark.parametrize("named", ["src/c.py", "src", "it was put right"])
def test_an_answer_that_names_no_file_settles_no_finding_in_a_file(skill: Skill, repository: Path, named: str) -> None:
    agent = skill(LOOP)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:1")))
    refused = record(agent, work, fixes=[f"a | changed | {named}"])
    assert (refused.code, f"'{named}' is no file of the project" in refused.why) == ("unanswered-finding", True)


@pytest.mark.req("S-01")
def test_a_path_that_is_no_file_settles_no_finding(skill: Skill, repository: Path) -> None:
    agent = skill(LOOP)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL")))
    assert record(agent, work, fixes=["a | changed | src/c.py"]).code == "unanswered-finding"


@pytest.mark.req("S-01")
@pytest.mark.parametrize("loop", [LOOP, COVERING])
def test_a_file_that_was_deleted_settles_a_finding(skill: Skill, repository: Path, loop: str) -> None:
    agent = skill(loop)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:1")))
    (repository / "src" / "b.py").unlink()
    assert record(agent, work, fixes=["a | changed | src/b.py"]).step == "d-review"


@pytest.mark.req("S-01")
def test_a_finding_at_a_file_that_is_not_under_review_asks_what_settled_it(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="README.md:1")))
    assert "--record fixes=" in work.next
    agent.write("src/a.py", "as the README says\n")
    assert agent.follow(work, fixes=["a | changed | src/a.py"]).step == "d-review"


@pytest.mark.req("S-01")
def test_a_finding_that_is_disputed_twice_goes_to_a_person(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    block = agent.follow(agent.open())
    for _ in range(2):
        work = agent.follow(judge(agent, block, item("FAIL", place="src/a.py:2")))
        block = record(agent, work, fixes=["a | disputed | the line is what was asked for"])
    assert (block.kind, block.step) == ("waiting", "work")
    assert "Disputed: the line is what was asked for" in block.words("QUESTION")
    upheld = agent.answer(block, "revise", "the reviewer is right")
    assert upheld.step == "work"
    assert "it is disputed no more" in upheld.context["d.findings"]
    again = record(agent, upheld, fixes=["a | disputed | the line is what was asked for"])
    assert "a person decided that a is right; fix it" in again.why
    agent.write("src/a.py", "put right\n")
    assert agent.run_command(upheld.next).step == "d-review"


@pytest.mark.req("S-01", "S-03")
def test_a_finding_that_a_person_rejects_no_longer_blocks_and_is_reported_at_the_end(
    skill: Skill, repository: Path
) -> None:
    agent = skill(COVERING)
    block = agent.follow(agent.open())
    for _ in range(2):
        work = agent.follow(judge(agent, block, item("FAIL", place="src/a.py:2"), item(name="b", place="src/b.py:1")))
        block = record(agent, work, fixes=["a | disputed | the line is what was asked for"])
    review = agent.answer(block, "accept", "the line is as it should be")
    assert review.step == "d-review"
    task = agent.run_command(review.children[0].command)
    assert task.context["items"] == "- b (MUST, whole): it holds"
    last = agent.follow(judge(agent, review, item(name="b", place="src/b.py:1")))
    assert undone(agent.follow(last)) == [("finding", "a (MUST, accepted by a person): it does not hold")]


@pytest.mark.req("S-01")
@pytest.mark.parametrize("decision, question", [("accept", "Is it good?"), ("revise", None)])
def test_a_second_dispute_is_decided_before_the_question_of_the_step_that_leads_to_the_review(
    skill: Skill, repository: Path, decision: str, question: str | None
) -> None:
    agent = skill(
        'StepDef("work", "Work", "Work.", {Outcome.OK: "show"}),'
        ' StepDef("show", "Show", "Show.", {Outcome.OK: "d-review", Outcome.FAIL: "work"},'
        ' person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}), requires=[Field("note")]),'
        f'*review_loop("d", work="work", passed="last", gate_actions="Go.", {COVERED}), {END}'
    )
    work = agent.open()
    for at in range(2):
        show = record(agent, work, fixes=["a | disputed | it was asked for"]) if at else agent.follow(work)
        review = agent.follow(agent.follow(show, note=f"note {at}"), answer="yes")
        work = agent.follow(judge(agent, review, item("FAIL", place="src/a.py:2")))
    show = record(agent, work, fixes=["a | disputed | it was asked for"])
    disputed = agent.follow(show, note="the last note")
    assert (disputed.kind, disputed.step) == ("waiting", "show")
    assert "Disputed: it was asked for" in disputed.words("QUESTION")
    settled = agent.answer(disputed, decision, "this is what I want")
    if question is None:
        assert (settled.kind, settled.step) == ("step", "work")
        return
    assert (settled.kind, settled.step) == ("waiting", "show")
    assert question in settled.words("QUESTION")
    assert agent.follow(settled, answer="yes").step == "d-review"


@pytest.mark.req("S-01")
def test_a_step_that_leads_to_the_review_by_way_of_a_person_asks_for_the_answers_that_it_is_refused_without(
    skill: Skill,
) -> None:
    agent = skill(
        'StepDef("work", "Work", "Work.", {Outcome.OK: "polish"}),'
        ' StepDef("polish", "Polish", "Polish.", {Outcome.OK: "ask"}),'
        ' StepDef("ask", "Ask", "", {Outcome.OK: "d-review"}, person("Good?", ["yes"])),'
        f'*review_loop("d", work="work", passed="last", gate_actions="Go."), {END}'
    )
    review = agent.follow(agent.follow(agent.run_command(agent.open().next)), answer="yes")
    work = agent.follow(judge(agent, review, item("FAIL")))
    polish = agent.run_command(work.next.split(" --record")[0])
    assert polish.step == "polish"
    assert "a (MUST) it holds: it does not hold" in polish.context["d.findings"]
    assert agent.follow(polish, **answered(agent, "a")).step == "ask"


@pytest.mark.req("S-01")
@pytest.mark.parametrize("severity", ["COULD", "SHOULD", "MUST"])
def test_a_review_that_nobody_made_opens_no_gate_however_light_its_checks_are(skill: Skill, severity: str) -> None:
    checked = f'Dispatch("quality-reviewer", task="Review it.", checks=[Check("reads", "{severity}", "it reads well")])'
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", reviewer={checked}), {END}'
    )
    review = agent.follow(agent.open())
    work = agent.follow(agent.run_command(agent.lose(review, review.children[0].id).next))
    assert work.step == "work"
    assert "MUST" in {found["severity"] for found in agent.state(work.run).reviews["d"]["items"]}
    assert agent.run_command(work.next).step == "d-review"


@pytest.mark.req("S-01")
def test_a_reviewer_whose_every_check_is_light_by_its_author_s_word_can_report(skill: Skill) -> None:
    checked = 'Dispatch("quality-reviewer", task="Review it.", checks=[Check("reads", "COULD", "it reads well")])'
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", reviewer={checked}), {END}'
    )
    task = agent.run_command(agent.follow(agent.open()).children[0].command)
    last = agent.follow(task, answers=[answer("reads", "FAIL", severity="")])
    assert last.kind == "done", last.text
    assert agent.follow(agent.run_command(last.next)).step == "last"


@pytest.mark.req("S-01")
def test_a_review_that_covers_no_file_does_not_fall_with_those_of_an_earlier_one(
    skill: Skill, repository: Path
) -> None:
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="more", gate_actions="Go.", {COVERED}),'
        ' StepDef("more", "More", "More.", {Outcome.OK: "again"}),'
        ' StepDef("again", "Again", "Review.", {Outcome.OK: "gate"},'
        ' Dispatch("quality-reviewer", task="Review the whole.", checkpoint="d")),'
        ' StepDef("gate", "Gate", "Go.", {Outcome.OK: "last", Outcome.FAIL: "more"}, Gate("d", stale="again")),'
        f" {END}"
    )
    more = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    gate = judge(agent, agent.run_command(more.next), item())
    assert agent.run_command(gate.next).step == "last"


@pytest.mark.req("S-01")
@pytest.mark.parametrize("covered", ["src/[ab].py", "src/?.py", "src/{a,b}.py", "src/*.py"])
def test_a_place_may_begin_in_the_folder_of_whatever_glob_is_covered(
    skill: Skill, repository: Path, covered: str
) -> None:
    reviewer = f'reviewer=Dispatch("quality-reviewer", task="Review it.", covers=["{covered}"])'
    agent = skill(f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {reviewer}), {END}')
    gate = judge(agent, agent.follow(agent.open()), item(place="a.py:2"))
    assert agent.state(gate.run).reviews["d"]["items"][0]["file"] == "src/a.py"


@pytest.mark.req("S-01")
def test_reviews_of_the_same_work_never_make_a_finding_light(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    found = item("FAIL", "SHOULD", place="src/a.py:1")
    work = agent.follow(judge(agent, agent.follow(agent.open()), found))
    for text in ("changed\n", "changed again\n"):
        agent.write("src/a.py", text)
        work = agent.follow(judge(agent, agent.run_command(work.next), found))
    review = record(agent, work, fixes=["a | disputed | the line is what was asked for"])
    work = agent.follow(judge(agent, review, found))
    assert work.step == "work"
    fourth = agent.state(work.run).reviews["d"]
    assert (fourth["iteration"], fourth["level"], fourth["status"]) == (4, 3, "fail")
    agent.write("src/a.py", "changed for the third time\n")
    gate = judge(agent, agent.run_command(work.next), found)
    assert "iteration 5 of 5, reviewed, verdict pass" in gate.words("STATE")


# Loops


@pytest.mark.req("W-03")
def test_a_count_begins_anew_after_a_persons_answer(skill: Skill) -> None:
    agent = skill(
        'StepDef("draft", "Draft", "Draft.", {Outcome.OK: "ask", Outcome.ITERATE: "draft"}, max_iterations=2,'
        ' when={Outcome.OK: "done", Outcome.ITERATE: "again"}),'
        'StepDef("ask", "Ask", "", {Outcome.OK: None, Outcome.FAIL: "draft"},'
        ' person("Good?", {"yes": "ok", "no": "fail"}))'
    )
    block = agent.open()
    for _ in range(3):
        block = agent.follow(block, outcome="iterate")
        assert (block.step, block.root.get("iteration")) == ("draft", "2")
        block = agent.follow(block, outcome="iterate")
        assert block.kind == "waiting"
        block = agent.follow(block, answer="no")


@pytest.mark.req("W-03")
def test_a_count_restarts_when_its_loop_is_entered_from_outside(skill: Skill) -> None:
    agent = skill(
        'StepDef("part", "Part", "Take a part.", {Outcome.OK: "head"}),'
        'StepDef("head", "Head", "Begin.", {Outcome.OK: "try"}),'
        'StepDef("try", "Try", "Try.", {Outcome.OK: "more", Outcome.ITERATE: "head"}, max_iterations=2,'
        ' when={Outcome.OK: "done", Outcome.ITERATE: "again"}),'
        'StepDef("more", "More", "More?", {Outcome.OK: None, Outcome.ITERATE: "part"}, max_iterations=3,'
        ' when={Outcome.OK: "no", Outcome.ITERATE: "yes"})'
    )
    block = agent.follow(agent.open())
    for part in range(3):
        block = agent.follow(block)
        assert block.root.get("iteration") == "1", part
        block = agent.follow(agent.follow(block, outcome="iterate"))
        assert (block.step, block.root.get("iteration")) == ("try", "2")
        more = agent.follow(block, outcome="iterate")
        assert (more.step, more.notices[0][:12]) == ("more", "try was left")
        block = agent.follow(more, outcome="iterate")
        if part < 2:
            block = agent.follow(block)
    assert block.kind == "done"


FAILING = (
    'StepDef("fix", "Fix", "Fix.", {Outcome.OK: "test"}),'
    'StepDef("test", "Test", "Test.", {Outcome.OK: None, Outcome.FAIL: "fix"%s}, max_iterations=2%s,'
    ' when={Outcome.OK: "green", Outcome.FAIL: "red"%s})'
)


@pytest.mark.req("W-03")
@pytest.mark.parametrize("choice, ends", [("accept", "done"), ("revise", "fix"), ("abandon", "abandoned")])
def test_a_fail_at_its_limit_is_a_persons_to_decide_and_never_becomes_ok(skill: Skill, choice: str, ends: str) -> None:
    agent = skill(FAILING % ("", "", ""))
    block = agent.follow(agent.open())
    block = agent.follow(agent.follow(block, outcome="fail"))
    asked = agent.follow(block, outcome="fail")
    assert (asked.kind, asked.words("QUESTION")[:29]) == ("waiting", "test ended with fail 2 times.")
    after = agent.answer(asked, choice, "it was looked at")
    assert (after.step or after.root.get("status")) == ends


@pytest.mark.req("W-03")
def test_a_fail_at_its_limit_takes_the_way_that_is_declared_for_it(skill: Skill) -> None:
    agent = skill(
        FAILING % (', Outcome.SKIP: "give-up"', ', at_limit="skip"', ', Outcome.SKIP: "enough"')
        + (', StepDef("give-up", "Give up", "Say why.", {Outcome.OK: None})')
    )
    block = agent.follow(agent.open())
    block = agent.follow(agent.follow(block, outcome="fail"))
    assert agent.follow(block, outcome="fail").step == "give-up"


@pytest.mark.req("W-03")
def test_the_same_report_twice_in_a_row_is_refused(skill: Skill) -> None:
    agent = skill(
        'StepDef("look", "Look", "Look.", {Outcome.OK: None, Outcome.ITERATE: "look"}, max_iterations=5,'
        ' requires=[Field("seen")], when={Outcome.OK: "all", Outcome.ITERATE: "more"})'
    )
    block = agent.follow(agent.open(), seen="the log is empty", outcome="iterate")
    same = filled(block.next, {"seen": "the log is empty", "outcome": "iterate"})
    assert_refused(agent, same, "same-report", block.run)
    assert_refused(
        agent, filled(block.next, {"seen": "the log  is empty ", "outcome": "iterate"}), "same-report", block.run
    )
    assert agent.follow(block, seen="the log is still empty at noon", outcome="iterate").step == "look"
    assert agent.follow(agent.blocks[-1], seen="the log is still empty at noon", outcome="ok").kind == "done"


# What was not done


@pytest.mark.req("S-03")
def test_the_end_tells_gates_that_were_never_entered_lost_sub_agents_and_relayed_answers(skill: Skill) -> None:
    agent = skill(
        'StepDef("scan", "Scan", "Scan.", {Outcome.OK: "ask"},'
        ' Dispatch("explore", task="look", targets=["one", "two"])),'
        'StepDef("ask", "Ask", "", {Outcome.OK: "pick"}, person("Fine?", ["yes"])),'
        'StepDef("pick", "Pick", "Pick.", {Outcome.OK: "work", Outcome.SKIP: None},'
        ' when={Outcome.OK: "there is work", Outcome.SKIP: "there is none"}),'
        f'{WORK}, *review_loop("d", work="work", passed=None, gate_actions="Go.")',
        more='params=[Arg("unproved", default="", waives="the proof")]',
    )
    block = agent.open(unproved="the machine is down")
    agent.finish(block.children[0].command)
    agent.lose(block, block.children[1].id, "it hangs")
    pick = agent.follow(agent.follow(agent.run_command(block.next)), answer="yes")
    end = agent.follow(pick, outcome="skip")
    assert undone(end) == [
        ("sub-agent", f"{block.children[1].id} (two) was given up: it hangs"),
        ("answer", "answered by the agent for a person: yes"),
        ("gate", "the gate of d was never entered"),
        ("evidence", "the proof was waived: the machine is down"),
    ]
    assert isinstance(agent.call, InProcess)


@pytest.mark.req("S-03")
@pytest.mark.parametrize("reason", ["no", "no no"])
def test_evidence_is_not_waived_by_a_word(skill: Skill, reason: str) -> None:
    agent = skill(END, more='params=[Arg("unproved", default="", waives="the proof")]')
    refused = agent.open(unproved=reason)
    assert (refused.exit_code, refused.code) == (3, "no-reason")
    assert "give the reason in more than a word" in refused.why


@pytest.mark.req("S-03")
def test_an_erratum_stands_beside_the_value_from_then_on(skill: Skill) -> None:
    agent = skill(
        'StepDef("look", "Look", "Look.", {Outcome.OK: "think"}, requires=[Field("seen")]),'
        'StepDef("think", "Think", "Think.", {Outcome.OK: "tell"}, needs=["look.seen"]),'
        'StepDef("tell", "Tell", "Tell.", {Outcome.OK: None}, needs=["look.seen"])'
    )
    think = agent.follow(agent.open(), seen="the log is empty")
    for wrong in ("=x y", "look.=x y", ".seen=x y", "look.seen", "look.seen= "):
        assert agent.run_command(f"{think.next} --erratum '{wrong}'").exit_code == 2
    assert_refused(agent, f"{think.next} --erratum 'look.sen=it is not'", "unknown-field", think.run)
    assert_refused(agent, f"{think.next} --erratum 'look.seen=no no'", "no-reason", think.run)
    tell = agent.run_command(f"{think.next} --erratum 'look.seen=it was the log of another day'")
    [value] = tell.root.iterfind("CONTEXT/value")
    assert (value.text, value.get("erratum")) == ("the log is empty", "it was the log of another day")


@pytest.mark.req("S-03")
def test_an_erratum_goes_with_the_value_that_it_was_given_for(skill: Skill) -> None:
    agent = skill(
        'StepDef("count", "Count", "Count.", {Outcome.OK: "check"}, requires=[Field("n", "int"), Field("of")]),'
        'StepDef("check", "Check", "Check.", {Outcome.OK: None, Outcome.ITERATE: "count"}, max_iterations=3,'
        ' when={Outcome.OK: "it is right", Outcome.ITERATE: "it is not"}, needs=["count.n", "count.of"])'
    )
    check = agent.follow(agent.open(), n=1, of="the old files")
    count = agent.run_command(
        filled(check.next, {"outcome": "iterate"}) + " --erratum 'count.n=it is two' --erratum 'count.of=they are new'"
    )
    check = agent.follow(count, n=3, of="the old files")
    shown = {one.get("name"): (one.text, one.get("erratum")) for one in check.root.iterfind("CONTEXT/value")}
    assert shown == {"n": ("3", None), "of": ("the old files", "they are new")}


@pytest.mark.req("S-03")
def test_an_erratum_may_be_about_a_parameter_of_the_run(skill: Skill) -> None:
    agent = skill(
        'StepDef("look", "Look", "Look.", {Outcome.OK: "tell"}, needs=["topic"]),'
        'StepDef("tell", "Tell", "Tell.", {Outcome.OK: None}, needs=["topic"])',
        more='params=[Arg("topic"), Arg("place", required=False)]',
    )
    look = agent.open(topic="tea")
    assert_refused(agent, f"{look.next} --erratum 'topi=it is coffee'", "unknown-field", look.run)
    assert_refused(agent, f"{look.next} --erratum 'place=it is here'", "unknown-field", look.run)
    tell = agent.run_command(f"{look.next} --erratum 'topic=it is coffee'")
    [value] = tell.root.iterfind("CONTEXT/value")
    assert (value.text, value.get("step"), value.get("erratum")) == ("tea", None, "it is coffee")


# Attacks


BOTH = (
    'reviewer=Dispatch("quality-reviewer", task="Review it.", targets=["one", "two"], covers=["src/**"],'
    ' checks=[Check("keeps", "MUST", "callers are served")])'
)
TWO = f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {BOTH}), {END}'


def judge_both(agent: Agent, review: PrintedBlock, one: dict[str, str], two: dict[str, str]) -> PrintedBlock:
    """Have both reviewers answer; the gate's block."""
    for child, given in zip(review.children, (one, two), strict=True):
        last = agent.follow(agent.run_command(child.command), answers=[given])
        assert last.kind == "done", last.text
    return agent.run_command(last.next)


@pytest.mark.req("S-01")
def test_a_dispute_is_about_the_finding_of_one_reviewer(skill: Skill, repository: Path) -> None:
    agent = skill(TWO)
    fail = answer("keeps", "FAIL", severity="")
    gate = judge_both(agent, agent.follow(agent.open()), fail, {**fail, "place": "src/b.py:1"})
    work = agent.follow(gate)
    assert [line.partition(" (")[0] for line in work.context["d.findings"].splitlines()] == ["- keeps-1", "- keeps-1.2"]
    fixes = ["keeps-1 | disputed | nobody calls it", "keeps-1.2 | disputed | nobody calls it"]
    review = record(agent, work, fixes=fixes)
    assert review.step == "d-review", review.text
    given = [agent.run_command(child.command).context["items"].partition(" (")[0] for child in review.children]
    assert given == ["- keeps-1", "- keeps-1.2"]


@pytest.mark.req("S-01")
def test_a_finding_at_a_covered_file_is_not_settled_by_a_file_that_nobody_reviews(
    skill: Skill, repository: Path
) -> None:
    agent = skill(COVERING)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:2")))
    agent.write("README.md", "another text\n")
    refused = record(agent, work, fixes=["a | changed | README.md"])
    assert refused.code == "unanswered-finding"


@pytest.mark.req("S-01")
def test_a_red_command_is_not_turned_green_by_a_word_in_a_re_verification(skill: Skill, project: Path) -> None:
    judging = (
        'StepDef("split", "Split", "Split.", {Outcome.OK: "verify"}, requires=[Field("statements", "statements"),'
        ' Command(["test", "-e", "green"], severity="MUST")]), StepDef("verify", "Verify", "Verify.",'
        ' {Outcome.OK: None}, needs=["split.statements"], requires=[Field("answers", "answers")]) ## reverify="verify"'
    )
    loop = 'reviewer=Dispatch("quality-reviewer", script="judge.py")'
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {loop}), {END}', judge=judging
    )
    review = agent.follow(agent.open())
    verify = agent.follow(agent.run_command(review.children[0].command), statements=["all | it is so"])
    work = agent.follow(agent.run_command(agent.follow(verify, answers=[answer("S1", place="the text")]).next))
    assert work.context["d.findings"].startswith("- split:1 (MUST)")
    again = agent.run_command(record(agent, work, fixes=["split:1 | changed | ran it again"]).children[0].command)
    assert again.context == {"items": "- S1 (MUST, all): it is so"}
    answers = [answer("S1", place="the text"), answer("split:1", place="the text", finding="it is green now")]
    gate = agent.run_command(agent.follow(again, answers=answers).next)
    assert agent.follow(gate).step == "work"


@pytest.mark.req("S-01")
def test_what_a_reviewer_leaves_out_of_its_own_items_is_still_to_do(skill: Skill, project: Path) -> None:
    own = (
        'StepDef("split", "Split", "Split.", {Outcome.OK: "verify"}, requires=[Field("statements", "statements")]),'
        ' StepDef("verify", "Verify", "Verify.", {Outcome.OK: None}, needs=["split.statements"],'
        ' requires=[Field("items", "items")])'
    )
    loop = 'reviewer=Dispatch("quality-reviewer", script="judge.py", checks=[Check("keeps", "MUST", "it is kept")])'
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {loop}), {END}', judge=own
    )
    review = agent.follow(agent.open())
    verify = agent.follow(agent.run_command(review.children[0].command), statements=["all | it is so"])
    work = agent.follow(agent.run_command(agent.follow(verify, items=[item()]).next))
    assert work.step == "work"
    assert work.context["d.findings"].count("the reviewer did not answer it") == 2


@pytest.mark.req("S-01")
def test_a_review_that_is_its_own_gate_is_left_to_a_person_without_answers(skill: Skill, project: Path) -> None:
    agent = skill(
        'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}), StepDef("d-review", "Review", "Review.",'
        ' {Outcome.OK: "last", Outcome.FAIL: "ask"}, Dispatch("quality-reviewer", task="Review it.")),'
        ' StepDef("ask", "Ask", "Ask.", {Outcome.OK: "d-review", Outcome.FAIL: None},'
        f' person("Is it put right?", {{"yes": Outcome.OK, "no": Outcome.FAIL}})), {END}'
    )
    review = agent.run_command(agent.open().next)
    last = agent.follow(agent.run_command(review.children[0].command), items=[item("FAIL")])
    waiting = agent.run_command(last.next)
    assert (waiting.kind, waiting.step) == ("waiting", "ask")
    assert agent.follow(waiting, answer="yes").step == "d-review"


@pytest.mark.req("S-01")
def test_a_reviewer_of_whose_checks_nothing_is_left_looks_at_what_is_there(skill: Skill, repository: Path) -> None:
    one = 'reviewer=Dispatch("quality-reviewer", task="Review it.", checks=[Check("keeps", "MUST", "it is kept")])'
    agent = skill(f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {one}), {END}')
    block = agent.follow(agent.open())
    for _ in range(2):
        last = agent.follow(
            agent.run_command(block.children[0].command), answers=[answer("keeps", "FAIL", severity="")]
        )
        work = agent.follow(agent.run_command(last.next))
        block = record(agent, work, fixes=["keeps-1 | disputed | nobody asked for it"])
    assert block.kind == "waiting"
    assert "A person decides before anything goes on" in block.words("DO")
    review = agent.answer(block, "accept", "it is not needed")
    [child] = review.children
    task = agent.run_command(child.command)
    assert task.context["checks"].startswith("- rest (MUST)")
    last = agent.follow(task, answers=[answer("rest", place="src/a.py:1", severity="")])
    assert agent.follow(agent.run_command(last.next)).step == "last"


@pytest.mark.req("S-03")
def test_a_review_that_covers_no_file_is_reported_at_the_end(skill: Skill, repository: Path) -> None:
    covered = 'reviewer=Dispatch("quality-reviewer", task="Review it.", covers=["scr/**"])'
    agent = skill(f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {covered}), {END}')
    gate = judge(agent, agent.follow(agent.open()), item(place="src/a.py:1"))
    done = agent.follow(agent.follow(gate))
    assert ("verdict", "the review of d covers no file: scr/**") in undone(done)


LISTED = (
    'StepDef("work", "Work", "Work.", {{Outcome.OK: "d-review"}}, requires=[Field("files", "list", required={})]),'
    ' StepDef("d-review", "Review", "Have it reviewed.", {{Outcome.OK: "gate"}},'
    ' Dispatch("quality-reviewer", task="Review it.", checkpoint="d", covers=["{{work.files}}"])),'
    ' StepDef("gate", "Gate", "Go.", {{Outcome.OK: "last", Outcome.FAIL: "work"}}, Gate("d", stale="{}")),'
    + END.replace("{", "{{").replace("}", "}}")
)


@pytest.mark.req("S-01")
def test_a_file_of_a_failed_review_stays_covered_whatever_is_recorded_for_the_next_one(
    skill: Skill, repository: Path
) -> None:
    agent = skill(LISTED.format(True, "d-review"))
    review = record(agent, agent.open(), files=["src/a.py"])
    work = agent.follow(judge(agent, review, item("FAIL", place="src/a.py:1")))
    agent.write("src/a.py", "put right\n")
    review = record(agent, work, files=["README.md"])
    assert sorted(agent.state(review.children[0].id).spec["covers"]) == ["README.md", "src/a.py"]
    last = agent.follow(judge(agent, review, item(place="README.md:1")))
    agent.write("src/a.py", "changed later\n")
    block = agent.follow(last)
    assert (block.step, "src/a.py" in block.text) == ("d-review", True)


@pytest.mark.req("S-01")
def test_a_review_after_one_that_passed_covers_what_is_recorded_by_then(skill: Skill, repository: Path) -> None:
    agent = skill(
        LISTED.format(True, "d-review").replace('Outcome.OK: "last"', 'Outcome.OK: "more"')
        + ', StepDef("more", "More", "More.", {Outcome.OK: "last", Outcome.ITERATE: "work"}, max_iterations=3,'
        ' when={Outcome.OK: "all is done", Outcome.ITERATE: "there is more"})'
    )
    more = agent.follow(judge(agent, record(agent, agent.open(), files=["src/a.py"]), item(place="src/a.py:1")))
    review = record(agent, agent.follow(more, outcome="iterate"), files=["README.md"])
    assert agent.state(review.children[0].id).spec["covers"] == ["README.md"]


@pytest.mark.req("S-01")
def test_a_file_with_which_a_verdict_fell_is_covered_by_the_next_review(skill: Skill, repository: Path) -> None:
    agent = skill(LISTED.format(True, "work"))
    last = agent.follow(judge(agent, record(agent, agent.open(), files=["src/a.py"]), item(place="src/a.py:1")))
    agent.write("src/a.py", "changed later\n")
    work = agent.follow(last)
    assert work.step == "work"
    review = record(agent, work, files=["README.md"])
    assert agent.state(review.children[0].id).spec["covers"] == ["src/a.py", "README.md"]


@pytest.mark.req("S-01")
@pytest.mark.usefixtures("unchecked")
def test_another_review_of_a_checkpoint_covers_what_failed_in_the_first_one(skill: Skill, repository: Path) -> None:
    agent = skill(
        f'{WORK}, *review_loop("d", work="more", passed="last", gate_actions="Go.", {COVERED}),'
        ' StepDef("more", "More", "More.", {Outcome.OK: "again"}),'
        ' StepDef("again", "Again", "Review.", {Outcome.OK: "gate"},'
        ' Dispatch("quality-reviewer", task="Review the whole.", checkpoint="d")),'
        ' StepDef("gate", "Gate", "Go.", {Outcome.OK: "last", Outcome.FAIL: "more"}, Gate("d", stale="again")),'
        f" {END}"
    )
    more = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:1")))
    agent.write("src/a.py", "put right\n")
    last = agent.follow(judge(agent, agent.follow(more), item(place="src/a.py:1")))
    assert last.step == "last"
    agent.write("src/a.py", "changed later\n")
    assert agent.follow(last).step == "d-review"


@pytest.mark.req("S-03")
@pytest.mark.parametrize(
    "values, words",
    [
        ({}, "the review of d covers no files of work.files, which was not recorded"),
        ({"files": []}, "the review of d covers no file: the lists are empty"),
        ({"files": ["src/c.py"]}, "the review of d covers no file: src/c.py"),
    ],
)
def test_what_a_review_does_not_cover_is_reported_in_words(
    skill: Skill, repository: Path, values: dict[str, Any], words: str
) -> None:
    agent = skill(LISTED.format(False, "d-review"))
    gate = judge(agent, record(agent, agent.open(), **values), item(place="src/a.py:1"))
    assert ("verdict", words) in undone(agent.follow(agent.follow(gate)))


@pytest.mark.req("S-03")
def test_an_erratum_that_is_not_filled_in_is_refused_and_one_that_is_stands_in_the_way_on(skill: Skill) -> None:
    agent = skill(
        'StepDef("one", "One", "Do.", {Outcome.OK: "two"}, requires=[Field("cause")]),'
        ' StepDef("two", "Two", "Do.", {Outcome.OK: "three"}, requires=[Field("count", "int")]),'
        ' StepDef("three", "Three", "Do.", {Outcome.OK: None}, needs=["one.cause", "two.count"])'
    )
    two = agent.follow(agent.open(), cause="it is late")
    assert agent.run_command(f"{two.next} --erratum one.cause=FILL_note").code == "unfilled"
    refused = agent.run_command(filled(two.next, {"count": "many"}) + " --erratum 'one.cause=it was early'")
    assert "--erratum 'one.cause=it was early'" in refused.next
    assert agent.run_command(filled(refused.next, {"count": 2})).step == "three"
