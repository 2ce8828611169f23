"""The branch, the commit and the content of a working tree: a commit does not change the content, an edit does."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from skills.lib.guard import shell, worktree

pytestmark = pytest.mark.req("G-04")


def git(folder: Path, *words: str) -> str:
    """What git printed."""
    settings = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always")
    command = ["git", *settings, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30, check=True).stdout.strip()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.py").write_text("a\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "b c.py").write_text("b\n")
    (folder / ".gitignore").write_text("*.log\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


def test_an_edit_changes_the_tree_and_a_commit_does_not(project: Path) -> None:
    first = worktree.tree(str(project))
    (project / "a.py").write_text("b\n")
    edited = worktree.tree(str(project))
    git(project, "add", "a.py")
    staged = worktree.tree(str(project))
    git(project, "commit", "-qm", "two")
    assert first
    assert edited != first
    assert worktree.tree(str(project)) == staged == edited
    (project / "a.py").write_text("a\n")
    assert worktree.tree(str(project)) == first


def test_what_else_changes_the_tree(project: Path) -> None:
    trees = [worktree.tree(str(project))]

    def changed() -> bool:
        trees.append(worktree.tree(str(project)))
        return trees[-1] not in trees[:-1]

    (project / "new.py").write_text("")
    assert changed()
    (project / "a.py").chmod(0o755)
    assert changed()
    (project / "sub" / "b c.py").unlink()
    assert changed()
    (project / "a.py").rename(project / "z.py")
    assert changed()
    (project / "link").symlink_to("z.py")
    assert changed()
    (project / "link").unlink()
    (project / "link").symlink_to("new.py")
    assert changed()
    (project / "\udcff\n").write_text("x")
    assert changed()


def test_what_does_not_change_the_tree(project: Path) -> None:
    first = worktree.tree(str(project))
    (project / "x.log").write_text("ignored")
    for name in ("__pycache__", "node_modules", ".pytest_cache", ".lockstep"):
        (project / name).mkdir()
        (project / name / "x").write_text("made anew")
    (project / "empty").mkdir()
    os.utime(project / "a.py", (1, 1))
    git(project, "branch", "other")
    git(project, "checkout", "-q", "other")
    assert worktree.tree(str(project)) == worktree.tree(str(project / "sub")) == first


def test_a_change_with_the_same_size_and_time_is_seen(project: Path) -> None:
    """What changed a moment ago is read again; later, the time of the change of the file's entry gives it away."""
    for _ in range(3):
        worktree.tree(str(project))
        about = (project / "a.py").stat()
        first = worktree.tree(str(project))
        text = (project / "a.py").read_text()
        (project / "a.py").write_text("x\n" if text == "y\n" else "y\n")
        os.utime(project / "a.py", ns=(about.st_atime_ns, about.st_mtime_ns))
        assert worktree.tree(str(project)) != first
        time.sleep(0.6)


def test_files_are_read_once(project: Path, tmp_path: Path) -> None:
    time.sleep(1.1)
    first = worktree.tree(str(project))
    (kept,) = (tmp_path / "cache" / "lockstep" / "trees").iterdir()
    known = kept.read_text()
    assert known.count('"') == 2 * 2 * 3  # a path and a digest of each of three files
    forged = known.replace(known.split('["')[1][:32], "0" * 32)
    kept.write_text(forged)
    assert worktree.tree(str(project)) != first
    for damage in ("", "[", "[]", '{"a.py": 1}', '{"a.py": [1]}'):
        kept.write_text(damage)
        assert worktree.tree(str(project)) == first


def test_a_tree_that_takes_too_long_is_known_later(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time.sleep(1.1)
    with monkeypatch.context() as few:
        few.setattr(worktree, "MOST_BYTES", 6)  # the three files have ten
        assert worktree.tree(str(project)) is None
        found = worktree.tree(str(project))
    assert found == worktree.tree(str(project))
    assert found is not None


def test_a_tree_without_a_cache(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = worktree.tree(str(project))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert worktree.tree(str(project)) == first


def test_an_edit_in_a_submodule_or_an_embedded_repository_changes_the_tree(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q", "-b", "main")
    (other / "f").write_text("f\n")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "one")
    git(project, "submodule", "add", "-q", str(other), "module")
    git(project, "clone", "-q", str(other), "embedded")
    first = worktree.tree(str(project))
    git(project, "commit", "-qm", "two")
    assert worktree.tree(str(project)) == first
    for name in ("module", "embedded"):
        (project / name / "f").write_text("g\n")
        second = worktree.tree(str(project))
        assert second != first
        git(project / name, "commit", "-qam", "two")
        assert worktree.tree(str(project)) == second
        first = second


def test_what_cannot_be_told_is_not_known(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert worktree.tree(str(tmp_path)) is None
    assert worktree.branch(str(tmp_path)) is worktree.head(str(tmp_path)) is None
    with monkeypatch.context() as few:
        few.setattr(worktree, "MOST_FILES", 2)
        assert worktree.tree(str(project)) is None
    with monkeypatch.context() as few:
        few.setattr(worktree, "MOST_BYTES", 1)
        (project / "a.py").write_text("new\n")
        assert worktree.tree(str(project)) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert worktree.tree(str(project)) is None
    assert worktree.branch(str(project)) == "main"


def test_a_fifo_is_not_waited_for(project: Path) -> None:
    first = worktree.tree(str(project))
    os.mkfifo(project / "fifo")
    assert worktree.tree(str(project)) == first


def test_the_branch_and_the_commit(project: Path, tmp_path: Path) -> None:
    head = git(project, "rev-parse", "HEAD")
    assert (worktree.branch(str(project / "sub")), worktree.head(str(project / "sub"))) == ("main", head)
    git(project, "checkout", "-qb", "feature/x")
    assert (worktree.branch(str(project)), worktree.head(str(project))) == ("feature/x", head)
    git(project, "pack-refs", "--all")
    assert worktree.head(str(project)) == head
    git(project, "worktree", "add", "-q", "-b", "linked", str(tmp_path / "linked"))
    assert (worktree.branch(str(tmp_path / "linked")), worktree.head(str(tmp_path / "linked"))) == ("linked", head)
    git(project, "checkout", "-q", head)
    assert (worktree.branch(str(project)), worktree.head(str(project))) == (None, head)


@pytest.mark.parametrize("text", ["", "ref: refs/heads/../../x", "ref: HEAD", "zzz", "ref: refs/heads/none", "\0"])
def test_a_head_that_is_odd_is_not_followed(project: Path, text: str) -> None:
    (project / ".git" / "x").write_text("a" * 40)
    (project / ".git" / "HEAD").write_text(text)
    assert worktree.head(str(project)) is None


@pytest.mark.parametrize(
    "line, branch",
    [
        ("git push", "main"),
        ("git push origin", "main"),
        ("git push -f origin HEAD", "main"),
        ("git push origin release", "release"),
        ("git push origin +release", "release"),
        ("git push origin HEAD:release", "release"),
        ("git push origin x:refs/heads/release", "release"),
        ("git push origin :release", "release"),
        ("git push origin x:heads/release", "release"),
        ("git -c user.name=x push", "main"),
        ("git -c push.default=matching push", None),
        ("git -c remote.origin.push=x:release push", None),
        ("git push --al", None),
        ("git push --mir origin", None),
        ("git push origin a b", None),
        ("git push origin $X", None),
        ("git push --all", None),
        ("git push --mirror origin", None),
        ("git push origin 'refs/heads/*:refs/heads/*'", None),
        ("git push -o x origin", None),
        ("git push origin x:HEAD", None),
        ("cd sub && git push", "main"),
        ("git -C sub push", "main"),
        ("git -C .. push", None),
        ("git --git-dir=x push", None),
        ("cd $X && git push", None),
        ("git checkout x && git push", None),
    ],
)
def test_the_branch_of_a_push(project: Path, line: str, branch: str | None) -> None:
    (found,) = shell.read(line, str(project)).matches(("git", "push"))
    assert found.value("branch") == branch


def test_the_facts_of_a_command(project: Path) -> None:
    (found,) = shell.read("cd sub && git push", str(project)).matches(("git", "push"))
    assert found.value("head") == git(project, "rev-parse", "HEAD")
    assert found.value("tree") == worktree.tree(str(project))
    assert found.value("nothing") is None
