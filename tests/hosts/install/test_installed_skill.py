"""An installed skill: what lies in the project, how its scripts find the runtime, and what linters say of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.hosts.install import runtime
from skills.lib.runtime import loading
from skills.lib.testing.agent import Agent
from skills.lib.testing.walks import shortest_walk
from tests.fixtures.skill import ROOT, import_from_lockstep
from tests.hosts.conftest import BARE, SKILL, Command, tree
from tests.skills.samples import samples_of
from tests.test_bootstrap import old

pytestmark = [pytest.mark.req("H-01", "H-04"), pytest.mark.slow]
SKILLS = sorted(path.parent.name for path in (ROOT / "skills").glob("*/SKILL.md"))
HOSTS = ["codex", "claude", "opencode", "qwen", "gemini", "agents"]


def bare(folder: Path, *words: str, python: str = BARE, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run an interpreter without anything installed."""
    command = [python, *(["-IS"] if python == BARE else []), *words]
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)


def files_in(project: Path) -> list[str]:
    return [name for name, data in tree(project).items() if data is not None]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("names, most", [([SKILL], 12), (["planner"], 60), ([], 160)])
def test_an_installation_puts_few_files_into_a_project(
    cli: Command, project: Path, host: str, names: list[str], most: int
) -> None:
    chosen = [word for name in names for word in ("--skill", name)]
    assert cli("install", host, "--scope", "project", *chosen).code == 0
    assert 5 < len(files_in(project)) <= most


def test_linters_of_the_project_find_nothing_in_it(cli: Command, project: Path) -> None:
    cli("install", "claude", "--scope", "project")
    assert cli("new", "my-skill", "--dir", str(project / "own")).code == 0
    cli("install", "agents", "--scope", "project", "--skill", str(project / "own" / "my-skill"))
    shutil.rmtree(project / "own")
    (project / "clean.py").write_text('"""Clean."""\n')
    commands = [
        ["ruff", "check", "--isolated", "--select", "ALL", "--ignore", "D,CPY", "."],
        ["ruff", "format", "--isolated", "--check", "."],
        ["mypy", "--strict", "."],
        ["mypy", "--strict", ".claude/skills/planner/scripts/planner_workflow.py"],
    ]
    for command in commands:
        program = Path(sys.executable).with_name(command[0])
        if not program.exists():
            pytest.skip(f"{command[0]} is not installed")
        done = subprocess.run([program, *command[1:]], cwd=project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("skill", SKILLS)
def test_each_script_of_each_skill_prints_its_first_step(cli: Command, project: Path, skill: str) -> None:
    assert cli("install", "agents", "--scope", "project", "--skill", skill).code == 0
    graphs = sorted((project / ".agents" / "skills" / skill / "scripts").rglob("*_workflow.[pj]*"))
    assert graphs
    for graph in graphs:
        script = graph.with_name(graph.stem.replace("_workflow", "") + ".py")
        first = loading.load_workflow(str(graph)).start
        done = bare(project, str(script), "--step", first, "--stateless")
        assert (done.returncode, done.stderr) == (0, ""), script


def test_an_installed_skill_is_walked_to_its_end_and_its_checks_are_the_runtimes(cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", "decision-critic")
    script = project / ".agents" / "skills" / "decision-critic" / "scripts" / "decision_critic.py"
    assert not script.with_name("check_decision.py").exists()
    values, files, _ = samples_of(ROOT / "skills" / "decision-critic" / "scripts" / "decision_critic.py")
    agent = Agent(script, project, values=values, files=files)
    taken = agent.play(shortest_walk(loading.workflow_of_script(str(script))))
    assert taken[-1].target is None


def test_a_script_that_a_text_names_is_run_by_the_runtimes_code(cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", "planner")
    script = project / ".agents" / "skills" / "planner" / "scripts" / "plan_data.py"
    done = bare(project, str(script), "--help")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "usage: plan_data.py [-h] COMMAND ...")


def test_a_check_reads_the_texts_that_the_user_changed(cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", "incoherence")
    skill = project / ".agents" / "skills" / "incoherence"
    (skill / "resources" / "dimensions.md").write_text("## A one\n")
    check = Path(runtime.folder(runtime.version())) / "skills" / "incoherence" / "scripts" / "check_incoherence.py"
    words = ["dimensions", json.dumps(["A | x.py, y.py | prices"]), "[]"]
    done = bare(project, str(check), *words, python=sys.executable, LOCKSTEP_SCRIPTS=str(skill / "scripts"))
    assert (done.returncode, done.stdout) == (0, "")


# Where a script looks for its runtime.


@pytest.fixture
def script(cli: Command, project: Path) -> Path:
    """The entry of an installed skill."""
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    return project / ".agents" / "skills" / SKILL / "scripts" / "problem_analysis.py"


def test_without_the_runtime_it_gives_the_one_command(script: Path, project: Path, tmp_path: Path) -> None:
    done = bare(project, str(script), "--step", "1", LOCKSTEP_DATA=str(tmp_path / "none"))
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        f"lockstep: this skill needs Lockstep 0.1.0, and there is no {tmp_path}/none/runtimes/{runtime.version()}\n"
        f"  try:   {BARE} -m pip install /path/to/lockstep\n"
    )


def test_without_the_runtime_a_python_with_that_package_serves(script: Path, project: Path, tmp_path: Path) -> None:
    words = (str(script), "--step", "1", "--stateless")
    for version, code in (("0.1.0", 0), ("0.0.9", 4)):
        site = tmp_path / version
        shutil.copytree(ROOT / "skills", site / "skills", ignore=shutil.ignore_patterns("__pycache__"))
        (site / "skills" / "__init__.py").write_text(f'__version__ = "{version}"\n')
        for name in ("conventions", "policies", "roles"):
            shutil.copytree(ROOT / name, site / "skills" / name)
        done = bare(project, *words, python=sys.executable, PYTHONPATH=str(site), LOCKSTEP_DATA=str(tmp_path / "none"))
        assert done.returncode == code, done.stderr


def test_a_package_of_the_users_called_skills_does_not_hide_it(script: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "mine" / "skills").mkdir(parents=True)
    (tmp_path / "mine" / "skills" / "__init__.py").write_text("")
    words = (str(script), "--step", "1", "--stateless")
    assert bare(project, *words, python=sys.executable, PYTHONPATH=str(tmp_path / "mine")).returncode == 0


@pytest.mark.parametrize("given", ["LOCKSTEP_DATA", "XDG_DATA_HOME", "HOME"])
def test_the_runtime_is_where_the_settings_say(
    cli: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.delenv("LOCKSTEP_DATA")
    monkeypatch.setenv(given, str(tmp_path / "there"))
    (tmp_path / "there").mkdir()
    below = {"LOCKSTEP_DATA": "", "XDG_DATA_HOME": "lockstep", "HOME": ".local/share/lockstep"}[given]
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    assert os.listdir(tmp_path / "there" / below / "runtimes") == [runtime.version()]
    script = project / ".agents" / "skills" / SKILL / "scripts" / "problem_analysis.py"
    done = subprocess.run(
        [BARE, "-S", str(script), "--step", "1", "--stateless"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_relative_setting_is_none(cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("LOCKSTEP_DATA", "data")
    assert paths.data() == str(home / ".local" / "share" / "lockstep")


@pytest.mark.parametrize("python", old())
@pytest.mark.parametrize("data", ["there", "none"])
def test_an_old_python_shows_what_is_needed(
    script: Path, project: Path, tmp_path: Path, python: str, data: str
) -> None:
    there = os.environ["LOCKSTEP_DATA"] if data == "there" else str(tmp_path / "none")
    done = bare(project, str(script), "--step", "1", python=python, LOCKSTEP_DATA=there)
    assert (done.returncode, done.stdout) == (4, "")
    assert re.match(r"lockstep: needs Python 3\.11 or later, and this is ", done.stderr)
    assert "Traceback" not in done.stderr


# A skill of the user's own.


def test_an_own_skill_has_all_of_its_code_and_its_seals(cli: Command, project: Path) -> None:
    cli("new", "my-skill")
    scripts = project / "skills" / "my-skill" / "scripts"
    shutil.copy(ROOT / "skills" / SKILL / "scripts" / "check_analysis.py", scripts / "check_it.py")
    assert cli("install", "agents", "--scope", "project", "--skill", "my-skill").code == 0
    shutil.rmtree(project / "skills")
    copy = project / ".agents" / "skills" / "my-skill" / "scripts"
    assert {path.name for path in copy.iterdir()} == {
        *("check_it.py", "my-skill.seal", "my_skill.py", "my_skill_prompts.md", "my_skill_workflow.py")
    }
    assert bare(project, str(copy / "my_skill.py"), "--step", "1", "--stateless").returncode == 0
    assert "ModuleNotFoundError" not in bare(project, str(copy / "check_it.py")).stderr


def test_the_graph_of_an_own_skill_may_import_from_lockstep(cli: Command, project: Path) -> None:
    cli("new", "my-skill")
    script = project / "skills" / "my-skill" / "scripts" / "my_skill.py"
    import_from_lockstep(script)
    assert cli("install", "agents", "--scope", "project", "--skill", "my-skill").code == 0
    copy = project / ".agents" / "skills" / "my-skill" / "scripts" / "my_skill.py"
    without = bare(project, str(copy), "--step", "1", "--stateless")
    # With the distribution as well, and with it imported first: a .pth file, or a plugin of a test runner.
    code = f"import lockstep, runpy, sys; sys.argv = {[str(copy), '--step', '1', '--stateless']!r}\n"
    code += "runpy.run_path(sys.argv[0], run_name='__main__')"
    for words in ([str(copy), "--step", "1", "--stateless"], ["-c", code]):
        done = bare(project, *words, python=sys.executable, PYTHONPATH=str(ROOT))
        assert (done.returncode, done.stdout, done.stderr) == (0, without.stdout.replace(BARE, sys.executable), "")
    assert (without.returncode, without.stderr) == (0, "")
