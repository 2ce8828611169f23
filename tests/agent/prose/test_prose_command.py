"""``lockstep agent run`` with a skill that is a SKILL.md alone: what a person and a program read at the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from skills.lib.commands.console.app import lockstep
from tests.agent.prose.skills import prose, reported
from tests.agent.scripted import ScriptedModel, in_turn, report

TWO = report(record={"objectives": ["a.txt is there", "b.txt is there"]})
HALF = report(record=reported("done:a.txt", "not:", result="One of two is there."))


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, model: ScriptedModel, *words: str) -> Result:
    """What the command prints with this model in place of the user's."""
    monkeypatch.setenv("LOCKSTEP_MODEL", "openai:none")
    monkeypatch.setattr("skills.lib.agent.models.chat_models.chat_model", lambda *given, **named: model)
    return CliRunner().invoke(
        lockstep, ["agent", "run", *words, "--project", str(folder)], prog_name="lockstep", catch_exceptions=False
    )


def test_a_part_ends_with_7_and_says_what_is_done_and_what_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = prose(tmp_path / "p", "tidy")
    (folder / "a.txt").write_text("a\n", encoding="utf-8")
    shown = run(
        monkeypatch, folder, ScriptedModel(answer=in_turn(TWO, HALF)), str(folder / "skills" / "tidy"), "make two"
    )
    assert shown.exit_code == 7
    assert shown.stdout == (
        "One of two is there.\n"
        "1. a.txt is there: done (a.txt; as it was asked)\n"
        "2. b.txt is there: not done (as it was asked)\n"
    )
    assert "Stopped at work: 1 of 2 objectives is done; see lockstep trace" in shown.stderr
    assert "agent run --run" in shown.stderr


def test_a_program_reads_the_objectives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = prose(tmp_path / "p", "tidy")
    (folder / "a.txt").write_text("a\n", encoding="utf-8")
    shown = run(monkeypatch, folder, ScriptedModel(answer=in_turn(TWO, HALF)), "/tidy make two", "--json")
    outcome = json.loads(shown.stdout.splitlines()[-1])
    assert (shown.exit_code, outcome["exit"], outcome["status"]) == (7, 7, "stopped")
    assert [(one["number"], one["status"], one["place"]) for one in outcome["objectives"]] == [
        (1, "done", "a.txt"),
        (2, "not", ""),
    ]


def test_a_skill_without_a_graph_takes_no_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = prose(tmp_path / "p", "tidy")
    shown = run(monkeypatch, folder, ScriptedModel(answer=in_turn()), "tidy", "look", "--param", "depth=2")
    assert shown.exit_code == 2
    assert "tidy has no graph, so no parameter depth" in shown.stderr
    assert not (folder / ".lockstep" / "runs.db").exists()


def test_a_skill_of_the_user_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    prose(tmp_path / "home", "mine", place=".claude/skills")
    folder = tmp_path / "p"
    (folder / ".git").mkdir(parents=True)
    done = report(record=reported("done:answer"))
    model = ScriptedModel(answer=in_turn(report(record={"objectives": ["one"]}), done))
    assert run(monkeypatch, folder, model, "mine", "look").exit_code == 0


def test_a_person_finds_the_run_by_its_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = prose(tmp_path / "p", "tidy")
    (folder / "a.txt").write_text("a\n", encoding="utf-8")
    for task in ("make two", "make two again"):
        assert run(monkeypatch, folder, ScriptedModel(answer=in_turn(TWO, HALF)), "tidy", task).exit_code == 7
    shown = CliRunner().invoke(lockstep, ["runs", "--project", str(folder)], prog_name="lockstep")
    assert "task=make two again" in shown.stdout
    assert "instructions" not in shown.stdout
    opened = json.loads(CliRunner().invoke(lockstep, ["runs", "--json", "--project", str(folder)]).stdout)
    traced = CliRunner().invoke(lockstep, ["trace", opened[0]["run"], "--project", str(folder)]).stdout
    assert traced.count("Write down what is there") == 1
    assert "null" not in traced


@pytest.mark.parametrize(
    "words, said",
    [
        (["skills/tidyy", "x"], "there is no skills/tidyy; did you mean skills/tidy?"),
        (["tidyy", "x"], "there is no skill 'tidyy'; did you mean tidy?"),
        (["tidy", "x", "--model", "sonet"], "'sonet' names no provider; did you mean sonnet?"),
    ],
)
def test_a_typo_is_told_with_the_nearest_name_before_the_model_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    folder = prose(tmp_path / "p", "tidy")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("LOCKSTEP_MODEL", raising=False)
    shown = CliRunner().invoke(lockstep, ["agent", "run", *words], prog_name="lockstep")
    assert shown.exit_code == 2
    assert said in shown.stderr


def test_an_interruption_before_a_run_is_opened_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = prose(tmp_path / "p", "tidy")

    def interrupted(*given: object, **named: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("skills.lib.agent.opener.Opener.start", interrupted)
    shown = run(monkeypatch, folder, ScriptedModel(answer=in_turn()), "tidy", "look")
    assert shown.exit_code == 130
    assert shown.stderr == "Interrupted before a run was opened: the same command begins again.\n"
