"""File systems that lack what the ledger needs, as a library in front of the system's calls plays them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.ledger import Ledger, database, verification
from skills.lib.testing.agent import Agent
from tests.fixtures.skill import install

needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or not sys.platform.startswith("linux"), reason="needs a C compiler, on Linux"
)

# Files cannot be mapped as shared memory, as over a network.
NO_SHARED_MEMORY = """
void *mmap(void *at, size_t size, int prot, int flags, int file, off_t from) {
    if (file >= 0 && (flags & MAP_SHARED) && (prot & PROT_WRITE)) { errno = ENODEV; return MAP_FAILED; }
    return (void *) syscall(SYS_mmap, at, size, prot, flags, file, from);
}
void *mmap64(void *at, size_t size, int prot, int flags, int file, off_t from) {
    return mmap(at, size, prot, flags, file, from);
}
"""
# Locks are refused with this error.
NO_LOCKS = """
int fcntl(int file, int command, ...) {
    va_list rest; va_start(rest, command); long value = va_arg(rest, long); va_end(rest);
    if (command == F_SETLK || command == F_SETLKW) { errno = %s; return -1; }
    return syscall(SYS_fcntl, file, command, value);
}
int fcntl64(int file, int command, ...) {
    va_list rest; va_start(rest, command); long value = va_arg(rest, long); va_end(rest);
    return fcntl(file, command, value);
}
"""
HEAD = "".join(
    f"#include <{name}.h>\n" for name in ("errno", "fcntl", "stdarg", "sys/mman", "sys/syscall", "sys/types", "unistd")
)


def without(tmp_path: Path, source: str) -> dict[str, str]:
    """The environment of a process on a file system that this library plays."""
    (tmp_path / "lacking.c").write_text("#define _GNU_SOURCE\n" + HEAD + source, encoding="utf-8")
    built = tmp_path / "lacking.so"
    command = ["cc", "-shared", "-fPIC", "-o", str(built), str(tmp_path / "lacking.c")]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return {**os.environ, "LD_PRELOAD": str(built)}


def step(agent: Agent, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(agent.script), "--project", str(agent.project), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    project = tmp_path / "project"
    project.mkdir()
    return Agent(install(tmp_path, "plain"), project)


def journal(agent: Agent) -> str:
    connection = sqlite3.connect(agent.project / ".lockstep" / "runs.db")
    [[mode]] = connection.execute("PRAGMA journal_mode")
    connection.close()
    return str(mode)


@needs_compiler
@pytest.mark.parametrize("moved", [False, True], ids=["opened there", "moved there"])
def test_without_shared_memory_the_ledger_has_a_rollback_journal(agent: Agent, tmp_path: Path, moved: bool) -> None:
    lacking = without(tmp_path, NO_SHARED_MEMORY)
    opened = step(agent, dict(os.environ) if moved else lacking, "--step", "1")
    assert (opened.returncode, opened.stderr) == (0, "")
    run = opened.stdout.partition(" run ")[2].partition(",")[0]
    again = step(agent, lacking, "--step", "current", "--run", run)
    assert (again.returncode, again.stderr, again.stdout.count(run) > 0) == (0, "", True)
    assert journal(agent) == "delete"
    with Ledger(str(agent.project / ".lockstep"), create=False) as ledger:
        verification.verify(ledger)
        assert [event.kind for event in ledger.events(run)] == ["opened"]


@needs_compiler
@pytest.mark.parametrize("error", ["ENOTSUP", "EINVAL"])
def test_without_locks_the_remedy_is_another_folder(agent: Agent, tmp_path: Path, error: str) -> None:
    opened = step(agent, without(tmp_path, NO_LOCKS % error), "--step", "1")
    home = agent.project / ".lockstep"
    assert (opened.returncode, opened.stdout) == (4, "")
    assert opened.stderr == (
        f"lockstep: the file system of the ledger {home / 'runs.db'} lacks the locks that it needs\n"
        f"  try:   copy {home}, if it has runs, to a local disk, and set LOCKSTEP_HOME to the folder there\n"
    )


@needs_compiler
@pytest.mark.slow
def test_locks_that_are_refused_as_taken_are_told_with_both_remedies(agent: Agent, tmp_path: Path) -> None:
    opened = step(agent, without(tmp_path, NO_LOCKS % "ENOLCK"), "--step", "1")
    assert opened.returncode == 4
    assert "has been locked by another process for 10 s" in opened.stderr
    assert opened.stderr.endswith("the file system has no locks: set LOCKSTEP_HOME to a folder of a local disk\n")


def modes(agent: Agent) -> set[int]:
    files = [path for path in (agent.project / ".lockstep").iterdir() if path.name.startswith(database.FILE)]
    return {stat.S_IMODE(path.stat().st_mode) for path in files}


def test_a_ledger_that_others_can_read_is_closed_to_them_and_that_is_said_once(
    agent: Agent,
) -> None:
    block = agent.open()
    lax = sorted((agent.project / ".lockstep").glob("runs.db*"))
    for path in lax:
        path.chmod(0o664)
    told = "lockstep: other users could read or change {}; from now on its owner alone can\n"
    shown = step(agent, dict(os.environ), "--step", "current", "--run", block.run)
    assert sorted(shown.stderr.splitlines(True)) == [told.format(path) for path in lax]
    assert modes(agent) == {0o600}
    again = step(agent, dict(os.environ), "--step", "current", "--run", block.run)
    assert (again.returncode, again.stderr) == (0, "")
