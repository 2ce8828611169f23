"""Asks another program, within a bounded time and, if the program can be told so, without the network."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

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
            process = _started(words, cwd, env, out, err)
        except OSError as error:
            return Answer(None, why=f"{words[0]} cannot be started: {error.strerror}")
        try:
            process.communicate(given, timeout=seconds)
        except subprocess.TimeoutExpired:
            return Answer(None, _text(out), _text(err), f"no answer within {seconds:g} seconds")
        finally:
            _end(process)
        return Answer(process.returncode, _text(out), _text(err))


def converse(
    words: Sequence[str], seconds: float, lines: Sequence[bytes], until: Callable[[bytes], bool], cwd: str | None = None
) -> bytes | None:
    """Send lines to a program that goes on; the first line of its output that ``until`` accepts, None without one."""
    import selectors
    import time

    with tempfile.TemporaryFile() as err:
        try:
            process = _started(words, cwd, None, subprocess.PIPE, err)
        except OSError:
            return None
        assert process.stdin is not None
        assert process.stdout is not None
        end, held = time.monotonic() + seconds, b""
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                process.stdin.write(b"".join(line + b"\n" for line in lines))
                process.stdin.flush()
                while len(held) < _LIMIT and selector.select(max(0.0, end - time.monotonic())):
                    chunk = os.read(process.stdout.fileno(), 65_536)
                    *whole, held = (held + chunk).split(b"\n")
                    found = next((line for line in whole if until(line)), None)
                    if found is not None or not chunk:
                        return found
        except OSError:
            return None
        finally:
            _end(process)
    return None


def texts_in(data: object) -> Iterator[str]:
    """Every text in JSON data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for one in data.values() if isinstance(data, dict) else data:
            yield from texts_in(one)


def _started(
    words: Sequence[str], cwd: str | None, env: Mapping[str, str] | None, out: int | IO[bytes], err: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(words),
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=err,
        cwd=cwd,
        env={**os.environ, **_QUIET, **(env or {})},
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave no process of the group behind, and none of its pipes open."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, AttributeError):
        process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            _close(stream)
    process.wait()


def _close(stream: IO[Any]) -> None:
    with suppress(OSError):  # what was to be written finds no reader any more
        stream.close()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_LIMIT).decode("utf-8", "replace")
