"""A provider on the loopback, and an agent of LangChain with a tool that asks it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, HumanMessage

from skills.lib.agent.models.chat_models import Retries, chat_model
from tests.agent.wires.servers import Reply, Wire, replies, serving
from tests.extent import EXHAUSTIVE, Row, pairwise

HERE = Path(__file__).parent
KEY = "sk-test-0123456789abcdef"


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Mode(NamedTuple):
    """How a session asks."""

    protocol: str
    streams: bool
    is_async: bool

    def __str__(self) -> str:
        return "-".join([self.protocol, "streamed" if self.streams else "plain", "async" if self.is_async else "sync"])


MODES = [
    Mode(protocol, streams, is_async)
    for protocol in ("openai", "anthropic")
    for streams in (False, True)
    for is_async in (False, True)
]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out of each test's matrix (mode, fault, call) what only repeats pairs, unless a case is asked for by id."""
    if EXHAUSTIVE or any("::" in argument for argument in config.args):
        return
    ours = [item for item in items if isinstance(item, pytest.Function) and HERE in item.path.parents]
    left: list[pytest.Item] = []
    for _, tests in groupby((item for item in ours if hasattr(item, "callspec")), lambda item: item.function):
        by_row = {_row(item): item for item in tests}
        kept = pairwise(list(by_row)) if len(next(iter(by_row))) > 2 else by_row
        left += [item for row, item in by_row.items() if row not in kept]
    if left:
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=left)


def _row(item: pytest.Function) -> Row:
    """The values of a test's parameters, those of a mode one by one."""
    return tuple(
        part
        for value in item.callspec.params.values()
        for part in (value if isinstance(value, Mode) else (str(value),))
    )


class Provider:
    """A provider with a session that asks it."""

    def __init__(
        self, mode: Mode, wire: Wire, clock: Clock, added: list[tuple[int, int]], name: str = "test-model"
    ) -> None:
        self.mode = mode
        self.wire = wire
        self.clock = clock
        self.added = added
        self.name = name

    def model(self, timeout: float = 10, **retries: Any) -> Any:
        given = {"chance": lambda: 0.0, "clock": self.clock, "sleep": self.clock.sleep, **retries}
        return chat_model(f"{self.mode.protocol}:{self.name}", self.wire.url, timeout, Retries(**given))

    def messages(self, timeout: float = 10, tools: Any = None, **retries: Any) -> list[BaseMessage]:
        """Every message of a session that begins with a question."""
        return self.follow(create_agent(self.model(timeout, **retries), tools or [self.add]))

    def follow(self, agent: Any) -> list[BaseMessage]:
        given = {"messages": [HumanMessage("What is 2 + 3?")]}
        modes = ["messages", "values"]

        async def awaited() -> Any:
            if self.mode.streams:
                return [part async for part in agent.astream(given, stream_mode=modes)][-1][1]
            return await agent.ainvoke(given)

        if self.mode.is_async:
            state = asyncio.run(awaited())
        else:
            state = list(agent.stream(given, stream_mode=modes))[-1][1] if self.mode.streams else agent.invoke(given)
        messages: list[BaseMessage] = state["messages"]
        return messages

    def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        self.added.append((a, b))
        return a + b


@pytest.fixture(params=MODES, ids=str)
def mode(request: pytest.FixtureRequest) -> Mode:
    found: Mode = request.param
    return found


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of these tests, no other setting of a provider, and no proxy between a test and its server."""
    for name in (
        "LOCKSTEP_MODEL LOCKSTEP_BASE_URL OPENAI_API_BASE OPENAI_BASE_URL ANTHROPIC_API_URL ANTHROPIC_BASE_URL "
        "OPENAI_PROXY ANTHROPIC_PROXY HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy "
        "LANGSMITH_TRACING LANGCHAIN_TRACING_V2 LANGSMITH_GATEWAY"
    ).split():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.fixture
def provider(mode: Mode) -> Iterator[Callable[..., Provider]]:
    """Starts a provider that gives these replies, the last one again and again."""
    with ExitStack() as stack:

        def started(*given: Reply) -> Provider:
            return Provider(mode, stack.enter_context(serving(mode.protocol, replies(*given))), Clock(), [])

        yield started
