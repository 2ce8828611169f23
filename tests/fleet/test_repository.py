"""Worktrees are kept as commits, and nothing of the user's, nor a program of the configuration, has a part in it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from skills.lib.errors import RefusedError
from skills.lib.fleet.folders import Folders
from skills.lib.fleet.repository import Repository
from tests.fleet.fleets import git, project, worker

ADD = "#!/bin/sh\ntouch {0}\ncat\n"


def trapped(folder: Path, mark: Path) -> None:
    """Hooks, a filter and a monitor, each of which makes a file if it runs."""
    program = folder.parent / "program"
    program.write_text(ADD.format(mark), encoding="utf-8")
    program.chmod(0o755)
    for hook in ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        os.symlink(program, folder / ".git" / "hooks" / hook)
    for name, value in (
        ("filter.trap.clean", str(program)),
        ("filter.trap.smudge", str(program)),
        ("filter.trap.required", "true"),
        ("core.fsmonitor", str(program)),
    ):
        git(folder, "config", name, value)
    (folder / ".gitattributes").write_text("*.txt filter=trap\n", encoding="utf-8")


@pytest.mark.req("X-03.3")
def test_a_snapshot_runs_no_program_and_leaves_the_index_alone(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    trapped(folder, tmp_path / "ran")
    (folder / "notes.txt").write_text("one\n", encoding="utf-8")
    index = (folder / ".git" / "index").read_bytes()
    repository = Repository(str(folder))
    commit = repository.begin("abc")
    tree = repository.check_out(commit, str(tmp_path / "w" / "abc"), str(tmp_path / "w" / "abc.index"))
    assert (Path(tree.project) / "notes.txt").read_text(encoding="utf-8") == "one\n"
    (Path(tree.project) / "notes.txt").write_text("two\n", encoding="utf-8")
    later = repository.snapshot(tree.folder, str(tmp_path / "w" / "abc.index"), "abc", "two")
    assert not (tmp_path / "ran").exists()
    assert (folder / ".git" / "index").read_bytes() == index
    git(folder, "config", "--unset", "core.fsmonitor")
    assert git(folder, "show", f"{later}:notes.txt") == "two"
    assert git(folder, "show", f"{commit}:notes.txt") == "one"


def test_a_snapshot_of_nothing_new_is_the_one_before(tmp_path: Path) -> None:
    repository = Repository(str(project(tmp_path / "p")))
    commit = repository.begin("abc")
    index = str(tmp_path / "w" / "abc.index")
    tree = repository.check_out(commit, str(tmp_path / "w" / "abc"), index)
    assert repository.snapshot(tree.folder, index, "abc", "nothing") == commit == repository.tip("abc")
    (Path(tree.project) / "README.md").unlink()
    (Path(tree.project) / "new").mkdir()
    (Path(tree.project) / "new" / "file").symlink_to("../nowhere")
    later = repository.snapshot(tree.folder, index, "abc", "changed")
    assert later == repository.tip("abc") != commit
    changed = git(Path(repository.top), "diff", "--name-status", commit, later).splitlines()
    assert changed == ["D\tREADME.md", "A\tnew/file"]
    repository.remove(tree)
    assert not os.path.exists(tree.folder)
    assert not os.path.exists(tree.admin)
    assert repository.has(later)


def test_a_checkout_takes_the_place_of_one_that_a_killed_worker_began(tmp_path: Path) -> None:
    repository = Repository(str(project(tmp_path / "p")))
    commit = repository.begin("abc")
    begun = tmp_path / "w" / "abc"
    begun.mkdir(parents=True)
    (begun / "half").write_text("half of a file", encoding="utf-8")
    tree = repository.check_out(commit, str(begun), str(tmp_path / "w" / "abc.index"))
    assert (Path(tree.project) / "README.md").read_text(encoding="utf-8") == "A project.\n"
    assert not (begun / "half").exists()


def test_a_worktree_that_names_another_repository_is_still_kept_in_its_own(tmp_path: Path) -> None:
    repository = Repository(str(project(tmp_path / "p")))
    other = project(tmp_path / "other")
    index = str(tmp_path / "w" / "abc.index")
    tree = repository.check_out(repository.begin("abc"), str(tmp_path / "w" / "abc"), index)
    (Path(tree.folder) / ".git").write_text(f"gitdir: {other}/.git\n", encoding="utf-8")
    (Path(tree.folder) / "made").write_text("here\n", encoding="utf-8")
    commit = repository.snapshot(tree.folder, index, "abc", "made")
    assert git(Path(repository.top), "show", f"{commit}:made") == "here"
    assert git(other, "for-each-ref", "refs/lockstep") == ""


def test_a_project_in_a_folder_of_a_repository_and_one_without_a_commit(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "below").mkdir(parents=True)
    git(top, "init", "--quiet")
    (top / "below" / "file").write_text("x\n", encoding="utf-8")
    repository = Repository(str(top / "below"))
    tree = repository.check_out(repository.begin("abc"), str(tmp_path / "w" / "abc"), str(tmp_path / "w" / "abc.index"))
    assert Path(tree.project) == tmp_path / "w" / "abc" / "below"
    assert (Path(tree.project) / "file").read_text(encoding="utf-8") == "x\n"


def folders(top: Path) -> tuple[Folders, Repository, Path]:
    """The folders of the worker w of a project, and where its worktrees are."""
    repository = Repository(str(project(top)))
    place = top / ".lockstep" / "fleet" / "w"
    return Folders(repository, str(place)), repository, place / "runs"


@pytest.mark.parametrize("link", ["fleet/w", "fleet/w/runs"])
def test_a_worker_whose_folder_is_a_link_is_refused_and_removes_nothing_behind_it(tmp_path: Path, link: str) -> None:
    repository = Repository(str(project(tmp_path / "p")))
    outside = tmp_path / "outside"
    (outside / "runs" / "projects").mkdir(parents=True)
    (outside / "runs" / "projects.json").write_text("{}", encoding="utf-8")
    place = tmp_path / "p" / ".lockstep" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(outside if link == "fleet/w" else outside / "runs")
    with pytest.raises(RefusedError, match="is a link"):
        Folders(repository, str(tmp_path / "p" / ".lockstep" / "fleet" / "w"))
    with pytest.raises(RefusedError, match="is a link"), worker(tmp_path / "p", name="w"):
        pass
    assert sorted(path.name for path in outside.rglob("*")) == ["projects", "projects.json", "runs"]


def test_a_note_that_a_project_brings_leads_to_no_other_folder(tmp_path: Path) -> None:
    found, repository, runs = folders(tmp_path / "p")
    commit, outside = repository.begin("abc"), tmp_path / "outside"
    outside.mkdir()
    (runs / "abc").mkdir()
    git(tmp_path / "p", "worktree", "add", "--quiet", str(tmp_path / "mine"))
    admin = tmp_path / "p" / ".git" / "worktrees" / "mine"
    note = {"folder": str(outside), "admin": str(admin), "project": str(outside), "made": [commit]}
    (runs / "abc.json").write_text(json.dumps(note), encoding="utf-8")
    assert found.prepare("abc", commit).tree.project == str(runs / "abc")
    found.remove("abc")
    assert (admin / "HEAD").is_file()


@pytest.mark.parametrize("name", ["abc", "abc.index"])
def test_a_link_in_the_place_of_a_worktree_or_of_its_index_is_replaced(tmp_path: Path, name: str) -> None:
    found, repository, runs = folders(tmp_path / "p")
    commit, outside = repository.begin("abc"), tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "kept").write_text("kept\n", encoding="utf-8")
    (runs / name).symlink_to(outside if name == "abc" else tmp_path / "kept")
    if name == "abc.index":
        (runs / "abc").mkdir()
    note = {"folder": "", "admin": "", "project": "", "made": [commit]}
    (runs / "abc.json").write_text(json.dumps(note), encoding="utf-8")
    made = found.prepare("abc", commit)
    assert (Path(made.tree.project) / "README.md").read_text(encoding="utf-8") == "A project.\n"
    assert not (runs / name).is_symlink()
    assert list(outside.iterdir()) == []
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "kept\n"
