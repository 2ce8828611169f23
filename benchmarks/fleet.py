"""How many runs workers follow, beside the bare engine, and what becomes of them if workers are killed and stopped."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.report import Cell, Figures

if TYPE_CHECKING:
    from benchmarks.options import Options

RUNS, QUICK_RUNS = 60, 12
DISTURBED, QUICK_DISTURBED = 1_000, 24
SLOTS, SUBMITTERS, AT_MOST = 2, 4, 15
# How often a worker is killed and another one stopped, for how long, and when others take over, in seconds.
EVERY, STOPPED, PATIENCE = 20.0, 9.0, 6.0
_LONGEST = 4 * 3600.0


def figures(options: Options) -> list[Figures]:
    """The curve over workers, the queue's share of a run, and the runs of workers that are killed and stopped."""
    count = QUICK_RUNS if options.quick else RUNS
    with (
        _alone(),
        tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder,
        options.progress("fleet", 6) as tick,
    ):
        place = Path(folder)
        rates = {"the bare engine, one process": _bare(place / "bare", count)}
        tick()
        for workers in (1, 2, 4):
            name = f"{workers} workers" if workers > 1 else "1 worker"
            rates[name] = _followed(place / f"by-{workers}", count, workers)
            tick()
        direct = _direct(place / "direct", count)
        tick()
        storm = disturbed(place / "storm", QUICK_DISTURBED if options.quick else DISTURBED)
        tick()
    bare = next(iter(rates.values()))
    rows: list[list[Cell]] = [[name, rate, rate / bare] for name, rate in rates.items()]
    share = max(0.0, 100 * (1 - rates["1 worker"] / direct))
    return [
        Figures(
            "Runs that workers follow",
            ["who follows them", "runs a minute", "ratio"],
            rows,
            [f"{count} runs of two steps, with four model calls that take no time; {SLOTS} at a time in a worker."],
        ),
        Figures(
            "The queue",
            ["what", "%", "at most (%)"],
            [["the queue's share of a run", share, AT_MOST]],
            [f"A worker that takes runs from the queue, beside one that is given them: {direct:.0f} a minute."],
        ),
        storm,
    ]


def disturbed(folder: Path, count: int) -> Figures:
    """Four workers, one killed and another one stopped at a time; on PostgreSQL, which is restarted, if it is there."""
    from tests.fixtures import postgres
    from tests.fleet import fleets

    tasks = [f"task {number}" for number in range(count)]
    with contextlib.ExitStack() as opened:
        server = None
        if not postgres.lacking():
            server = postgres.Server()
            opened.callback(server.remove)
            os.environ["LOCKSTEP_LEDGER_URL"] = server.url(server.create())
            os.environ["LOCKSTEP_LEDGER_PROJECT"] = "benchmark"
        fleets.project(folder)
        begin = time.perf_counter()
        running = opened.enter_context(
            fleets.workers(folder, ("w1", "w2", "w3", "w4"), patience=PATIENCE, slots=SLOTS, per_user=64)
        )
        storm = fleets.Storm(running, EVERY, STOPPED, seed=1)
        with ThreadPoolExecutor(SUBMITTERS) as threads:
            submitted = [threads.submit(_submitted, folder, task) for task in tasks]
            if server is not None:
                fleets.until(lambda: "done" in fleets.states(folder).values(), _LONGEST)
                server.stop()
                server.start()
            storm.rage(lambda: all(one.done() for one in submitted) and _is_over(folder), _LONGEST)
            runs = [one.result() for one in submitted]
        took = time.perf_counter() - begin
        found = [fleets.fault(folder, run, task) for run, task in zip(runs, tasks, strict=True)]
    faults = [one for one in found if one]
    rows: list[list[Cell]] = [
        [len(runs), storm.kills, storm.stops, int(server is not None), len(runs) - len(faults), len(faults), took]
    ]
    columns = ["runs", "kills", "stops", "restarts of PostgreSQL", "as undisturbed", "otherwise", "seconds"]
    return Figures("Workers that are killed and stopped", columns, rows, faults[:5])


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Ledgers in their projects, and nothing of the user's."""
    with own_ledgers():
        before = dict(os.environ)
        for name in ("LOCKSTEP_HOME", "LOCKSTEP_LEDGER_URL", "LOCKSTEP_LEDGER_PROJECT", "LOCKSTEP_WORKTREE_OF"):
            os.environ.pop(name, None)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _submitted(folder: Path, task: str) -> str:
    """The run of a task; the same submission is made again if the database is away."""
    from skills.lib.errors import EnvironmentProblem
    from tests.fleet import fleets

    while True:
        try:
            return fleets.submit(folder, [task])[0]
        except EnvironmentProblem:
            time.sleep(1.0)


def _is_over(folder: Path) -> bool:
    """True if every submitted run has ended."""
    from tests.fleet import fleets

    return set(fleets.states(folder).values()) <= {"done", "failed", "abandoned"}


def _tasks(count: int) -> list[str]:
    return [f"task {number}" for number in range(count)]


def _bare(folder: Path, count: int) -> float:
    """How many runs a minute one process follows without a fleet, one after the other."""
    from tests.fleet import fleets

    host = fleets.agent(fleets.project(folder))
    runs = [host.start("plain", task) for task in _tasks(count)]
    for run in runs:
        assert host.advance(run).status == "done"
    return _rate(folder, count)


def _followed(folder: Path, count: int, workers: int) -> float:
    """How many runs a minute that many workers follow."""
    from tests.fleet import fleets

    fleets.project(folder)
    fleets.submit(folder, _tasks(count))
    names = [f"w{number}" for number in range(workers)]
    with fleets.workers(folder, names, slots=SLOTS, per_user=64):
        fleets.until(lambda: set(fleets.states(folder).values()) == {"done"}, _LONGEST)
    return _rate(folder, count)


def _direct(folder: Path, count: int) -> float:
    """How many runs a minute a worker follows that is given them."""
    from skills.lib.fleet.members import Members
    from skills.lib.fleet.places import WORKERS, Place
    from tests.fleet import fleets

    fleets.project(folder)
    runs = fleets.submit(folder, _tasks(count))
    members = Members(Place(str(folder), WORKERS))
    try:
        with fleets.worker(folder) as worker, ThreadPoolExecutor(SLOTS) as threads:
            members.join(worker.name, SLOTS, _LONGEST)
            list(threads.map(worker.follow, runs))
    finally:
        members.close()
    return _rate(folder, count)


def _rate(folder: Path, count: int) -> float:
    """Runs a minute by the ends in the ledger, from the end of the first quarter on: all workers are there then."""
    from skills.lib import paths
    from skills.lib.ledger import Ledger

    with Ledger(paths.home(str(folder)), create=False) as ledger:
        ends = sorted(event.at for event in ledger.each_event() if event.kind == "finished")
    assert len(ends) == count
    first = count // 4
    return 60 * (count - 1 - first) / (ends[-1] - ends[first])
