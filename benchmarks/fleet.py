"""How many runs workers follow, beside the bare engine, and what becomes of them if workers are killed and stopped."""

from __future__ import annotations

import contextlib
import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.report import Cell, Figures

if TYPE_CHECKING:
    from benchmarks.options import Options
    from tests.fixtures.postgres import Server
    from tests.fleet.fleets import Storm, Workers

RUNS, QUICK_RUNS = 60, 12
# How often the queue's share is measured, over how many runs; the two sides take turns.
ROUNDS, QUICK_ROUNDS, SHARED_RUNS = 21, 2, 24
SLOTS, SUBMITTERS, AT_MOST = 2, 4, 15
# How often a worker is killed and another one stopped, for how long, and when others take over, in seconds.
EVERY, STOPPED, PATIENCE = 20.0, 9.0, 6.0
# How long one measurement may take, and a storm for each of its runs, in seconds; how often its progress is told.
_LONGEST, _LONGEST_RUN, _TOLD = 600.0, 15.0, 20.0


def figures(options: Options) -> list[Figures]:
    """The curve over workers and the queue's share of a run; or, if asked for, runs of workers that are killed."""
    with _alone(), tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
        if options.disturbed:
            return [disturbed(Path(folder) / "storm", options.disturbed, options)]
        return _measured(Path(folder), options)


def _measured(place: Path, options: Options) -> list[Figures]:
    from tests.fixtures import postgres

    count, rounds = (QUICK_RUNS, QUICK_ROUNDS) if options.quick else (RUNS, ROUNDS)
    shared = not postgres.lacking()
    with options.progress("fleet", 4 + 2 * rounds * (1 + shared)) as tick:
        rates = {"the bare engine, one process": _bare(place / "bare", count)}
        tick()
        with _workers(place / "sqlite") as running:
            for workers in (1, 2, 4):
                name = "1 worker" if workers == 1 else f"{workers} workers"
                rates[name] = _followed(running, place / f"by-{workers}", count, workers)
                tick()
            shares = {"SQLite": _shares(running, place / "sqlite", rounds, tick)}
        if shared:
            with _server(), _workers(place / "postgres") as running:
                shares["PostgreSQL"] = _shares(running, place / "postgres", rounds, tick)
    bare = next(iter(rates.values()))
    curve: list[list[Cell]] = [[name, rate, rate / bare] for name, rate in rates.items()]
    rows: list[list[Cell]] = [
        [f"on {name}", found.given, found.queued, statistics.median(found.shares), AT_MOST]
        for name, found in shares.items()
    ]
    spreads = ", ".join(
        f"{name} {min(found.shares):.0f} to {max(found.shares):.0f} %" for name, found in shares.items()
    )
    return [
        Figures(
            "Runs that workers follow",
            ["who follows them", "runs a minute", "ratio"],
            curve,
            [f"{count} runs of two steps, with four model calls that take no time; {SLOTS} at a time in a worker."],
        ),
        Figures(
            "The queue's share of a run",
            ["its database", "given runs a minute", "queued runs a minute", "share (%)", "at most (%)"],
            rows,
            [
                "A worker that takes runs from the queue, beside one that is given them; both are processes.",
                f"Medians of {rounds} measurements over {SHARED_RUNS} runs, the two in turn: {spreads}.",
            ],
        ),
    ]


class _Shares(NamedTuple):
    """Runs a minute of a worker that is given them, and of one that takes them; the queue's shares, in percent."""

    given: float
    queued: float
    shares: list[float]


def _shares(running: Workers, place: Path, rounds: int, tick: Callable[[], None]) -> _Shares:
    """The queue's share, as often as is asked for; who is first changes."""
    rates: dict[bool, list[float]] = {True: [], False: []}
    for number in range(rounds):
        for is_given in (True, False) if number % 2 else (False, True):
            folder = place / f"{'given' if is_given else 'queued'}-{number}"
            rates[is_given].append(_followed(running, folder, SHARED_RUNS, 1, is_given))
            tick()
    shares = [100 * (1 - queued / given) for given, queued in zip(rates[True], rates[False], strict=True)]
    return _Shares(statistics.median(rates[True]), statistics.median(rates[False]), shares)


@contextlib.contextmanager
def _workers(place: Path) -> Iterator[Workers]:
    """What starts workers, of any project."""
    from tests.fleet import fleets

    with fleets.workers(fleets.project(place / "none"), [], slots=SLOTS, per_user=64) as running:
        yield running


@contextlib.contextmanager
def _server() -> Iterator[Server]:
    """A server of PostgreSQL that has the ledgers meanwhile."""
    from tests.fixtures import postgres

    server = postgres.Server()
    try:
        os.environ["LOCKSTEP_LEDGER_URL"] = server.url(server.create())
        yield server
    finally:
        os.environ.pop("LOCKSTEP_LEDGER_URL")
        server.remove()


def disturbed(folder: Path, count: int, options: Options) -> Figures:
    """Four workers, one killed and another one stopped at a time; on PostgreSQL, which is restarted, if it is there."""
    from tests.fixtures import postgres
    from tests.fleet import fleets

    tasks, longest = _tasks(count), _LONGEST + count * _LONGEST_RUN
    with contextlib.ExitStack() as opened:
        server = None
        if not postgres.lacking():
            server = opened.enter_context(_server())
            os.environ["LOCKSTEP_LEDGER_PROJECT"] = "benchmark"
        fleets.project(folder)
        begin = time.perf_counter()
        running = opened.enter_context(
            fleets.workers(folder, ("w1", "w2", "w3", "w4"), patience=PATIENCE, slots=SLOTS, per_user=64)
        )
        storm = fleets.Storm(running, EVERY, STOPPED, seed=1)
        is_over = opened.enter_context(_progress(folder, count, storm, options))
        with ThreadPoolExecutor(SUBMITTERS) as threads:
            submitted = [threads.submit(_submitted, folder, task) for task in tasks]
            submitted[0].result()
            if server is not None:
                fleets.until(lambda: fleets.ended(folder) > 0, _LONGEST)
                server.stop()
                server.start()
            storm.rage(lambda: is_over() or any(one.done() and one.exception() for one in submitted), longest)
            runs = [one.result() for one in submitted]
        took = time.perf_counter() - begin
        faults = fleets.faults(folder, dict(zip(runs, tasks, strict=True)))
        checked = time.perf_counter() - begin - took
    rows: list[list[Cell]] = [
        [len(runs), storm.kills, storm.stops, int(server is not None), len(runs) - len(faults), len(faults), took]
    ]
    columns = ["runs", "kills", "stops", "restarts of PostgreSQL", "as undisturbed", "otherwise", "seconds"]
    notes = [*faults[:5], f"Events and trees were compared in {checked:.1f} s."]
    return Figures("Workers that are killed and stopped", columns, rows, notes)


@contextlib.contextmanager
def _progress(folder: Path, count: int, storm: Storm, options: Options) -> Iterator[Callable[[], bool]]:
    """Whether all runs have ended; each call shows how many have, without a terminal as a line now and then."""
    from tests.fleet import fleets

    begin = told = time.monotonic()
    shown = 0

    with options.progress("fleet, disturbed", count) as tick:

        def is_over() -> bool:
            nonlocal told, shown
            ended, now = fleets.ended(folder), time.monotonic()
            for _ in range(ended - shown):
                tick()
            shown = ended
            if not options.console.is_terminal and now - told >= _TOLD:
                told = now
                options.console.print(f"{now - begin:.0f} s: {ended} of {count} runs, {storm.kills} kills")
            return ended == count

        yield is_over


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Ledgers in their projects, and nothing of the user's."""
    logging.getLogger("lockstep.agent").setLevel(logging.ERROR)  # that the steps name no tools
    with own_ledgers():
        before = dict(os.environ)
        for name in ("LOCKSTEP_LEDGER_URL", "LOCKSTEP_LEDGER_PROJECT", "LOCKSTEP_HOME", "LOCKSTEP_WORKTREE_OF"):
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


def _followed(running: Workers, folder: Path, count: int, workers: int, is_given: bool = False) -> float:
    """How many runs a minute that many workers follow; ``is_given``, each gets all of them, past the queue."""
    from tests.fleet import fleets

    fleets.project(folder)
    fleets.git(folder, "remote", "add", "origin", f"https://git.example/benchmark/{folder.name}.git")
    runs = fleets.submit(folder, _tasks(count))
    for number in range(workers):
        running.start(f"w{number}", project=str(folder), given=runs if is_given else ())
    fleets.until(lambda: fleets.is_over(folder), _LONGEST)
    running.stop()
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
