"""Runs a process for each tool call, and stops it if the call is cancelled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

import anyio
import anyio.to_thread

import skills
from skills.lib.errors import EnvironmentProblem, UsageError, tell

# The most bytes of one call: as many as of a record file.
REQUEST_LIMIT = 2_000_000
# How many calls are served at the same time; more wait their turn.
MAX_PARALLEL = 16
# How long (seconds) a worker has, once its call is cancelled, to end the command that it runs.
GRACE = 2.0
# How many bytes of the end of a worker's standard error are kept, and how many of these an error message shows.
ERRORS_LIMIT, TAIL = 8_000, 2_000
# The most bytes of one reply.
REPLY_LIMIT = 16_000_000
# The package is put first on the path: the project's own ``skills`` folder must not shadow it.
_WORKER = "import sys; sys.path.insert(0, sys.argv[1]); from skills.lib.hosts.mcp import runner; runner.main()"


class Workers:
    """Starts a process for each call, in the project's folder."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._room = anyio.Semaphore(MAX_PARALLEL)
        self._running: set[subprocess.Popen[bytes]] = set()

    def interrupt(self) -> None:
        """Ask every process that is at work to end; for a server that ends at once."""
        for process in self._running:
            _signal(process, signal.SIGINT)

    async def call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The worker's reply; raises EnvironmentProblem if it ended without one."""
        given = json.dumps({**request, "project": self._project}).encode()
        if len(given) > REQUEST_LIMIT:
            raise UsageError(
                f"the call has {len(given):,} bytes, at most {REQUEST_LIMIT:,} are read",
                remedy="write long texts to files in the project and record their paths",
            )
        async with self._room:
            code, out, err = await self._run(given)
        if len(out) > REPLY_LIMIT:
            raise EnvironmentProblem(f"the reply of the call has more than {REPLY_LIMIT:,} bytes")
        if code != 0:
            end = err[-TAIL:].decode("utf-8", "replace").strip() or "it said nothing"
            raise EnvironmentProblem(
                f"the process of the call ended with {code}: {end}",
                remedy="call again; run_state shows where a run stands",
            )
        tell(err.decode("utf-8", "replace"))
        reply: dict[str, Any] = json.loads(out)
        return reply

    async def _run(self, given: bytes) -> tuple[int, bytes, bytes]:
        package = os.path.dirname(os.path.dirname(os.path.realpath(skills.__file__)))
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _WORKER, package],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._project,
                start_new_session=True,
            )
        except OSError as error:  # no descriptors or processes are left
            raise EnvironmentProblem(
                f"the process of the call cannot be started: {error.strerror}", remedy="call again in a moment"
            ) from error
        self._running.add(process)
        try:
            out, err = await anyio.to_thread.run_sync(_exchange, process, given, abandon_on_cancel=True)
        finally:
            self._running.discard(process)
            if process.returncode is None:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(_stop, process)
        return process.returncode, out, err


def _exchange(process: subprocess.Popen[bytes], given: bytes) -> tuple[bytes, bytes]:
    """Give the process its request; its reply, at most a byte more than REPLY_LIMIT, and the end of its errors."""
    assert process.stdin is not None
    assert process.stdout is not None
    errors = bytearray()
    with process:
        reader = threading.Thread(target=_keep_end, args=(process.stderr, errors))
        reader.start()
        with suppress(BrokenPipeError):  # it has ended
            process.stdin.write(given)
        with suppress(BrokenPipeError):
            process.stdin.close()
        out = process.stdout.read(REPLY_LIMIT + 1)
        process.stdout.close()
        reader.join()
    return out, bytes(errors)


def _keep_end(source: IO[bytes], kept: bytearray) -> None:
    while part := os.read(source.fileno(), 1 << 16):
        kept += part
        del kept[:-ERRORS_LIMIT]


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, so that it ends what it runs; then end it and all of its group."""
    _signal(process, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
