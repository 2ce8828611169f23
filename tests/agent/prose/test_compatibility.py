"""Skills that were written for other hosts run as they are, and programs that used the library before still run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from skills.lib.agent.agent import Agent
from skills.lib.skillfile import discover
from tests.agent.prose.skills import prose, reported
from tests.agent.scripted import ScriptedModel, calling, in_turn, report
from tests.agent.sessions import agent, honest, project

STYLES = Path(__file__).resolve().parents[2] / "fixtures" / "prose"
NAMES = ("brand-voice", "data-report", "pdf-forms", "release-notes", "review-changes")
# What each of them lists beside its SKILL.md, and the tools with which it works.
FILES = {
    "brand-voice": ["assets/logo.svg"],
    "data-report": ["scripts/summary.py"],
    "pdf-forms": ["FORMS.md", "LICENSE.txt", "reference/fields.md", "scripts/check_fields.py"],
    "release-notes": ["templates/notes.md"],
    "review-changes": [],
}
EVERY = ["read", "search", "write", "edit", "shell"]
TOOLS = {
    **dict.fromkeys(NAMES, EVERY),
    "data-report": ["read", "write", "shell"],
    "review-changes": ["read", "search", "shell"],
}


def test_the_fixtures_are_the_skills_of_these_tests() -> None:
    assert sorted(file.parent.name for file in STYLES.glob("*/SKILL.sample.md")) == sorted(NAMES)
    assert list(discover(STYLES)) == []  # no skills of this tree


@pytest.mark.req("A-06", "A-06.1")
@pytest.mark.parametrize("name", NAMES)
def test_a_skill_of_another_host_runs_as_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / "p" / ".git").mkdir(parents=True)
    skill = Path(shutil.copytree(STYLES / name, tmp_path / "p" / ".claude" / "skills" / name))
    (skill / "SKILL.sample.md").rename(skill / "SKILL.md")
    before = {path: path.read_bytes() for path in skill.rglob("*") if path.is_file()}
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["the answer says what was found"]}),
            calling(("read", {"path": f".claude/skills/{name}/SKILL.md"})),
            report(record=reported("done:answer", result="It is done.")),
        )
    )
    host = Agent(str(tmp_path / "p"), model)
    ended = host.advance(host.start(name, "main"))
    assert (ended.status, ended.result) == ("done", {"result": "It is done."})
    system = model.calls[1].system
    assert [path for path in FILES[name] if f".claude/skills/{name}/{path}" not in system] == []
    assert [tool for tool in model.calls[1].tool_names if tool in EVERY] == TOOLS[name]
    assert {path: path.read_bytes() for path in skill.rglob("*") if path.is_file()} == before


def test_a_draft_of_a_graph_beside_it_is_ignored_and_said_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = prose(tmp_path / "p", "tidy")
    (folder / "skills" / "tidy" / "workflow.yaml").write_text("steps: [", encoding="utf-8")
    model = ScriptedModel(
        answer=in_turn(report(record={"objectives": ["one"]}), report(record=reported("done:answer")))
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start("tidy", "look")).status == "done"
    assert "workflow.yaml is a draft that nobody accepted: it is ignored" in caplog.text


@pytest.mark.parametrize("named", ["tidy", "skills/tidy", "skills/tidy/SKILL.md", "./skills/tidy/"])
def test_a_skill_is_named_by_its_name_its_folder_or_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    folder = prose(tmp_path / "p", "tidy")
    monkeypatch.chdir(folder)
    model = ScriptedModel(
        answer=in_turn(report(record={"objectives": ["one"]}), report(record=reported("done:answer")))
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start(named, "look")).status == "done"


@pytest.mark.req("A-06.4")
def test_a_program_that_follows_a_skill_with_a_graph_runs_as_before(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    host = agent(folder, ScriptedModel(answer=honest(outcome="ok")))
    ended = host.advance(host.start("plain", "tidy up"))
    assert (ended.status, ended.objectives) == ("done", ())
