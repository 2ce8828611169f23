"""Whatever a program gives to a runner, it is kept and can be read again, or it is refused and nothing is lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.blocks.command_line import CommandLine, lockstep_command
from skills.lib.errors import LedgerError, LockstepError, UsageError
from skills.lib.ledger import Ledger, verification
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.run import Request
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome
from skills.lib.runtime import Runner
from tests.fixtures.embedding import runner_in

TICKETS = Workflow(
    "tickets",
    StepDef("read", "Read", ["Sum it up."], {Outcome.OK: None}, requires=[Field("summary", "json")]),
    params=[Arg("ticket", required=False)],
)
DEEP: Any = []
for _ in range(60):
    DEEP = [DEEP]
ODD: dict[str, Any] = {
    "NUL": "a\0b",
    "a control character": "\x01",
    "no character": "\ufffe",
    "half of a character": "\ud800",
    "bytes": b"x",
    "an object": object(),
    "not a number": float("nan"),
    "an infinity": float("inf"),
    "thousands of digits": 10**5_000,
    "a name that is a number": {1: 2},
    "a name that cannot be printed": {"\0": 1},
    "too deep": DEEP,
}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return runner_in(tmp_path)


def is_whole(runner: Runner) -> bool:
    verification.verify(runner.ledger)
    return all(runner.peek(run.id).run == run for run in runner.ledger.every_run())


@pytest.mark.parametrize("what", ODD)
def test_a_value_that_no_ledger_can_hold_is_refused_and_the_run_stands_where_it_stood(
    runner: Runner, what: str
) -> None:
    value = ODD[what]
    run = runner.start(TICKETS, {}).run
    assert run is not None
    with pytest.raises(UsageError):
        runner.start(TICKETS, {"ticket": value}, new=True)
    with pytest.raises(UsageError):
        runner.advance(TICKETS, run.id, Request(turn=1, records={"summary": value}))
    with pytest.raises(UsageError):
        runner.advance(TICKETS, run.id, Request(turn=1, records={"summary": ["s"]}, errata={"ticket": value}))
    with pytest.raises(UsageError):
        runner.abandon(run.id, value)
    with pytest.raises(LockstepError):
        runner.peek(value)
    assert is_whole(runner)
    assert runner.advance(TICKETS, run.id, Request(turn=1, records={"summary": ["s"]})).exit_code == 0


WRONG: list[tuple[str, Callable[[Runner, str], object]]] = [
    ("no workflow", lambda runner, run: runner.start(None, {})),  # type: ignore[arg-type]
    ("no parameters", lambda runner, run: runner.start(TICKETS, None)),  # type: ignore[arg-type]
    ("a list of parameters", lambda runner, run: runner.start(TICKETS, ["x"])),  # type: ignore[arg-type]
    ("a kind that is none", lambda runner, run: runner.start(TICKETS, {}, kind=["a"])),  # type: ignore[arg-type]
    ("no request", lambda runner, run: runner.advance(TICKETS, run, {})),  # type: ignore[arg-type]
    ("a turn in words", lambda runner, run: runner.advance(TICKETS, run, Request(turn="1"))),  # type: ignore[arg-type]
    ("a turn that is true", lambda runner, run: runner.advance(TICKETS, run, Request(turn=True))),
    ("another run", lambda runner, run: runner.advance(TICKETS, run, Request(run="abcdefgh"))),
    ("a run that is a number", lambda runner, run: runner.advance(TICKETS, 5, Request())),  # type: ignore[arg-type]
    ("a run that is a list", lambda runner, run: runner.state(TICKETS, ["a"])),  # type: ignore[arg-type]
    ("no reason", lambda runner, run: runner.abandon(run, None)),  # type: ignore[arg-type]
    ("a run that came from a number", lambda runner, run: runner.start(TICKETS, {}, origin=5)),  # type: ignore[arg-type]
    ("a cursor in words", lambda runner, run: runner.ledger.events_after("x")),  # type: ignore[arg-type]
    ("no cursor", lambda runner, run: runner.ledger.events_after(None)),  # type: ignore[arg-type]
    ("a cursor beyond all numbers", lambda runner, run: runner.ledger.events_after(10**30)),
    ("a limit that is no whole number", lambda runner, run: runner.ledger.events_after(0, 1.5)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("what, call", WRONG, ids=[what for what, _ in WRONG])
def test_what_is_of_another_kind_is_refused(runner: Runner, what: str, call: Callable[[Runner, str], object]) -> None:
    run = runner.start(TICKETS, {}).run
    assert run is not None
    with pytest.raises(UsageError):
        call(runner, run.id)
    assert is_whole(runner)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=values)
def test_any_value_is_kept_as_it_is_or_refused(runner: Runner, value: Any) -> None:
    run = runner.start(TICKETS, {}, new=True).run
    assert run is not None
    try:
        response = runner.advance(TICKETS, run.id, Request(turn=1, records={"summary": value}))
        assert response.text
    except UsageError:
        pass
    assert runner.peek(run.id).run.id == run.id


def test_a_call_of_a_ledger_that_was_closed_says_so(runner: Runner) -> None:
    runner.start(TICKETS, {})
    ledger = Ledger(runner.home, create=False)
    ledger.close()
    with pytest.raises(LedgerError, match="was closed meanwhile"):
        ledger.events_after()


@pytest.mark.parametrize("actor", ["person (prompt)", "person (god)", "root", "", "agent\n", None, 7, ["agent"]])
def test_an_actor_that_the_record_does_not_know_is_refused(tmp_path: Path, actor: Any) -> None:
    with pytest.raises(UsageError, match="actor is ") as told:
        Runner(CommandLine(sys.executable, "", str(tmp_path)), actor)
    assert told.value.valid == "agent, script, person, person (terminal), person (web), person (api)"


def test_the_commands_of_a_run_in_a_relative_project_are_good_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    command_line = CommandLine(sys.executable, "", "project", lockstep_command())
    monkeypatch.chdir("/")
    runner = Runner(command_line)
    opened = runner.start(TICKETS, {})
    runner.close()
    assert opened.run is not None
    assert opened.run.project == str(tmp_path / "project")
    assert f"--project {tmp_path / 'project'} " in opened.text
    assert (tmp_path / "project" / ".lockstep" / "runs.db").exists()


def test_a_relative_project_in_a_folder_that_was_removed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match=r"the project '\.' is relative, and the working directory cannot be used"):
        CommandLine(sys.executable, "", ".")
