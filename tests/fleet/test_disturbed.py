"""Workers are killed, stopped and continued, and the queue is lost: each run is done once, as if nothing had been."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.fleet.fleet import Fleet
from tests.extent import extent
from tests.fleet.fleets import PLAIN, Workers, files, git, moves, project, states, submit, until, workers

NAMES = ("w1", "w2", "w3", "w4")


def disturbed(
    running: Workers, is_over: Callable[[], bool], every: float, stopped_for: float, seed: int
) -> tuple[int, int]:
    """Kill a worker and start it again, and stop another one for a while, until it is over; how often each."""
    chance = random.Random(seed)
    kills = stops = 0
    while not is_over():
        killed, stopped = chance.sample(sorted(running.processes), 2)
        running.stop(stopped)
        running.kill(killed)
        running.start(killed)
        time.sleep(stopped_for)
        running.go_on(stopped)
        kills, stops = kills + 1, stops + 1
        end = time.monotonic() + every - stopped_for
        while time.monotonic() < end and not is_over():
            time.sleep(0.5)
    return kills, stops


def check(folder: Path, runs: list[str], tasks: list[str]) -> None:
    """Every run is done once, with the moves and the files of an undisturbed one."""
    assert states(folder) == dict.fromkeys(runs, "done")
    for run, task in zip(runs, tasks, strict=True):
        assert moves(folder, run) == PLAIN, run
        assert files(folder, run) == {"made/again.txt": f"again of {task}", "made/note.txt": f"note of {task}"}, run


@pytest.mark.slow
@pytest.mark.req("X-03.1")
def test_runs_of_workers_that_are_killed_and_stopped_are_done_once(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    tasks = [f"task {number}" for number in range(extent(24, 200))]
    runs = submit(folder, tasks)
    with workers(folder, NAMES, patience=3.0, pause=0.2) as running:
        is_over = lambda: set(states(folder).values()) == {"done"}  # noqa: E731
        until(lambda: "done" in states(folder).values())
        kills, stops = disturbed(running, is_over, every=extent(8, 20), stopped_for=5.0, seed=1)
    print(f"{kills} kills and {stops} stops over {len(runs)} runs")  # pytest -rP shows it
    assert kills > 0
    check(folder, runs, tasks)


@pytest.mark.slow
@pytest.mark.req("X-03.1")
def test_the_run_of_a_stopped_worker_is_taken_over_and_what_it_does_afterwards_counts_for_nothing(
    tmp_path: Path,
) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    with workers(folder, ["first"], patience=2.0, pause=3.0) as running:
        until(lambda: [one.worker for one in Fleet(str(folder)).runs()] == ["first"])
        time.sleep(1.0)  # it waits for its model
        running.stop("first")
        running.start("second")
        until(lambda: [one.worker for one in Fleet(str(folder)).runs()] == ["second"])
        running.go_on("first")
        until(lambda: states(folder) == {run: "done"})
    check(folder, [run], ["one"])
    assert git(folder, "log", "--format=%s", f"refs/lockstep/{run}").splitlines() == [
        f"lockstep {run}: finished, done, turn 3",
        f"lockstep {run}: moved, again, turn 2",
        "first",
    ]


@pytest.mark.slow
@pytest.mark.req("X-03.2")
def test_no_run_is_lost_with_the_queue(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    tasks = [f"task {number}" for number in range(6)]
    runs = submit(folder, tasks)
    queue = folder / ".lockstep" / "fleet" / "queue.db"
    with workers(folder, ["w1", "w2"], patience=3.0, slots=1, pause=0.5):
        until(lambda: "done" in states(folder).values())
        with contextlib.closing(sqlite3.connect(queue, timeout=30)) as connection, connection:
            names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
            for name in names:
                if not name.startswith("sqlite_"):
                    connection.execute(f'DROP TABLE "{name}"')
        assert "queued" in states(folder).values()
        until(lambda: set(states(folder).values()) == {"done"})
    check(folder, runs, tasks)
