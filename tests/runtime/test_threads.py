"""Many threads of one process: one runner, one ledger, skills that load at the same moment, handlers that print."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from skills.lib.ledger import Ledger, verification
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import StepContext, StepDef, Workflow
from skills.lib.model.types import Outcome
from skills.lib.runtime import loading
from tests.fixtures.embedding import LOOP, runner_in, step_on
from tests.fixtures.kinds import Kind
from tests.fixtures.skill import install, source_of

THREADS = 8


def at_once(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """What the work returns in so many threads that begin at the same moment."""
    ready = threading.Barrier(count)

    def begin(at: int) -> Any:
        ready.wait(30)
        return work(at)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def opened(response: Any) -> Run:
    assert response.exit_code == 0, response.text
    assert response.run is not None
    return response.run  # type: ignore[no-any-return]


def test_one_runner_serves_many_threads(tmp_path: Path, kind: Kind) -> None:
    runner = runner_in(tmp_path)

    def walk(at: int) -> str:
        run = opened(runner.start(LOOP, {"topic": f"topic {at}"}))
        for _ in range(25):
            run = opened(step_on(runner, run))
        return run.id

    runs = at_once(walk)
    verification.verify(runner.ledger)
    assert {run.turn for run in runner.ledger.runs(runs)} == {26}
    assert [event.seq for event in runner.ledger.events()] == list(range(1, THREADS * 26 + 1))
    runner.close()


def test_of_many_threads_that_move_one_run_one_wins(tmp_path: Path, kind: Kind) -> None:
    runner = runner_in(tmp_path)
    run = opened(runner.start(LOOP, {}))

    def report(at: int) -> int:
        request = Request("next", run=run.id, turn=1, outcome="ok", records={"note": f"note {at}"})
        return runner.advance(LOOP, run.id, request).exit_code

    ends = at_once(report)
    assert sorted(ends) == [0] + [3] * (THREADS - 1)
    assert runner.ledger.runs([run.id])[0].state == {"there": {"note": f"note {ends.index(0)}"}}
    verification.verify(runner.ledger)
    runner.close()


def test_a_ledger_is_read_by_another_thread_than_the_one_that_opened_it(tmp_path: Path, kind: Kind) -> None:
    runner = runner_in(tmp_path)
    run = opened(runner.start(LOOP, {}))
    with Ledger(runner.home, create=False) as ledger:
        assert at_once(lambda at: ledger.runs([run.id])) == [[run]] * THREADS
        at_once(lambda at: verification.verify(ledger))
    runner.close()
    assert opened(runner.state(LOOP, run.id)) == run  # it is opened again
    runner.close()


def test_what_others_write_while_a_ledger_is_verified_is_no_damage(tmp_path: Path, kind: Kind) -> None:
    writing, checking = runner_in(tmp_path), runner_in(tmp_path)
    for at in range(60):  # the more it reads, the more is written meanwhile
        writing.start(LOOP, {}, key=f"run {at}")
    run = opened(writing.start(LOOP, {}))
    ended = threading.Event()

    def write() -> None:
        now = run
        for _ in range(300):
            now = opened(step_on(writing, now))
        ended.set()

    def check() -> int:
        count = 0
        while not ended.is_set():
            verification.verify(checking.ledger)
            count += 1
        return count

    with ThreadPoolExecutor(2) as pool:
        counted = pool.submit(check)
        pool.submit(write).result(60)
        assert counted.result(60) > 1
    writing.close()
    checking.close()


def test_a_skill_that_many_threads_load_at_once_is_loaded_once(tmp_path: Path) -> None:
    for number in range(6):
        name = f"slow-{number}"
        step = 'StepDef("only", "Only", ["Do it."], {Outcome.OK: None})'
        source = f"import time\ntime.sleep(0.02)\n{source_of(name, step)}"
        graph = install(tmp_path, name, source).with_name(f"{name}_workflow.py")
        found = at_once(lambda at, graph=graph: loading.load_workflow(str(graph)))  # type: ignore[misc]
        assert [workflow.name for workflow in found] == [name] * THREADS
        assert len({id(workflow) for workflow in found}) == 1


def test_loading_a_skill_changes_no_setting_of_the_process(tmp_path: Path) -> None:
    step = 'StepDef("only", "Only", ["Do it."], {Outcome.OK: None})'
    noted = "import sys\nPREFIX = sys.pycache_prefix\n"
    graph = install(tmp_path, "plain-one", noted + source_of("plain-one", step)).with_name("plain-one_workflow.py")
    seen: list[Any] = []

    def watch() -> None:
        while not done.is_set():
            seen.append((sys.pycache_prefix, sys.stdout))

    done = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        loading.load_workflow(str(graph))
    finally:
        done.set()
        watcher.join(30)
    assert set(seen) == {(None, sys.stdout)}
    assert not list(tmp_path.rglob("__pycache__"))


def test_handlers_at_once_leave_the_standard_output_as_it_is(tmp_path: Path) -> None:
    together = threading.Barrier(2)

    def handle(context: StepContext) -> Outcome:
        output = sys.stdout
        together.wait(30)
        assert sys.stdout is output
        return Outcome.OK

    workflow = Workflow(
        "meeting", StepDef("meet", "Meet", ["Meet."], {Outcome.OK: None}, handle, outcomes=[Outcome.OK])
    )
    runner, output = runner_in(tmp_path), sys.stdout
    runs = [opened(runner.start(workflow, {}, new=True)) for _ in range(2)]

    def end(at: int) -> str:
        return opened(runner.advance(workflow, runs[at].id, Request("done", run=runs[at].id, turn=1))).status

    assert at_once(end, 2) == ["done", "done"]
    assert sys.stdout is output
    runner.close()


def test_a_runner_is_awaited_in_threads(tmp_path: Path, kind: Kind) -> None:
    runner = runner_in(tmp_path)

    async def walk(at: int) -> Run:
        run = opened(await asyncio.to_thread(runner.start, LOOP, {}, key=f"walk {at}"))
        while run.turn < 10:
            run = opened(await asyncio.to_thread(step_on, runner, run))
        return run

    async def every() -> list[Run]:
        return await asyncio.gather(*[walk(at) for at in range(20)])

    assert [run.turn for run in asyncio.run(every())] == [10] * 20
    verification.verify(runner.ledger)
    runner.close()
