"""A process for each call: broken and noisy skills, changes by others, calls at once, calls that are given up."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.fixtures.skill import source_of
from tests.hosts.mcp.talking import (
    LOCKSTEP,
    Answer,
    Listening,
    Talk,
    add_skill,
    by_http,
    by_stdio,
    events,
    in_process,
    talk,
)

pytestmark = [pytest.mark.req("H-06"), pytest.mark.slow]


def test_of_two_clients_on_one_run_one_wins(project: Path) -> None:
    add_skill(project, "tour")

    async def both() -> tuple[list[Answer], str]:
        answers: list[Answer] = []
        async with by_stdio(project) as one, by_http(project) as other:
            run = (await one.call("start_run", skill="tour", parameters={"topic": "tea"})).data["run"]

            async def report(to: Talk, words: str) -> None:
                answers.append(await to.call("next_step", run=run, turn=1, step="plan", record={"summary": words}))

            async with anyio.create_task_group() as tasks:
                for at, to in enumerate((one, other, one, other)):
                    tasks.start_soon(report, to, f"by {at}")
        return answers, run

    answers, run = anyio.run(both)
    assert sorted(answer.error for answer in answers) == [False, True, True, True]
    assert {answer.data["code"] for answer in answers if answer.error} == {"wrong-turn"}
    assert [event.kind for event in events(project, run)].count("moved") == 1


BROKEN = {
    "syntax": ("def :\n", "SyntaxError"),
    "raises": ("raise RuntimeError('torn')\n", "RuntimeError: torn"),
    "leaves": ("import sys\nsys.exit(3)\n", "exits while it is imported (3)"),
    "dies": (
        "import os\nprint('last words', flush=True)\nos._exit(9)\n",
        "the process of the call ended with 9: last words",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_survives_a_skill_that_is_broken(project: Path, kind: str) -> None:
    source, told = BROKEN[kind]
    add_skill(project, "bad", source)
    add_skill(project, "tour")

    async def work(to: Talk) -> list[Answer]:
        return [
            await to.call("start_run", skill="bad"),
            await to.call("list_skills"),
            await to.call("start_run", skill="tour", parameters={"topic": "tea"}),
        ]

    broken, listed, good = talk(in_process, project, work)
    assert broken.error
    assert told in broken.text
    assert (good.error, good.data["step"]) == (False, "begin")
    if kind != "dies":  # what ends the process ends the list, too
        assert told in listed.data["skills"][0]["problem"]
        assert listed.data["skills"][1]["workflows"][0]["name"] == "tour"


NOISY = source_of(
    "noisy",
    'StepDef("one", "One", "Do.", {Outcome.OK: None}, handler=shout)',
).replace(
    "WORKFLOW",
    """import os

print('{"jsonrpc": "2.0"}', flush=True)


def shout(ctx):
    os.write(1, b'{"jsonrpc": "2.0"}\\\\n')
    os.system("echo from a child")
    return Outcome.OK


WORKFLOW""",
    1,
)


def test_what_a_skill_prints_stays_out_of_the_protocol(project: Path) -> None:
    add_skill(project, "noisy", NOISY)

    async def work(to: Talk) -> Answer:
        return await to.follow(await to.call("start_run", skill="noisy"))

    assert talk(by_stdio, project, work).data["status"] == "done"


LOUD = source_of("loud", 'StepDef("one", "One", "Do.", {Outcome.OK: None})').replace(
    "WORKFLOW", "for _ in range(3_000):\n    print('x' * 100_000)\n\nWORKFLOW", 1
)


def test_what_a_skill_prints_is_not_kept_whole(project: Path) -> None:
    add_skill(project, "loud", LOUD)
    server = Listening([*LOCKSTEP, "mcp", "--project", str(project), "--http", "0"])

    async def opened(url: str) -> Answer:
        with anyio.fail_after(60):
            async with Client(url) as client:
                return await Talk(client).call("start_run", skill="loud")

    with server as url:
        assert anyio.run(opened, url).data["step"] == "one"
        status = Path(f"/proc/{server.process.pid}/status").read_text("utf-8")
    assert int(status.partition("VmHWM:")[2].split()[0]) < 200_000  # in kB; 300 MB were printed


def test_sees_a_changed_skill_and_what_others_commit(project: Path) -> None:
    source = (
        'StepDef("one", "One", "{0}", {{Outcome.OK: "two"}}), StepDef("two", "Two", "Second.", {{Outcome.OK: None}})'
    )
    add_skill(project, "fresh", source_of("fresh", source.format("Old words.")))

    async def both() -> list[str]:
        async with by_stdio(project) as one, in_process(project) as other:
            first = await one.call("start_run", skill="fresh")
            add_skill(project, "fresh", source_of("fresh", source.format("New words.")))
            again = await one.call("run_state", run=first.data["run"])
            await other.follow(again)
            after = await one.call("run_state", run=first.data["run"])
            return [(answer.root.findtext("DO") or "").strip() for answer in (first, again, after)]

    assert anyio.run(both) == ["Old words.", "New words.", "Second."]


SLOW = source_of(
    "slow",
    'StepDef("one", "One", "Do.", {Outcome.OK: None}, requires=[Command(["sleep", "61.75"])])',
)


@pytest.mark.parametrize("way", [in_process, by_stdio], ids=["in-process", "stdio"])
def test_a_call_that_is_given_up_stops_what_it_started_and_changes_nothing(
    project: Path, way: Callable[[Path], Any]
) -> None:
    add_skill(project, "slow", SLOW)

    async def work(to: Talk) -> tuple[Answer, Answer]:
        first = await to.call("start_run", skill="slow")
        with anyio.move_on_after(1.5) as scope:
            await to.follow(first)
        assert scope.cancelled_caught
        state = await to.call("run_state", run=first.data["run"])
        with anyio.fail_after(10):
            while _running("sleep\x0061.75"):
                await anyio.sleep(0.1)
        return first, state

    first, state = talk(way, project, work)
    assert state.text == first.text


def test_a_call_is_given_up_in_a_process_that_was_started_to_ignore_interrupts(project: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        test_a_call_that_is_given_up_stops_what_it_started_and_changes_nothing(project, in_process)
    finally:
        signal.signal(signal.SIGINT, before)


def test_calls_go_on_in_parallel(project: Path) -> None:
    add_skill(project, "slow", SLOW)
    add_skill(project, "tour")

    async def work(to: Talk) -> float:
        first = await to.call("start_run", skill="slow")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(to.follow, first)
            await anyio.sleep(0.5)
            begun = time.monotonic()
            await to.call("start_run", skill="tour", parameters={"topic": "tea"})
            took = time.monotonic() - begun
            tasks.cancel_scope.cancel()
        return took

    assert talk(in_process, project, work) < 30


def test_a_ledger_that_is_damaged_is_reported_and_survived(project: Path) -> None:
    add_skill(project, "tour")

    async def work(to: Talk) -> tuple[Answer, Answer]:
        await to.call("start_run", skill="tour", parameters={"topic": "tea"})
        for file in (project / ".lockstep").glob("runs.db*"):
            file.write_bytes(b"not a database" * 500)
        return await to.call("run_state"), await to.call("list_skills")

    broken, listed = talk(in_process, project, work)
    assert (broken.error, broken.data["code"]) == (True, "LedgerError")
    assert "runs.db" in broken.text
    assert not listed.error


def _running(command: str) -> bool:
    """True if a process with these arguments, parted by NUL, is in /proc."""
    for process in Path("/proc").iterdir() if os.path.isdir("/proc") else ():
        try:
            if command in (process / "cmdline").read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False
