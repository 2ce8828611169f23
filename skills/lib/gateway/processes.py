"""Runs an argument list without a shell: bounded time, output, CPU, memory and processes; nothing is left running."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time

from skills.lib import compact_json
from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.gateway import strays
from skills.lib.gateway.places import is_below
from skills.lib.gateway.specs import Limits, is_windows
from skills.lib.git import kill
from skills.lib.ledger import processes
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Put before an argument list that has limits which the process must set on itself.
_SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "limited.py")
# How long (seconds) output is still read after the process has ended.
_AFTER_END = 0.3
_AT_ONCE = 1 << 16
# Under this name the commands of a project's gateway are noted: those of a gateway that was killed are ended.
_NOTED = "gateway"


class Ended(Record):
    """How a process ended: its exit code, None if it was ended and ``why``; what it printed, and how much.

    Of longer output the first and the last half of the limit are kept.
    """

    exit: int | None
    output: bytes
    errors: bytes
    printed: int
    is_cut: bool
    seconds: float
    why: str = ""


class _Kept:
    """The beginning and the end of a stream."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head, self._tail = bytearray(), bytearray()
        self.count = 0

    def add(self, data: bytes) -> None:
        self.count += len(data)
        room = self._half - len(self._head)
        self._head += data[:room] if room > 0 else b""
        self._tail += data[max(room, 0) :]
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def is_cut(self) -> bool:
        return self.count > 2 * self._half

    def data(self) -> bytes:
        if not self.is_cut:
            return bytes(self._head + self._tail)
        left_out = self.count - 2 * self._half
        return (
            bytes(self._head)
            + f"\n[{left_out:,} bytes are left out here]\n".encode()
            + bytes(self._tail[-self._half :])
        )


def program(name: str, project: str, folders: Sequence[str]) -> str:
    """The path of a program: one with a slash is in the project, any other in one of these folders.

    Raises EnvironmentProblem if there is none.
    """
    candidates = (
        [os.path.join(project, name)] if os.path.dirname(name) else [os.path.join(one, name) for one in folders]
    )
    suffixes = os.environ.get("PATHEXT", ".EXE").lower().split(os.pathsep) if is_windows() else []
    for path in [path + suffix for path in candidates for suffix in ("", *suffixes)]:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            if is_windows() and path.lower().endswith((".bat", ".cmd")):
                raise RefusedError(
                    f"{path} is a batch file: Windows runs it by a shell, which would read its arguments"
                )
            return path
    raise EnvironmentProblem(
        f"{name} is not found on PATH", remedy=f"install {name}, or name its path in the gateway file"
    )


def search_path(project: str, own: bool) -> list[str]:
    """The absolute folders of PATH; with ``own`` those in the project too, for the commands that a person trusted."""
    root = os.path.realpath(project)
    found = []
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        real = os.path.realpath(folder) if os.path.isabs(folder) else ""
        if real and (own or not is_below(real, root)):
            found.append(folder)
    return found


def run(
    argv: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    limits: Limits,
    stdin: bytes,
    project: str,
    stopped: Callable[[], bool] = lambda: False,
) -> Ended:
    """Run a program to its end or a limit, then end everything that it has started.

    ``stopped`` is asked ten times a second, and if it says so the program ends as at its time limit. So does one of
    root that starts too many processes, to which Linux does not hold root. Raises EnvironmentProblem if it cannot be
    started.
    """
    processes.end(project, _NOTED, orphans=True)
    # A gateway that is called by a script of another keeps the mark of that one too.
    marked = {**environment, strays.MARK: os.environ.get(strays.MARK, "")[:1_000] + os.urandom(12).hex()}
    begin = time.monotonic()
    crowd = _Crowd(marked[strays.MARK], limits.processes)
    output, errors = _Kept(limits.output), _Kept(limits.output)
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        try:
            process = subprocess.Popen(
                limited(argv, limits),
                cwd=folder,
                env=marked,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise EnvironmentProblem(f"{argv[0]} cannot be run: {error.strerror or error}") from error
        except ValueError as error:
            raise EnvironmentProblem(f"{argv[0]} cannot be run: {error}") from error
    note = ""
    try:
        note = processes.note(project, _NOTED, process.pid)
        code = _watch(process, begin + limits.seconds, output, errors, lambda: stopped() or crowd.is_there())
    finally:
        _end(process, marked[strays.MARK])
        processes.forget(note)
    is_cut = output.is_cut or errors.is_cut
    printed = output.count + errors.count
    why = "" if code is not None else crowd.why or "ended at its time limit"
    return Ended(code, output.data(), errors.data(), printed, is_cut, round(time.monotonic() - begin, 3), why)


class _Crowd:
    """The processes with a mark, counted for root on Linux once the machine has more than ``most`` new ones."""

    def __init__(self, mark: str, most: int) -> None:
        self._mark, self._most = mark, most
        self._before = strays.count_of_all() if most and not getattr(os, "geteuid", lambda: 1)() else -1
        self.why = ""

    def is_there(self) -> bool:
        """True if there are more than ``most``."""
        if self._before < 0 or strays.count_of_all() - self._before <= self._most:
            return False
        if strays.count(self._mark) > self._most:
            self.why = f"ended: it started more than {self._most:,} processes"
        return bool(self.why)


def limited(argv: Sequence[str], limits: Limits) -> list[str]:
    """The argument list, with what sets the limits before it if there are any that the process must set on itself."""
    wanted = {name: getattr(limits, name) for name in ("cpu", "memory", "processes") if getattr(limits, name)}
    if is_windows() or not wanted:
        return list(argv)
    return [sys.executable, "-I", "-S", _SHIM, compact_json.dumps(wanted), *argv]


def _watch(
    process: subprocess.Popen[bytes], deadline: float, output: _Kept, errors: _Kept, stopped: Callable[[], bool]
) -> int | None:
    """Read what a process prints until it has ended, or its time is over, or it is stopped; its exit code, or None."""
    assert process.stdout is not None
    assert process.stderr is not None
    if is_windows():  # a pipe cannot be waited for there
        try:
            out, err = process.communicate(timeout=max(deadline - time.monotonic(), 0.01))
        except subprocess.TimeoutExpired:
            return None
        output.add(out)
        errors.add(err)
        return process.returncode
    import selectors

    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ, output)
        ready.register(process.stderr, selectors.EVENT_READ, errors)
        until, has_ended = deadline, False
        while ready.get_map():
            if not has_ended and process.poll() is not None:  # what it left running may hold the pipe without end
                until, has_ended = min(deadline, time.monotonic() + _AFTER_END), True
            found = ready.select(max(min(until - time.monotonic(), 0.1), 0))
            for key, _ in found:
                data = os.read(key.fd, _AT_ONCE)
                key.data.add(data)
                if not data:
                    ready.unregister(key.fileobj)
            if time.monotonic() >= until or stopped():
                return process.poll()
    while not stopped():  # it has closed its output
        left = deadline - time.monotonic()
        try:
            return process.wait(max(min(left, 0.1), 0.01))
        except subprocess.TimeoutExpired:
            if left <= 0:
                break
    return process.poll()


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kill the process group, and on Linux also what has left the group."""
    kill(process)
    strays.end(mark)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)
