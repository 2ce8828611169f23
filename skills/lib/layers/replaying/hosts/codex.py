"""Codex: a rollout file, and what ``codex exec --json`` prints.

A rollout tells of most calls twice: as an item with its exit code, and as what the model asked for and read. The item
is believed. In code mode the model asks for scripts, and items alone tell what these ran.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from skills.lib import compact_json
from skills.lib.layers.replaying.events import Call, Event, Folder, Offered, Said, Terms, revised
from skills.lib.layers.replaying.pending import Pending

_ROLLOUT = tuple("session_meta response_item event_msg turn_context compacted world_state token_usage_record".split())
_STREAM = tuple(
    "thread.started turn.started turn.completed turn.failed item.started item.updated item.completed".split()
)
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
# How the model's view of a command begins its exit code, and its output.
_EXITED, _OUTPUT = ("Process exited with code ", "Exit code: "), "Output:\n"
_BLOCKED, _OF_BLOCKED = "Command blocked by PreToolUse hook: ", ". Command: "


class Codex:
    """Reads the records of one rollout."""

    host = "codex"

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._pending = Pending(self.host, terms)
        self._scripts: set[str] = set()
        self._folder = ""

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        return record.get("type") in _ROLLOUT and isinstance(record.get("payload"), dict)

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What a record tells."""
        payload = record["payload"] if isinstance(record.get("payload"), dict) else {}
        kind = payload.get("type")
        folder = payload.get("cwd")
        if record.get("type") in ("session_meta", "turn_context") and isinstance(folder, str) and not self._folder:
            self._folder = folder
            yield Folder(number, folder)
        if kind == "item_completed" and isinstance(payload.get("item"), dict):
            yield from self._item(number, payload["item"])
        elif kind == "exec_command_end":
            yield from self._ended(number, payload)
        elif kind == "additional_tools":
            yield Offered(number, _names(payload.get("tools")))
        elif kind == "message" and payload.get("role") == "assistant":
            yield Said(number, self._terms.text(payload.get("content")))
        elif kind in _CALLS:
            self._begin(number, payload)
        elif isinstance(kind, str) and kind.endswith("_call_output"):
            yield from self._output(number, payload)

    def end(self) -> Iterator[Event]:
        """What is left at the end of the file."""
        yield from self._pending.left()

    def _begin(self, number: int, payload: Mapping[str, Any]) -> None:
        key, name = payload.get("call_id"), payload.get("name", "local_shell")
        if name == "exec" and payload.get("namespace") == "functions":
            self._scripts.add(str(key))
        given: Any = payload.get("arguments", payload.get("input", payload.get("action")))
        if isinstance(given, str) and payload.get("type") == "function_call":
            with contextlib.suppress(ValueError):
                given = compact_json.loads(given)
        self._pending.begin(key, number, name, given)

    def _output(self, number: int, payload: Mapping[str, Any]) -> Iterator[Event]:
        """What the model read of a call that no item tells of."""
        key, text = payload.get("call_id"), self._terms.text(payload.get("output"))
        if str(key) in self._scripts:
            self._pending.drop(key)
            head, blocked, rest = text.partition(_BLOCKED)
            if blocked:
                line = rest.rpartition(_OF_BLOCKED)[2]
                yield self._pending.call(number, "exec_command", {"cmd": line}, True, blocked + rest)
            elif head.startswith("Script failed"):
                yield self._pending.call(number, "exec", {}, True, text)
            return
        failed = text.startswith((_BLOCKED, "unsupported call: ", "apply_patch verification failed"))
        if call := self._pending.end(key, number, failed, text):
            yield _with_exit(call, text, failed)

    def _item(self, number: int, item: Mapping[str, Any]) -> Iterator[Event]:
        kind, key = item.get("type"), item.get("id")
        if kind == "CommandExecution":
            self._pending.drop(key)
            yield self._command(number, item.get("command"), item.get("exit_code"), item.get("aggregated_output"))
        elif kind == "FileChange":
            self._pending.drop(key)
            changes = item.get("changes")
            yield self._change(number, changes if isinstance(changes, dict) else {}, item.get("status") == "completed")
        elif kind == "McpToolCall":
            self._pending.drop(key)
            yield self._mcp(number, item, item.get("status") == "completed")

    def _ended(self, number: int, payload: Mapping[str, Any]) -> Iterator[Event]:
        """An older rollout's record of a command."""
        self._pending.drop(payload.get("call_id"))
        yield self._command(number, payload.get("command"), payload.get("exit_code"), payload.get("aggregated_output"))

    def _command(self, number: int, command: Any, code: Any, output: Any) -> Call:
        known = code if type(code) is int else None
        call = self._pending.call(number, "exec_command", {"command": command}, False, self._terms.text(output))
        return revised(call, ok=known is not None, exit=known)

    def _change(self, number: int, changes: Mapping[str, Any], ok: bool) -> Call:
        """The call that changed files: ``changes`` has what became of each, and the content of a new one."""
        about = [one for one in changes.values() if isinstance(one, dict)]
        paths = [*changes, *[one["move_path"] for one in about if isinstance(one.get("move_path"), str)]]
        content = "".join([one["content"] for one in about if isinstance(one.get("content"), str)])
        call = self._pending.call(number, "apply_patch", {"content": content}, not ok, "")
        return revised(call, paths=tuple(paths), kinds=frozenset(("edit",)))

    def _mcp(self, number: int, item: Mapping[str, Any], ok: bool) -> Call:
        tool = f"mcp__{item.get('server')}__{item.get('tool')}"
        given = item.get("arguments")
        result = item.get("result") or item.get("error")
        content = result.get("content", result.get("message")) if isinstance(result, dict) else result
        return self._pending.call(number, tool, given if isinstance(given, dict) else {}, not ok, content)


class CodexStream(Codex):
    """Reads what ``codex exec --json`` prints."""

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        return record.get("type") in _STREAM and "payload" not in record and "sessionID" not in record

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What a record tells."""
        item = record.get("item")
        if record.get("type") != "item.completed" or not isinstance(item, dict):
            return
        kind, ok = item.get("type"), item.get("status") == "completed"
        if kind == "agent_message":
            yield Said(number, self._terms.text(item.get("text")))
        elif kind == "command_execution":
            words = _shell_words(item.get("command"))
            yield self._command(number, words, item.get("exit_code"), item.get("aggregated_output"))
        elif kind == "file_change":
            changes = item.get("changes")
            entries = changes if isinstance(changes, list) else []
            yield self._change(number, {str(one.get("path")): {} for one in entries if isinstance(one, dict)}, ok)
        elif kind == "mcp_tool_call":
            yield self._mcp(number, item, ok)


def _shell_words(line: Any) -> Any:
    """The words of a printed ``bash -lc '…'``; the line itself if it is something else."""
    from skills.lib.guard.shell_plain import command

    words = [word.text for word in command(line)] if isinstance(line, str) else []
    if len(words) == 3 and words[1] == "-lc":
        return words
    head, _, rest = line.partition(" -lc ") if isinstance(line, str) else ("", "", "")
    if not rest or "/" not in head:
        return line
    return [head, "-lc", _unquoted(rest)]


def _unquoted(text: str) -> str:
    """What a shell makes of one quoted word."""
    from skills.lib.guard.shell_syntax import Reader
    from skills.lib.guard.shell_word import Unclear

    reader = Reader(text)
    try:
        word = reader.word()
    except Unclear:
        return text
    return word.text if word.known and reader.at == len(text) else text


def _names(tools: Any) -> list[str]:
    """The names of the tools of a list, with those inside of groups."""
    found = []
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            name = tool.get("name") or tool.get("type")
            found += [name] if isinstance(name, str) else []
            found += _names(tool.get("tools"))
    return found


def _with_exit(call: Call, text: str, failed: bool) -> Call:
    """A call with the exit code that the model was told."""
    if "shell" not in call.kinds or failed:
        return call
    head, found, output = text.partition(_OUTPUT)
    if not found:
        head, output = "", text
        try:
            old = compact_json.loads(text)
            code = old["metadata"]["exit_code"]
            return revised(call, exit=code if type(code) is int else None, ok=True, output=str(old["output"]))
        except (ValueError, KeyError, TypeError):
            pass
    for line in head.split("\n"):
        for begin in _EXITED:
            number = line.removeprefix(begin)
            if number != line and number.isdigit() and len(number) < 10:
                return revised(call, exit=int(number), ok=True, output=output)
    return revised(call, output=output)
