"""A home and a project of their own for each test about hosts, and the command as a person calls it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skills.lib.commands.console.app import lockstep
from skills.lib.hosts.places import Places, places

# A small skill of the tree, to install without the others.
SKILL = "problem-analysis"
XDG = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "LOCKSTEP_STATE", "CODEX_HOME")


@dataclass(frozen=True)
class Shown:
    """What a call of the command printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Shown]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home; what hosts keep in other places is in it, too."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in XDG:
        monkeypatch.delenv(name, raising=False)
    return folder


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


def tree(folder: Path) -> dict[str, bytes | str | None]:
    """All that is below a folder: files with their content, links with their target, folders with None."""
    found: dict[str, bytes | str | None] = {}
    for place, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            path = Path(place, name)
            kept = str(path.relative_to(folder))
            found[kept] = os.readlink(path) if path.is_symlink() else None if path.is_dir() else path.read_bytes()
    return found


def place_of(host: str, scope: str, project: Path) -> Places:
    """Where things go for a host in the test's project or home."""
    return places(host, scope, str(project))
