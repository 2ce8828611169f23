from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.testing.transitions import entry_scripts
from tests.commands.conftest import Command
from tests.fixtures.skill import ROOT

FILES = [
    "SKILL.md",
    "scripts/my_skill.py",
    "scripts/my_skill_prompts.md",
    "scripts/my_skill_workflow.py",
    "tests/test_my_skill.py",
]


def written(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"
    )


@pytest.mark.req("W-20")
def test_a_new_skill_says_what_it_is_and_what_comes_next(
    cli: Command, project: Path, snapshot: SnapshotAssertion
) -> None:
    shown = cli("new", "my-skill")
    assert (shown.code, shown.err) == (0, "")
    assert written(project / "skills" / "my-skill") == FILES
    assert shown.out == snapshot


@pytest.mark.req("W-20")
def test_a_new_skill_has_no_finding(cli: Command) -> None:
    cli("new", "my-skill")
    assert cli("validate", "--strict").err == "Nothing is wrong in 1 skill, 1 workflow.\n"


@pytest.mark.req("E-05")
def test_a_new_skill_in_yaml_has_no_finding_and_is_compiled(
    cli: Command, project: Path, snapshot: SnapshotAssertion
) -> None:
    shown = cli("new", "my-skill", "--yaml")
    assert (shown.code, shown.err) == (0, "")
    folder = project / "skills" / "my-skill"
    assert written(folder) == [
        "SKILL.md",
        "scripts/my-skill.seal",
        "scripts/my_skill.py",
        "scripts/my_skill_workflow.json",
        "tests/test_my_skill.py",
        "workflow.md",
        "workflow.yaml",
    ]
    assert shown.out == snapshot
    assert cli("validate", "--strict").err == "Nothing is wrong in 1 skill, 1 workflow.\n"
    before = {file: (folder / file).read_bytes() for file in written(folder)}
    assert cli("validate", "--seal", str(folder)).code == 0
    assert {file: (folder / file).read_bytes() for file in written(folder)} == before


@pytest.mark.req("W-20", "E-05")
@pytest.mark.parametrize("form", [[], ["--yaml"]], ids=["Python", "YAML"])
def test_the_script_of_a_skill_called_workflow_is_taken_for_no_graph(
    form: list[str], cli: Command, project: Path
) -> None:
    assert cli("new", "git-workflow", *form).code == 0
    assert cli("validate", "--strict").err == "Nothing is wrong in 1 skill, 1 workflow.\n"
    shown = cli("show", str(project / "skills/git-workflow/scripts/git_workflow.py"))
    assert (shown.code, shown.err) == (0, "")
    assert "Workflow git-workflow" in shown.out
    assert [script.name for script in entry_scripts(project / "skills")] == ["git_workflow.py"]


def test_a_dry_run_of_a_skill_in_yaml_writes_nothing(cli: Command, project: Path) -> None:
    shown = cli("new", "my-skill", "--yaml", "--dry-run")
    assert (shown.code, written(project)) == (0, [])
    assert "scripts/my_skill_workflow.json" in shown.out


@pytest.mark.slow
@pytest.mark.req("W-20", "E-05")
@pytest.mark.parametrize("form", [[], ["--yaml"]], ids=["Python", "YAML"])
def test_a_new_skill_passes_its_own_tests_and_runs(
    form: list[str], cli: Command, project: Path, tmp_path: Path
) -> None:
    """As in a user's own repository: Lockstep is installed elsewhere, the project has a skills folder of its own."""
    cli("new", "my-skill", *form)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "skills/my-skill"]
    if "lockstep.pytest_plugin" not in installed_plugins():
        command[3:3] = ["-p", "lockstep.pytest_plugin"]
    tested = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert tested.returncode == 0, tested.stdout
    assert "2 passed" in tested.stdout
    script = project / "skills" / "my-skill" / "scripts" / "my_skill.py"
    first = subprocess.run(
        [sys.executable, str(script), "--step", "1"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert first.returncode == 0, first.stderr
    assert '<step protocol="1" skill="my-skill" id="frame" number="1" of="4"' in first.stdout


@pytest.mark.req("W-20")
def test_a_python_without_lockstep_shows_what_to_do(cli: Command, project: Path) -> None:
    """As an agent starts it that takes python3 and not the project's .venv; -S leaves out what is installed."""
    cli("new", "my-skill")
    script = project / "skills" / "my-skill" / "scripts" / "my_skill.py"
    command = [sys.executable, "-I", "-S", str(script), "--step", "1"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        f"lockstep: the package lockstep-skills is not installed for {sys.executable}\n"
        "  try:   a Python that has it, such as .venv/bin/python; or pip install /path/to/lockstep\n"
    )


def installed_plugins() -> set[str]:
    from importlib.metadata import entry_points

    return {entry.value for entry in entry_points(group="pytest11")}


@pytest.mark.req("W-13")
def test_the_entry_is_the_one_that_every_script_has(cli: Command, project: Path) -> None:
    cli("new", "my-skill", "--dir", ".claude/skills")
    shipped = ROOT / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py"
    made = project / ".claude" / "skills" / "my-skill" / "scripts" / "my_skill.py"
    expected = shipped.read_text(encoding="utf-8")
    expected = expected.replace("problem_analysis", "my_skill").replace("problem-analysis", "my-skill")
    assert made.read_text(encoding="utf-8") == expected


def test_a_dry_run_writes_nothing(cli: Command, project: Path) -> None:
    shown = cli("new", "my-skill", "--dry-run")
    assert shown.code == 0
    assert all(name in shown.out for name in FILES)
    assert written(project) == []


@pytest.mark.parametrize(
    "name, offered",
    [
        ("My_Skill", "my-skill"),
        ("../up", "up"),
        ("a--b", "a-b"),
        ("x" * 65, "x" * 64),
        ("ok\n", "ok"),
        ("", "code-review"),
    ],
)
def test_a_bad_name_is_refused_and_a_good_one_offered(name: str, offered: str, cli: Command, project: Path) -> None:
    shown = cli("new", name)
    assert shown.code == 2
    assert f"lockstep new {offered}\n" in shown.err
    assert written(project) == []


def test_nothing_is_overwritten(cli: Command, project: Path) -> None:
    folder = project / "skills" / "my-skill"
    folder.mkdir(parents=True)
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    shown = cli("new", "my-skill")
    assert shown.code == 3
    assert written(project) == ["skills/my-skill/mine.txt"]


@pytest.mark.parametrize("words", [(), ("--dir", "skills"), ("--dir", "skills/more"), ("--dry-run",)])
def test_nothing_is_written_through_a_link_out_of_the_project(
    words: tuple[str, ...], cli: Command, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "more").mkdir(parents=True)
    (project / "skills").symlink_to("../outside")
    refused = cli("new", "code-review", *words)
    assert refused.code == 3
    assert "leads out of the project, to" in refused.err
    assert [path.name for path in outside.rglob("*")] == ["more"]
    assert cli("new", "code-review", "--dir", str(outside)).code == 0
    assert (outside / "code-review" / "SKILL.md").is_file()


def test_a_folder_of_skills_may_be_a_link_within_the_project(cli: Command, project: Path) -> None:
    (project / "real").mkdir()
    (project / "skills").symlink_to("real")
    assert cli("new", "code-review").code == 0
    assert (project / "real" / "code-review" / "SKILL.md").is_file()


def test_a_folder_that_cannot_be_made_is_an_environment_error(cli: Command, project: Path) -> None:
    (project / "file").write_text("x", encoding="utf-8")
    shown = cli("new", "my-skill", "--dir", "file")
    assert shown.code == 4
    assert "cannot be written" in shown.err


def test_a_skill_beside_the_shipped_ones_needs_no_package(cli: Command) -> None:
    from skills.lib.commands.new import files

    beside = files("my-skill", str(ROOT / "skills" / "my-skill"))["SKILL.md"][1]
    elsewhere = files("my-skill", "/tmp/skills/my-skill")["SKILL.md"][1]
    assert "compatibility:" not in beside
    assert "compatibility: Needs Python 3.11 or later with the package lockstep-skills.\n---\n" in elsewhere


@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_a_name_that_a_shipped_skill_has_is_reported(words: list[str], cli: Command) -> None:
    shown = cli("new", "planner", *words)
    assert shown.code == 0
    assert shown.err == (
        "note: a skill that comes with Lockstep is called planner, too; in this project the name means the new one\n"
    )
    assert cli("new", "my-own", *words).err == ""


def test_the_next_commands_name_the_python_that_the_documents_name(cli: Command) -> None:
    assert "python3 -m pytest skills/my-skill " in cli("new", "my-skill").out
