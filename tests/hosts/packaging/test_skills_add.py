"""``npx skills add`` copies a skill's own folder and nothing else: what then works, and what a reader is shown."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skills.lib.hosts.install import export
from tests.hosts.packaging.conftest import BARE, ROOT, Run

pytestmark = pytest.mark.slow

SKILL = "problem-analysis"
SCRIPT = Path("scripts") / "problem_analysis.py"


def add(node: Run, source: Path, project: Path) -> Path:
    """Add the skill from a local folder for Claude Code and Codex; the copy."""
    words = ("add", str(source), "-a", "claude-code", "-a", "codex", "-s", SKILL, "-y")
    done = node("skills/bin/cli.mjs", *words, cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    return project / ".agents" / "skills" / SKILL


def first_step(copy: Path, python: str, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [python, *options, str(copy / SCRIPT), "--step", "1"]
    return subprocess.run(
        command, cwd=copy.parents[2], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LOCKSTEP_HOME")
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.mark.req("H-05", "H-04")
def test_a_skill_of_this_repository_lands_for_both_hosts_and_says_what_to_install(
    copied: Path, node: Run, project: Path
) -> None:
    copy = add(node, copied, project)
    assert (copy / "SKILL.md").read_bytes() == (ROOT / "skills" / SKILL / "SKILL.md").read_bytes()
    assert (project / ".claude" / "skills" / SKILL).resolve() == copy
    alone = first_step(copy, BARE, "-I", "-S")
    assert alone.returncode == 4
    assert alone.stdout == ""
    assert f"the package lockstep-skills is not installed for {BARE}" in alone.stderr
    assert "pip install /path/to/lockstep" in alone.stderr


@pytest.mark.req("H-05", "H-04")
def test_a_skill_of_this_repository_works_if_the_package_is_installed(
    copied: Path, node: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    done = first_step(add(node, copied, project), sys.executable)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('<step protocol="1" skill="problem-analysis" id="gate" number="1" of="5"')


@pytest.mark.req("H-04")
def test_an_exported_skill_works_on_a_bare_python_after_it(tmp_path: Path, node: Run, project: Path) -> None:
    for name, data in export.contents(str(ROOT / "skills" / SKILL)).items():
        path = tmp_path / "exported" / SKILL / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    done = first_step(add(node, tmp_path / "exported", project), BARE, "-I", "-S")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('<step protocol="1" skill="problem-analysis" id="gate" number="1" of="5"')
