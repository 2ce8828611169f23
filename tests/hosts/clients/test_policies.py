"""What the four clients really do under a policy: a push is refused before the tests, and again after an edit."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.hosts.clients import clients

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.clients.model import Turn
    from tests.hosts.clients.plays import Going
    from tests.hosts.clients.stage import Stage

pytestmark = [pytest.mark.slow, pytest.mark.req("G-02", "G-07")]
POLICY = """
tools:
  shell(make test): {changes: {tests.passed: "result.exit == 0", tests.at: "$tree"}}
  shell(git push): {needs: ["tests.passed", "tests.at == $tree"]}
"""
MAKEFILE = "test:\n\tgrep -q right answer.txt\n"


def git(stage: Stage, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=stage.project,
        env=clients.common_environment(stage.room),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def pushable(stage: Stage, tmp_path: Path) -> Stage:
    """A project with a policy, a test and a place to push to."""
    (stage.project / "lockstep.policy.yaml").write_text(POLICY)
    (stage.project / "Makefile").write_text(MAKEFILE)
    (stage.project / "answer.txt").write_text("wrong\n")
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "pushed")], check=True)
    git(stage, "config", "user.name", "a")
    git(stage, "config", "user.email", "a@b")
    git(stage, "checkout", "-q", "-b", "work")
    git(stage, "remote", "add", "origin", str(tmp_path / "pushed"))
    git(stage, "add", "-A")
    git(stage, "commit", "-q", "-m", "begin")
    return stage


def test_a_push_is_refused_before_the_tests_allowed_after_them_and_refused_after_an_edit(pushable: Stage) -> None:
    stage, client = pushable, pushable.client
    push, answer = "git push -q origin work", stage.project / "answer.txt"
    told = []

    def play(turn: Turn) -> Going:
        for action in (
            client.shell(push),
            client.shell("make test"),  # they fail
            client.shell(push),
            client.shell("printf 'right\\n' > answer.txt"),
            client.shell("make test"),
            client.shell("git commit -q -a -m right"),
            client.shell(push),
            client.write(stage.project / "new.txt", "new"),
            client.shell(push),
        ):
            turn = yield action
            told.append(turn.output)

    ended = stage.play(play, prompt="Push this.")
    assert ended.code == 0, ended.errors
    assert "look first: tests.passed and tests.at are not known yet" in told[0]
    assert "`make test` shows them" in told[0]
    assert "denied, because tests.passed is FALSE" in told[2]
    assert "denied" not in told[6]
    assert "look first" not in told[6]
    assert git(stage, "rev-parse", "origin/work") == git(stage, "rev-parse", "HEAD")
    assert (stage.project / "new.txt").exists()
    assert "denied, because tests.at == $tree is FALSE" in told[8]
    assert answer.read_text() == "right\n"
