"""Runs the worker of a tool call, and stops it where the call is given up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import anyio
from anyio.abc import Process

from skills.lib.errors import EnvironmentProblem, UsageError, tell
from skills.lib.hosts.mcp import worker

# What one call may give, in bytes: as much as a record file.
REQUEST_LIMIT = 2_000_000
# How many calls are served at once; more wait their turn.
AT_ONCE = 16
# How long (seconds) a worker has, once its call is given up, to end the command that it runs.
GRACE = 2.0
# How much is told of what a worker wrote to standard error, from its end.
TAIL = 2_000


class Workers:
    """Starts a process for each call, in the project's folder."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._room = anyio.Semaphore(AT_ONCE)
        self._running: set[Process] = set()

    def interrupt(self) -> None:
        """Ask every process that is at work to end; for a server that ends at once."""
        for process in self._running:
            _signal(process, signal.SIGINT)

    async def call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The worker's reply; EnvironmentProblem where it ended without one."""
        given = json.dumps({**request, "project": self._project}).encode()
        if len(given) > REQUEST_LIMIT:
            remedy = "write long texts to files in the project and record their paths"
            raise UsageError(f"the call has {len(given):,} bytes, at most {REQUEST_LIMIT:,} are read", remedy=remedy)
        async with self._room:
            code, out, told = await self._run(given)
        if code != 0:
            what = f"the process of the call ended with {code}: {_end(told)}"
            raise EnvironmentProblem(what, remedy="call again; run_state shows where a run stands")
        tell(told.decode("utf-8", "replace"))
        reply: dict[str, Any] = json.loads(out)
        return reply

    async def _run(self, given: bytes) -> tuple[int, bytes, bytes]:
        process = await anyio.open_process(
            [sys.executable, "-P", os.path.realpath(worker.__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._project,
            start_new_session=True,
        )
        self._running.add(process)
        try:
            return await _communicate(process, given)
        finally:
            self._running.discard(process)
            if process.returncode is None:
                with anyio.CancelScope(shield=True):
                    await _stop(process)


async def _communicate(process: Process, given: bytes) -> tuple[int, bytes, bytes]:
    out, told = bytearray(), bytearray()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_feed, process, given)
        tasks.start_soon(_read, process.stdout, out)
        tasks.start_soon(_read, process.stderr, told)
    return await process.wait(), bytes(out), bytes(told)


async def _feed(process: Process, given: bytes) -> None:
    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # it ended before it had read all
        await process.stdin.send(given)
    await process.stdin.aclose()


async def _read(stream: Any, into: bytearray) -> None:
    async for chunk in stream:
        into += chunk


async def _stop(process: Process) -> None:
    """Ask it to end, so that it ends what it runs; then end it and all of its group."""
    _signal(process, signal.SIGINT)
    with anyio.move_on_after(GRACE):
        await process.wait()
    _signal(process, signal.SIGKILL)
    await process.wait()


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _end(told: bytes) -> str:
    return told[-TAIL:].decode("utf-8", "replace").strip() or "it said nothing"
