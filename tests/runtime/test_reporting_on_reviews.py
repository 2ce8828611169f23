"""What an agent types about a review: what is refused says what is wrong, once, and gives the rest back."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skills.lib.commands.console.app import lockstep
from skills.lib.runtime import cli
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.follower import show_again
from tests.fixtures.agents import Skill
from tests.fixtures.deviations import assert_refused

END = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
WORK = 'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"})'
COVERED = 'reviewer=Dispatch("quality-reviewer", task="Review it.", covers=["src/**"])'
COVERING = f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {COVERED}), {END}'
SPLIT = (
    'StepDef("split", "Split", "Split.", {Outcome.OK: "verify"}, requires=[Field("statements", "statements")]),'
    'StepDef("verify", "Verify", "Verify.", {Outcome.OK: None}, needs=["split.statements"],'
    ' requires=[Field("answers", "answers")COMMAND]) ## reverify="verify"'
)
BY_SCRIPT = 'reviewer=Dispatch("quality-reviewer", script="part.py")'
SCRIPTED = f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go.", {BY_SCRIPT}), {END}'


def item(status: str = "PASS", name: str = "a", **more: str) -> dict[str, str]:
    finding = "it holds now" if status == "PASS" else "it does not hold"
    return {"id": name, "check": "it holds", "severity": "MUST", "status": status, "finding": finding, **more}


def answer(name: str, status: str = "PASS", **more: Any) -> dict[str, Any]:
    finding = "it holds now" if status == "PASS" else "it does not hold"
    return {"id": name, "status": status, "place": "src/a.py:1", "severity": "MUST", "finding": finding, **more}


def judge(agent: Agent, review: PrintedBlock, *items: dict[str, str]) -> PrintedBlock:
    """Have the one reviewer of a step report these items; the gate's block."""
    last = agent.follow(agent.run_command(review.children[0].command), items=list(items))
    assert last.kind == "done", last.text
    return agent.run_command(last.next)


def record(agent: Agent, block: PrintedBlock, **values: Any) -> PrintedBlock:
    """Leave the step with these values, whether or not its command names them."""
    file = agent.project / f"record-{block.turn}.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    return agent.run_command(f"{block.next.split(' --record ')[0]} --record-file {file}")


def reported(agent: Agent, block: PrintedBlock) -> tuple[dict[str, Any], dict[str, Any]]:
    """The records and parameters of a block's NEXT command, read as the script reads them."""
    request = cli.parse(agent.workflow, shlex.split(block.next)[2:])
    return dict(request.records), dict(request.params)


# What the command after a refusal repeats


WAIVED = (
    'StepDef("test", "Test", "Test.", {Outcome.OK: None}, requires=[Field("said")])',
    'params=[Arg("override", required=False, step="test", waives="the test run")]',
)


@pytest.mark.req("S-03")
def test_a_reason_that_is_too_short_is_asked_for_again_and_the_rest_given_back(skill: Skill) -> None:
    agent = skill(WAIVED[0], more=WAIVED[1])
    block = agent.open()
    refused = assert_refused(agent, filled(block.next, {"said": "it is green"}) + " --override no", "no-reason")
    assert reported(agent, refused) == ({"said": "it is green"}, {"override": "FILL_override"})
    assert assert_refused(agent, refused.next, "unfilled").why.startswith("override still stands as FILL_override")
    assert agent.follow(refused, override="no test can run here").kind == "done"


@pytest.mark.req("S-03")
def test_a_reason_that_is_too_short_to_open_a_run_is_asked_for_again(skill: Skill) -> None:
    agent = skill(WAIVED[0], more='params=[Arg("topic"), Arg("override", required=False, waives="the test run")]')
    refused = agent.open(topic="why", override="no")
    assert (refused.code, reported(agent, refused)) == (
        "no-reason",
        ({}, {"topic": "why", "override": "FILL_override"}),
    )


@pytest.mark.req("S-01")
def test_a_fix_that_is_refused_is_asked_for_again_and_the_others_given_back(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    found = item("FAIL", place="src/a.py:2"), item("FAIL", "b", place="src/b.py:1")
    work = agent.follow(judge(agent, agent.follow(agent.open()), *found))
    refused = record(agent, work, fixes=["a | disputed | no", "b | disputed | it is what was asked for"])
    assert refused.code == "bad-value"
    kept = ["a | disputed | FILL_why", "b | disputed | it is what was asked for"]
    assert json.loads(reported(agent, refused)[0]["fixes"]) == kept
    assert "a | disputed | why it is wrong" in agent.run_command(refused.next).why
    refused = record(agent, work, fixes=["c | changed | src/a.py", "a | done | src/a.py", "a", kept[1]])
    told = ["FILL_id | changed | src/a.py", "a | FILL_how | src/a.py", "a | FILL_how | FILL_why", kept[1]]
    assert json.loads(reported(agent, refused)[0]["fixes"]) == told
    again = assert_refused(agent, refused.next, "bad-value")
    assert "'FILL_id' is no finding that is open" in again.why
    assert again.next == refused.next
    told = ["a | changed | FILL_path", "b | FILL_how | FILL_why"]
    refused = record(agent, work, fixes=["a | changed |", "b"])
    assert json.loads(reported(agent, refused)[0]["fixes"]) == told
    assert "a | changed | path that settles it" in assert_refused(agent, refused.next, "bad-value").why
    agent.write("src/a.py", "put right\n")
    review = record(agent, work, fixes=["a | changed | src/a.py", kept[1]])
    last = agent.follow(judge(agent, review, item(place="src/a.py:1"), item(name="b", place="src/b.py:1")))
    refused = record(agent, last, fixes=["a | changed | src/a.py"])
    assert (refused.code, reported(agent, refused)[0]) == ("unknown-field", {})


@pytest.mark.req("S-03")
def test_a_sub_agent_given_up_without_a_reason_asks_for_the_reason_alone(skill: Skill) -> None:
    agent = skill('StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, Dispatch("explore", task="look"))')
    block = agent.open()
    command = filled(block.words("DISPATCH/lost"), {"child": block.children[0].id, "reason": "FILL_reason"})
    refused = assert_refused(agent, command, "no-reason", block.run)
    assert shlex.split(refused.next) == shlex.split(command)
    again = filled(refused.next, {"reason": "it never came back"})
    assert agent.run_command(again).children[0].status == "lost"


# What a person is asked about


ASKED = (
    'StepDef("work", "Work", "Work.", {Outcome.OK: "review"}),'
    'StepDef("review", "Review", "Have it reviewed.", {Outcome.OK: "gate"},'
    ' Dispatch("quality-reviewer", task="Review it.", checkpoint="d", covers=["src/**"])),'
    'StepDef("gate", "Gate", "Go.", {Outcome.OK: "last", Outcome.FAIL: "work"}, Gate("d", stale="ask")),'
    'StepDef("last", "Last", "Stop.", {Outcome.OK: None}),'
    'StepDef("ask", "Ask", "", {Outcome.OK: "last", Outcome.FAIL: "review"},'
    ' person("End with these changes?", {"yes": "ok", "no": "fail"}))'
)
CHANGED = "\n\nThe review of d passed, and what it covers was changed since: src/a.py."


def undone(block: PrintedBlock) -> list[tuple[str, str]]:
    return [(entry.get("kind", ""), entry.text or "") for entry in block.root.iterfind("NOT_DONE/entry")]


def fallen(skill: Skill) -> tuple[Agent, PrintedBlock]:
    """A run that asks a person because a reviewed file was changed, and the block that waits."""
    agent = skill(ASKED)
    last = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    agent.write("src/a.py", "changed\n")
    asked = agent.follow(last)
    assert (asked.kind, asked.step) == ("waiting", "ask")
    assert asked.words("QUESTION") == f"End with these changes?{CHANGED}"
    return agent, asked


def decide(agent: Agent, asked: PrintedBlock, answer: str, reason: str) -> PrintedBlock:
    """Answer as a person, and show the run's next step."""
    agent.answer(asked, answer, reason)
    return agent.run_command(show_again(asked))


@pytest.mark.req("S-01", "W-24")
def test_a_person_is_asked_once_about_changed_files(skill: Skill, repository: Path) -> None:
    agent, asked = fallen(skill)
    end = agent.follow(decide(agent, asked, "yes", "only a comment"))
    assert end.root.get("status") == "done"
    told = "files that the review of d covers were changed since; a person let it stand: only a comment"
    assert undone(end) == [("verdict", told)]


@pytest.mark.req("S-01", "W-24")
def test_a_person_is_asked_again_about_files_that_changed_again(skill: Skill, repository: Path) -> None:
    agent, asked = fallen(skill)
    last = decide(agent, asked, "yes", "only a comment")
    agent.write("src/b.py", "changed\n")
    again = agent.follow(last)
    assert again.words("QUESTION") == f"End with these changes?{CHANGED.replace('a.py', 'b.py')}"
    assert agent.follow(decide(agent, again, "yes", "a comment too")).root.get("status") == "done"


@pytest.mark.req("S-01", "W-24")
def test_an_answer_that_the_agent_passes_on_leads_to_the_person_and_not_to_the_same_question(
    skill: Skill, repository: Path
) -> None:
    agent, asked = fallen(skill)
    at_terminal = agent.follow(agent.follow(asked, answer="yes"))
    question = at_terminal.root.find("QUESTION")
    assert question is not None
    assert (at_terminal.kind, at_terminal.step, question.get("by")) == ("waiting", "last", "person")
    assert agent.answer(at_terminal, "accept", "only a comment").root.get("status") == "done"


@pytest.mark.req("S-01", "W-24")
def test_a_no_to_changed_files_has_them_reviewed(skill: Skill, repository: Path) -> None:
    agent, asked = fallen(skill)
    review = decide(agent, asked, "no", "have it looked at")
    assert review.step == "review"
    last = agent.follow(judge(agent, review, item(place="src/a.py:1")))
    end = agent.follow(last)
    assert (end.root.get("status"), undone(end)) == ("done", [])


# What a reviewer is shown


def failed_once(skill: Skill, part: str = SPLIT.replace("COMMAND", "")) -> tuple[Agent, PrintedBlock, PrintedBlock]:
    """The agent of a scripted review that failed once, and the reviewer's first block of each round."""
    agent = skill(SCRIPTED, part=part)
    first = agent.run_command(agent.follow(agent.open()).children[0].command)
    verify = agent.follow(first, statements=["M-1 | one is so", "M-2 | two is so"])
    end = agent.follow(verify, answers=[answer("S1", "FAIL"), answer("S2")])
    work = agent.follow(agent.run_command(end.next))
    review = agent.follow(work, fixes=["S1 | changed | it was put right"])
    return agent, first, agent.run_command(review.children[0].command)


@pytest.mark.req("W-10", "S-02")
def test_a_reviewer_learns_whether_it_reviews_for_the_first_time_or_verifies_again(skill: Skill) -> None:
    agent, first, again = failed_once(skill)
    assert first.words("STATE").endswith("step 1 of 2. Review of d: first review.")
    assert again.words("STATE").endswith("step 2 of 2. Review of d: re-verification of 2 items, with fresh eyes.")
    lines = CliRunner().invoke(lockstep, ["trace", again.run, "--project", str(agent.project)]).output
    assert "Review of d: re-verification of 2 items, with fresh eyes." in lines
    told = CliRunner().invoke(lockstep, ["trace", again.run, "--json", "--project", str(agent.project)]).output
    assert '"review": "Review of d: re-verification of 2 items, with fresh eyes."' in told


CHECKS = (
    'checks=[Check("keeps", "MUST", "behaviour stays", over="work.parts"), Check("order", "SHOULD", "the order holds")]'
)
CHECKED = (
    'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}, requires=[Field("parts", "list")]),'
    f'*review_loop("d", work="work", passed="last", gate_actions="Go.", '
    f'reviewer=Dispatch("quality-reviewer", task="Review.", {CHECKS})),'
    f" {END}"
)
JUDGED = '{"id": …, "status": "PASS|FAIL|TODO", "place": "path:line", "finding": …}'
ANSWER = '{"id": …, "status": "PASS|FAIL|TODO", "place": "path:line", "severity": "MUST|SHOULD|COULD", "finding": …}'
OF_TARGETS = (
    'For a check with several targets, place is {"target": "path:line", …}; targets that fare differently get an '
    "answer each."
)


def form(block: PrintedBlock) -> str:
    """How the block says that its values are written, up to what it says of every value."""
    return block.words("RECORD/file").partition(" Values with quotes")[0]


@pytest.mark.req("S-02")
def test_a_free_reviewer_learns_once_how_checks_and_items_are_answered(skill: Skill) -> None:
    agent = skill(CHECKED)
    task = agent.run_command(agent.follow(agent.open(), parts=["W1", "W2"]).children[0].command)
    assert form(task) == f"Answers are a JSON array, one for each check (its name): {JUDGED}. {OF_TARGETS}"
    assert "place" not in task.words("DO")
    found = [
        {
            "id": "keeps",
            "status": "FAIL",
            "place": {"W1": "a.json:1", "W2": "a.json:2"},
            "finding": "the total changes",
        },
        {"id": "order", "status": "PASS", "place": "a.json:3"},
    ]
    work = agent.follow(agent.run_command(agent.follow(task, answers=found).next))
    fixes = ["keeps-1 | changed | it was put right", "keeps-2 | changed | it was put right"]
    same = agent.run_command(agent.follow(work, parts=["W1", "W2"], fixes=fixes).children[0].command)
    assert form(same) == f"Answers are a JSON array, one for each item (its id): {JUDGED}. {OF_ONE_CHECK}"
    assert "check" not in same.words("DO")
    assert "This is a re-verification: judge each item of CONTEXT again." in same.words("DO")
    assert same.words("RECORD/field") == ""
    judged = [{"id": name, "status": "PASS", "place": "a.json:1", "finding": "it is as it was"} for name in NAMES]
    assert agent.follow(same, answers=judged).kind == "done"


NAMES = ("keeps-1", "keeps-2", "order-1")
OF_ONE_CHECK = (
    'Items of one check that fare alike may share an answer: {"id": "keeps", "status": …, "place": {"W1": "path:line", '
    "…}}."
)


@pytest.mark.req("S-02")
def test_items_of_one_check_share_an_answer_as_they_are_verified_again(skill: Skill) -> None:
    agent = skill(CHECKED)
    first = agent.run_command(agent.follow(agent.open(), parts=["W1", "W2"]).children[0].command)
    places = {"W1": "a.json:1", "W2": "a.json:2"}
    order = {"id": "order", "status": "PASS", "place": "a.json:3"}
    wrong = {"id": "keeps", "status": "FAIL", "place": places, "finding": "the total changes"}
    work = agent.follow(agent.run_command(agent.follow(first, answers=[wrong, order]).next))
    fixes = ["keeps-1 | changed | it was put right", "keeps-2 | changed | it was put right"]
    again = agent.run_command(agent.follow(work, parts=["W1", "W2"], fixes=fixes).children[0].command)
    order["id"] = "order-1"
    alike = {"id": "keeps", "status": "PASS", "place": places, "finding": "both totals are as before"}
    for short, why in (
        ({**alike, "place": {"W1": "a.json:1"}}, "no answer to keeps-2"),
        ({**alike, "finding": ""}, "keeps-1 was a finding before: say in finding what is there now"),
    ):
        assert why in agent.run_command(filled(again.next, {"answers": [short, order]})).why
    end = agent.follow(again, answers=[alike, order])
    done = agent.run_command(end.words("BRIEF/command"))
    judged = [line.strip(" -") for line in done.result["task.items"].splitlines()]
    assert [line for line in judged if line.startswith(("id:", "status:", "place:"))] == [
        *("id: keeps-1", "status: PASS", "place: a.json:1"),
        *("id: keeps-2", "status: PASS", "place: a.json:2"),
        *("id: order-1", "status: PASS", "place: a.json:3"),
    ]


@pytest.mark.req("S-02")
def test_a_free_reviewer_of_items_is_asked_to_judge_them_again(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    review = agent.follow(agent.open())
    first = agent.run_command(review.children[0].command)
    assert form(first).startswith('Items are a JSON array, each {"scope": …, "check": …,')
    work = agent.follow(judge(agent, review, item("FAIL", place="src/a.py:2")))
    agent.write("src/a.py", "put right\n")
    again = agent.run_command(agent.run_command(work.next).children[0].command)
    assert form(again) == f"Items are a JSON array, one for each given: {JUDGED}."
    assert agent.run_command(again.next).why.endswith(f"put in a JSON array of review items, each {JUDGED}.")
    refused = agent.run_command(filled(again.next, {"items": [{"id": "a", "status": "FINE", "place": "src/a.py:1"}]}))
    assert refused.why.endswith(f"An item is {JUDGED}.")


@pytest.mark.req("S-02")
def test_a_reviewer_with_a_script_learns_how_checks_and_items_are_answered(skill: Skill) -> None:
    checked = BY_SCRIPT.replace(")", ', checks=[Check("order", "MUST", "the order holds", over=["W1", "W2"])])')
    agent = skill(SCRIPTED.replace(BY_SCRIPT, checked), part=SPLIT.replace("COMMAND", ""))
    first = agent.run_command(agent.follow(agent.open()).children[0].command)
    verify = agent.follow(first, statements=["M-1 | one is so"])
    each = f"Answers are a JSON array, one for each statement (its number, S1) and check (its name): {ANSWER}."
    assert form(verify) == f"{each} severity is given for a statement alone. {OF_TARGETS}"
    order = {"id": "order", "status": "PASS", "place": {"W1": "a:1", "W2": "b:1"}}
    end = agent.follow(verify, answers=[answer("S1", "FAIL"), order])
    work = agent.follow(agent.run_command(end.next))
    review = agent.follow(work, fixes=["S1 | changed | it was put right"])
    again = agent.run_command(review.children[0].command)
    of_order = OF_ONE_CHECK.replace("keeps", "order")
    assert form(again) == f"Answers are a JSON array, one for each item (its id): {JUDGED}. {of_order}"


# What is judged before a command runs


# Each run of the command adds a line to a file.
COUNTED = SPLIT.replace("COMMAND", ', Command(["sh", "-c", "echo x >> runs"], 20, severity="MUST")')


@pytest.mark.req("S-02")
def test_answers_are_judged_before_a_command_runs(skill: Skill, project: Path) -> None:
    agent = skill(SCRIPTED, part=COUNTED)
    review = agent.follow(agent.open())
    verify = agent.follow(agent.run_command(review.children[0].command), statements=["M-1 | one is so"])
    for given in ([], [answer("S2")], [answer("S1", "FINE")], [answer("S1"), answer("S1")]):
        assert agent.run_command(filled(verify.next, {"answers": given})).exit_code == 3
    assert not (project / "runs").exists()
    assert agent.follow(verify, answers=[answer("S1")]).kind == "done"
    assert (project / "runs").read_text() == "x\n"


@pytest.mark.req("S-02")
def test_items_are_judged_before_a_command_runs(skill: Skill, repository: Path) -> None:
    part = 'StepDef("look", "Look", "Look.", {Outcome.OK: None}, requires=[Field("items", "items"),'
    part += ' Command(["sh", "-c", "echo x >> runs"], 20, severity="SHOULD")])'
    agent = skill(SCRIPTED.replace('"part.py"', '"part.py", covers=["src/**"]'), part=part)
    look = agent.run_command(agent.follow(agent.open()).children[0].command)
    refused = agent.run_command(filled(look.next, {"items": [item(place="src/none.py:1")]}))
    assert "src/none.py is no file of the project" in refused.why
    assert not (repository / "runs").exists()
    light = [item(place="src/a.py:1", severity="COULD")]
    assert agent.follow(look, items=light).kind == "done"


def test_how_a_step_ended_is_known_before_its_command_runs(skill: Skill, project: Path) -> None:
    agent = skill(
        'StepDef("test", "Test", "Test.", {Outcome.OK: None, Outcome.SKIP: "last"},'
        ' requires=[Command(["sh", "-c", "echo x >> runs"])],'
        f' when={{Outcome.OK: "it is green", Outcome.SKIP: "there is none"}}), {END}'
    )
    block = agent.open()
    for outcome in ("FILL_outcome", "good", "iterate"):
        assert agent.run_command(filled(block.next, {"outcome": outcome})).exit_code == 3
    assert_refused(agent, block.next.replace(" --outcome FILL_outcome", ""), "missing-outcome")
    elsewhere = filled(block.next, {"outcome": "skip"}).replace("--step next", "--step done")
    assert_refused(agent, elsewhere, "wrong-outcome")
    assert not (project / "runs").exists()
    assert agent.follow(block, outcome="ok").kind == "done"


@pytest.mark.req("S-01")
def test_a_command_may_write_the_file_that_a_finding_names(skill: Skill, repository: Path) -> None:
    write = 'Command(["sh", "-c", "cat notes >> src/a.py"])'
    agent = skill(COVERING.replace(WORK, WORK.replace("})", f"}}, requires=[{write}])")))
    agent.write("notes", "")
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:2")))
    assert_refused(agent, work.next, "unanswered-finding", work.run)
    agent.write("notes", "put right\n")
    assert agent.run_command(work.next).step == "d-review"


# Small things


@pytest.mark.req("S-02")
@pytest.mark.parametrize("kind", ["answers", "items"])
def test_an_invalid_status_is_the_only_fault_that_is_reported(skill: Skill, kind: str) -> None:
    part = f'StepDef("look", "Look", "Look.", {{Outcome.OK: None}}, requires=[Field("{kind}", "{kind}")])'
    agent = skill(SCRIPTED, part=part)
    look = agent.run_command(agent.follow(agent.open()).children[0].command)
    given = {"id": "S1", "status": "OK"} if kind == "answers" else item("OK", finding="")
    refused = agent.run_command(filled(look.next, {kind: [given]}))
    name = {"answers": "answer 1 (S1)", "items": "item 1"}[kind]
    assert refused.why.startswith(f"{kind}: {name}: status 'OK' is not one of PASS, FAIL, TODO. An ")


@pytest.mark.parametrize("kind", ["answers", "items", "statements", "list", "json"])
def test_what_is_no_json_is_reported_once(skill: Skill, kind: str) -> None:
    agent = skill(f'StepDef("look", "Look", "Look.", {{Outcome.OK: None}}, requires=[Field("found", "{kind}")])')
    refused = agent.run_command(filled(agent.open().next, {"found": "[one, two"}))
    assert refused.why.startswith("found is not JSON: ")
    assert refused.why.count("found") == 1


def test_an_object_is_no_list(skill: Skill) -> None:
    agent = skill('StepDef("look", "Look", "Look.", {Outcome.OK: None}, requires=[Field("found", "list")])')
    block = agent.open()
    for given in ('{"a": 1}', "{}"):
        refused = assert_refused(agent, filled(block.next, {"found": given}), "bad-value")
        assert refused.why == f"found: '{given}' is not a JSON array of texts."
    assert agent.follow(block, found="{a} stands for a name").kind == "done"


@pytest.mark.req("S-02")
def test_the_end_of_a_review_tells_what_a_command_judged_once(skill: Skill) -> None:
    part = SPLIT.replace("COMMAND", ', Command(["false"], 20, "the tests are green", "MUST")')
    agent = skill(SCRIPTED, part=part)
    first = agent.run_command(agent.follow(agent.open()).children[0].command)
    end = agent.follow(agent.follow(first, statements=["M-1 | one is so"]), answers=[answer("S1")])
    # What its orchestrator reads next is not printed twice.
    assert list(end.result) == []
    again = agent.follow(agent.run_command(end.next))
    assert again.text.count("the tests are green") == 1


def test_a_folder_is_no_artifact_and_is_reported_as_a_folder(skill: Skill, project: Path) -> None:
    agent = skill('StepDef("write", "Write", "Write.", {Outcome.OK: None}, requires=[Artifact("notes")])')
    (project / "notes").mkdir()
    refused = assert_refused(agent, agent.open().next, "missing-evidence")
    assert refused.why == "notes is not a file but a folder: name a file in it."


def test_a_value_that_was_left_out_is_no_placeholder_in_the_evidence_of_a_command(skill: Skill, project: Path) -> None:
    look = 'StepDef("look", "Look", "Look.", {Outcome.OK: None}, requires=[Field("word", required=False),'
    agent = skill(f'{look} Command(["sh", "-c", "test -e ${{HOME}}", "sh", "{{word}}", "{{look.word}}"])])')
    end = agent.run_command(agent.open().next)
    assert end.kind == "done"
    assert end.errors == "lockstep: running sh -c test -e ${HOME} sh '' '' (at most 600 s)\n"


def helped(agent: Agent, script: str = "") -> list[str]:
    """The lines of a script's help."""
    return agent.call(f"python {script or agent.script} --help").text.splitlines()


@pytest.mark.req("W-09")
def test_help_shows_how_findings_are_answered_and_evidence_is_waived(skill: Skill, repository: Path) -> None:
    params = 'params=[Arg("override", required=False, step="work", waives="the test run")]'
    agent = skill(COVERING, more=params)
    lines = helped(agent)
    assert any(
        line.startswith("  --override") and "waives the test run: a reason of more than a word" in line
        for line in lines
    )
    [fixes] = [line.strip() for line in lines if "--record fixes=" in line]
    review = agent.follow(agent.open())
    found = item("FAIL", "S1", place="src/a.py:2"), item("FAIL", "S2", place="src/b.py:1")
    work = agent.follow(judge(agent, review, *found))
    agent.write("src/a.py", "put right\n")
    assert agent.run_command(f"{work.next} {fixes}").step == "d-review"


@pytest.mark.req("W-09")
def test_help_shows_how_a_reviewer_answers(skill: Skill) -> None:
    checked = BY_SCRIPT.replace(")", ', checks=[Check("keeps", "MUST", "behaviour stays", over=["W1", "W2"])])')
    agent = skill(SCRIPTED.replace(BY_SCRIPT, checked), part=SPLIT.replace("COMMAND", ""))
    lines = helped(agent, str(Path(agent.script).with_name("part.py")))
    [given] = [line.strip() for line in lines if line.strip().startswith("--record statements=")]
    [answers] = [line.strip() for line in lines if line.strip().startswith("--record answers=")]
    first = agent.run_command(agent.follow(agent.open()).children[0].command)
    verify = agent.run_command(f"{first.next.partition(' --record')[0]} {given}")
    assert verify.context["split.statements"].startswith("- S1 | ")
    assert agent.run_command(f"{verify.next.partition(' --record')[0]} {answers}").kind == "done"


@pytest.mark.req("W-09")
def test_help_shows_how_a_reviewer_without_a_script_reports(skill: Skill) -> None:
    agent = skill(f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Go."), {END}')
    [items] = [line.strip() for line in helped(agent) if line.strip().startswith("--record items=")]
    task = agent.run_command(agent.follow(agent.open()).children[0].command)
    assert agent.run_command(f"{task.next.partition(' --record')[0]} {items}").kind == "done"
    assert not [line for line in helped(agent) if "--record answers=" in line]


@pytest.mark.req("W-09")
def test_help_of_a_skill_without_reviews_says_nothing_of_them(skill: Skill) -> None:
    agent = skill('StepDef("look", "Look", "Look.", {Outcome.OK: None}, requires=[Field("found", "list")])')
    assert not [line for line in helped(agent) if "fixes" in line or "Reviews" in line]


# What was not clear when a whole review was played


def disputed(skill: Skill, steps: str = COVERING) -> tuple[Agent, PrintedBlock]:
    """A finding that was disputed twice, and the question about it."""
    agent = skill(steps)
    block = agent.follow(agent.open())
    for _ in range(2):
        work = agent.follow(judge(agent, block, item("FAIL", place="src/a.py:2")))
        block = record(agent, work, fixes=["a | disputed | it is what was asked for"])
    assert block.kind == "waiting"
    return agent, block


@pytest.mark.req("S-01", "W-24")
def test_a_question_about_a_dispute_has_all_that_a_person_decides_by(skill: Skill, repository: Path) -> None:
    _, asked = disputed(skill)
    assert asked.words("QUESTION") == (
        "Reviewers of d found this twice, and the work disputes it twice.\n"
        "- a (MUST) it holds: it does not hold [src/a.py:2]\n  Disputed: it is what was asked for"
    )


@pytest.mark.req("S-01")
def test_a_reviewer_with_nothing_left_to_verify_looks_at_what_is_there_and_knows_what_was_accepted(
    skill: Skill, repository: Path
) -> None:
    agent, asked = disputed(skill)
    review = agent.answer(asked, "accept", "nobody asked for more")
    task = agent.run_command(review.children[0].command)
    assert task.context == {
        "items": "- rest-1 (MUST, all): what is there now does what is asked, and nothing that was changed harms it",
        "accepted": "- it holds: it does not hold (nobody asked for more)",
    }
    assert "re-verification of 1 item, with" in task.words("STATE")
    last = agent.follow(judge(agent, review, item(name="rest-1", place="src/a.py:2")))
    end = agent.follow(last)
    assert (end.root.get("status"), undone(end)) == (
        "done",
        [("finding", "a (MUST, accepted by a person): it does not hold")],
    )


@pytest.mark.req("S-01")
def test_a_reviewer_learns_which_files_were_changed_since_its_review_passed(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    last = agent.follow(judge(agent, agent.follow(agent.open()), item(place="src/a.py:1")))
    agent.write("src/b.py", "changed\n")
    review = agent.follow(last)
    assert review.words("STATE").endswith("step 2 of 4. Review of d: iteration 1 of 5, first review.")
    task = agent.run_command(review.children[0].command)
    assert task.context == {"changed": "- src/b.py (since d passed)"}


# What was a finding before


TWICE = (
    'StepDef("verify", "Verify", "Verify.", {Outcome.OK: None, Outcome.ITERATE: "verify"}, max_iterations=5,'
    ' when={Outcome.OK: "all is looked at", Outcome.ITERATE: "there is more to look at"},'
)
ANSWERS = (
    'StepDef("split", "Split", "Split.", {Outcome.OK: "verify"}, requires=[Field("statements", "statements")]),'
    f'{TWICE} needs=["split.statements"], requires=[Field("answers", "answers")]) ## reverify="verify"'
)
ITEMS = f'{TWICE} requires=[Field("items", "items")])'


@pytest.mark.req("S-02")
@pytest.mark.parametrize("between", [[], ["TODO"]])
def test_a_finding_that_passes_in_the_run_of_its_reviewer_says_why(skill: Skill, between: list[str]) -> None:
    agent = skill(SCRIPTED, part=ANSWERS)
    first = agent.run_command(agent.follow(agent.open()).children[0].command)
    verify = agent.follow(first, statements=["M-1 | one is so"])
    for status in ("FAIL", *between):
        verify = agent.follow(verify, answers=[answer("S1", status, finding="it is not so")], outcome="iterate")
        assert verify.step == "verify"
    silent = agent.follow(verify, answers=[answer("S1", "PASS", finding="")], outcome="ok")
    assert "S1 was a finding before: say in finding what is there now" in silent.why
    end = agent.follow(verify, answers=[answer("S1", "PASS", finding="line 1 has it, I misread it")], outcome="ok")
    assert (end.kind, "status: PASS" in end.result["verify.items"]) == ("done", True)


@pytest.mark.req("S-02")
def test_a_finding_in_items_that_passes_in_the_run_of_its_reviewer_says_why(skill: Skill) -> None:
    agent = skill(SCRIPTED, part=ITEMS)
    verify = agent.run_command(agent.follow(agent.open()).children[0].command)
    verify = agent.follow(verify, items=[item("FAIL", place="src/a.py:1")], outcome="iterate")
    silent = agent.follow(verify, items=[item(finding="", place="src/a.py:1")], outcome="ok")
    assert "a was a finding before: say in finding what is there now" in silent.why
    assert agent.follow(verify, items=[item(place="src/a.py:1")], outcome="ok").kind == "done"


@pytest.mark.req("S-02")
def test_a_finding_that_its_reviewer_does_not_report_again_is_one_still(skill: Skill) -> None:
    agent = skill(SCRIPTED, part=ITEMS)
    verify = agent.run_command(agent.follow(agent.open()).children[0].command)
    verify = agent.follow(verify, items=[item("FAIL", place="src/a.py:1")], outcome="iterate")
    end = agent.follow(verify, items=[item(name="b", place="src/a.py:1")], outcome="ok")
    gate = agent.run_command(end.next)
    assert "verdict fail" in gate.words("STATE")
    kept = [(one["id"], one["status"]) for one in agent.state(gate.run).reviews["d"]["items"]]
    assert kept == [("b", "PASS"), ("a", "FAIL")]


@pytest.mark.req("S-02")
def test_a_finding_that_was_to_do_in_between_says_why_it_passes(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    review = agent.follow(agent.open())
    for status in ("FAIL", "TODO"):
        work = agent.follow(judge(agent, review, item(status, place="src/a.py:1")))
        agent.write("src/a.py", f"changed after {status}\n")
        review = agent.run_command(work.next)
    child = agent.run_command(review.children[0].command)
    silent = agent.follow(child, items=[item(finding="", place="src/a.py:1")])
    assert "a was a finding before" in silent.why
    assert agent.follow(child, items=[item(place="src/a.py:1")]).kind == "done"


@pytest.mark.req("S-02")
def test_a_finding_whose_reviewer_was_lost_in_between_says_why_it_passes(skill: Skill, repository: Path) -> None:
    agent = skill(COVERING)
    work = agent.follow(judge(agent, agent.follow(agent.open()), item("FAIL", place="src/a.py:1")))
    agent.write("src/a.py", "changed\n")
    review = agent.run_command(work.next)
    gate = agent.run_command(review.next + f" --lost {review.children[0].id} --reason 'it never came back'")
    gate = gate if gate.step == "d-gate" else agent.run_command(gate.next)
    review = agent.run_command(agent.follow(gate).next)
    child = agent.run_command(review.children[0].command)
    assert "a was a finding before" in agent.follow(child, items=[item(finding="", place="src/a.py:1")]).why
