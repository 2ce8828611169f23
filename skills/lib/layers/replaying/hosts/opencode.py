"""opencode: what ``opencode export`` writes, and what ``opencode run --format json`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skills.lib.layers.replaying.events import Call, Event, Folder, Said, Terms
from skills.lib.layers.replaying.pending import Pending

_STREAM = tuple("step_start tool_use text step_finish reasoning error".split())


class OpenCode:
    """Reads the document of one session."""

    host = "opencode"

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._pending = Pending(self.host, terms)

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        info = record.get("info")
        return isinstance(info, dict) and "projectID" in info and isinstance(record.get("messages"), list)

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What the document tells; ``number`` grows by one with each message."""
        info = record.get("info")
        folder = info.get("directory") if isinstance(info, dict) else None
        if isinstance(folder, str):
            yield Folder(number, folder)
        for at, message in enumerate(record.get("messages") or (), number):
            about = message.get("info") if isinstance(message, dict) else None
            if isinstance(about, dict) and isinstance(message.get("parts"), list):
                for part in message["parts"]:
                    if isinstance(part, dict):
                        yield from self._part(at, part, about.get("role") == "assistant")

    def end(self) -> Iterator[Event]:
        """Nothing is left at the end of the file."""
        return iter(())

    def _part(self, number: int, part: Mapping[str, Any], by_agent: bool) -> Iterator[Event]:
        if part.get("type") == "text" and by_agent and isinstance(part.get("text"), str):
            yield Said(number, part["text"])
        state, tool = part.get("state"), part.get("tool")
        if part.get("type") != "tool" or not isinstance(state, dict) or not isinstance(tool, str):
            return
        given = state.get("input")
        arguments = given if isinstance(given, dict) else {}
        if tool == "invalid":  # the model called what is not there
            name = arguments.get("tool")
            yield Call(
                number, str(name), frozenset(), {}, "", (), False, None, str(arguments.get("error")), False, False
            )
            return
        if state.get("status") not in ("completed", "error"):
            yield self._pending.call(number, tool, arguments, False, None)
            return
        failed = state["status"] == "error"
        about = state.get("metadata")
        if failed:
            yield self._pending.call(number, tool, arguments, True, {"output": state.get("error")})
            return
        code = about.get("exit") if isinstance(about, dict) else None
        yield self._pending.call(number, tool, arguments, False, {"output": state.get("output"), "exit": code})


class OpenCodeStream(OpenCode):
    """Reads what opencode prints."""

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        return record.get("type") in _STREAM and "sessionID" in record

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What a record tells."""
        part = record.get("part")
        if isinstance(part, dict):
            yield from self._part(number, part, True)
