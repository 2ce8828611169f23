"""The fixture skills, in a folder of the session; each test has a project of its own with its ledger inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills.lib.testing.agent import Agent
from tests.fixtures.skill import install

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def ledger_in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the fixture skills."""
    folder = tmp_path_factory.mktemp("library")
    for name in ("tour", "gated", "brood", "plain"):
        install(folder, name)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".lockstep").mkdir(parents=True)
    return folder


@pytest.fixture
def agent(library: Path, project: Path) -> Callable[[str], Agent]:
    """An agent that walks the fixture skill of that name in this test's project."""

    def of(name: str) -> Agent:
        return Agent(library / "skills" / name / "scripts" / f"{name}.py", project)

    return of
