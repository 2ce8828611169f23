"""git is asked about a hostile project: it runs nothing of it, it ends in time, and it is git that is asked."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from skills.lib import git as gits
from skills.lib.git import Git, GitProblem
from skills.lib.ledger import command, contents
from tests.fixtures import small_project


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A committed project."""
    return small_project.make(tmp_path / "shop")


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A program that leaves a mark beside itself when it runs."""
    return program(tmp_path / "evil", f"touch {tmp_path / 'ran'}; cat")


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def touch_all(shop: Path) -> None:
    """Make git compare contents: each file has another time."""
    for path in shop.rglob("*.py"):
        os.utime(path, (1, 1))


@pytest.mark.parametrize("name", ["plain", "a.b", "a=b", "a.clean=b", "A b", "=", "ä=\"'"])
def test_a_filter_of_any_name_is_switched_off(shop: Path, evil: Path, tmp_path: Path, name: str) -> None:
    (shop / ".git" / "info").mkdir(exist_ok=True)
    with (shop / ".git" / "config").open("a") as file:
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        file.write(f'[filter "{quoted}"]\n clean = {evil}\n process = {evil}\n required = true\n')
    (shop / ".git" / "info" / "attributes").write_text(f"* filter={name}\n")
    touch_all(shop)
    assert "shop/prices.py" in contents.manifest(str(shop), ["."])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("way", ["uploadpack", "ext"])
def test_a_partial_clone_fetches_nothing(shop: Path, evil: Path, tmp_path: Path, way: str) -> None:
    url = str(shop) if way == "uploadpack" else f"ext::{evil}"
    settings = ["[extensions]\n partialClone = origin", f'[remote "origin"]\n url = {url}\n promisor = true']
    settings += [f" uploadpack = {evil}", "[protocol]\n allow = always", "[core]\n repositoryformatversion = 1"]
    small_project.git(shop, "update-index", "--skip-worktree", ".gitignore")
    (shop / ".gitignore").unlink()
    for found in small_project.git(shop, "rev-parse", "HEAD^{tree}", "HEAD:.gitignore").split():
        (shop / ".git" / "objects" / found[:2] / found[2:]).unlink()
    with (shop / ".git" / "config").open("a") as file:
        file.write("\n".join(settings) + "\n")
    command.removed_tests(str(shop))
    contents.manifest(str(shop), ["."])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("entry", ["", ".", "bin", "{}", "{}/bin", "{}/../shop"])
def test_a_git_of_the_project_is_not_run(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    for name in ("git", "bin/git"):
        program(shop / name, f"touch {tmp_path / 'ran'}")
    monkeypatch.chdir(shop)
    monkeypatch.setenv("PATH", entry.format(shop) + os.pathsep + os.environ["PATH"])
    assert "shop/prices.py" in contents.manifest(str(shop), ["."])
    assert command.removed_tests(str(shop)) == []
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("script", ["sleep 60 & exit 0", "sleep 60 & wait", "exec sleep 60", "setsid sleep 3 & exit 0"])
def test_a_git_whose_child_holds_the_pipe_ends_in_time(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    program(tmp_path / "bin" / "git", script)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(gits, "TIMEOUT", 0.2)
    monkeypatch.setattr(command, "PATIENCE", 0.2)
    begin = time.monotonic()
    with pytest.raises(GitProblem, match="did not answer in time") as caught:
        contents.manifest(str(shop), ["."])
    assert "git status" in caught.value.remedy
    assert command.removed_tests(str(shop)) == []
    assert time.monotonic() - begin < 2.5


def test_a_pipe_that_git_itself_opens_ends_in_time(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gits, "TIMEOUT", 0.3)
    (shop / ".gitignore").unlink()
    os.mkfifo(shop / "excludes")
    small_project.git(shop, "config", "core.excludesFile", str(shop / "excludes"))
    with pytest.raises(GitProblem, match="did not answer in time") as caught:
        contents.manifest(str(shop), ["."])
    assert "FIFO" in caught.value.remedy


def test_links_that_lead_to_themselves_are_no_pipes(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gits, "TIMEOUT", 0.3)
    (shop / ".gitloop").symlink_to(".gitloop")
    (shop / ".gitignore").unlink()
    os.mkfifo(shop / ".gitignore")
    with pytest.raises(GitProblem, match=r"git waits for .*/\.gitignore, which is not a regular file"):
        contents.manifest(str(shop), ["."])


@pytest.mark.parametrize("name", [".gitignore", "shop/.gitattributes", ".git/HEAD", ".git/info/exclude", ".git/config"])
def test_a_fifo_in_the_place_of_a_file_of_git_is_named_within_5_seconds(shop: Path, name: str) -> None:
    (shop / name).parent.mkdir(exist_ok=True)
    (shop / name).unlink(missing_ok=True)
    os.mkfifo(shop / name)
    begin = time.monotonic()
    with pytest.raises(GitProblem, match=f"git waits for .*/{name}, which is not a regular file"):
        contents.manifest(str(shop), ["."])
    assert time.monotonic() - begin < 5


def test_all_calls_of_one_question_share_one_budget_of_time(shop: Path) -> None:
    git = Git(str(shop), deadline=time.monotonic() - 1)
    with pytest.raises(GitProblem):
        git.output("ls-files")


def test_output_without_end_is_not_read(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin" / "git", "exec cat /dev/zero")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(gits, "OUTPUT_LIMIT", 1 << 22)
    with pytest.raises(GitProblem, match=r"printed more than 4,194,304 bytes: .*/bin/git"):
        contents.manifest(str(shop), ["."])


@pytest.mark.parametrize("printed", [r"x\tsrc/a.py\0", r"\0\0", "words", r"100644\tx\0", r"a\0b\0"])
def test_a_git_that_prints_garbage_is_said_to(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str
) -> None:
    program(tmp_path / "bin" / "git", f"printf '{printed}'")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(GitProblem, match="printed what cannot be read") as caught:
        contents.manifest(str(shop), ["."])
    assert "PATH" in caught.value.remedy
