"""Every SKILL.md passes both independent validators of the Agent Skills specification."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.packaging.conftest import ROOT, SKILLS, Run

pytestmark = [pytest.mark.req("H-05"), pytest.mark.slow]
AGENTSKILLS = Path(sys.executable).with_name("agentskills")


def agentskills(skill: Path) -> subprocess.CompletedProcess[str]:
    if not AGENTSKILLS.exists():
        pytest.skip("skills-ref of the test extra is not installed")
    return subprocess.run([AGENTSKILLS, "validate", skill], capture_output=True, text=True, timeout=60)


def misnamed(tmp_path: Path) -> Path:
    """A skill whose folder has another name than its SKILL.md says."""
    return Path(shutil.copytree(ROOT / "skills" / "planner", tmp_path / "plans"))


@pytest.mark.parametrize("skill", SKILLS)
def test_agentskills_of_pypi_accepts_the_skill(skill: str) -> None:
    done = agentskills(ROOT / "skills" / skill)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Valid skill" in done.stdout


def test_agentskills_of_pypi_refuses_a_bad_one(tmp_path: Path) -> None:
    assert agentskills(misnamed(tmp_path)).returncode == 1


@pytest.mark.parametrize("skill", SKILLS)
def test_skills_ref_of_npm_accepts_the_skill(skill: str, node: Run) -> None:
    done = node("skills-ref/dist/cli.js", "validate", str(ROOT / "skills" / skill), cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Valid skill" in done.stdout


def test_skills_ref_of_npm_refuses_a_bad_one(tmp_path: Path, node: Run) -> None:
    assert node("skills-ref/dist/cli.js", "validate", str(misnamed(tmp_path)), cwd=ROOT).returncode == 1
