"""Claude Code: the file of a session, and what ``--output-format stream-json`` prints; Qwen Code prints the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skills.lib.layers.replaying.events import Event, Folder, Offered, Said, Terms
from skills.lib.layers.replaying.pending import Pending

# Records of a session file that tell of no call; a file may begin with them.
_ASIDE = tuple(
    "summary file-history-snapshot queue-operation permission-mode progress custom-title agent-name last-prompt".split()
)


class Claude:
    """Reads the records of one session."""

    host = "claude"

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._pending = Pending(self.host, terms)
        self._folder = ""

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        kind = record.get("type")
        message = record.get("message")
        if "sessionId" in record or "leafUuid" in record or "messageId" in record:
            has_content = isinstance(message, dict) and "content" in message
            return kind in _ASIDE or (has_content and kind in ("user", "assistant"))
        is_start = kind == "system" and record.get("subtype") == "init" and "qwen_code_version" not in record
        return "session_id" in record and is_start and isinstance(record.get("tools"), list)

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What a record tells."""
        folder = record.get("cwd")
        if isinstance(folder, str) and folder and not self._folder:
            self._folder = folder
            yield Folder(number, folder)
        tools = record.get("tools")
        if record.get("subtype") == "init" and isinstance(tools, list):
            yield Offered(number, [name for name in tools if isinstance(name, str)])
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        is_main = not record.get("isSidechain") and not record.get("parent_tool_use_id")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict):
                yield from self._part(number, record, part, is_main)

    def end(self) -> Iterator[Event]:
        """What is left at the end of the file."""
        yield from self._pending.left()

    def _part(self, number: int, record: Mapping[str, Any], part: Mapping[str, Any], is_main: bool) -> Iterator[Event]:
        kind, text = part.get("type"), part.get("text")
        if kind == "tool_use":
            self._pending.begin(part.get("id"), number, part.get("name"), part.get("input"))
        elif kind == "tool_result":
            failed = part.get("is_error") is True
            given = self._result(record, part, failed)
            if call := self._pending.end(part.get("tool_use_id"), number, failed, given):
                yield call
        elif kind == "text" and record.get("type") == "assistant" and is_main and isinstance(text, str):
            yield Said(number, text)

    def _result(self, record: Mapping[str, Any], part: Mapping[str, Any], failed: bool) -> Any:
        """What the host knows of a result: a session file keeps the parts of a command's, a stream its text alone."""
        kept = record.get("toolUseResult")
        is_command = isinstance(kept, dict) and "stdout" in kept
        return kept if is_command and not failed else self._terms.text(part.get("content"))


class QwenStream(Claude):
    """Reads what Qwen Code prints."""

    host = "qwen"

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        return record.get("type") == "system" and "qwen_code_version" in record and "session_id" in record
