"""A client of the server, by the official SDK: over standard input, over HTTP, or in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
from lxml import etree
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

import skills
from skills.lib.hosts.mcp.server import SkillServer
from skills.lib.ledger import Ledger
from skills.lib.ledger.history import Event
from skills.lib.skillfile import discover
from skills.lib.testing.blocks import parse
from tests.fixtures.skill import install

LOCKSTEP = [sys.executable, "-P", str(Path(skills.__file__).parent / "__main__.py")]
# How long (seconds) one conversation may take.
DEADLINE = 60

_T = TypeVar("_T")


def add_skill(project: Path, name: str, source: str | None = None) -> Path:
    """Put a skill into the project, of a fixture or of this source, and return its folder."""
    folder = install(project, name, source).parent.parent
    text = f"---\nname: {name}\ndescription: Shows what {name} shows.\n---\n\n# {name}\n\nRun it.\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Answer:
    """The result of a tool call: its text, whether it is an error, and its data."""

    text: str
    error: bool
    data: dict[str, Any]

    @property
    def root(self) -> etree._Element:
        """The document that the text is."""
        return parse(self.text)

    @property
    def next(self) -> str:
        """What NEXT says."""
        return self.root.findtext("NEXT") or ""


class Talk:
    """A session with the server."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> Answer:
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result, CallToolResult)
        [content] = result.content
        assert isinstance(content, TextContent)
        return Answer(content.text, bool(result.is_error), dict(result.structured_content or {}))

    async def follow(self, answer: Answer, /, **values: Any) -> Answer:
        """Make the call that the answer names, with these values in place of its placeholders."""
        call = answer.data["next"]
        return await self.call(call["tool"], **filled(call["arguments"], values))


def filled(arguments: Any, values: dict[str, Any]) -> Any:
    """The arguments with a value for each placeholder; KeyError for one that has none."""
    if isinstance(arguments, dict):
        return {name: filled(value, values) for name, value in arguments.items()}
    if isinstance(arguments, str) and arguments.startswith("FILL_"):
        return values[arguments[len("FILL_") :]]
    return arguments


@asynccontextmanager
async def by_stdio(project: Path) -> AsyncIterator[Talk]:
    """A server of its own, as a host starts one."""
    words = [*LOCKSTEP[1:], "mcp", "--project", str(project)]
    server = stdio_client(StdioServerParameters(command=LOCKSTEP[0], args=words, env=dict(os.environ)))
    async with Client(server) as client:
        yield Talk(client)


@asynccontextmanager
async def by_http(project: Path) -> AsyncIterator[Talk]:
    """A server at a free port of this machine."""
    with Listening([*LOCKSTEP, "mcp", "--project", str(project), "--http", "0"]) as url:
        async with Client(url) as client:
            yield Talk(client)


@asynccontextmanager
async def in_process(project: Path) -> AsyncIterator[Talk]:
    """The server without a transport."""
    async with Client(SkillServer(str(project), partial(discover, project))) as client:
        yield Talk(client)


def events(project: Path, run: str) -> list[Event]:
    """What the project's ledger recorded of a run."""
    ledger = Ledger(str(project / ".lockstep"))
    try:
        return ledger.events(run)
    finally:
        ledger.close()


class Listening:
    """A server process for as long as the block lasts; its URL."""

    def __init__(self, command: list[str]) -> None:
        self.command = command

    def __enter__(self) -> str:
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert self.process.stderr is not None
        told = self.process.stderr.readline()
        assert " at http://" in told, told + self.process.stderr.read()
        return told.rpartition(" at ")[2].strip()

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)


def talk(way: Callable[[Path], Any], project: Path, work: Callable[[Talk], Awaitable[_T]]) -> _T:
    """Hold a conversation, and return what it comes to."""

    async def hold() -> _T:
        with anyio.fail_after(DEADLINE):
            async with way(project) as talk:
                return await work(talk)

    return anyio.run(hold)
