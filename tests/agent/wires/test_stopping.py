"""A session that somebody stops does not wait for its model, and the run stands where it stood."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent

from skills.lib.agent import LockstepMiddleware
from skills.lib.agent.agent import Agent
from skills.lib.agent.models.chat_models import chat_model
from skills.lib.errors import RefusedError
from tests.agent.wires.servers import Asked, Hang, Reply, Wire, serving
from tests.agent.wires.walking import STEPS, reporting, step_of

pytestmark = pytest.mark.req("A-14")

SESSION = """
import sys
from skills.lib.agent import Agent

project, run, name, url = sys.argv[1:]
print(Agent(project, name, base_url=url).advance(run).status)
"""


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p" / ".git").mkdir(parents=True)
    return tmp_path / "p"


def hanging_once(asked: Asked, seen: list[str]) -> Reply:
    """At the second step, no answer the first time."""
    step = step_of(asked)
    seen.append(step)
    return Hang(18) if step == STEPS[1] and seen.count(step) == 1 else reporting(asked)


def when_asked(wire: Wire, times: int) -> None:
    until = time.monotonic() + 60
    while len(wire.asked) < times:
        assert time.monotonic() < until, "the model was not asked"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_wait_for_a_model(folder: Path, protocol: str) -> None:
    seen: list[str] = []
    with serving(protocol, lambda asked: hanging_once(asked, seen)) as wire:
        run = Agent(str(folder)).start("problem-analysis", "it is slow")
        line = [sys.executable, "-c", SESSION, str(folder), run, f"{protocol}:x", wire.url]
        first = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            when_asked(wire, 2)
            begun = time.monotonic()
            os.kill(first.pid, signal.SIGINT)
            _, error = first.communicate(timeout=15)
        finally:
            first.kill()
        assert time.monotonic() - begun < 10
        assert error.rstrip().endswith("KeyboardInterrupt")
        second = subprocess.run(line, capture_output=True, text=True, timeout=90, check=False)
        assert second.stdout == "done\n", second.stderr
        assert seen == [STEPS[0], STEPS[1], *STEPS[1:]]


def test_a_task_that_is_cancelled_leaves_the_run_to_the_next_one(folder: Path, protocol: str) -> None:
    seen: list[str] = []

    async def followed(agent: Agent, run: str, wire: Wire) -> str:
        task = asyncio.create_task(agent.aadvance(run))
        await asyncio.to_thread(when_asked, wire, 2)
        begun = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while True:
            try:
                ended = await agent.aadvance(run)
                break
            except RefusedError:  # the session before still has the run, for a moment
                assert time.monotonic() - begun < 10
                await asyncio.sleep(0.05)
        return ended.status

    with serving(protocol, lambda asked: hanging_once(asked, seen)) as wire:
        agent = Agent(str(folder), f"{protocol}:x", base_url=wire.url)
        run = agent.start("problem-analysis", "it is slow")
        assert asyncio.run(followed(agent, run, wire)) == "done"
        assert seen == [STEPS[0], STEPS[1], *STEPS[1:]]


@pytest.mark.parametrize("streams", [False, True], ids=["plain", "streamed"])
def test_an_async_agent_of_langchain_follows_a_shipped_skill(folder: Path, protocol: str, streams: bool) -> None:
    with serving(protocol, reporting) as wire:
        run = Agent(str(folder)).start("problem-analysis", "it is slow")
        middleware = LockstepMiddleware(run, str(folder))
        graph: Any = create_agent(chat_model(f"{protocol}:x", wire.url), tools=[], middleware=[middleware])
        given = {"messages": [("user", "begin")]}

        async def followed() -> Any:
            if streams:
                return [part async for part in graph.astream(given, stream_mode=["messages", "values"])][-1][1]
            return await graph.ainvoke(given)

        assert asyncio.run(followed())["messages"][-1].text == "The run is done."
        middleware.close()
        assert [step_of(asked) for asked in wire.asked] == STEPS
        assert [bool(body.get("stream")) for body in wire.bodies] == [streams] * 5
