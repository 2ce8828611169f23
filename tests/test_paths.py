"""Which folder is a project's root."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.errors import UsageError


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


@pytest.fixture
def looped(tmp_path: Path) -> Path:
    """A project with a loop of links, and links out of it behind that loop."""
    project = tmp_path / "project"
    (tmp_path / "other").mkdir()
    project.mkdir()
    (project / "loop").symlink_to("loop")
    (project / "out").symlink_to("../other")
    (project / "again").symlink_to("loop/../out")
    (tmp_path / "other" / "secret.txt").write_text("secret", encoding="utf-8")
    return project


@pytest.mark.parametrize("path", ["out/secret.txt", "loop/../out/secret.txt", "loop/../again/secret.txt"])
def test_a_path_behind_a_loop_of_links_leads_where_its_links_lead(looped: Path, path: str) -> None:
    assert not paths.is_within(str(looped), path)
    with pytest.raises(UsageError, match="leads outside"):
        paths.within(str(looped), path)


def test_a_loop_of_links_is_within_its_folder_and_can_be_opened_by_nobody(looped: Path) -> None:
    assert paths.within(str(looped), "loop/../loop/x") == str(looped / "loop" / "x")


def test_a_link_to_itself_within_itself_has_no_end(looped: Path) -> None:
    (looped / "deep").symlink_to("loop/../deep/x")
    with pytest.raises(UsageError, match="without an end"):
        paths.within(str(looped), "deep")
