"""Which folder is a project's root."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib import paths


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home folder, with a folder below it."""
    home = tmp_path / "home"
    (home / "work" / "deep").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def root(folder: Path) -> str:
    return paths.project_root(str(folder))


@pytest.mark.parametrize("mark", [".git", ".lockstep"])
def test_the_root_is_the_nearest_folder_with_a_mark(home: Path, mark: str) -> None:
    work = home / "work"
    assert root(work / "deep") == str(work / "deep")
    (work / mark).mkdir()
    assert root(work / "deep") == str(work)
    (work / "deep" / mark).mkdir()
    assert root(work / "deep") == str(work / "deep")


@pytest.mark.parametrize("mark", [".git", ".lockstep"])
def test_the_home_folder_is_the_root_of_nothing_below_it(home: Path, mark: str) -> None:
    (home / mark).mkdir()
    assert root(home / "work") == str(home / "work")
    assert root(home) == str(home)


@pytest.mark.parametrize("mark", [".git", ".lockstep"])
def test_a_shared_folder_is_the_root_of_nothing_below_it(home: Path, mark: str) -> None:
    shared = home / "work"
    (shared / mark).mkdir()
    shared.chmod(0o1777)
    assert root(shared / "deep") == str(shared / "deep")
    assert root(shared) == str(shared)
