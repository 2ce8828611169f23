"""A home and a project of their own for each test about hosts, and the command as a person calls it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skills.lib.commands.console.app import lockstep
from skills.lib.hosts.doctor import registry
from skills.lib.hosts.doctor.examination import CheckedResult, DoctorContext
from skills.lib.hosts.install import signature
from skills.lib.hosts.install.locations import Locations, locations
from tests.fixtures import skill
from tests.hosts.doctor.examined import program, step
from tests.hosts.hook.hooked import Host

# A small skill of the tree, to install without the others.
SKILL = "problem-analysis"
# One that dispatches two roles.
ROLED = "refactor"
# The interpreter without a virtual environment.
BARE = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
XDG = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "LOCKSTEP_STATE", "CODEX_HOME")


@dataclass(frozen=True)
class Shown:
    """What a call of the command printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Shown]


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder, with the runtime of this tree once it was needed."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def home(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home; what hosts keep in other places is in it, too. Runtimes are not."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in XDG:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOCKSTEP_DATA", str(data))
    return folder


@pytest.fixture
def own_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger is in the project, as it is for a user."""
    monkeypatch.delenv("LOCKSTEP_HOME")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host with a session, which hands its events to the hook."""
    return Host(tmp_path)


@pytest.fixture
def project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the working directory; its ledger is in it."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    return folder


@pytest.fixture
def cli(project: Path) -> Command:
    """Call ``lockstep`` in the project, standard input and output piped."""

    def call(*words: str, **options: Any) -> Shown:
        result = CliRunner().invoke(lockstep, list(words), prog_name="lockstep", **options)
        return Shown(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def path(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder of programs beside the system's: python3 and lockstep are in it, and no host."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(BARE)
    program(folder / "lockstep", "exit 0")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


@pytest.fixture
def doctor(project: Path) -> Callable[..., list[CheckedResult]]:
    """Examine the project and these hosts."""

    def examine(*hosts: str, named: bool = False) -> list[CheckedResult]:
        return list(registry.examine(DoctorContext(str(project), hosts, named)))

    return examine


@pytest.fixture
def opened(project: Path) -> Callable[[], tuple[str, Path]]:
    """Open a run of a small skill, past its first step; its id and its script."""

    def open_run() -> tuple[str, Path]:
        script = skill.install(project, "tour")
        first = step(project, script, "--step", "1", "--new", "--topic", os.urandom(4).hex())
        found = re.search(r' run="(\w+)"', first)
        assert found
        return found[1], script

    return open_run


def tree(folder: Path) -> dict[str, bytes | str | None]:
    """All that is below a folder: files with their content, links with their target, folders with None."""
    found: dict[str, bytes | str | None] = {}
    for place, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            path = Path(place, name)
            kept = str(path.relative_to(folder))
            found[kept] = os.readlink(path) if path.is_symlink() else None if path.is_dir() else path.read_bytes()
    return found


def place_of(host: str, scope: str, project: Path) -> Locations:
    """Where things go for a host in the test's project or home."""
    return locations(host, scope, str(project))


def sign(path: Path) -> None:
    """Sign a project's manifest as if this machine had written it so."""
    told = json.loads(path.read_text())
    told.pop("signature", None)
    path.write_text(json.dumps({**told, "signature": signature.of(told)}))


def plant(project: Path, host: str = "claude", **more: Any) -> Path:
    """Put a manifest there as a cloned project may bring it along; return its path."""
    told = {"format": 2, "host": host, "scope": "project", "version": "0.1.0", "hooks": True, "stops": 3}
    told |= {"skills": {}, "files": {}, "entries": {}, "made": False, "complete": True, "uninstalled": False, **more}
    path = project / ".lockstep" / "installed" / f"{host}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told))
    return path
