"""Reads a recorded session, line by line, in the form of the host that wrote it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from skills.lib import compact_json
from skills.lib.errors import EnvironmentProblem, UsageError
from skills.lib.layers.replaying.events import Event, Terms
from skills.lib.layers.replaying.hosts.claude import Claude, QwenStream
from skills.lib.layers.replaying.hosts.codex import Codex, CodexStream
from skills.lib.layers.replaying.hosts.gemini import Gemini, GeminiStream
from skills.lib.layers.replaying.hosts.lockstep import Session, Trace
from skills.lib.layers.replaying.hosts.opencode import OpenCode, OpenCodeStream
from skills.lib.layers.replaying.hosts.qwen import Qwen
from skills.lib.record import Record

# No line, and no session that is one document, is longer (bytes): all of it is in the memory at once.
LONGEST = 16_000_000
# So many records may stand before the first that tells which host wrote the file.
_PREAMBLE = 50
_DATABASE = b"SQLite format 3\0"


class Reader(Protocol):
    """Reads the records of one session."""

    host: str

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What a record tells."""

    def end(self) -> Iterator[Event]:
        """What is left at the end of the file."""


class Form(Record):
    """A form of a recorded session: what it is called, where a user finds it, and how it is read."""

    name: str
    found: str
    recognises: Callable[[Mapping[str, Any]], bool]
    reader: Callable[[Terms], Reader]


FORMS = tuple(
    Form(name, found, kind.recognises, kind)
    for name, found, kind in (
        ("claude", "~/.claude/projects/*/*.jsonl, or claude -p --output-format stream-json --verbose", Claude),
        ("codex", "~/.codex/sessions/*/*/*/rollout-*.jsonl", Codex),
        ("codex exec", "codex exec --json", CodexStream),
        ("gemini", "~/.gemini/tmp/*/chats/session-*.json(l)", Gemini),
        ("gemini stream", "gemini --output-format stream-json, which has no exit codes", GeminiStream),
        ("opencode", "opencode export SESSION", OpenCode),
        ("opencode run", "opencode run --format json", OpenCodeStream),
        ("qwen", "~/.qwen/projects/*/chats/*.jsonl", Qwen),
        ("qwen stream", "qwen --output-format stream-json", QwenStream),
        ("lockstep agent", "lockstep agent run SKILL --json --detail full", Session),
        ("lockstep trace", "lockstep trace RUN --json", Trace),
    )
)


class Transcript:
    """A recorded session in a file. ``form`` and ``is_cut`` are known once its events have been read."""

    def __init__(self, file: str, terms: Terms) -> None:
        self.file = file
        self._terms = terms
        self.form: Form | None = None
        self.is_cut = False

    def events(self) -> Iterator[Event]:
        """What happened, in order. Raises UsageError with file and line for what is of no known form."""
        reader: Reader | None = None
        waiting: list[tuple[int, Mapping[str, Any]]] = []
        for number, record in self._records():
            form = self._form_of(number, record)
            if reader is None and form is None:
                waiting.append((number, record))
                if len(waiting) > _PREAMBLE:
                    break
                continue
            if reader is None:
                assert self.form is not None
                reader = self.form.reader(self._terms)
                for place, one in waiting:
                    yield from reader.read(place, one)
            yield from reader.read(number, record)
        if reader is None:
            where = f"{self.file}:{waiting[0][0]}" if waiting else self.file
            what = "this is of no form that is known" if waiting else "there is nothing in it"
            raise UsageError(
                f"{where}: {what}", valid=known(), remedy="name the recorded session of one of these hosts"
            )
        yield from reader.end()

    def _form_of(self, number: int, record: Mapping[str, Any]) -> Form | None:
        """The form of a record; all records of a file that have one have the same."""
        if self.form is not None and self.form.recognises(record):
            return self.form
        found = next((form for form in FORMS if form.recognises(record)), None)
        if found is None or self.form is None:
            self.form = self.form or found
            return found
        raise UsageError(
            f"{self.file}:{number}: this line is of {found.name}, and the file began as one of {self.form.name}",
            remedy="one file holds one session of one host",
        )

    def _records(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The objects of a file of lines with their numbers; of a file that is one document, that one."""
        has_any = False
        with _opened(self.file) as file:
            if file.peek(len(_DATABASE)).startswith(_DATABASE):
                raise self._fault(1, "this is a database, and no session: opencode export SESSION writes one")
            for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                if len(line) > LONGEST:
                    raise self._fault(number, f"the line is longer than {LONGEST // 1_000_000} MB")
                text = self._text(number, line)
                if not text:
                    continue
                is_last = not line.endswith(b"\n")
                try:
                    found = compact_json.loads(text)
                except ValueError as error:
                    if not has_any:
                        yield 1, self._document(file.name)
                        return
                    if is_last:
                        self.is_cut = True
                        return
                    raise self._fault(number, f"this is no JSON: {error}") from None
                if isinstance(found, list) and not has_any:
                    found = {"": found}
                has_any = True
                if isinstance(found, dict):
                    yield number, found

    def _document(self, path: str) -> Mapping[str, Any]:
        """A file that is one document."""
        with _opened(path) as file:
            data = file.read(LONGEST + 1)
        if len(data) > LONGEST:
            raise self._fault(1, f"this is one document of more than {LONGEST // 1_000_000} MB, or no JSON")
        try:
            found = compact_json.loads(self._text(1, data))
        except ValueError as error:
            raise self._fault(1, f"this is no JSON: {error}") from None
        return found if isinstance(found, dict) else {"": found}

    def _text(self, number: int, data: bytes) -> str:
        try:
            return data.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n\0").decode()
        except UnicodeDecodeError as error:
            raise self._fault(number, f"this is not UTF-8 text: {error.reason}") from None

    def _fault(self, number: int, what: str) -> UsageError:
        remedy = "name a recorded session as its host wrote it"
        return UsageError(f"{self.file}:{number}: {what}", valid="" if self.form else known(), remedy=remedy)


def is_of_host(file: str) -> bool:
    """True if a file begins as a host records a session."""
    try:
        with _opened(file) as opened:
            line = opened.readline(LONGEST + 1)
        found = compact_json.loads(line.removeprefix(b"\xef\xbb\xbf").decode())
    except (ValueError, UsageError, EnvironmentProblem):
        return False
    return isinstance(found, dict) and any(form.recognises(found) for form in FORMS)


def known() -> str:
    """The forms that are known, one a line."""
    return "".join(f"\n    {form.name}: {form.found}" for form in FORMS)


def _opened(path: str) -> Any:
    """A regular file, opened to be read as bytes. Raises UsageError for anything else."""
    remedy = "name a recorded session, or a folder of such"
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UsageError(f"{path} is no file", remedy=remedy)
        return open(path, "rb")
    except FileNotFoundError as error:
        raise UsageError(f"{path} does not exist", remedy=remedy) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise EnvironmentProblem(f"{path} cannot be read: {reason}", remedy=remedy) from error
