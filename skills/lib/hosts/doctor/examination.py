"""What a check is given, a project, hosts and the answers of programs, and what it yields: a result, and what fixes it.

A program is asked within a bounded time and, if it can be told so, without the network.
"""

from __future__ import annotations

import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import IO, Any

from skills.lib.git import kill
from skills.lib.model.texts import counted as counted

# How long a program may take to say its version, or what it sees (seconds).
SOON, LATER = 15.0, 40.0
OK, WARNING, PROBLEM = "ok", "warning", "problem"
# The remedy of what the doctor fixes itself.
FIX = "lockstep doctor --fix"
# What keeps clients from looking for news while they are asked: their own switches, and proxies that lead nowhere.
_NOWHERE, _OPENCODE = "http://127.0.0.1:9", ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
_QUIET = {
    "NO_UPDATE_NOTIFIER": "1",
    "DISABLE_AUTOUPDATER": "1",
    **{f"OPENCODE_DISABLE_{name}": "1" for name in _OPENCODE},
    "npm_config_offline": "true",
    "npm_config_fetch_retries": "0",
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
}
_LIMIT = 4_000_000


@dataclass(slots=True)
class DoctorContext:
    """A project and the hosts that are examined; ``named`` is true if the user asked for just these.

    Answers of programs are remembered: two hosts share a folder, and two checks a question.
    """

    project: str
    hosts: tuple[str, ...]
    named: bool = False
    remembered: dict[tuple[str, ...], Answer] = field(default_factory=dict)

    def program(self, host: str) -> str:
        """The path of a host's program; empty if it is not on the PATH, or the host has none."""
        return "" if host == "agents" else shutil.which(host) or ""

    def ask(
        self, *words: str, seconds: float = SOON, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Answer:
        """The answer of a program in the project, or in ``cwd``. Each command is run once."""
        if words not in self.remembered:
            self.remembered[words] = ask(words, seconds, cwd=cwd or self.project, env=env)
        return self.remembered[words]

    def python(self) -> str:
        """The Python that SKILL.md tells agents to call; empty if there is none."""
        return shutil.which("python3") or ("" if os.name != "nt" else sys.executable)


@dataclass(frozen=True, slots=True)
class Result:
    """One result.

    --fix removes ``stale``, a file that may go without loss, and writes ``launcher``, that of short commands, again.
    """

    status: str
    what: str
    where: str = ""
    remedy: str = ""
    stale: str = ""
    launcher: str = ""


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """A result with the name of its check and of what was checked: lockstep, project, or a host."""

    subject: str
    check: str
    result: Result

    def to_data(self) -> dict[str, Any]:
        """The result as plain data, for a program."""
        data = asdict(self.result)
        is_fixable = bool(data.pop("stale") or data.pop("launcher"))
        return {"subject": self.subject, "check": self.check, **data, "fixable": is_fixable}


# A result that asks for nothing; one that costs something, or soon will; one that keeps something from working.
ok, warning, problem = partial(Result, OK), partial(Result, WARNING), partial(Result, PROBLEM)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program said. ``code`` is None if it did not end in time or could not be started; ``why`` says so."""

    code: int | None
    out: str = ""
    err: str = ""
    why: str = ""

    def last_words(self) -> str:
        """The first line that says something of what went wrong."""
        lines = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        return (lines[0] if lines else self.why or f"it ended with {self.code}")[:300]


def ask(
    words: Sequence[str],
    seconds: float,
    cwd: str | None = None,
    given: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> Answer:
    """Run a program to its end, at most so long; its process group is then killed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            with _started(words, cwd, env, out, err) as process:
                process.communicate(given, timeout=seconds)
        except OSError as error:
            return Answer(None, why=f"{words[0]} cannot be started: {error.strerror}")
        except subprocess.TimeoutExpired:
            return Answer(None, _text(out), _text(err), f"no answer within {seconds:g} seconds")
        return Answer(process.returncode, _text(out), _text(err))


def converse(
    words: Sequence[str], seconds: float, lines: Sequence[bytes], until: Callable[[bytes], bool], cwd: str | None = None
) -> bytes | None:
    """Send lines to a program that goes on; the first line of its output that ``until`` accepts, None without one."""
    end, held = time.monotonic() + seconds, b""
    with (
        suppress(OSError),
        tempfile.TemporaryFile() as err,
        selectors.DefaultSelector() as selector,
        _started(words, cwd, None, subprocess.PIPE, err) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        selector.register(process.stdout, selectors.EVENT_READ)
        process.stdin.write(b"".join(line + b"\n" for line in lines))
        process.stdin.flush()
        while len(held) < _LIMIT and selector.select(max(0.0, end - time.monotonic())):
            chunk = os.read(process.stdout.fileno(), 65_536)
            *whole, held = (held + chunk).split(b"\n")
            found = next((line for line in whole if until(line)), None)
            if found is not None or not chunk:
                return found
    return None


def texts_in(data: object) -> Iterator[str]:
    """Every text in JSON data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for one in data.values() if isinstance(data, dict) else data:
            yield from texts_in(one)


@contextmanager
def _started(
    words: Sequence[str], cwd: str | None, env: Mapping[str, str] | None, out: int | IO[bytes], err: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """A program at work. In the end no process of its group is left, and none of its pipes is open."""
    process = subprocess.Popen(
        list(words),
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=err,
        cwd=cwd,
        env={**os.environ, **_QUIET, **(env or {})},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        kill(process)
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):  # what was to be written finds no reader any more
                if stream is not None:
                    stream.close()
        process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_LIMIT).decode("utf-8", "replace")
