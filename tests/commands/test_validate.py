from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.commands.conftest import Command
from tests.commands.test_lockstep import at_terminal
from tests.fixtures import skill

Install = Callable[..., Path]
BAD = """StepDef("one", "One", "Do.", {"ok": "tow"}),
StepDef("two", "Two", "Do.", {"ok": None})"""
GOOD = "StepDef('one', 'One', 'Do.', {'ok': None})"


@pytest.fixture
def bad(installed: Install) -> None:
    """A tree with an invalid graph, a module that raises, and one that is well."""
    installed("bad", skill.source_of("bad", BAD))
    installed("worse", "x = 1\nraise ValueError('no')\n")
    installed("good", skill.source_of("good", GOOD))


@pytest.mark.req("W-21")
@pytest.mark.usefixtures("bad")
def test_findings_are_shown_with_the_line_and_a_caret(
    cli: Command, stable: Callable[[str], str], snapshot: SnapshotAssertion
) -> None:
    shown = cli("validate", "skills")
    assert shown.code == 5
    assert "in 3 skills, 3 workflows" in shown.err
    assert stable(shown.out) == snapshot


@pytest.mark.req("W-21")
@pytest.mark.usefixtures("bad")
def test_json_holds_every_finding_with_paths_of_the_project(cli: Command) -> None:
    shown = cli("validate", "--format", "json")
    assert shown.code == 5
    found = [finding for finding in json.loads(shown.out)["findings"] if finding["severity"] == "error"]
    assert [(finding["rule"], finding["file"], finding["line"]) for finding in found] == [
        ("unknown-target", "skills/bad/scripts/bad_workflow.py", 6),
        ("broken-module", "skills/worse/scripts/worse_workflow.py", 2),
    ]


@pytest.mark.req("W-21")
@pytest.mark.usefixtures("bad")
def test_sarif_names_rule_file_and_line(cli: Command) -> None:
    (run,) = json.loads(cli("validate", "--format", "sarif").out)["runs"]
    places = {
        (result["ruleId"], result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for result in run["results"]
        if result["level"] == "error"
    }
    assert ("unknown-target", "skills/bad/scripts/bad_workflow.py") in places
    assert ("broken-module", "skills/worse/scripts/worse_workflow.py") in places


@pytest.mark.req("W-21")
@pytest.mark.usefixtures("bad")
def test_annotations_are_one_line_each(cli: Command) -> None:
    lines = cli("validate", "--format", "github").out.splitlines()
    assert sum(line.startswith("::error file=skills/bad/scripts/bad_workflow.py,line=6,") for line in lines) == 1
    assert all(line.startswith(("::error ", "::warning ")) for line in lines)


def test_nothing_wrong_is_0(cli: Command, installed: Install) -> None:
    installed("good", skill.source_of("good", GOOD))
    shown = cli("validate", "--strict")
    assert (shown.code, shown.out) == (0, "")
    assert shown.err == "Nothing is wrong in 1 skill, 1 workflow.\n"


def test_a_warning_fails_only_when_strict(cli: Command, installed: Install) -> None:
    installed("same", skill.source_of("same", "StepDef('one', '', 'Do.', {'ok': None})"))
    shown = cli("validate")
    assert shown.code == 0
    assert "warning[missing-title]" in shown.out
    assert cli("validate", "--strict").code == 5


@pytest.mark.parametrize("words", [[], ["--format", "json"]])
def test_nothing_to_validate_is_a_notice(words: list[str], cli: Command) -> None:
    shown = cli("validate", ".", *words)
    assert shown.code == 0
    assert "Nothing to validate" in shown.err


@pytest.mark.parametrize("path", ["nowhere", "note.txt"])
def test_a_path_that_is_nothing_to_validate_is_a_usage_error(path: str, cli: Command, project: Path) -> None:
    (project / "note.txt").write_text("x", encoding="utf-8")
    assert cli("validate", path).code == 2


@pytest.mark.parametrize("path", ["skills/bad", "skills/bad/scripts/bad.py", "skills/bad/scripts/bad_workflow.py"])
@pytest.mark.usefixtures("bad")
def test_a_skill_is_validated_by_any_of_its_paths(path: str, cli: Command) -> None:
    shown = cli("validate", path)
    assert shown.code == 5
    assert "unknown-target" in shown.out
    assert "broken-module" not in shown.out


@pytest.mark.usefixtures("bad")
def test_paths_that_overlap_show_each_finding_once(cli: Command) -> None:
    found = json.loads(cli("validate", "skills", "skills/bad", "--format", "json").out)["findings"]
    assert len([finding for finding in found if finding["rule"] == "unknown-target"]) == 1


@pytest.mark.usefixtures("bad")
def test_a_broken_skill_md_is_found_by_its_own_path(cli: Command, project: Path) -> None:
    file = project / "skills" / "good" / "SKILL.md"
    file.write_text("---\nname: other\ndescription: x\n---\n", encoding="utf-8")
    shown = cli("validate", "skills/good/SKILL.md")
    assert shown.code == 5
    assert "skill-specification" in shown.out


@pytest.mark.usefixtures("bad")
def test_seals_stand_beside_what_is_valid(cli: Command, project: Path) -> None:
    from skills.lib.runtime import loading
    from skills.lib.workflow import seal

    shown = cli("validate", "--seal")
    assert shown.code == 5
    assert sorted(path.name for path in project.rglob("*.seal")) == ["good.seal"]
    file = project / "skills" / "good" / "scripts" / "good_workflow.py"
    assert file.with_name("good.seal").read_text(encoding="ascii") == seal.text(loading.load_workflow(str(file)))
    assert "sealed skills/good/scripts/good.seal" in shown.err


def test_a_bar_is_drawn_on_a_terminal_where_there_is_much_to_do(installed: Install) -> None:
    for at in range(9):
        installed(f"good{at}", skill.source_of(f"good{at}", GOOD))
    code, shown = at_terminal("validate", ".")
    assert code == 0
    assert "9/9" in shown
    assert "Nothing is wrong in 9 skills, 9 workflows." in shown.replace("\x1b[32m", "").replace("\x1b[0m", "")
