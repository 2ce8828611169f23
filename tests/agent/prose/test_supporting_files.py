"""What lies beside a SKILL.md is listed and not loaded; the model reads it when it wants it."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.agent.agent import Agent
from skills.lib.agent.prose.skill import load
from skills.lib.agent.watching.activity import Activity, path_in
from tests.agent.prose.skills import prose, reported
from tests.agent.scripted import ScriptedModel, calling, in_turn, report

BODY = "# Api\n\nCall it as [the reference](reference.md) says.\n"
DONE = report(record=reported("done:answer"))


def with_files(folder: Path, name: str = "api", place: str = "skills") -> Path:
    """A project with a skill that has files of four kinds beside its SKILL.md."""
    prose(folder, name, BODY, place=place)
    own = folder / place / name
    (own / "scripts").mkdir()
    (own / "templates").mkdir()
    (own / "reference.md").write_text(
        "---\ntitle: x\n---\n\n# All calls\n" + "every request\n" * 1_196, encoding="utf-8"
    )
    (own / "examples.md").write_text("## Good requests\n\none\n", encoding="utf-8")
    (own / "templates" / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (own / "scripts" / "send.py").write_text('#!/usr/bin/env python3\n"""Send a request."""\n', encoding="utf-8")
    (own / ".hidden.md").write_text("no\n", encoding="utf-8")
    return folder


@pytest.mark.req("A-03.1", "A-03.3", "A-03.7")
def test_the_first_call_has_skill_md_and_of_the_others_what_they_are_for(tmp_path: Path) -> None:
    folder = with_files(tmp_path / "p")
    model = ScriptedModel(answer=in_turn(report(record={"objectives": ["one"]}), DONE))
    host = Agent(str(folder), model)
    assert host.advance(host.start("api", "call it")).status == "done"
    first = model.calls[0].system
    assert "Call it as [the reference](reference.md) says." in first
    listed = [line.strip(" -").partition("skills/api/")[2] for line in first.splitlines() if "skills/api/" in line]
    assert [line.removesuffix("</value>") for line in listed] == [
        "examples.md: Good requests (3 lines)",
        "reference.md: the reference (1,201 lines)",
        "scripts/send.py: Send a request. (script, 2 lines)",
        "templates/logo.png (10 bytes)",
    ]
    assert "every request" not in first
    assert ".hidden" not in first


@pytest.mark.req("A-03.4")
@pytest.mark.parametrize("place", ["skills", "../elsewhere"])
def test_read_loads_a_file_also_of_a_skill_outside_of_the_project(tmp_path: Path, place: str) -> None:
    folder = with_files(tmp_path / "p", place=place)
    skill = (folder / place / "api").resolve()
    path = "skills/api/examples.md" if place == "skills" else str(skill / "examples.md")
    model = ScriptedModel(
        answer=in_turn(report(record={"objectives": ["one"]}), calling(("read", {"path": path})), DONE)
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start(str(skill), "call it")).status == "done"
    assert path in model.calls[0].system
    assert "Good requests" in model.calls[2].messages[-1].text


@pytest.mark.req("A-03.2", "A-03.6")
def test_a_skill_of_more_than_500_lines_is_warned_of_and_runs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = prose(tmp_path / "p", "long", "# Long\n" + "one more line\n" * 600)
    model = ScriptedModel(answer=in_turn(report(record={"objectives": ["one"]}), DONE))
    host = Agent(str(folder), model)
    assert host.advance(host.start("long", "look")).status == "done"
    assert "SKILL.md has 606 lines, and all of them stand in each model call" in caplog.text
    assert not load(prose(tmp_path / "q", "short", "# Short\n" + "line\n" * 400) / "skills" / "short").notes


def test_of_a_skill_that_no_run_can_keep_whole_the_rest_is_named(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "long", "".join(f"line {number} of many\n" for number in range(8_000)))
    model = ScriptedModel(answer=in_turn(report(record={"objectives": ["one"]}), DONE))
    host = Agent(str(folder), model)
    assert host.advance(host.start("long", "look")).status == "done"
    assert f"the rest stands in {folder.resolve()}/skills/long/SKILL.md" in model.calls[0].system


@pytest.mark.req("A-03.5")
def test_the_tokens_of_each_model_call_are_recorded(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy")
    model = ScriptedModel(answer=in_turn(report(record={"objectives": ["one"]}), DONE))
    host = Agent(str(folder), model)
    run = host.start("tidy", "look")
    host.advance(run)
    with Activity(path_in(host.home)) as activity:
        calls = [row.id for row in activity.rows(run, kind="model")]
        usage = [row.data for row in activity.rows(run, kind="usage")]
    assert [one["call"] for one in usage] == calls
    assert all(one["input"] > 0 and one["output"] > 0 for one in usage)


def test_names_and_headings_with_codes_of_a_terminal_keep_no_skill_from_running(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="metadata:\n  execution_mode: simple\n")
    (folder / "skills" / "tidy" / "red\x1b[31m.md").write_text("# A \x1b[2J heading\n", encoding="utf-8")
    (folder / "skills" / "tidy" / "b\udcff.md").write_text("x\n", encoding="utf-8")
    model = ScriptedModel(answer=in_turn(report(record=reported("done:answer"))))
    host = Agent(str(folder), model)
    assert host.advance(host.start("tidy", "look")).status == "done"
    assert "red?[31m.md: A ?[2J heading (1 line)" in model.calls[0].system
