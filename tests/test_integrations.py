"""What other repositories use: the wheel, the pre-commit hook and the GitHub action, each in a scratch repository.

The installs here are real, into fresh environments, and need no network: dependencies and build tool are lent from the
environment that the tests run in.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
IDENTITY = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]

SKILL = "---\nname: tidy\ndescription: Tidies a folder. Use when asked to tidy.\n---\nRun `scripts/tidy.py` at once.\n"
GRAPH = """from __future__ import annotations

from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.types import Outcome

WORKFLOW = Workflow(
    "tidy",
    StepDef("look", "Look", ["Look around."], {Outcome.OK: "TARGET"}),
    StepDef("sweep", "Sweep", ["Sweep."], {Outcome.OK: None}),
)
register_workflow(WORKFLOW)
"""


def lent() -> dict[str, str]:
    """The environment in which pip installs without a network."""
    return {
        **os.environ,
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PIP_NO_DEPS": "1",
        # pip reads the variable as the value of its opposite: 0 switches the isolation off.
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def run(command: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env={**lent(), **more}, capture_output=True, text=True, timeout=300, check=False
    )


def commit(folder: Path) -> None:
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "All files"]):
        subprocess.run(["git", *IDENTITY, *command], cwd=folder, check=True, timeout=60)


def scratch(folder: Path, target: str) -> Path:
    """A repository with one skill, whose first step leads to ``target``."""
    scripts = folder / ".claude" / "skills" / "tidy" / "scripts"
    scripts.mkdir(parents=True)
    (scripts.parent / "SKILL.md").write_text(SKILL, encoding="utf-8")
    (scripts / "tidy_workflow.py").write_text(GRAPH.replace("TARGET", target), encoding="utf-8")
    commit(folder)
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with what this tree would commit."""
    folder = tmp_path_factory.mktemp("source")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    commit(folder)
    return folder


@pytest.fixture(scope="module")
def runner(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runner's temporary folder after the action's installing steps."""
    folder = tmp_path_factory.mktemp("runner")
    for step in ACTION["runs"]["steps"]:
        if "uses" in step:
            assert step["uses"].startswith("actions/setup-python@")
        elif step["name"] == "Install Lockstep":
            done = act(step, folder, source, folder)
            assert done.returncode == 0, done.stderr
    return folder


def act(
    step: dict[str, Any], folder: Path, source: Path, temp: Path, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """One composite step as a runner executes it: expressions stand in ``env`` alone."""
    given = {name: declared["default"] for name, declared in ACTION["inputs"].items()} | inputs
    values = {
        "steps.python.outputs.python-path": sys.executable,
        "github.action_path": str(source),
        "runner.temp": str(temp),
        **{f"inputs.{name}": value for name, value in given.items()},
    }
    assert step["shell"] == "bash"
    assert "${{" not in step["run"]
    environment = {
        name: re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: values[match[1]], text)
        for name, text in step["env"].items()
    }
    return run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], folder, **environment)


def validate(folder: Path, source: Path, runner: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    [step] = [step for step in ACTION["runs"]["steps"] if step.get("name") == "Validate the skills"]
    return act(step, folder, source, runner, **inputs)


@pytest.mark.req("W-21")
def test_the_action_passes_a_sound_repository(tmp_path: Path, source: Path, runner: Path) -> None:
    done = validate(scratch(tmp_path, "sweep"), source, runner)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "Nothing is wrong in 1 skill, 1 workflow.\n"


@pytest.mark.req("W-21")
def test_the_action_annotates_a_broken_graph(tmp_path: Path, source: Path, runner: Path) -> None:
    done = validate(scratch(tmp_path, "swep"), source, runner)
    assert done.returncode not in (0, 70)
    [annotation] = [line for line in done.stdout.splitlines() if line.startswith("::error") and "swep" in line]
    assert "file=.claude/skills/tidy/scripts/tidy_workflow.py" in annotation
    assert "sweep" in annotation


def test_the_action_checks_the_path_that_it_is_given(tmp_path: Path, source: Path, runner: Path) -> None:
    scratch(tmp_path, "swep")
    (tmp_path / "empty").mkdir()
    assert validate(tmp_path, source, runner, path="empty").returncode == 0


def test_the_actions_inputs_run_no_commands(tmp_path: Path, source: Path, runner: Path) -> None:
    done = validate(tmp_path, source, runner, path='"; touch harm; $(touch harm)')
    assert done.returncode == 2
    assert not (tmp_path / "harm").exists()


def test_an_installed_package_carries_its_conventions(tmp_path: Path, runner: Path) -> None:
    code = "from skills.lib import conventions as c; print(c.__file__); print(c.get_convention('severity'))"
    done = run([str(runner / "lockstep" / "bin" / "python"), "-c", code], tmp_path)
    assert done.stdout.startswith(str(runner / "lockstep"))
    assert "# Severity\n" in done.stdout


@pytest.mark.req("W-21")
@pytest.mark.skipif(importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed")
@pytest.mark.parametrize("target, code", [("sweep", 0), ("swep", 1)], ids=["sound", "broken"])
def test_the_pre_commit_hook(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, source: Path, target: str, code: int
) -> None:
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(source), "lockstep-validate", "--all-files"]
    home = str(tmp_path_factory.mktemp("pre-commit"))
    done = run(command, scratch(tmp_path, target), PRE_COMMIT_HOME=home)
    assert done.returncode == code, done.stdout + done.stderr
    assert "lockstep validate" in done.stdout
    assert ("sweep" in done.stdout) == (code == 1)


def test_the_wheel_holds_the_skills_and_nothing_of_the_workshop(tmp_path: Path, source: Path) -> None:
    done = run([sys.executable, "-m", "pip", "wheel", "--quiet", "-w", str(tmp_path), str(source)], tmp_path)
    assert done.returncode == 0, done.stderr
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert names >= {
        "skills/conventions/severity.md",
        "skills/problem-analysis/SKILL.md",
        "skills/problem-analysis/scripts/problem_analysis.py",
        "skills/problem-analysis/scripts/problem_analysis_prompts.md",
        "skills/py.typed",
    }
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"lockstep", "skills", "lockstep_skills"}
    assert "Requires-Python: >=3.11\n" in metadata
