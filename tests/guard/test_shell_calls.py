"""A program asks about its shell tool: the line is taken apart, and each command has its own rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.guard import Guard
from tests.guard.guarded import of_data

pytestmark = pytest.mark.req("G-01")

TOOLS = {
    "shell(make test)": {"changes": {"tests.passed": "result.exit == 0"}},
    "shell(git push)": {"needs": ["tests.passed"]},
    "shell(deploy)": {"needs": ["calls('shell(deploy)') < 2"]},
}


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    return Guard([of_data(tools=TOOLS)], folder=str(tmp_path))


def run(guard: Guard, line: str, exit_code: int | None = 0, call: str = "") -> None:
    assert isinstance(guard.decide("shell", {"command": line}, call), Allow)
    guard.learn("shell", {"command": line}, True, {"exit": exit_code, "output": ""}, call)


def test_a_command_of_a_line_is_decided_by_its_rule(guard: Guard) -> None:
    answer = guard.decide("shell", {"command": "cd . && git -C . push --force"})
    assert isinstance(answer, Look)
    assert (answer.rule, answer.missing) == ("shell(git push)", ("tests.passed",))
    assert isinstance(guard.decide("shell", {"command": "git status"}), Allow)


def test_a_line_that_is_not_certain_is_a_look(guard: Guard) -> None:
    run(guard, "make test")
    answer = guard.decide("shell", {"command": "sh -c 'git push'"})
    assert isinstance(answer, Look)
    assert answer.reason.endswith("run it as one simple command")


def test_the_result_of_a_line_is_that_of_its_commands(guard: Guard) -> None:
    run(guard, "make test")
    assert isinstance(guard.decide("shell", {"command": "git push"}), Allow)
    run(guard, "make test", 2)
    assert isinstance(guard.decide("shell", {"command": "git push"}), Deny)
    run(guard, "make test | tail -1")
    assert isinstance(guard.decide("shell", {"command": "git push"}), Look)


def test_each_command_of_a_line_is_counted(guard: Guard) -> None:
    run(guard, "deploy a && deploy b", call="one")
    assert guard.counts == {"shell(deploy)": 2}
    assert isinstance(guard.decide("shell", {"command": "deploy c"}), Deny)


def test_a_line_that_failed_is_taken_off(guard: Guard) -> None:
    run(guard, "deploy a", 1)
    assert guard.counts == {"shell(deploy)": 0}


def test_each_policy_decides_by_its_own_rules(tmp_path: Path) -> None:
    other = of_data(tools={"shell(rm)": {"needs": ["false"]}})
    guard = Guard([of_data(tools=TOOLS), other], folder=str(tmp_path))
    run(guard, "make test")
    assert isinstance(guard.decide("shell", {"command": "git push"}), Allow)
    assert isinstance(guard.decide("shell", {"command": "git push; rm a"}), Deny)
    assert isinstance(guard.decide("shell", {"command": "bash x.sh"}), Look)


def test_the_changes_make_another_guard_know_the_same(guard: Guard) -> None:
    changes = [*guard.learn("shell", {"command": "make test"}, True, {"exit": 0, "output": ""})]
    again = Guard(guard.policies, changes, folder=guard.folder)
    assert isinstance(again.decide("shell", {"command": "git push"}), Allow)


def test_the_rule_of_the_shell_itself_holds_once(tmp_path: Path) -> None:
    guard = Guard([of_data(tools={"shell": {"needs": ["calls('shell') < 2"]}})], folder=str(tmp_path))
    run(guard, "ls")
    run(guard, "ls && pwd")
    assert isinstance(guard.decide("shell", {"command": "ls"}), Deny)
