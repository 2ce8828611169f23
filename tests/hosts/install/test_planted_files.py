"""Files that were put into the folder of an installed skill, such as a cloned project may bring along: none runs."""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from skills.lib.runtime import loading
from skills.lib.testing.agent import Agent
from skills.lib.testing.walks import shortest_walk
from tests.fixtures.skill import ROOT
from tests.hosts.conftest import BARE, SKILL, Command
from tests.skills.samples import samples_of

pytestmark = pytest.mark.req("H-03")


def planted(folder: Path) -> str:
    """Code that leaves a file when it runs."""
    return f"open({str(folder / 'ran')!r}, 'w').close()\n"


def scripts_of(cli: Command, project: Path, skill: str = SKILL) -> Path:
    """The scripts of a skill that is installed in the project."""
    assert cli("install", "agents", "--scope", "project", "--skill", skill).code == 0
    return project / ".agents" / "skills" / skill / "scripts"


def step(script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Call a script as an agent does, by the Python of this machine without packages."""
    command = [BARE, "-S", str(script), *words]
    return subprocess.run(command, cwd=script.parent, capture_output=True, text=True, timeout=60, check=False)


def test_bytecode_beside_a_graph_does_not_run_in_its_place(cli: Command, project: Path) -> None:
    scripts = scripts_of(cli, project)
    evil = project / "evil.py"
    evil.write_text(planted(project))
    tag = cache_from_source("x.py").rpartition("/")[2].removeprefix("x.")
    cached = scripts / "__pycache__" / f"problem_analysis_workflow.{tag}"
    py_compile.compile(str(evil), str(cached), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    done = step(scripts / "problem_analysis.py", "--step", "1", "--stateless")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (project / "ran").exists()


def test_a_graphs_bytecode_is_cached_for_the_user_and_not_beside_it(cli: Command, project: Path, home: Path) -> None:
    scripts = scripts_of(cli, project)
    command = [BARE, "-S", str(scripts / "problem_analysis.py"), "--step", "1", "--stateless"]
    env = {**os.environ, "XDG_CACHE_HOME": str(home / "cache")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run(command, cwd=project, env=env, capture_output=True, timeout=60, check=True)
    [cached] = (home / "cache" / "lockstep" / "bytecode").rglob("*.pyc")
    assert cached.name.startswith("problem_analysis_workflow.")
    assert not (scripts / "__pycache__").exists()


def test_modules_beside_an_installed_script_hide_none_of_python(cli: Command, project: Path) -> None:
    scripts = scripts_of(cli, project)
    for name in ("re", "subprocess", "tempfile", "signal", "contextlib", "networkx", "errno", "skills"):
        (scripts / f"{name}.py").write_text(planted(project))
    done = step(scripts / "problem_analysis.py", "--step", "1", "--stateless")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (project / "ran").exists()


@pytest.mark.slow
def test_a_helper_in_the_folder_of_an_installed_skill_does_not_stand_for_the_shipped_one(
    cli: Command, project: Path
) -> None:
    scripts = scripts_of(cli, project, "decision-critic")
    for name in ("check_decision", "subprocess", "re"):
        (scripts / f"{name}.py").write_text(planted(project))
    values, files, _ = samples_of(ROOT / "skills" / "decision-critic" / "scripts" / "decision_critic.py")
    script = scripts / "decision_critic.py"
    agent = Agent(script, project, values=values, files=files)
    taken = agent.play(shortest_walk(loading.workflow_of_script(str(script))))
    assert taken[-1].target is None
    assert not (project / "ran").exists()


def test_a_module_of_the_users_own_is_found_beside_the_script(cli: Command, project: Path) -> None:
    cli("new", "my-skill")
    own = project / "skills" / "my-skill" / "scripts"
    (own / "words_of_mine.py").write_text("import sys\nsys.stderr.write('found it')\n")
    graph = own / "my_skill_workflow.py"
    imported = "\ntry:\n    import words_of_mine  # noqa: F401\nexcept ImportError:\n    pass\n"
    graph.write_text(graph.read_text() + imported)
    assert cli("install", "agents", "--scope", "project", "--skill", "my-skill").code == 0
    done = step(project / ".agents" / "skills" / "my-skill" / "scripts" / "my_skill.py", "--step", "1", "--stateless")
    assert (done.returncode, done.stderr) == (0, "found it")


# They are reported.


def test_a_file_that_is_no_part_of_the_installation_is_reported(cli: Command, project: Path) -> None:
    scripts = scripts_of(cli, project)
    (scripts / "re.py").write_text("")
    shown = cli("installed")
    assert "foreign" in shown.out
    assert "  foreign  .agents/skills/problem-analysis/scripts/re.py (skill problem-analysis)" in shown.out
    [one] = json.loads(cli("installed", "--json").out)
    assert [file["path"] for file in one["files"] if file["state"] == "foreign"] == [str(scripts / "re.py")]
    upgraded = cli("upgrade")
    assert upgraded.code == 0
    assert "  .agents/skills/problem-analysis/scripts/re.py: no part of the installation" in upgraded.err
    assert (scripts / "re.py").exists()


def test_a_graph_that_was_there_before_an_installation_is_not_run(cli: Command, project: Path) -> None:
    graph = project / ".claude" / "skills" / SKILL / "scripts" / "problem_analysis_workflow.py"
    graph.parent.mkdir(parents=True)
    graph.write_text(planted(project))
    shown = cli("install", "claude", "--scope", "project")
    assert shown.code == 3
    assert f"{SKILL}/scripts/problem_analysis_workflow.py: skill {SKILL}, yours, and no part of an inst" in shown.err
    cli("upgrade")
    cli("installed")
    assert not (project / "ran").exists()


def test_a_seal_that_validate_wrote_is_removed_with_its_skill(cli: Command, project: Path) -> None:
    scripts = scripts_of(cli, project)
    assert cli("validate", "--seal", str(scripts.parent)).code == 0
    assert list(scripts.glob("*.seal"))
    assert cli("installed", "--json").out.count("foreign") == 0
    assert cli("uninstall", "agents").code == 0
    assert not (project / ".agents").exists()
