"""Schemas of files, secrets in checks, and projects that share a ledger or were moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.errors import InvalidWorkflow, SkillError
from skills.lib.ledger import evidence
from skills.lib.testing.agent import Agent
from skills.lib.testing.follower import InProcess
from skills.lib.workflow.requirements import Artifact
from tests.runtime.calls import OPEN_ENDED, leave, serve

Skill = Callable[..., Agent]


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
def test_a_schema_that_fails_is_reported(skill: Skill, schema: str, content: str, code: int, words: str) -> None:
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


def test_a_schema_of_a_graph_that_nobody_validated_is_reported(tmp_path: Path) -> None:
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


def test_a_ledger_that_two_projects_share_keeps_their_evidence_apart(
    skill: Skill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Artifact("proof")])')
    block = agent.open()
    other = tmp_path / "other"
    other.mkdir()
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


EVERYTHING = """StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[
    Field("cause"), Field("page"), Artifact("a.txt"), Artifact("{page}.md"), Command(["touch", "ran"]),
    Artifact("b.txt"),
])"""


def test_all_missing_evidence_is_in_one_refusal(skill: Skill) -> None:
    agent = skill(EVERYTHING)
    block = agent.open()
    refused = serve(agent, "--step", "done", "--run", block.run, "--turn", "1", "--record", "page=notes")
    for part in ("cause is not recorded", "a.txt is not a file", "notes.md is not a file", "b.txt is not a file"):
        assert part in refused.why
    assert not (agent.project / "ran").exists()


def test_files_are_named_together_and_no_command_runs_before_they_are_there(skill: Skill) -> None:
    agent = skill(EVERYTHING)
    block = agent.open()
    (agent.project / "a.txt").write_text("there")
    refused = leave(agent, block, "done", page="notes", cause="dust")
    assert "a.txt" not in refused.why
    assert "notes.md is not a file" in refused.why
    assert "b.txt is not a file" in refused.why
    assert not (agent.project / "ran").exists()
