"""A command that cannot be understood says how to come back to the run that it names."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py"


def serve(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *words], cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    folder = tmp_path / "it's a project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def run(project: Path) -> str:
    begun = serve(project, "--step", "1")
    [found] = re.findall(r' run="(\w+)"', begun.stdout)
    return str(found)


@pytest.mark.req("W-09")
@pytest.mark.parametrize(
    "wrong, what",
    [
        (["--record", "problem=CI", "is", "slow"], "'is' is not a flag"),
        (["--turns", "1"], "--turns is not a flag of this script"),
        (["--record-file", "values.json"], "--record-file 'values.json' is not a file"),
        (["--turn", "one"], "--turn 'one' is not a whole number"),
    ],
)
def test_within_a_run_the_present_block_is_one_command_away(
    project: Path, run: str, tmp_path: Path, wrong: list[str], what: str
) -> None:
    done = serve(tmp_path, "--step", "next", "--run", run, f"--project={project}", *wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"lockstep: {what}")
    [told, command] = done.stderr.splitlines()[-2:]
    assert told == "  Nothing was changed. The present block of the run, with its NEXT command, is printed again by:"
    again = subprocess.run(shlex.split(command), cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert f'id="gate" number="1" of="5" title="Frame one testable problem" run="{run}" turn="1"' in again.stdout


def test_a_wrong_command_for_another_skills_run_leaves_that_run_to_its_own_script(project: Path, run: str) -> None:
    other = SCRIPT.parent.parent.parent / "decision-critic" / "scripts" / "decision_critic.py"
    words = ["--step", "next", "--run", run, "--turn", "x", "--project", str(project)]
    done = subprocess.run([sys.executable, str(other), *words], capture_output=True, text=True, timeout=60)
    command = done.stderr.splitlines()[-1]
    again = subprocess.run(shlex.split(command), cwd=project, capture_output=True, text=True, timeout=60)
    assert f'id="gate" number="1" of="5" title="Frame one testable problem" run="{run}" turn="1"' in again.stdout


def test_no_command_is_offered_for_a_run_that_is_none(project: Path, run: str) -> None:
    done = serve(project, "--step", "next", "--run", "--turn", "1")
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "lockstep: '1' is not a flag")
    assert "--step current" not in done.stderr


def test_a_misspelt_step_is_compared_with_those_that_the_run_can_reach(project: Path, run: str) -> None:
    words = ["--run", run, "--turn", "1"]
    far = serve(project, "--step", "formulat", *words)
    assert (far.returncode, "--step formulate" in far.stderr) == (2, False)
    assert "try:   --step current --run ID shows where a run stands" in far.stderr
    assert "try:   --step hypothesize\n" in serve(project, "--step", "hypothesise", *words).stderr


def test_without_a_ledger_no_command_is_offered_that_would_not_work(project: Path) -> None:
    done = serve(project, "--step", "next", "--run", "k3f9q2mx", "--turns", "1")
    assert done.returncode == 2
    assert "--step current" not in done.stderr
    assert serve(project, "--step", "1", "--turns", "1").stderr.endswith("  try:   --turn\n")


def test_a_run_that_is_looked_for_in_the_wrong_folder_is_sent_to_its_project(run: str, tmp_path: Path) -> None:
    done = serve(tmp_path, "--step", "next", "--run", run, "--turn", "1")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        f"lockstep: there is no ledger at {tmp_path}/.lockstep/runs.db\n"
        "  try:   give --project as it stands in the commands that the run printed; --step 1 opens a new run\n"
    )


def test_a_record_file_is_looked_for_in_the_working_directory(project: Path, run: str, tmp_path: Path) -> None:
    (project / "values.json").write_text("{}", encoding="utf-8")
    done = serve(tmp_path, "--step", "next", "--run", run, f"--project={project}", "--record-file", "values.json")
    assert f"--record-file 'values.json' is not a file in {tmp_path}\n" in done.stderr
    assert "  try:   give its absolute path\n" in done.stderr
