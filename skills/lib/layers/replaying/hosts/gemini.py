"""Gemini CLI: the file of a session (lines, in older versions one document), and what stream-json prints.

A message is written again as it grows, so each call and each text counts once, by its id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skills.lib.layers.replaying.events import Event, Folder, Said, Terms
from skills.lib.layers.replaying.pending import Pending

_PLACES = ("**Workspace Directories:**", "Workspace Directories:")
_STREAM = tuple("init message tool_use tool_result error result".split())


class Gemini:
    """Reads the records of one session file."""

    host = "gemini"

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._pending = Pending(self.host, terms)
        self._seen: set[str] = set()
        self._folder = ""

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        return isinstance(record.get("projectHash"), str) and isinstance(record.get("sessionId"), str)

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What a record tells."""
        update = record.get("$set")
        for message in _dicts(update.get("messages") if isinstance(update, dict) else record.get("messages")):
            yield from self._message(number, message)
        yield from self._message(number, record)

    def end(self) -> Iterator[Event]:
        """What is left at the end of the file."""
        yield from self._pending.left()

    def _message(self, number: int, message: Mapping[str, Any]) -> Iterator[Event]:
        kind = message.get("type")
        text = self._terms.text(message.get("content"))
        if kind == "user" and not self._folder and (folder := _folder_in(text)):
            self._folder = folder
            yield Folder(number, folder)
        if kind != "gemini":
            return
        for one in _dicts(message.get("toolCalls")):
            key = f"call {one.get('id')}"
            if one.get("status") in ("success", "error", "cancelled") and key not in self._seen:
                self._seen.add(key)
                yield from self._call(number, one)
        key = f"text {message.get('id')}"
        if text.strip() and key not in self._seen:
            self._seen.add(key)
            yield Said(number, text)

    def _call(self, number: int, one: Mapping[str, Any]) -> Iterator[Event]:
        parts = [part.get("functionResponse") for part in _dicts(one.get("result"))]
        found = [part.get("response") for part in parts if isinstance(part, dict)]
        response = found[0] if found and isinstance(found[0], dict) else {}
        failed = one.get("status") != "success"
        given = response.get("error" if "error" in response else "output", one.get("resultDisplay"))
        tool, arguments = one.get("name"), one.get("args")
        if isinstance(tool, str):
            known = arguments if isinstance(arguments, dict) else {}
            yield self._pending.call(number, tool, known, failed, given)


class GeminiStream(Gemini):
    """Reads what Gemini CLI prints, which has no exit codes."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._text: list[str] = []

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        return record.get("type") == "init" and "session_id" in record and "tools" not in record

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What a record tells. A text comes in parts."""
        kind = record.get("type")
        text = record.get("content")
        if kind == "message" and record.get("role") == "assistant" and isinstance(text, str):
            self._text.append(text)
            return
        if kind in _STREAM:
            yield from self._said(number)
        if kind == "tool_use":
            self._pending.begin(record.get("tool_id"), number, record.get("tool_name"), record.get("parameters"))
        elif kind == "tool_result":
            failed = record.get("status") != "success"
            error = record.get("error")
            given = error.get("message") if failed and isinstance(error, dict) else record.get("output")
            if call := self._pending.end(record.get("tool_id"), number, failed, given):
                yield call

    def end(self) -> Iterator[Event]:
        """What is left at the end of the file."""
        yield from self._said(0)
        yield from self._pending.left()

    def _said(self, number: int) -> Iterator[Event]:
        if self._text:
            yield Said(number, "".join(self._text))
            self._text.clear()


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _folder_in(text: str) -> str:
    """The folder that a session's first message names; empty if it names none."""
    for begin in _PLACES:
        _, found, rest = text.partition(begin)
        line = rest.lstrip("\n").split("\n")[0].strip()
        if found and line.startswith("- /"):
            return line[2:]
    return ""
