"""Qwen Code: the file of a session. What it prints has Claude Code's form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skills.lib.layers.replaying.events import Event, Folder, Said, Terms, revised
from skills.lib.layers.replaying.pending import Pending


class Qwen:
    """Reads the records of one session."""

    host = "qwen"

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._pending = Pending(self.host, terms)
        self._folder = ""

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        message = record.get("message")
        return "sessionId" in record and isinstance(message, dict) and isinstance(message.get("parts"), list)

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What a record tells."""
        folder = record.get("cwd")
        if isinstance(folder, str) and folder and not self._folder:
            self._folder = folder
            yield Folder(number, folder)
        message = record.get("message")
        parts = message.get("parts") if isinstance(message, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                yield from self._part(number, record, part)

    def end(self) -> Iterator[Event]:
        """What is left at the end of the file."""
        yield from self._pending.left()

    def _part(self, number: int, record: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[Event]:
        called, answered, text = part.get("functionCall"), part.get("functionResponse"), part.get("text")
        if isinstance(called, dict):
            self._pending.begin(called.get("id"), number, called.get("name"), called.get("args"))
        elif isinstance(answered, dict):
            about, response = record.get("toolCallResult"), answered.get("response")
            about = about if isinstance(about, dict) else {}
            response = response if isinstance(response, dict) else {}
            failed = "error" in response or about.get("status") == "error"
            given = response.get("error" if "error" in response else "output")
            call = self._pending.end(answered.get("id"), number, failed, given)
            if call and about.get("errorType") == "execution_denied":
                call = revised(call, was_denied=True)
            if call:
                yield call
        elif record.get("type") == "assistant" and isinstance(text, str) and not part.get("thought"):
            yield Said(number, text)
