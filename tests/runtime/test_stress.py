"""Threads that advance runs in one process, which is killed again and again: nothing is lost, nothing is doubled."""

from __future__ import annotations

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skills.lib.ledger import Ledger, keyed_id, verification
from tests.fixtures.embedding import LOOP, runner_in, step_on
from tests.fixtures.kinds import Kind
from tests.fixtures.processes import KILLED, ended, forked

pytestmark = pytest.mark.slow

THREADS = 8
# How often each run is advanced; a transition takes longer on a server.
ADVANCES = {"sqlite": 1_000, "postgres": 200}
# Seconds from the start of a process to its end by force, and how many seconds all of them have together.
LIFE, PATIENCE = {"sqlite": (0.05, 1.0), "postgres": (0.2, 0.8)}, 300
RUNS = [keyed_id(f"run {at}") for at in range(THREADS)]


def advance_all(project: Path, advances: int) -> int:
    """Let each thread bring its run to the end of its advances, and note each turn that the runner acknowledged."""
    runner = runner_in(project)
    noted = os.open(project / "acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def walk(at: int) -> None:
        run = runner.start(LOOP, {"topic": f"topic {at}"}, key=f"run {at}").run
        while run is not None and run.turn <= advances:
            os.write(noted, f"{run.id} {run.turn}\n".encode())
            response = step_on(runner, run)
            assert response.exit_code == 0, response.text
            run = response.run

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(walk, range(THREADS)))
    runner.close()
    return 0


def check(project: Path) -> int:
    """Compare the ledger with what was acknowledged; how many transitions it has."""
    lines = (project / "acknowledged").read_text().splitlines() if (project / "acknowledged").exists() else []
    acknowledged = {run: int(turn) for run, _, turn in (line.partition(" ") for line in lines)}
    if not acknowledged:
        return 0
    with Ledger(runner_in(project).home, create=False) as ledger:
        verification.verify(ledger)
        runs = {run.id: run for run in ledger.every_run()}
        assert set(acknowledged) <= set(runs) <= set(RUNS)
        for run, turn in acknowledged.items():
            assert turn <= runs[run].turn
        for one in runs.values():
            events = ledger.events(one.id)
            assert [event.change["turn"] for event in events] == list(range(1, one.turn + 1))
            assert [event.kind for event in events] == ["opened", *["moved"] * (one.turn - 1)]
            told = [event.detail["recorded"].get("note") for event in events[1:]]
            assert told == [f"at turn {at}" if at % 2 else None for at in range(1, one.turn)]
    return sum(run.turn - 1 for run in runs.values())


def test_threads_that_are_killed_again_and_again_lose_nothing_and_double_nothing(tmp_path: Path, kind: Kind) -> None:
    advances = ADVANCES[kind.name]
    chance, until, kills = random.Random(10), time.monotonic() + PATIENCE, 0
    while True:
        assert time.monotonic() < until
        process = forked(lambda: advance_all(tmp_path, advances))
        dies = time.monotonic() + chance.uniform(*LIFE[kind.name])
        while (found := os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is None:
            if time.monotonic() >= dies:
                os.kill(process, signal.SIGKILL)
                break
            time.sleep(0.01)
        code = ended(process)
        assert code in (0, KILLED), found
        kills += code == KILLED
        count = check(tmp_path)
        if code == 0:
            break
    assert count == THREADS * advances
    assert kills >= 3
