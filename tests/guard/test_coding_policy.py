"""The policy that ships for coding projects, in stories: a repository with a remote, and an agent that works in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skills.lib.guard.decisions import Allow
from skills.lib.guard.guard import Guard
from tests.guard.guarded import policy

pytestmark = pytest.mark.req("G-07")

FILE = Path(__file__).resolve().parent.parent.parent / "policies" / "coding.yaml"


class Session:
    """An agent in a repository: what the guard answers to its commands, and what it learns from them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.guard = Guard([policy(FILE.read_text(encoding="utf-8"), "lockstep.policy.yaml")], folder=str(folder))
        self.why = ""

    def ask(self, line: str) -> str:
        """allow, look or deny."""
        answer = self.guard.decide("shell", {"command": line})
        if not isinstance(answer, Allow):
            self.why = f"{answer.reason} {' '.join(answer.tools)}"
        return type(answer).__name__.lower()

    def ran(self, line: str, code: int = 0) -> None:
        """The command was run, and ended with that exit code."""
        self.guard.learn("shell", {"command": line}, True, {"exit": code, "output": ""})

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True, timeout=30)

    def edit(self, text: str) -> None:
        (self.folder / "app.py").write_text(text, encoding="utf-8")
        self.guard.learn("edit", {}, True, "")

    def commit(self) -> None:
        self.git("commit", "-qam", "more")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b")
    made = Session(tmp_path / "project")
    made.folder.mkdir()
    made.git("init", "-q", "-b", "topic")
    made.edit("one = 1\n")
    made.git("add", "-A")
    made.commit()
    return made


def test_edit_test_commit_push(session: Session) -> None:
    session.edit("one = 2\n")
    session.ran("make test")
    session.commit()
    assert session.ask("git push origin topic") == "allow"


def test_edit_commit_test_push(session: Session) -> None:
    session.edit("one = 2\n")
    session.commit()
    session.ran("pytest -q")
    assert session.ask("git push") == "allow"


def test_a_push_before_any_test_is_told_what_to_run_first(session: Session) -> None:
    assert session.ask("git push") == "look"
    assert "shell(make test)" in session.why


def test_tests_are_stale_after_an_edit(session: Session) -> None:
    session.ran("make test")
    session.edit("one = 3\n")
    session.commit()
    assert session.ask("git push origin topic") == "deny"
    assert "shell(make test)" in session.why
    session.ran("make test")
    assert session.ask("git push origin topic") == "allow"


def test_tests_are_stale_after_a_file_that_git_does_not_know_yet(session: Session) -> None:
    session.ran("make test")
    (session.folder / "new.py").write_text("two = 2\n", encoding="utf-8")
    assert session.ask("git push") == "deny"


def test_tests_that_failed_stop_a_push(session: Session) -> None:
    session.ran("make test", code=2)
    assert session.ask("git push") == "deny"


def test_a_part_of_the_tests_is_not_enough_and_spoils_nothing(session: Session) -> None:
    session.ran("pytest tests/test_one.py")
    assert session.ask("git push") == "look"
    session.ran("pytest")
    session.ran("python -m pytest -k one")
    assert session.ask("git push") == "allow"
    session.ran("pytest tests/test_one.py", code=1)
    assert session.ask("git push") == "deny"


@pytest.mark.parametrize("line", ["python3 -m unittest -q", "python -m unittest", "python3.11 -m unittest discover -v"])
def test_all_tests_of_unittest_are_enough(session: Session, line: str) -> None:
    session.ran(line)
    assert session.ask("git push") == "allow"
    session.ran(f"{line} test_other", code=1)
    assert session.ask("git push") == "deny"


def test_some_tests_of_unittest_are_not_enough(session: Session) -> None:
    session.ran("python3 -m unittest tests.test_one")
    assert session.ask("git push") == "look"


def test_the_worktree_itself_is_not_removed(session: Session) -> None:
    for path in (".", "./", str(session.folder), f"{session.folder}/out/.."):
        assert session.ask(f"rm -rf {path}") == "deny", path
    assert "inside(%worktree, p)" in session.why


@pytest.mark.parametrize(
    "line, answer",
    [
        ("pytest -q --cov=app -x tests/", "allow"),
        ("pytest -n auto .", "allow"),
        ("python -m pytest --tb=short", "allow"),
        ("go test -race ./...", "allow"),
        ("npm test -- --coverage", "allow"),
        ("tox -q", "allow"),
        ("pytest -kone", "look"),
        ("pytest --lf", "look"),
        ("pytest --deselect=tests/test_one.py", "look"),
        ("pytest tests/unit", "look"),
        ("pytest -p no:x --stepwise", "look"),
        ("go test", "look"),
        ("go test -run One ./...", "look"),
        ("npm test -- one", "look"),
        ("npm test -- -t one", "look"),
        ("npm test -w web", "look"),
        ("cargo test --lib", "look"),
        ("tox -e py311", "look"),
        ("tox -elint", "look"),
        ("nox --session=lint", "look"),
        ("pytest --override-ini=addopts=--co", "look"),
        ("go test -count=0 ./...", "look"),
        ("go test --run=none ./...", "look"),
        ("go test -short ./...", "look"),
        ("cargo test --package=x", "look"),
        ("npm test --workspace=x", "look"),
        ("tox list", "look"),
        ("make test TESTS=tests/test_one.py", "look"),
    ],
)
def test_which_commands_run_all_tests(session: Session, line: str, answer: str) -> None:
    session.ran(line)
    assert session.ask("git push") == answer


@pytest.mark.parametrize("line", ["make test | tail -5", "make test; true", "make -n test", "echo make test"])
def test_what_does_not_show_the_exit_of_the_tests_proves_nothing(session: Session, line: str) -> None:
    session.ran(line)
    assert session.ask("git push") == "look"


@pytest.mark.parametrize(
    "line",
    [
        "git add -A && git commit -m 'x; y'",
        "git status",
        "pip install -e .",
        "ls -la | grep '\\.py$'",
        "make test 2>&1 | tail -5",
        "cd src && make build",
        "git fetch origin && git rebase origin/main",
        "rm -rf build dist",
        "rm app.py",
    ],
)
def test_everyday_commands_stay_allowed(session: Session, line: str) -> None:
    assert session.ask(line) == "allow"


@pytest.mark.parametrize("words", ["--force", "-f", "--force-with-lease", "-uf", "--delete", "--del"])
def test_nothing_is_forced_onto_a_protected_branch(session: Session, words: str) -> None:
    session.ran("make test")
    assert session.ask(f"git push {words} origin main") == "deny"
    assert session.ask("git push origin +topic:main") == "deny"
    assert session.ask("git push origin :main") == "deny"
    assert session.ask("git push -f origin topic:heads/main") == "deny"
    assert session.ask("git push --force origin topic") == "allow"
    assert session.ask("git push origin main") == "allow"


def test_a_push_of_everything_names_no_branch(session: Session) -> None:
    session.ran("make test")
    assert session.ask("git push --mirror origin") == "look"


@pytest.mark.parametrize("path", ["/etc/passwd", "../other", "~/.bashrc", "src/../../x", "$HOME/x", "app.py /tmp/x"])
def test_nothing_outside_of_the_project_is_removed(session: Session, path: str) -> None:
    assert session.ask(f"rm -r {path}") in ("deny", "look")


@pytest.mark.parametrize(
    "line", ["unlink ../a", "rmdir /tmp/a", "shred -u ~/a", "find .. -name x -delete", "find ../a -type f -delete"]
)
def test_other_ways_to_remove_are_ways_to_remove(session: Session, line: str) -> None:
    assert session.ask(line) == "deny"


def test_files_of_the_project_are_removed_in_other_ways(session: Session) -> None:
    assert session.ask("find . -type f -name '*.pyc' -mtime +7 -delete") == "allow"
    assert session.ask("rmdir build/empty") == "allow"


def test_a_link_out_of_the_project_is_outside(session: Session, tmp_path: Path) -> None:
    os.symlink(tmp_path, session.folder / "out")
    assert session.ask("rm out/x") == "deny"


def test_one_release_after_a_person_agreed(session: Session) -> None:
    assert session.ask("make release") == "look"
    session.guard.learn("answer", {"by": "agent"}, True, "go")
    assert session.ask("make release") == "deny"
    session.guard.learn("answer", {"by": "person"}, True, "go")
    assert session.ask("make release") == "allow"
    assert session.ask("make release") == "deny"


def test_an_edit_takes_the_agreement_back(session: Session) -> None:
    session.guard.learn("answer", {"by": "person"}, True, "go")
    session.edit("one = 4\n")
    assert session.ask("make release") == "look"


@pytest.mark.parametrize(
    "hide",
    [
        "sh -c '{}'",
        'bash -lc "{}"',
        "true && {}",
        "env X=1 {}",
        "eval {}",
        "echo x | xargs {}",
        "nohup {} &",
        "$(echo {})",
        "a='{}'; $a",
    ],
)
@pytest.mark.parametrize("line", ["git push", "git -C . push", "git -c x=y push"])
def test_a_push_that_is_hidden_is_a_push(session: Session, hide: str, line: str) -> None:
    assert session.ask(hide.format(line)) in ("look", "deny")
