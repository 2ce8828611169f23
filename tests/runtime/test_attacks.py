"""Ways that once led past a check, left a run that could not go on, or printed what is no document."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.blocks.parts import BLOCK_LIMIT
from skills.lib.errors import InvalidWorkflow, SkillError
from skills.lib.ledger import Ledger, evidence
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import Block
from skills.lib.testing.calls import InProcess
from skills.lib.workflow.requirements import Artifact
from tests.fixtures.skill import install, source_of

Skill = Callable[..., Agent]

OPEN_ENDED = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
LOOP = (
    'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}), '
    '*review_loop("d", work="work", passed="last", bound={bound}), ' + OPEN_ENDED
)


@pytest.fixture
def skill(tmp_path: Path, project: Path, request: pytest.FixtureRequest) -> Skill:
    """An agent of a skill with these steps; ``before`` stands above the workflow, in its module."""

    def make(steps: str, before: str = "", more: str = "") -> Agent:
        # A module is loaded once in a process: each test's skill has its own name.
        name = "a" + "".join(char for char in request.node.name if char.isalnum())[:40].lower()
        source = source_of(name, steps, more).replace("WORKFLOW = ", f"{before}\nWORKFLOW = ", 1)
        return Agent(install(tmp_path, name, source), project)

    return make


def serve(agent: Agent, *arguments: str) -> Block:
    assert isinstance(agent.call, InProcess)
    return agent.call.serve(agent.script, ["--project", str(agent.project), *arguments])


def leave(agent: Agent, block: Block, to: str, **records: object) -> Block:
    """Leave the block's step with these records, given in a file."""
    agent.write("report.json", json.dumps(records))
    file = str(agent.project / "report.json")
    return serve(agent, "--step", to, "--run", block.run, "--turn", str(block.turn), "--record-file", file)


def verify(agent: Agent) -> None:
    ledger = Ledger(paths.home(str(agent.project)), create=False)
    try:
        ledger.verify()
    finally:
        ledger.close()


def item(name: str, status: str, check: str = "it holds") -> dict[str, str]:
    finding = "it holds now" if status == "PASS" else "it does not"
    return {"id": name, "scope": "", "check": check, "severity": "MUST", "status": status, "finding": finding}


def review(agent: Agent, block: Block, *reports: list[dict[str, str]]) -> Block:
    """Report these items, reviewer by reviewer, and go on to the gate's decision."""
    last = block
    for child, items in zip(block.children, reports, strict=True):
        last = leave(agent, agent.run_command(child.command), "done", items=items)
        assert last.kind == "done", last.text
    return agent.follow(agent.run_command(last.next))


# Reviews


def test_items_of_a_target_that_is_there_no_more_are_still_verified(skill: Skill) -> None:
    agent = skill(
        'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}, requires=[Field("files", "list")]), '
        '*review_loop("d", work="work", passed="last", reviewer=Dispatch("quality-reviewer", task="{target}", '
        'targets="work.files")), ' + OPEN_ENDED
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


# Reported values


@pytest.mark.parametrize(
    "text, words",
    [
        ('{"j": 1e400}', "1e400 is too large a number"),
        ('{"j": [-1e999]}', "-1e999 is too large a number"),
        ('{"j": {"a": 1, "a": 2}}', "the name 'a' stands twice in one object"),
        ('{"j": 1, "j": 2}', "the name 'j' stands twice in one object"),
        ('{"\\u0007": 1}', "a name: U+0007 at position 0"),
        ('{"\\ud800": 1}', "a name: U+D800 at position 0"),
    ],
)
def test_a_record_file_that_cannot_be_kept_as_it_is(skill: Skill, text: str, words: str) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Field("j", "json")])')
    block = agent.open()
    agent.write("report.json", text)
    file = str(agent.project / "report.json")
    found = serve(agent, "--step", "done", "--run", block.run, "--turn", "1", "--record-file", file)
    assert (found.exit_code, found.text) == (2, "")
    assert words in found.errors


@pytest.mark.parametrize(
    "value, words",
    [
        ("1e400", "j is not JSON: 1e400 is too large a number."),
        ('["\\u0007"]', "j: U+0007 at position 0 is a character that XML 1.0 does not have."),
        ('{"\\ud800": 1}', "j: U+D800 at position 0 is a character that XML 1.0 does not have."),
        ("[" * 900 + "]" * 900, "j is nested more than 30 deep."),
        ('{"a": 1, "a": 2}', "j is not JSON: the name 'a' stands twice in one object."),
    ],
)
def test_json_that_cannot_be_printed_again_is_refused(skill: Skill, value: str, words: str) -> None:
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, requires=[Field("j", "json")]), '
        'StepDef("last", "Last", "Stop.", {Outcome.OK: None}, needs=["first.j"])'
    )
    block = agent.open()
    refused = leave(agent, block, "last", j=value)
    assert (refused.exit_code, refused.code, refused.why) == (3, "bad-value", words)
    assert leave(agent, block, "last", j='{"a": "\\u00e9"}').step == "last"


def test_a_number_of_400_digits_is_out_of_range(skill: Skill) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Field("n", "int", maximum=9)])')
    refused = leave(agent, agent.open(), "done", n=int("9" * 400))
    assert (refused.exit_code, refused.code) == (3, "bad-value")
    assert refused.why.endswith("999... is out of range; put in a whole number of at most 9.")


@pytest.mark.parametrize(
    "text, code",
    [
        ("\u200b", "bad-value"),
        ("\u2028\ufeff", "bad-value"),
        ("<FILL_t>", "unfilled"),
        ("\u2018FILL_t\u2019", "unfilled"),
        ("`FILL_t`", "unfilled"),
    ],
)
def test_a_text_in_which_nothing_stands_is_refused(skill: Skill, text: str, code: str) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Field("t")])')
    refused = leave(agent, agent.open(), "done", t=text)
    assert (refused.exit_code, refused.code) == (3, code)


def test_a_parameter_given_twice_is_told(skill: Skill) -> None:
    agent = skill(OPEN_ENDED, more='params=[Arg("level")]')
    found = serve(agent, "--step", "1", "--level", "low", "--level", "high")
    assert (found.exit_code, found.errors.splitlines()[0]) == (2, "lockstep: --level is given twice")


def test_giving_up_and_replacing_at_once_is_told(skill: Skill) -> None:
    agent = skill('StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, Dispatch("explore", task="Look."))')
    block = agent.open()
    child = block.children[0].id
    words = ["--lost", child, "--replace", child, "--reason", "gone"]
    found = serve(agent, "--step", "current", "--run", block.run, "--turn", "1", *words)
    assert found.exit_code == 2
    assert agent.state(child).status == "pending"


# Handlers

HANDLED = (
    'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, handle, outcomes=["ok"]), '
    'StepDef("last", "Last", "Stop.", {Outcome.OK: None}, needs=["first.x"])'
)


@pytest.mark.parametrize(
    "body, words",
    [
        ("raise SystemExit(0)", "raised SystemExit: 0"),
        ('return Outcome.OK, {"x": "\\x1b[31m"}', "U+001B at position 0"),
        ('return Outcome.OK, {"x": ["\\ud800"]}', "U+D800 at position 0"),
        ('return Outcome.OK, {1: "x"}', "has the name 1, which is not a text"),
        ('x = []; x.append(x); return Outcome.OK, {"x": x}', "is nested more than 30 deep"),
    ],
)
def test_a_handler_that_gives_what_cannot_be_kept_leaves_the_run(skill: Skill, body: str, words: str) -> None:
    agent = skill(HANDLED, before=f"def handle(ctx):\n    {body}\n")
    block = agent.open()
    found = agent.follow(block)
    assert (found.exit_code, found.text) == (5, "")
    assert words in found.errors
    assert serve(agent, "--step", "current", "--run", block.run).text == block.text


def test_a_handler_keeps_a_long_text(skill: Skill) -> None:
    agent = skill(HANDLED, before='def handle(ctx):\n    return Outcome.OK, {"x": "x" * 150_000}\n')
    assert agent.follow(agent.open()).step == "last"


def test_what_a_handler_or_its_module_prints_is_not_part_of_the_document(skill: Skill, tmp_path: Path) -> None:
    agent = skill(HANDLED, before='print("loaded")\ndef handle(ctx):\n    print("handled")\n    return Outcome.OK\n')
    block = agent.open()
    command = [sys.executable, agent.script, *shlex.split(block.next)[2:]]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert found.stdout.startswith('<step protocol="1"')
    assert found.stderr == "loaded\nhandled\n"


def test_a_handler_that_adds_to_a_list_in_place_does_not_damage_the_record(skill: Skill) -> None:
    before = """def handle(ctx):
    log = ctx.step_state.get("log", [])
    log += ["again"]
    ctx.workflow_params["seen"] = log
    return Outcome.ITERATE, {"log": log}
"""
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: None, Outcome.ITERATE: "first"}, handle, '
        'outcomes=["ok", "iterate"], max_iterations=9)',
        before,
    )
    block = agent.follow(agent.follow(agent.open()))
    assert agent.state(block.run).state["first"]["log"] == ["again", "again"]
    verify(agent)


# Evidence


@pytest.mark.parametrize(
    "schema, content, code, words",
    [
        ('{"items": {"$ref": "#"}}', "[" * 700 + "]" * 700, 3, "it is nested too deep to be checked"),
        ('{"pattern": "^(a+)+$"}', f'"{"a" * 5000}b"', 3, "does not match the pattern ^(a+)+$"),
        ('{"items": {"type": "string"}}', str([1] * 30), 3, "at $[4]: 1 is an integer, not a string; and 25 more"),
        ('{"multipleOf": 0.5}', "9" * 400, 0, ""),
        ("{}", "[NaN]", 3, "not JSON: NaN is not JSON"),
        ("{}", '{"ok": false, "ok": true}', 3, "stands twice"),
    ],
)
def test_a_schema_that_fails_is_told(skill: Skill, schema: str, content: str, code: int, words: str) -> None:
    agent = skill(
        f'StepDef("first", "First", "Do.", {{Outcome.OK: None}}, requires=[Artifact("f.json", schema={schema})])'
    )
    block = agent.open()
    agent.write("f.json", content)
    found = agent.follow(block)
    assert found.exit_code == code
    assert words in found.errors + found.text


@pytest.mark.parametrize(
    "schema, words",
    [
        ('{"type": "nonsense"}', 'a schema that cannot be checked: #/type: type is "nonsense"'),
        ('{"pattern": "("}', '#/pattern: the pattern "(" cannot be used: the group at 0 is not closed'),
        ('{"$ref": "#/nope"}', '#/$ref: "#/nope" leads nowhere'),
        ('{"minlength": 3}', "use minLength, the nearest that is supported"),
    ],
)
def test_a_schema_that_cannot_be_checked_opens_no_run(skill: Skill, schema: str, words: str) -> None:
    agent = skill(
        f'StepDef("first", "First", "Do.", {{Outcome.OK: None}}, requires=[Artifact("f.json", schema={schema})])'
    )
    with pytest.raises(InvalidWorkflow) as raised:
        agent.open()
    assert words in str(raised.value)


def test_a_schema_of_a_graph_that_nobody_validated_is_told(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text("{}")
    with pytest.raises(SkillError, match=r"#/minlength: the keyword 'minlength'"):
        evidence.check(Artifact("f.json", schema={"minlength": 3}), {}, str(tmp_path))


def test_a_secret_that_a_check_is_given_is_not_kept(skill: Skill) -> None:
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, requires=[Field("token"), '
        'Field("api_key", "int", required=False), '
        'Command(["sh", "-c", "echo $1; test $1 = $(cat wanted)", "-", "{token}"], 10)]), ' + OPEN_ENDED
    )
    agent.write("wanted", "s3kr1t-17")
    block = agent.open()
    refused = leave(agent, block, "last", token="s3kr1t-16")
    assert refused.code == "missing-evidence"
    other = leave(agent, block, "last", token="x", api_key="s3kr1t-15")
    assert other.why == "api_key is not a whole number."
    assert leave(agent, block, "last", token="s3kr1t-17").step == "last"
    told = "".join(found.text + found.errors for found in (refused, other))
    home = Path(paths.home(str(agent.project)))
    assert "s3kr1t-1" not in told
    assert not any(b"s3kr1t-1" in file.read_bytes() for file in home.rglob("*") if file.is_file())


def test_a_ledger_that_two_projects_share_by_a_link_keeps_their_evidence_apart(skill: Skill, tmp_path: Path) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Artifact("proof")])')
    block = agent.open()
    other = tmp_path / "other"
    other.mkdir()
    (other / ".lockstep").symlink_to(agent.project / ".lockstep")
    (other / "proof").write_text("of another project")
    assert isinstance(agent.call, InProcess)
    words = ["--step", "done", "--run", block.run, "--turn", "1"]
    found = agent.call.serve(agent.script, [*words, "--project", str(other)])
    assert (found.exit_code, found.code) == (3, "other-project")


def test_a_project_that_moved_behind_a_link_goes_on(
    skill: Skill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    agent = skill(OPEN_ENDED)
    block = agent.open()
    agent.project.rename(tmp_path / "moved")
    agent.project.symlink_to(tmp_path / "moved")
    assert agent.follow(block).kind == "done"


def test_runs_of_another_project_in_a_shared_ledger_are_not_offered(
    skill: Skill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    agent = skill(OPEN_ENDED)
    agent.open()
    other = Agent(agent.script, tmp_path)
    refused = serve(other, "--step", "next", "--turn", "1")
    assert (refused.code, refused.valid) == ("no-run", [])
    assert "--step 1" in refused.next


def test_beginning_again_in_a_project_that_moved_finds_its_run(skill: Skill, tmp_path: Path) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: "last"}), ' + OPEN_ENDED)
    block = agent.follow(agent.open())
    moved = Agent(agent.script, agent.project.rename(tmp_path / "moved"))
    refused = moved.open()
    assert (refused.code, refused.run) == ("already-open", block.run)
    assert moved.run_command(refused.next).step == "last"


# Definition


def test_a_new_way_round_a_gate_is_refused(skill: Skill) -> None:
    before = (
        'StepDef("first", "First", "Do.", {Outcome.OK: "then"}), StepDef("then", "Then", "Do.", {Outcome.OK: "work"}), '
    )
    agent = skill(before + LOOP.replace("{bound}", "5"))
    block = agent.open()
    graph = Path(agent.script[: -len(".py")] + "_workflow.py")
    text = graph.read_text(encoding="utf-8")
    graph.write_text(text.replace('"work"}', '"work", Outcome.SKIP: "last"}', 1), encoding="utf-8")
    found = subprocess.run(["bash", "-c", block.next], capture_output=True, text=True)
    refused = Block(found.returncode, found.stdout, found.stderr)
    assert (refused.exit_code, refused.code) == (3, "definition-changed")
    assert "a way round the gate d-gate, which lay on every way to the end, is new" in refused.why


# Documents


def test_a_refusal_of_very_long_names_stays_a_block(skill: Skill) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Field("i", "items")])')
    block = agent.open()
    long = "k" * 90_000
    for refused in (
        leave(agent, block, "done", **{long: 1}),
        leave(agent, block, "done", i=[{long: 1}]),
        serve(agent, "--step", "done", "--run", block.run, "--turn", "1", "--qr-status", long),
        serve(agent, "--step", "done", "--run", block.run, "--turn", "1", "--outcome", long),
    ):
        assert refused.kind == "refused"
        assert len(refused.text) < BLOCK_LIMIT
        assert refused.next


def test_a_refusal_with_very_many_choices_counts_the_rest(skill: Skill) -> None:
    words = [f"choice-number-{at}" for at in range(500)]
    agent = skill(f'StepDef("first", "First", "Do.", {{Outcome.OK: None}}, requires=[Field("c", choices={words!r})])')
    refused = leave(agent, agent.open("--new"), "done", c="none")
    assert refused.valid == words[: len(refused.valid)]
    assert refused.why.endswith(f" {500 - len(refused.valid)} of what is valid is not shown here.")
    assert len(refused.text) < BLOCK_LIMIT + len("|".join(words))


def test_many_values_of_middling_length_stand_in_files(skill: Skill) -> None:
    names = [f"f{at}" for at in range(20)]
    agent = skill(
        f'StepDef("first", "First", "Do.", {{Outcome.OK: "last"}}, requires=[Field(name) for name in {names}]), '
        f'StepDef("last", "Last", "Stop.", {{Outcome.OK: None}}, needs=["first." + name for name in {names}])'
    )
    block = leave(agent, agent.open(), "last", **dict.fromkeys(names, "word " * 118))
    assert len(block.text) <= BLOCK_LIMIT
    files = [value.get("file") for value in block.root.iterfind("CONTEXT/value") if value.get("file")]
    assert files
    assert all(Path(file).read_text(encoding="utf-8") == "word " * 118 for file in files if file)


def test_long_targets_and_a_long_question_stay_a_block(skill: Skill) -> None:
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: "look"}, requires=[Field("all", "list")]), '
        'StepDef("look", "Look", "Look.", {Outcome.OK: "ask"}, Dispatch("explore", task="{target}", '
        'targets="first.all")), '
        'StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, person("Is {first.all} right?", ["yes"]))'
    )
    block = leave(agent, agent.open(), "look", all=["y" * 5_000] * 8)
    assert len(block.text) < BLOCK_LIMIT
    for child in block.children:
        agent.lose(block, child.id)
    asked = agent.follow(agent.blocks[-1])
    refused = serve(agent, "--step", "next", "--run", asked.run, "--turn", str(asked.turn))
    assert (asked.kind, refused.code) == ("waiting", "unanswered")
    assert max(len(asked.text), len(refused.text)) < BLOCK_LIMIT


def test_a_hundred_open_findings_are_named_and_counted(skill: Skill) -> None:
    agent = skill(LOOP.replace("{bound}", "1"))
    items = [{**item(f"i{at}", "FAIL"), "finding": "it is wrong " * 40} for at in range(100)]
    asked = review(agent, agent.follow(agent.open()), items)
    assert len(asked.text) < BLOCK_LIMIT
    assert "and 90 more, which lockstep trace" in asked.words("QUESTION")


def test_a_reason_that_zsh_would_read_as_a_path_is_quoted() -> None:
    from skills.lib.blocks.command_line import quote

    assert quote("=ls") == "'=ls'"
    assert quote("name=value") == "name=value"


# Places


def test_the_console_command_without_a_folder_or_an_output(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    root = Path(__file__).resolve().parents[2]
    runs = shlex.join([sys.executable, str(root / "skills" / "__main__.py"), "runs"])
    for command, code, words in (
        (f"rmdir {shlex.quote(str(gone))}; {runs}", 2, "the working directory cannot be used"),
        (f"cd /; {runs} >&-", 4, "standard output is closed"),
        (f"cd /; {runs} --nonsense 2>&-", 2, ""),
    ):
        gone.mkdir(exist_ok=True)
        found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=gone)
        assert (found.returncode, found.stdout) == (code, "")
        assert words in found.stderr


@pytest.mark.parametrize("clock", [-5.0, 1e18])
def test_a_clock_that_is_wrong_by_ages(skill: Skill, monkeypatch: pytest.MonkeyPatch, clock: float) -> None:
    from skills.lib.commands.queries import runs

    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: "last"}), ' + OPEN_ENDED)
    block = agent.open()
    monkeypatch.setattr("time.time", lambda: clock)
    assert agent.follow(agent.follow(block)).kind == "done"
    monkeypatch.undo()
    verify(agent)
    assert [event.kind for event in agent.events(block.run)] == ["opened", "moved", "finished"]
    assert runs.moment(agent.events(block.run)[-1].at)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_nobody_to_tell_is_no_other_exit_code(skill: Skill, redirection: str) -> None:
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, requires=[Command(["true"], 10)]), ' + OPEN_ENDED
    )
    block = agent.open()
    wrong = [sys.executable, agent.script, "--step", "nowhere"]
    usage = subprocess.run(["bash", "-c", f"{shlex.join(wrong)} {redirection}"], capture_output=True)
    moved = subprocess.run(["bash", "-c", f"{block.next} {redirection}"], capture_output=True, text=True)
    assert (usage.returncode, usage.stdout) == (2, b"")
    assert (moved.returncode, Block(0, moved.stdout).step) == (0, "last")


def test_a_closed_standard_input_is_told(skill: Skill) -> None:
    agent = skill(OPEN_ENDED)
    command = f"{shlex.join([sys.executable, agent.script, '--step', '1', '--record-file', '-'])} <&-"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (2, "")
    assert "standard input is closed" in found.stderr


def test_a_working_directory_that_is_gone_is_told(skill: Skill, tmp_path: Path) -> None:
    agent = skill(OPEN_ENDED)
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"rmdir {shlex.quote(str(gone))}; {shlex.join([sys.executable, agent.script, '--step', '1'])}"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=gone)
    assert (found.returncode, found.stdout) == (2, "")
    assert "give the project's root with --project" in found.stderr


@pytest.mark.parametrize("name", [b"p\xff\xfe", b"p\x01q"])
def test_a_project_whose_path_cannot_be_printed_gets_no_run(skill: Skill, tmp_path: Path, name: bytes) -> None:
    agent = skill(OPEN_ENDED)
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.makedirs(folder + b"/.lockstep")
    found = subprocess.run([sys.executable, agent.script, "--step", "1"], capture_output=True, cwd=folder)
    assert (found.returncode, found.stdout) == (2, b"")
    assert b"the path of the project: U+" in found.stderr
    assert os.listdir(folder + b"/.lockstep") == []


def test_a_long_block_that_is_printed_many_times_at_once(skill: Skill) -> None:
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, requires=[Field("text")]), '
        'StepDef("last", "Last", "Stop.", {Outcome.OK: None}, needs=["first.text"])'
    )
    block = leave(agent, agent.open(), "last", text="long " * 10_000)
    command = [sys.executable, agent.script, "--step", "current", "--run", block.run, "--project", str(agent.project)]
    for _ in range(3):
        calls = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(12)]
        printed = [(call.communicate()[0].decode(), call.returncode) for call in calls]
        assert printed == [(block.text, 0)] * 12
