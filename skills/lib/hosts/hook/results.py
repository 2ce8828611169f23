"""What each host reports of a tool's result, in one form: whether the call succeeded, and its result.

A shell's result is ``{"exit": N, "output": text}``; ``exit`` is None if the host does not say it. It is read only where
the host writes it: text in the command's output that looks like an exit code is output. docs/hooks.md has the hosts.
"""

from __future__ import annotations

import os

from skills.lib import compact_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# How many bytes at the end of Codex's session file may hold the command that has just ended.
_RECENT = 4_000_000
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_FAILED = "PostToolUseFailure"
# How Gemini CLI wraps a result that comes from outside.
_WRAPPED = ("<untrusted_context>\n", "\n</untrusted_context>")
# The last lines of Qwen Code's report of a command, and those of Gemini CLI, which leaves out what does not apply.
_QWEN_LAST = ("Error: ", "Exit Code: ", "Signal: ", "Process Group PGID: ")
_GEMINI_LAST = ("Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: ")
# What begins the error of a command in Claude Code, before its exit code.
_CLAUDE_CODE = ("Exit code ", "Command exited with non-zero status code ")
# Fields of a Claude Code result that say that the command was left before its end, or ended with no 0 that counts.
_CLAUDE_UNSAID = ("interrupted", "backgroundTaskId", "returnCodeInterpretation")


class Result:
    """The result of one call: ``ok`` is False if the call itself failed, ``value`` what a policy calls ``result``."""

    __slots__ = ("ok", "value")

    def __init__(self, ok: bool, value: Any) -> None:
        self.ok = ok
        self.value = value


def of_shell(host: str, payload: Mapping[str, Any]) -> Result:
    """The result of a shell call. A command that ran to its end is ok, whatever its exit code."""
    has_failed = payload.get("hook_event_name") == _FAILED
    given = payload.get("error" if has_failed else "tool_response")
    if host == "codex":
        return _shell(_codex_exit(payload), given if isinstance(given, str) else text_of(given))
    if host == "claude":
        return _claude_shell(given, has_failed, bool(payload.get("is_interrupt")))
    if host in ("opencode", "lockstep"):
        return _opencode_shell(given, has_failed)
    if host in ("qwen", "gemini"):
        said = given.get("llmContent", "") if isinstance(given, dict) else given
        said = said if isinstance(said, str) else text_of(said)
        return _qwen_shell(said, has_failed) if host == "qwen" else _gemini_shell(said)
    return _shell(None, text_of(given), not has_failed)


def of_tool(payload: Mapping[str, Any]) -> Result:
    """The result of any other call: structured content, else its text, else what the host gives."""
    if payload.get("hook_event_name") == _FAILED:
        return Result(False, text_of(payload.get("error")))
    given = payload.get("tool_response")
    if isinstance(given, dict):
        has_failed = bool(given.get("isError") or given.get("is_error") or given.get("error"))
        for name in ("structuredContent", "llmContent", "content", "output"):
            if given.get(name):
                value = given[name]
                return Result(not has_failed, value if name == "structuredContent" else _plain(value))
        return Result(not has_failed, given)
    return Result(True, _plain(given))


def text_of(value: Any) -> str:
    """The text of a result: a text, or the texts of a list of parts; "" if there is none."""
    if isinstance(value, str):
        return _unwrapped(value)
    parts = value if isinstance(value, list) else [value]
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, (str, dict))]
    return "\n".join(_unwrapped(text) for text in texts if isinstance(text, str))


def _plain(value: Any) -> Any:
    """A text without the host's wrapping, for a list of parts with text; any other value as it is."""
    is_parts = isinstance(value, list) and value and all(isinstance(part, dict) and "text" in part for part in value)
    return text_of(value) if isinstance(value, str) or is_parts else value


def _shell(exit_code: int | None, output: str, ok: bool = True) -> Result:
    return Result(ok, {"exit": exit_code, "output": output})


def _number(text: object) -> int | None:
    """An exit code; None if a text is none."""
    plain = text.strip() if isinstance(text, str) else ""
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 10 else None


def _unwrapped(text: str) -> str:
    begin, end = _WRAPPED
    is_wrapped = text.startswith(begin) and text.endswith(end)
    return text[len(begin) : len(text) - len(end)] if is_wrapped else text


def _claude_shell(given: Any, has_failed: bool, is_interrupt: bool) -> Result:
    """Claude Code reports a command that ended with 0 as a success, and any other as a failure that begins with it."""
    if has_failed:
        first, _, output = text_of(given).partition("\n")
        codes = [_number(first[len(begin) :]) for begin in _CLAUDE_CODE if first.startswith(begin)]
        code = codes[0] if codes and not is_interrupt else None
        return _shell(code, output if codes else text_of(given), code is not None)
    about = given if isinstance(given, dict) else {}
    output = "\n".join(part for name in ("stdout", "stderr") if isinstance(part := about.get(name), str) and part)
    has_ended = isinstance(given, dict) and "stdout" in about and not any(about.get(name) for name in _CLAUDE_UNSAID)
    return _shell(0 if has_ended else None, output or text_of(given))


def _opencode_shell(given: Any, has_failed: bool) -> Result:
    """The plugin passes on the exit code that opencode keeps beside the output; null after a timeout.

    Our own agent does the same.
    """
    about = given if isinstance(given, dict) else {}
    code = about.get("exit")
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    return _shell(known, text_of(about.get("output", given)), not has_failed)


def _qwen_shell(said: str, has_failed: bool) -> Result:
    """Qwen Code ends its report with four lines; a command that ran to its end is ok also if it is told as failed."""
    head, last = said, list[str]()
    for _ in _QWEN_LAST[1:]:
        head, _, line = head.rpartition("\n")
        last.insert(0, line)
    is_report = all(line.startswith(begin) for line, begin in zip(last, _QWEN_LAST[1:], strict=True))
    if not is_report:
        return _shell(None, said, not has_failed)
    code, signal = (line.partition(": ")[2] for line in last[:2])
    output = head.partition("Output: ")[2].rpartition("\nError: ")[0]
    is_whole = signal == "(none)" and "\nError: (none)" in head[-len("\nError: (none)") :]
    return _shell(_number(code) if is_whole else None, output, is_whole)


def _gemini_shell(said: str) -> Result:
    """Gemini CLI names an exit code only if it is not 0, so the report must be whole: its group is its last line.

    A command's own last lines can look like the report's: then the exit code that they name counts, if it is not 0.
    """
    text = _unwrapped(said)
    head, found = text, dict[str, str]()
    for begin in _GEMINI_LAST:
        before, _, line = head.rpartition("\n")
        if line.startswith(begin):
            head, found[begin] = before, line[len(begin) :]
    if _GEMINI_LAST[0] not in found or not head.startswith("Output: "):
        return _shell(None, text)
    code = _number(found["Exit Code: "]) if "Exit Code: " in found else 0
    is_killed = "Signal: " in found
    has_error = head.rpartition("\n")[2].startswith("Error: ")
    is_unsaid = is_killed or (has_error and not code)
    return _shell(None if is_unsaid else code, head[len("Output: ") :], not is_killed)


def _codex_exit(payload: Mapping[str, Any]) -> int | None:
    """The exit code of a command by Codex's session file: the event has its output alone.

    Codex writes a record of the command there before it calls the hook, with the id of the call.
    """
    call = payload.get("tool_use_id")
    path = payload.get("transcript_path")
    if not isinstance(call, str) or not call or not isinstance(path, str) or not path:
        return None
    for line in reversed(_recent(path).split(b"\n")):
        if b'"CommandExecution"' in line and call.encode("utf-8", "replace") in line:
            try:
                item = compact_json.loads(line.decode())["payload"]["item"]
                if (item["type"], item["id"]) == ("CommandExecution", call):
                    code = item["exit_code"]
                    return code if type(code) is int and code >= 0 else None
            except (ValueError, KeyError, TypeError):
                continue
    return None


def _recent(path: str) -> bytes:
    """The last part of a regular file; b"" if it cannot be read."""
    import stat

    try:
        file = os.open(path, os.O_RDONLY | _NO_WAIT)
    except (OSError, ValueError):
        return b""
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            return b""
        begin = max(0, about.st_size - _RECENT)
        os.lseek(file, begin, os.SEEK_SET)
        parts = []
        while len(part := os.read(file, _RECENT)):
            parts.append(part)
            if sum(map(len, parts)) >= _RECENT:
                break
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(file)
