"""Whatever goes wrong while a run is open ends in exit 2 with the way out; if none is open it passes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from skills.lib.commands.console.app import lockstep
from tests.fixtures.skill import ROOT
from tests.hosts.hook.hooked import Answer, Host

pytestmark = [pytest.mark.req("H-02"), pytest.mark.usefixtures("own_project"), pytest.mark.slow]
SILENT = Answer(0, "", "")
WAYS_OUT = ("lockstep runs", "lockstep abandon RUN --reason", "A person at a terminal: lockstep doctor")


def blocked(answer: Answer, *words: str) -> bool:
    said = answer.reason.replace("For a person", "A person")
    return (answer.code, answer.said) == (2, "") and all(word in said for word in (*WAYS_OUT, *words))


NO_EVENTS = {
    "not JSON": b"{bad",
    "cut off": b'{"session_id": "5f0c8f0e-6b1e-4a2d-9f39-1c2d3e4f5a6b", "tool_name": "Wri',
    "a list": b"[1, 2]",
    "a number": b"7",
    "empty": b"",
    "only spaces": b" \n ",
    "not UTF-8": b'{"session_id": "\xff\xfe"}',
    "too deep": b'{"session_id": ' * 200_000,
    "too deep, and closed": b'{"session_id": ' * 50_000 + b"1" + b"}" * 50_000,
    "no number": b'{"session_id": NaN}',
    "NUL": b"\0" * 1000,
}


@pytest.mark.parametrize("name", NO_EVENTS)
def test_what_is_no_event_is_blocked_while_a_run_is_open_here(host: Host, tmp_path: Path, name: str) -> None:
    assert host.tell(NO_EVENTS[name]).code == 0
    host.at("look")
    assert blocked(host.tell(NO_EVENTS[name]), "could not do its work", str(host.state / "sessions"))
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".git").mkdir(parents=True)
    host.project = elsewhere
    assert host.tell(NO_EVENTS[name]).code == 0


def locked(home: Path) -> Callable[[], None]:
    """Lock a ledger against everybody; what lets go of it is returned."""
    connection = sqlite3.connect(home / "runs.db", isolation_level=None)
    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("CREATE TABLE held(x)")
    return connection.close


@pytest.fixture
def lock(host: Host) -> Iterator[Callable[[], None]]:
    held = []
    yield lambda: held.append(locked(host.project / ".lockstep"))
    for let_go in held:
        let_go()


def test_a_locked_ledger(host: Host, lock: Callable[[], None]) -> None:
    block = host.at("look")
    lock()
    began = time.monotonic()
    answer = host.use("Write", "--deadline", "0.7")
    assert time.monotonic() - began < 5
    assert blocked(answer, "no answer from the disk or the ledger within 0.7 seconds")
    assert host.use("Read") == SILENT  # by the status file alone
    assert host.run(block.next) == SILENT
    assert host.run("lockstep runs") == SILENT
    assert host.stop("--deadline", "0.7").code == 2
    assert host.stop("--deadline", "0.7", stop_hook_active=True) == SILENT
    host.status_file(block.run).unlink()
    assert host.use("Read", "--deadline", "0.7").code == 2
    assert host.run(block.next) == SILENT
    host.session = "another"
    assert host.use("Write") == SILENT


def test_a_damaged_ledger(host: Host) -> None:
    block = host.at("look")
    ledger = host.project / ".lockstep" / "runs.db"
    for extra in ("-wal", "-shm"):
        Path(f"{ledger}{extra}").unlink(missing_ok=True)
    ledger.write_bytes(b"damage" * 5000)
    assert blocked(host.use("Write"), str(ledger), "move its folder aside to begin anew")
    assert (host.use("Read"), host.run(block.next), host.run("lockstep abandon r --reason x")) == (SILENT,) * 3
    assert blocked(host.stop())
    assert host.stop(stop_hook_active=True).code == 0
    given = host.tell({"hook_event_name": "UserPromptSubmit"})
    assert (given.code, given.reason) == (0, "")
    assert "The block could not be made here: LedgerError" in given.context
    os.rename(host.project / ".lockstep", host.project / "aside")
    assert host.use("Write") == SILENT


def test_giving_up_a_run_frees_the_agent_though_its_ledger_is_damaged(host: Host) -> None:
    block = host.at("look")
    for extra in ("-wal", "-shm"):
        (host.project / ".lockstep" / f"runs.db{extra}").unlink(missing_ok=True)
    (host.project / ".lockstep" / "runs.db").write_bytes(b"damage" * 5_000)
    assert "lockstep abandon RUN --reason" in host.use("Write").reason
    assert host.run("lockstep abandon another --reason unwanted") == SILENT
    assert host.use("Write").code == 2
    assert host.run(f"lockstep abandon {block.run} --reason unwanted") == SILENT
    assert host.use("Write") == SILENT
    assert host.sessions() == {}


def test_giving_up_a_run_frees_the_agent_though_its_ledger_hangs(host: Host, lock: Callable[[], None]) -> None:
    block = host.at("look")
    lock()
    assert host.use("Write", "--deadline", "0.7").code == 2
    assert host.run(f"lockstep abandon {block.run} --reason unwanted") == SILENT
    assert host.use("Write", "--deadline", "0.7").code == 0
    assert host.use("Read", "--deadline", "0.7").code == 0


def test_giving_up_a_run_twice_frees_the_agent_though_its_ledger_cannot_be_written(host: Host) -> None:
    block = host.at("look")
    connection = sqlite3.connect(host.project / ".lockstep" / "runs.db")
    connection.execute("CREATE TRIGGER t BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'no'); END")
    connection.close()
    abandon = f"lockstep abandon {block.run} --reason unwanted"
    assert host.run(f"{abandon} --project /") == SILENT
    assert [host.run(abandon) for _ in range(2)] == [SILENT] * 2
    assert (host.use("Write"), host.stop()) == (SILENT, SILENT)


def test_lockstep_abandon_frees_every_agent_though_its_ledger_cannot_be_written(host: Host) -> None:
    block = host.at("look")
    connection = sqlite3.connect(host.project / ".lockstep" / "runs.db")
    connection.execute("CREATE TRIGGER t BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'no'); END")
    connection.close()
    words = ["abandon", block.run, "--reason", "unwanted", "--project", str(host.project)]
    shown = CliRunner().invoke(lockstep, words, prog_name="lockstep")
    assert (shown.exit_code, "No agent is held to run" in shown.stderr) == (4, True)
    assert (host.use("Write"), host.stop(), host.sessions()) == (SILENT, SILENT, {})


def test_a_lost_ledger(host: Host) -> None:
    host.at("look")
    for path in (host.project / ".lockstep").glob("runs.db*"):
        path.unlink()
    assert blocked(host.use("Write"), "is missing, and it was there before")


@pytest.mark.parametrize(
    "missing",
    [
        "hosts/hook/decision.py",
        "hosts/hook/sessions.py",
        "compact_json.py",
        "hosts/hook/run_status.py",
        "ledger/ledger.py",
        "__init__.py",
    ],
)
def test_a_missing_module(host: Host, tmp_path: Path, missing: str) -> None:
    lib = tmp_path / "tree" / "skills" / "lib"
    ignored = shutil.ignore_patterns("__pycache__", "commands", "testing", "validation")
    shutil.copytree(ROOT / "skills" / "lib", lib, ignore=ignored)
    shutil.copy(ROOT / "skills" / "__init__.py", lib.parent)
    if missing == "__init__.py":
        shutil.rmtree(lib / "hosts", ignore_errors=True)
        (lib / "hosts" / "hook").mkdir(parents=True)
        for name in ("run_hook.py", "early.py"):
            shutil.copy(ROOT / "skills/lib/hosts/hook" / name, lib / "hosts" / "hook")
    else:
        (lib / missing).unlink()
    block = host.at("look")
    host.starts = [sys.executable, "-IS", str(lib / "hosts" / "hook" / "run_hook.py")]
    assert blocked(host.use("Write"), "Error: ")
    assert (host.run("lockstep runs"), host.run(f"lockstep abandon {block.run}")) == (SILENT, SILENT)
    assert host.run("lockstep runs; rm x").code == 2
    assert host.stop().code == 2
    assert host.stop(stop_hook_active=True).code == 0
    assert host.tell({"hook_event_name": "SessionStart", "source": "resume"}).code == 0
    assert host.tell(b"{bad").code == 2
    host.session = "another"
    assert host.use("Write") == SILENT
    shutil.rmtree(host.state)
    assert host.run(block.next).code == 0


@pytest.mark.parametrize("place", ["session", "status file", "ledger", "sessions"])
def test_a_slow_disk(host: Host, place: str) -> None:
    block = host.at("look")
    path = {
        "session": host.state / "sessions" / f"claude-{host.session}",
        "status file": host.status_file(block.run),
        "ledger": host.project / ".lockstep" / "runs.db",
        "sessions": host.state / "sessions" / "claude~0",
    }[place]
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    began = time.monotonic()
    if place == "sessions":
        assert host.tell(b"{bad", "--deadline", "0.7").code == 2
    else:
        assert host.use("Write", "--deadline", "0.7").code == 2
    assert time.monotonic() - began < 5
    if place != "ledger":
        assert host.tell({"hook_event_name": "UserPromptSubmit"}, "--deadline", "0.7").code == 0
    host.session = "another"
    assert host.use("Write", "--deadline", "0.7") == SILENT


def test_an_input_that_never_ends(host: Host) -> None:
    host.at("look")
    environment = {**os.environ, "LOCKSTEP_STATE": str(host.state)}
    hook = subprocess.Popen(
        [*host.starts, "--host", "claude", "--deadline", "0.5"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert hook.stderr is not None
    assert b"no answer" in hook.stderr.read()
    assert hook.wait(20) == 2
    hook.stderr.close()
    assert hook.stdin is not None
    hook.stdin.close()


def test_a_damaged_session_file_and_how_it_heals(host: Host) -> None:
    block = host.at("look")
    file = host.state / "sessions" / f"claude-{host.session}"
    file.write_text('{"runs": [')
    assert blocked(host.use("Read"), f"the session file {file} is damaged")
    assert blocked(host.stop())
    assert host.stop(stop_hook_active=True).code == 0
    assert host.tell({"hook_event_name": "UserPromptSubmit"}).code == 0
    assert host.run(f"lockstep resume {block.run}") == SILENT
    assert host.run(block.next) == SILENT
    assert (host.use("Read").code, host.use("Write").code) == (0, 2)
    file.write_text("")
    assert host.tell({"hook_event_name": "SessionEnd"}) == SILENT


def test_a_state_folder_that_cannot_be_written(host: Host) -> None:
    block = host.agent.open()
    host.state.mkdir(exist_ok=True)
    (host.state / "sessions").write_text("a file")
    assert blocked(host.run(block.next), "cannot be written: File exists", "set LOCKSTEP_STATE to a folder")
    assert host.use("Write") == SILENT
    assert host.run("lockstep runs --run x") == SILENT


def test_a_full_disk(host: Host) -> None:
    block = host.agent.open()
    whole = host.starts
    full = ["/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *whole]
    host.starts = full
    assert blocked(host.run(block.next), "File too large")
    assert list((host.state / "sessions").iterdir()) == []
    host.starts = whole
    block = host.go(block)
    host.starts = full
    assert (host.use("Read").code, host.use("Write").code) == (0, 2)
    assert blocked(host.stop())
    assert host.stop(stop_hook_active=True).code == 0
    given = host.tell({"hook_event_name": "UserPromptSubmit"})
    assert (given.code, block.next in given.context) == (0, True)


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "2>/dev/full"])
def test_outputs_that_cannot_be_written(host: Host, closed: str) -> None:
    host.at("look")
    host.starts = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *host.starts]
    assert host.use("Write").code == 2
    assert host.use("Read").code == 0
    assert host.tell({"hook_event_name": "UserPromptSubmit"}).code == 0
    assert host.tell(b"{bad").code == 2


def test_a_closed_input(host: Host) -> None:
    host.starts = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *host.starts]
    assert host.use("Write") == SILENT
    whole = host.starts
    host.starts = host.starts[4:]
    host.at("look")
    host.starts = whole
    assert host.use("Write").code == 2


def test_a_working_directory_that_is_gone(host: Host) -> None:
    host.at("look")
    host.starts = ["/bin/sh", "-c", 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', "sh", *host.starts]
    assert (host.use("Read").code, host.use("Write").code) == (0, 2)
    assert host.tell({"hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": ""}).code == 2
    assert host.tell(b"{bad").code == 2


def test_a_skill_that_prints_or_is_broken(host: Host) -> None:
    block = host.at("look")
    graph = Path(host.agent.script).with_name("guarded_workflow.py")
    whole = graph.read_text()
    graph.write_text("print('hello')\n" + whole)
    assert block.text in host.tell({"hook_event_name": "SessionStart", "source": "compact"}).context
    graph.write_text("1 / 0\n")
    context = host.tell({"hook_event_name": "SessionStart", "source": "compact"}).context
    assert "The block could not be made here: SkillError" in context
    assert block.next in context
    assert (host.use("Read").code, host.use("Write").code, host.stop().code) == (0, 2, 2)
    host.status_file(block.run).unlink()
    assert blocked(host.use("Read"), "ZeroDivisionError")
    assert host.run(block.next) == SILENT


@pytest.mark.parametrize(
    "event, follows, code",
    [("PreToolUse", True, 2), ("BeforeTool", True, 2), ("Stop", True, 0), ("PreToolUse", False, 0)],
)
def test_a_hook_whose_beginning_is_gone_blocks_tools_while_something_is_followed(
    tmp_path: Path, event: str, follows: bool, code: int
) -> None:
    copied = shutil.copy(ROOT / "skills" / "lib" / "hosts" / "hook" / "run_hook.py", tmp_path / "run_hook.py")
    (tmp_path / "state" / "sessions").mkdir(parents=True)
    if follows:
        (tmp_path / "state" / "sessions" / "claude-s").write_text("{}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-IS", copied, "--host", "claude"],
        input=f'{{"hook_event_name": "{event}", "session_id": "s"}}',
        env={**os.environ, "LOCKSTEP_STATE": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, "does not work here" in done.stderr) == (code, code == 2)
