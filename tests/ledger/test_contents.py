"""The files that a review covers: every change of their content is seen, and no other change is."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.ledger import contents

SRC = ["src/**"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git checkout with four files below src."""
    root = tmp_path / "repository"
    commit(root, **{"src/a.py": "one\n", "src/b.py": "two\n", "src/deep/c.py": "three\n", "README.md": "read\n"})
    return root


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Another repository, to be a submodule."""
    root = tmp_path / "library"
    commit(root, **{"m.py": "one\n", ".gitignore": "build/\n"})
    return root


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always", *words]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def commit(root: Path, **files: str) -> None:
    for path, text in files.items():
        write(root, path, text)
    if not (root / ".git").exists():
        git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "more")


def seen(project: Path, covers: list[str], change: Callable[[], object]) -> list[str]:
    """The covered paths that differ after the change."""
    before = contents.manifest(str(project), covers)
    change()
    after = contents.manifest(str(project), covers)
    assert (contents.digest(before) == contents.digest(after)) == (before == after)
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


@pytest.mark.req("S-01")
def test_a_project_in_a_subfolder_of_a_repository_is_seen_as_one_at_its_top_is(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    commit(root, **{"src/a.py": "the other\n", "app/src/a.py": "one\n", "app/src/b.py": "two\n", "app/src/d.py": "x\n"})
    app = root / "app"
    assert seen(app, SRC, lambda: write(app, "src/a.py", "changed\n")) == ["src/a.py"]
    assert seen(app, SRC, (app / "src/b.py").unlink) == ["src/b.py"]
    assert seen(app, SRC, lambda: write(app, "src/new.py", "new\n")) == ["src/new.py"]
    assert seen(app, SRC, lambda: write(root, "src/a.py", "changed\n")) == []
    assert list(contents.manifest(str(app), SRC)) == ["src/a.py", "src/d.py", "src/new.py"]


@pytest.mark.req("S-01")
@pytest.mark.parametrize("where", [".gitattributes", ".git/info/attributes"])
def test_a_touched_file_of_a_subfolder_whose_line_ends_git_converts_is_as_it_was(tmp_path: Path, where: str) -> None:
    root = tmp_path / "repository"
    commit(root, **{"app/src/a.py": "one\n"})
    write(root, where, "*.py text eol=crlf\n")
    (root / "app/src/a.py").write_bytes(b"one\r\n")
    git(root, "add", "-A")
    assert seen(root / "app", SRC, lambda: os.utime(root / "app/src/a.py", (1, 1))) == []


@pytest.mark.req("S-01")
def test_a_project_in_a_folder_that_the_repository_around_it_ignores_is_covered(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    commit(root, **{".gitignore": "scratch/\n"})
    app = root / "scratch" / "app"
    write(app, "src/a.py", "one\n")
    assert seen(app, SRC, lambda: write(app, "src/a.py", "changed\n")) == ["src/a.py"]


@pytest.mark.req("S-01")
@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree", "--fsmonitor-valid"])
def test_a_file_that_git_is_configured_to_skip_is_read(repository: Path, mark: str) -> None:
    git(repository, "update-index", mark, "src/a.py")
    assert seen(repository, SRC, lambda: git(repository, "status")) == []
    assert seen(repository, SRC, lambda: write(repository, "src/a.py", "changed\n")) == ["src/a.py"]
    assert seen(repository, SRC, (repository / "src/a.py").unlink) == ["src/a.py"]


@pytest.mark.req("S-01")
def test_a_change_that_keeps_size_and_time_is_seen_whatever_git_is_configured_to_trust(repository: Path) -> None:
    for name, value in (("core.trustctime", "false"), ("core.checkStat", "minimal"), ("core.ignoreStat", "true")):
        git(repository, "config", name, value)
    file = repository / "src/a.py"
    os.utime(file, (1_000_000_000, 1_000_000_000))
    git(repository, "update-index", "--refresh")
    time.sleep(1.1)  # git compares the time of the last change of status by the second

    def change() -> None:
        file.write_text("two\n", encoding="utf-8")
        os.utime(file, (1_000_000_000, 1_000_000_000))

    assert seen(repository, SRC, change) == ["src/a.py"]


@pytest.mark.req("S-01")
@pytest.mark.parametrize("trusted", ["true", "false"])
def test_the_mode_of_a_file_is_part_of_its_content(repository: Path, trusted: str) -> None:
    git(repository, "config", "core.fileMode", trusted)
    assert seen(repository, SRC, lambda: (repository / "src/a.py").chmod(0o755)) == ["src/a.py"]
    assert seen(repository, SRC, lambda: git(repository, "add", "-A")) == []
    assert seen(repository, SRC, lambda: git(repository, "update-index", "--chmod=+x", "src/a.py")) == []
    assert seen(repository, SRC, lambda: (repository / "src/a.py").chmod(0o644)) == ["src/a.py"]


@pytest.mark.req("S-01")
def test_a_name_that_differs_only_in_case_is_another_file(repository: Path) -> None:
    git(repository, "config", "core.ignorecase", "true")
    assert seen(repository, SRC, lambda: write(repository, "src/B.py", "another\n")) == ["src/B.py"]


# Repositories in the project


@pytest.mark.req("S-01")
def test_the_files_of_a_submodule_are_covered(repository: Path, library: Path) -> None:
    git(repository, "submodule", "add", "-q", str(library), "src/lib")
    git(repository, "commit", "-qam", "submodule")
    inside = repository / "src/lib"
    assert seen(repository, SRC, lambda: write(inside, "m.py", "changed\n")) == ["src/lib/m.py"]
    assert seen(repository, SRC, lambda: git(inside, "commit", "-qam", "inside")) == []
    assert seen(repository, SRC, lambda: commit(inside, **{"m.py": "changed and committed\n"})) == ["src/lib/m.py"]
    assert seen(repository, SRC, lambda: write(inside, "new.py", "new\n")) == ["src/lib/new.py"]
    assert seen(repository, SRC, lambda: write(inside, "build/out", "made\n")) == []
    assert seen(repository, ["*.md"], lambda: write(inside, "m.py", "changed again\n")) == []


@pytest.mark.req("S-01")
def test_a_submodule_that_was_never_fetched_covers_what_lies_in_its_folder(
    repository: Path, library: Path, tmp_path: Path
) -> None:
    git(repository, "submodule", "add", "-q", str(library), "src/lib")
    git(repository, "commit", "-qam", "submodule")
    git(tmp_path, "clone", "-q", str(repository), "clone")
    clone = tmp_path / "clone"
    assert list(contents.manifest(str(clone), SRC)) == ["src/a.py", "src/b.py", "src/deep/c.py"]
    assert seen(clone, SRC, lambda: write(clone, "src/lib/new.py", "new\n")) == ["src/lib/new.py"]


@pytest.mark.req("S-01")
@pytest.mark.parametrize("committed", [True, False])
def test_the_files_of_a_nested_repository_are_covered(repository: Path, committed: bool) -> None:
    nest = repository / "src/nest"
    write(nest, "n.py", "one\n")
    git(nest, "init", "-q")
    if committed:
        commit(nest)
    assert seen(repository, SRC, lambda: write(nest, "n.py", "changed\n")) == ["src/nest/n.py"]
    assert seen(repository, SRC, lambda: write(nest, "deep/new.py", "new\n")) == ["src/nest/deep/new.py"]
    assert seen(repository, SRC, lambda: write(nest, ".git/description", "changed\n")) == []


@pytest.mark.req("S-01")
def test_a_repository_in_a_hidden_folder_that_is_named_is_covered(repository: Path, library: Path) -> None:
    git(repository, "submodule", "add", "-q", str(library), ".ci/lib")
    assert seen(repository, [".ci/lib/*.py"], lambda: write(repository, ".ci/lib/m.py", "two\n")) == [".ci/lib/m.py"]


@pytest.mark.req("S-01")
def test_a_repository_that_a_package_manager_fetched_is_not_covered(repository: Path) -> None:
    fetched = repository / "src/node_modules/lib"
    commit(fetched, **{"index.js": "one\n"})
    assert seen(repository, SRC, lambda: write(fetched, "index.js", "two\n")) == []


@pytest.mark.req("S-01")
def test_no_program_that_a_nested_repository_configures_is_run(repository: Path, tmp_path: Path) -> None:
    nest, ran = repository / "src/nest", tmp_path / "ran"
    commit(nest, **{"n.py": "one\n", ".gitattributes": "*.py filter=f\n"})
    git(nest, "config", "filter.f.clean", f"touch {ran}; cat")
    git(nest, "config", "core.fsmonitor", f"touch {ran}")
    assert seen(repository, SRC, lambda: write(nest, "n.py", "two\n")) == ["src/nest/n.py"]
    assert not ran.exists()


# Links


@pytest.mark.req("S-01")
@pytest.mark.parametrize("tracked", [True, False])
def test_a_link_counts_with_its_text_and_with_the_file_of_the_project_that_it_leads_to(
    repository: Path, tmp_path: Path, tracked: bool
) -> None:
    write(tmp_path, "outside.py", "one\n")
    link = repository / "src/link.py"
    link.symlink_to("../README.md")
    (repository / "src/out.py").symlink_to(tmp_path / "outside.py")
    if tracked:
        commit(repository)
    assert seen(repository, SRC, lambda: write(repository, "README.md", "changed\n")) == ["src/link.py"]
    assert seen(repository, SRC, lambda: write(tmp_path, "outside.py", "changed\n")) == []
    assert seen(repository, SRC, (tmp_path / "outside.py").unlink) == []
    link.unlink()
    assert seen(repository, SRC, lambda: link.symlink_to("nowhere")) == ["src/link.py"]


@pytest.mark.req("S-01")
@pytest.mark.parametrize("covers", [["src/**"], ["src"], ["src/a.py", "src/new.py"]])
@pytest.mark.parametrize("in_git", [True, False])
def test_files_behind_a_link_to_a_folder_are_covered(tmp_path: Path, covers: list[str], in_git: bool) -> None:
    root = tmp_path / "project"
    write(root, "real/a.py", "one\n")
    (root / "src").symlink_to("real")
    if in_git:
        commit(root)
    assert seen(root, covers, lambda: write(root, "real/a.py", "changed\n")) == ["src/a.py"]
    assert seen(root, covers, lambda: write(root, "real/new.py", "new\n")) == ["src/new.py"]
    assert seen(root, covers, lambda: write(root, "other.py", "new\n")) == []


@pytest.mark.req("S-01")
def test_a_link_to_a_folder_around_it_is_not_followed(repository: Path) -> None:
    (repository / "src/up").symlink_to("..")
    assert list(contents.manifest(str(repository), SRC)) == ["src/a.py", "src/b.py", "src/deep/c.py", "src/up"]
    assert seen(repository, SRC, lambda: write(repository, "README.md", "changed\n")) == []


# What is named, what is ignored, what is made


@pytest.mark.req("S-01")
def test_a_folder_that_is_named_counts_whole_and_by_a_glob_without_what_git_ignores(repository: Path) -> None:
    commit(repository, **{".gitignore": "build/\n*.env\n", "plans/x/.changes/a.diff": "one\n"})
    for path in ("build/out", "deep/a.env"):
        write(repository, f"plans/x/.changes/{path}", "one\n")
    named, glob = ["plans/x/.changes"], ["plans/**"]
    for path in ("build/out", "deep/a.env"):
        full = f"plans/x/.changes/{path}"
        assert seen(repository, glob, lambda full=full: write(repository, full, "two\n")) == []  # type: ignore[misc]
        assert seen(repository, named, lambda full=full: write(repository, full, "three\n")) == [full]  # type: ignore[misc]
    assert seen(repository, named, lambda: write(repository, "plans/x/.changes/new.env", "new\n")) == [
        "plans/x/.changes/new.env"
    ]


@pytest.mark.req("S-01")
def test_a_ledger_in_a_folder_that_is_named_is_not_covered(repository: Path) -> None:
    write(repository, "src/.lockstep/.gitignore", "*\n")
    assert seen(repository, ["src"], lambda: write(repository, "src/.lockstep/runs.db", "moved\n")) == []


MADE = ["__pycache__/a.cpython-311.pyc", "a.pyc", ".pytest_cache/v/lastfailed", ".mypy_cache/x", "node_modules/m/i.js"]


@pytest.mark.req("S-01")
@pytest.mark.parametrize("covers", [["src/**"], ["src"], ["."]])
@pytest.mark.parametrize("path", MADE)
def test_what_programs_make_anew_drops_no_verdict_though_git_does_not_ignore_it(
    repository: Path, covers: list[str], path: str
) -> None:
    assert seen(repository, covers, lambda: write(repository, f"src/{path}", "made\n")) == []
    commit(repository)
    assert seen(repository, ["src/**"], lambda: write(repository, f"src/{path}", "tracked\n")) == [f"src/{path}"]


@pytest.mark.req("S-01")
@pytest.mark.parametrize("in_git", [True, False])
@pytest.mark.parametrize(
    "text, path, other",
    [
        ("src/[ab].py", "src/[ab].py", "src/a.py"),
        ("src/{a,b}.py", "src/{a,b}.py", "src/b.py"),
        ("app/[id]", "app/[id]/page.py", "app/i/page.py"),
        ("src/*.py", "src/*.py", "src/a.py"),
    ],
)
def test_a_path_that_is_there_is_taken_literally(
    tmp_path: Path, text: str, path: str, other: str, in_git: bool
) -> None:
    for name in (path, other):
        write(tmp_path, name, "one\n")
    if in_git:
        commit(tmp_path)
    assert list(contents.manifest(str(tmp_path), [text])) == [path]
    assert contents.covered(str(tmp_path), [text], [path, other]) == {path}
    assert seen(tmp_path, [text], lambda: write(tmp_path, path, "changed\n")) == [path]
    assert seen(tmp_path, [text], lambda: write(tmp_path, other, "changed\n")) == []


@pytest.mark.req("S-01")
@pytest.mark.parametrize(
    "text, paths",
    [
        ("src/[ab].py", ["src/a.py", "src/b.py"]),
        ("src/[!a].py", ["src/b.py"]),
        ("src/{a,deep/c}.py", ["src/a.py", "src/deep/c.py"]),
        ("src/{a,b", []),
        ("src/[a", []),
        ("src/?.py", ["src/a.py", "src/b.py"]),
    ],
)
def test_a_pattern_that_is_no_path_is_read_as_a_glob(repository: Path, text: str, paths: list[str]) -> None:
    assert list(contents.manifest(str(repository), [text])) == paths


@pytest.mark.req("S-01")
@given(st.text("ab/[]{}!^,*?-\\\\&|~.(", min_size=1, max_size=12).map(os.path.normpath))
def test_every_pattern_is_readable_and_covers_the_path_that_it_spells(text: str) -> None:
    assert text == "." or contents.covered("/nowhere", [text], [text]) == {text}


# What git is told about a file's content


@pytest.fixture(params=[True, False])
def is_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """True if the covered files are few enough to be read, whatever git knows of them."""
    if not request.param:
        monkeypatch.setattr(contents, "READ_FILES", 0)
    return bool(request.param)


def convert(repository: Path, way: str) -> None:
    """Let git keep src/id.py without what stands between $Id: and $, in one of the ways to say so."""
    text = "*.py ident\n"
    if way == "ignored by the repository":
        write(repository, ".git/info/exclude", ".gitattributes\n")
        write(repository, ".gitattributes", text)
    elif way == "ignored by the project":
        commit(repository, **{".gitignore": ".gitattributes\n"})
        write(repository, "src/.gitattributes", text)
    elif way == "behind a megabyte":
        commit(repository, **{".gitattributes": "# comment\n" * 110_000 + text})
    elif way == "in the index alone":
        commit(repository, **{".gitattributes": text})
        (repository / ".gitattributes").unlink()
    elif way == "by a relative path":
        write(repository, "odd", text)
        git(repository, "config", "core.attributesFile", "odd")
    else:
        write(repository, ".gitattributes", f"[attr]mine ident\n{text.replace('ident', 'mine')}")


@pytest.mark.usefixtures("is_read")
@pytest.mark.parametrize(
    "way",
    [
        "ignored by the repository",
        "ignored by the project",
        "behind a megabyte",
        "in the index alone",
        "by a relative path",
        "by a macro",
    ],
)
def test_a_change_that_git_does_not_keep_is_seen_wherever_its_attribute_is_written(
    repository: Path, way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    convert(repository, way)
    commit(repository, **{"src/id.py": "# $Id: aaaa $\n"})

    def change() -> None:
        write(repository, "src/id.py", "# $Id: bbbb $\n")
        git(repository, "status")

    assert seen(repository, SRC, change) == ["src/id.py"]


def test_a_change_that_a_rewritten_index_hides_is_seen_if_the_covered_files_are_few(repository: Path) -> None:
    index = repository / ".git/index"
    before = git(repository, "rev-parse", ":src/a.py").strip()

    def change() -> None:
        write(repository, "src/a.py", "six\n")
        time.sleep(1.1)  # git reads again what was changed in the second in which it wrote its index
        git(repository, "add", "src/a.py")
        after = git(repository, "rev-parse", ":src/a.py").strip()
        data = index.read_bytes()[:-20].replace(bytes.fromhex(after), bytes.fromhex(before))
        index.write_bytes(data + hashlib.sha1(data).digest())
        assert git(repository, "diff-files", "--name-only") == ""

    assert seen(repository, SRC, change) == ["src/a.py"]


@pytest.mark.parametrize("covers", [["src/**"], ["src"], ["src/out.py"], ["."]])
def test_nothing_outside_of_the_project_is_read_for_a_link(repository: Path, tmp_path: Path, covers: list[str]) -> None:
    write(tmp_path, "secret", "secret\n")
    (repository / "src/out.py").symlink_to("../../secret")
    found = contents.manifest(str(repository), covers)["src/out.py"]
    assert found == contents.blob_id(12, [b"../../secret"])
    (repository / "src/out.py").unlink()
    (repository / "src/out.py").symlink_to("/proc/kmsg")
    assert contents.manifest(str(repository), covers)["src/out.py"] == contents.blob_id(10, [b"/proc/kmsg"])


def test_a_fifo_that_is_covered_is_no_file(repository: Path) -> None:
    os.mkfifo(repository / "src/pipe.py")
    assert "src/pipe.py" not in contents.manifest(str(repository), ["src", "src/**", "src/pipe.py"])
