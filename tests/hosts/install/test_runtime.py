"""The runtimes in the user's data folder: whole or not there, made anew if damaged, removed if nothing needs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skills.lib.hosts.install import runtime
from tests.fixtures.skill import ROOT
from tests.hosts.conftest import SKILL, Command, tree

pytestmark = pytest.mark.req("H-01")
ENSURE = "from skills.lib.hosts.install import runtime; print(runtime.ensure())"


@pytest.fixture
def runtimes(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the runtimes, with none in it."""
    monkeypatch.setenv("LOCKSTEP_DATA", str(tmp_path / "own data"))
    return tmp_path / "own data" / "runtimes"


def test_two_that_make_it_at_once_both_have_it(runtimes: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    calls = [subprocess.Popen([sys.executable, "-c", ENSURE], env=env, stdout=subprocess.PIPE) for _ in range(3)]
    assert {call.communicate(timeout=60)[0] for call in calls} == {f"{runtime.version()}\n".encode()}
    assert os.listdir(runtimes) == [runtime.version()]


def test_what_a_stopped_process_left_is_completed_and_removed(runtimes: Path) -> None:
    draft = runtimes / f".{runtime.version()}-abc"
    (draft / "new").mkdir(parents=True)
    os.utime(draft, (0, time.time() - 3_600))
    place = Path(runtime.folder(runtime.ensure()))
    assert os.listdir(runtimes) == [place.name]
    (place / "skills" / "bootstrap.py").unlink()
    (place / "skills" / "lib" / "paths.py").write_text("damaged")
    runtime.ensure()
    assert (place / "skills" / "bootstrap.py").is_file()
    assert (place / "skills" / "lib" / "paths.py").read_bytes() == (ROOT / "skills" / "lib" / "paths.py").read_bytes()
    assert os.listdir(runtimes) == [place.name]


def version_of(package: Path) -> str:
    code = "from skills.lib.hosts.install import runtime; print(runtime.version())"
    done = subprocess.run([sys.executable, "-c", code], cwd=package.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_it_holds_the_package_lockstep_and_is_removed_with_it(runtimes: Path) -> None:
    place = runtimes / runtime.ensure()
    for file in (ROOT / "lockstep").glob("*.py"):
        assert (place / "lockstep" / file.name).read_bytes() == file.read_bytes()
    (place / "lockstep" / "library.py").unlink()
    runtime.ensure()
    assert (place / "lockstep" / "library.py").is_file()
    runtime.remove(runtime.version())
    assert os.listdir(runtimes) == []


def test_two_trees_have_two_versions_and_a_package_has_its_own(runtimes: Path, tmp_path: Path) -> None:
    tree, package = tmp_path / "tree", tmp_path / "site"
    for name in ("skills", "lockstep"):
        for place in (tree, package):
            shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    for kind in runtime.SHARED:
        shutil.copytree(ROOT / kind, tree / kind)
        shutil.copytree(ROOT / kind, package / "skills" / kind)
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    assert version_of(tree / "skills") == runtime.version()
    assert version_of(package / "skills") == "0.1.0"
    with (tree / "skills" / "lib" / "paths.py").open("a") as file:
        file.write("# another\n")
    assert version_of(tree / "skills") not in ("0.1.0", runtime.version())
    # A runtime knows its own version, so that it can install others.
    assert version_of(Path(runtime.folder(runtime.ensure())) / "skills") == runtime.version()


def test_versions_that_something_names_are_kept(
    cli: Command, project: Path, runtimes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("install", "agents", "--scope", "project", "--skill", SKILL).code == 0
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    assert cli("install", "agents", "--scope", "project", "--skill", SKILL, "--project", str(other)).code == 0
    for version in ("0.0.1", "0.0.2", "0.0.3"):
        (runtimes / version / "skills" / "x" / "scripts").mkdir(parents=True)
        (runtimes / version / "VERSION").write_text(f"{version}\n")
    record = other / ".lockstep" / "installed" / "agents.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "version": "0.0.1"}))
    shutil.copytree(ROOT / "skills" / SKILL / "scripts", runtimes / "0.0.2" / "skills" / SKILL / "scripts")
    script = runtimes / "0.0.2" / "skills" / SKILL / "scripts" / "problem_analysis.py"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, str(script), "--step", "1"], cwd=project, env=env, check=True, capture_output=True)
    dry = cli("upgrade", "--prune", "--dry-run")
    assert (dry.code, dry.err) == (0, "The runtime 0.0.3 would be removed: nothing needs it.\n")
    assert sorted(os.listdir(runtimes)) == ["0.0.1", "0.0.2", "0.0.3", runtime.version()]
    assert cli("upgrade", "--prune").err == "The runtime 0.0.3 is removed: nothing needs it.\n"
    assert sorted(os.listdir(runtimes)) == ["0.0.1", "0.0.2", runtime.version()]
    shutil.rmtree(other)
    run = json.loads(cli("runs", "--json").out)[0]
    assert cli("abandon", run["run"], "--reason", "only a try").code == 0
    cli("upgrade", "--prune")
    assert os.listdir(runtimes) == [runtime.version()]


def test_nothing_is_removed_while_a_manifest_cannot_be_read(cli: Command, project: Path, runtimes: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    (runtimes / "0.0.1").mkdir()
    (runtimes / "0.0.1" / "VERSION").write_text("0.0.1\n")
    (project / ".lockstep" / "installed" / "codex.json").write_text("{")
    shown = cli("upgrade", "agents", "--prune")
    assert (shown.code, "No runtime is removed, because this may name one:" in shown.err) == (4, True)
    assert "0.0.1" in os.listdir(runtimes)


def test_without_any_installation_the_runtime_and_its_folders_are_removed(
    cli: Command, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCKSTEP_DATA")
    before = tree(home)
    assert cli("install", "claude", "--scope", "user", "--skill", SKILL).code == 0
    assert cli("install", "claude", "--scope", "project", "--skill", SKILL).code == 0
    gone = cli("uninstall", "claude", "--scope", "user")
    assert "--prune" not in gone.err
    assert cli("upgrade", "--prune").err.endswith("No runtime is removed: each is needed.\n")
    assert cli("uninstall", "claude").err.endswith("lockstep upgrade --prune removes the runtime, too.\n")
    pruned = cli("upgrade", "--prune")
    assert (pruned.code, pruned.err) == (0, f"The runtime {runtime.version()} is removed: nothing needs it.\n")
    assert tree(home) == before
    assert cli("upgrade", "--prune").err == "No runtime is removed: there is none.\n"


def test_projects_that_are_gone_are_forgotten(cli: Command, project: Path, runtimes: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
        words = ("--scope", "project", "--skill", SKILL, "--project", str(tmp_path / name))
        assert cli("install", "agents", *words).code == 0
    shutil.rmtree(tmp_path / "one")
    cli("upgrade", "--prune")
    [known] = (runtimes.parent / "projects").iterdir()
    assert known.read_text() == str(tmp_path / "two")
    assert cli("installed", "--json", "--project", str(tmp_path / "two")).out.count('"state": "unknown"') == 0


def test_a_draft_that_a_stopped_process_left_goes_though_the_runtime_is_whole(cli: Command, runtimes: Path) -> None:
    place = Path(runtime.folder(runtime.ensure()))
    draft = runtimes / f".{runtime.version()}-abc"
    for again in (runtime.ensure, runtime.remove_old_drafts):
        draft.mkdir()
        os.utime(draft, (0, time.time() - 3_600))
        again()
        assert os.listdir(runtimes) == [place.name]
