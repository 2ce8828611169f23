"""Sessions as YAML tells them, in the forms in which hosts record them.

The forms follow records of the clients themselves (``recorded/`` has one of each) and, for Claude Code, its documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Session = list[dict[str, Any]]
FOLDER = "/project"


def _given(event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The kind of an event and what it has."""
    [(kind, given)] = event.items()
    return kind, given if isinstance(given, dict) else {"text": given}


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"{FOLDER}/{path}"


def _arguments(kind: str, given: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The arguments of a call; ``path`` is what the host calls a file."""
    if kind == "search":
        return {"pattern": given["pattern"]}
    if kind == "shell":
        return {"command": given["command"]}
    if kind == "unknown":
        return {"x": 1}
    return {path: _absolute(given["path"]), **({"content": given["content"]} if kind == "write" else {})}


def _output(kind: str, given: Mapping[str, Any]) -> str:
    return str(given.get("failed", given.get("output", "done" if kind in ("edit", "write") else "")))


def _failed(kind: str, given: Mapping[str, Any]) -> bool:
    return kind == "unknown" or "failed" in given or "denied" in given


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def claude(events: Session, is_stream: bool = False) -> str:
    """The file of a session of Claude Code, or what it prints."""
    names: dict[str, Any] = {"search": "Grep", "read": "Read", "shell": "Bash", "edit": "Edit", "write": "Write"}
    about = {"session_id": "s"} if is_stream else {"sessionId": "s", "parentUuid": None, "isSidechain": False}
    records: list[dict[str, Any]] = []
    if is_stream:
        records.append({"type": "system", "subtype": "init", "cwd": FOLDER, "tools": ["Read", "Bash"], **about})
    else:
        records.append({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False})
        about["cwd"] = FOLDER
    for number, event in enumerate(events):
        kind, given = _given(event)
        if kind == "say":
            part = {"type": "text", "text": given["text"]}
            records.append({"type": "assistant", "message": {"role": "assistant", "content": [part]}, **about})
            continue
        tool = names.get(kind, given.get("tool"))
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": _arguments(kind, given, "file_path")}
        records.append({"type": "assistant", "message": {"role": "assistant", "content": [use]}, **about})
        failed, text = _failed(kind, given), _output(kind, given)
        kept: Any = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        if given.get("exit"):
            failed, text = True, f"Exit code {given['exit']}\n{text}"
        if "denied" in given:
            text = f"PreToolUse:Bash hook error: [hook]: {given['denied']}"
        if kind == "unknown":
            text = f"<tool_use_error>Error: No such tool available: {tool}</tool_use_error>"
        if failed:
            kept = f"Error: {text}"
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text, "is_error": failed}
        record = {"type": "user", "message": {"role": "user", "content": [result]}, **about}
        records.append(record if is_stream else {**record, "toolUseResult": kept if kind == "shell" else text})
    return _lines(records)


def claude_stream(events: Session) -> str:
    """What Claude Code prints with ``--output-format stream-json``."""
    return claude(events, is_stream=True)


def _codex_item(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What Codex did, as its own record has it: it reads by its shell, and searches by a server's tool."""
    failed, text = _failed(kind, given), _output(kind, given)
    if kind in ("shell", "read"):
        line = given["command"] if kind == "shell" else f"cat {given['path']}"
        code = given.get("exit", 1 if failed else 0)
        command = ["/bin/bash", "-lc", line]
        return {"type": "CommandExecution", "command": command, "aggregated_output": text, "exit_code": code}
    if kind == "search":
        about = {"type": "McpToolCall", "server": "pruner", "tool": "grep", "arguments": {"pattern": given["pattern"]}}
        if failed:
            return {**about, "status": "failed", "error": {"message": text}}
        return {**about, "status": "completed", "result": {"content": [{"type": "text", "text": text}]}}
    about = {"type": "add", "content": given["content"]} if kind == "write" else {"type": "update"}
    changes = {_absolute(given["path"]): about}
    return {"type": "FileChange", "changes": changes, "status": "failed" if failed else "completed"}


def codex(events: Session) -> str:
    """A rollout of Codex."""
    records: list[tuple[str, dict[str, Any]]] = [("session_meta", {"id": "s", "cwd": FOLDER, "cli_version": "0.169.0"})]
    for number, event in enumerate(events):
        kind, given = _given(event)
        key = f"call_{number}"
        if kind == "say":
            content = [{"type": "output_text", "text": given["text"]}]
            records.append(("response_item", {"type": "message", "role": "assistant", "content": content}))
            continue
        asked = {"cmd": given["command"]} if kind == "shell" else {"x": 1}
        name = {"shell": "exec_command", "read": "exec_command"}.get(kind, given.get("tool", kind))
        call = {"type": "function_call", "name": name, "arguments": json.dumps(asked), "call_id": key}
        if kind == "write":
            patch = "".join(f"+{line}\n" for line in given["content"].split("\n"))
            text = f"*** Begin Patch\n*** Add File: {given['path']}\n{patch}*** End Patch\n"
            call = {"type": "custom_tool_call", "name": "apply_patch", "input": text, "call_id": key}
        records.append(("response_item", call))
        said = "Process exited with code 0\nOutput:\n"
        if kind == "unknown":
            said = f"unsupported call: {name}"
        elif "denied" in given:
            said = f"Command blocked by PreToolUse hook: {given['denied']}. Command: {given['command']}"
        else:
            item = {**_codex_item(kind, given), "id": key}
            records.append(("event_msg", {"type": "item_completed", "item": item}))
        records.append(("response_item", {"type": "function_call_output", "call_id": key, "output": said}))
    return _lines({"timestamp": "t", "type": kind, "payload": payload} for kind, payload in records)


def codex_exec(events: Session) -> str:
    """What ``codex exec --json`` prints."""
    kinds = {"CommandExecution": "command_execution", "FileChange": "file_change", "McpToolCall": "mcp_tool_call"}
    records: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "s"}, {"type": "turn.started"}]
    for number, event in enumerate(events):
        kind, given = _given(event)
        if kind == "say":
            item = {"type": "agent_message", "text": given["text"]}
        else:
            item = _codex_item(kind, given)
            item["type"] = kinds[item["type"]]
            item.setdefault("status", "failed" if item.get("exit_code") else "completed")
            if "command" in item:
                shell, option, line = item["command"]
                item["command"] = f"{shell} {option} {_quoted(line)}"
            if "changes" in item:
                item["changes"] = [{"path": path, "kind": "update"} for path in item["changes"]]
        records.append({"type": "item.completed", "item": {"id": f"item_{number}", **item}})
    return _lines(records)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


_GEMINI = {
    "search": "grep_search",
    "read": "read_file",
    "shell": "run_shell_command",
    "edit": "replace",
    "write": "write_file",
}


def gemini(events: Session) -> str:
    """The file of a session of Gemini CLI."""
    text = f"<session_context>\n- **Workspace Directories:**\n  - {FOLDER}\n</session_context>"
    first = {"id": "c", "type": "user", "content": [{"text": text}]}
    records: list[dict[str, Any]] = [
        {"sessionId": "s", "projectHash": "0f", "startTime": "t", "kind": "main"},
        {"$set": {"messages": [first], "lastUpdated": "t"}},
    ]
    for message in _gemini_messages(events):
        records += [{**message, "toolCalls": []}, {"$set": {"lastUpdated": "t"}}, message]
    return _lines(records)


def gemini_document(events: Session) -> str:
    """The file of a session of an older Gemini CLI."""
    text = f"Workspace Directories:\n  - {FOLDER}\n"
    messages = [{"id": "c", "type": "user", "content": text}, *_gemini_messages(events)]
    return json.dumps({"sessionId": "s", "projectHash": "0f", "messages": messages}, indent=2)


def _gemini_messages(events: Session) -> list[dict[str, Any]]:
    messages = []
    for number, event in enumerate(events):
        kind, given = _given(event)
        message: dict[str, Any] = {"id": f"m{number}", "timestamp": "t", "type": "gemini", "content": ""}
        if kind == "say":
            messages.append({**message, "content": given["text"]})
            continue
        failed, text = _failed(kind, given), _output(kind, given)
        tool = _GEMINI.get(kind, given.get("tool"))
        if kind == "shell":
            code = f"Exit Code: {given['exit']}\n" if given.get("exit") else ""
            text = (
                f"<untrusted_context>\nOutput: {text or '(empty)'}\n{code}Process Group PGID: 7\n</untrusted_context>"
            )
        if "denied" in given:
            text = f"Tool execution blocked: {given['denied']}"
        if kind == "unknown":
            text = f'Tool "{tool}" not found.'
        response = {"error" if failed else "output": text}
        call = {
            "id": f"{tool}__{number}",
            "name": tool,
            "args": _arguments(kind, given, "file_path"),
            "result": [{"functionResponse": {"id": f"{tool}__{number}", "name": tool, "response": response}}],
            "status": "error" if failed else "success",
        }
        messages.append({**message, "toolCalls": [call]})
    return messages


def opencode(events: Session) -> str:
    """What ``opencode export`` writes."""
    messages = []
    for number, event in enumerate(events):
        about = {"role": "assistant", "id": f"msg_{number}", "sessionID": "s"}
        messages.append({"info": about, "parts": [{"type": "step-start"}, _opencode_part(number, event)]})
    info = {"id": "s", "projectID": "global", "directory": FOLDER, "version": "1.18.33"}
    return json.dumps({"info": info, "messages": messages}, indent=2)


def opencode_run(events: Session) -> str:
    """What ``opencode run --format json`` prints."""
    records: list[dict[str, Any]] = []
    for number, event in enumerate(events):
        part = _opencode_part(number, event)
        kind = "text" if part["type"] == "text" else "tool_use"
        records += [{"type": "step_start", "sessionID": "s", "part": {"type": "step-start"}}]
        records += [{"type": kind, "sessionID": "s", "part": part}]
    return _lines(records)


def _opencode_part(number: int, event: Mapping[str, Any]) -> dict[str, Any]:
    kind, given = _given(event)
    if kind == "say":
        return {"type": "text", "text": given["text"]}
    tool = {"search": "grep", "shell": "bash"}.get(kind, kind)
    arguments = _arguments(kind, given, "filePath")
    state: dict[str, Any]
    if kind == "unknown":
        error = f"Model tried to call unavailable tool '{given['tool']}'. Available tools: bash, grep."
        state = {"status": "completed", "input": {"tool": given["tool"], "error": error}, "output": error}
        return {"type": "tool", "tool": "invalid", "callID": f"call_{number}", "state": state}
    if _failed(kind, given):
        state = {"status": "error", "input": arguments, "error": given.get("denied", given.get("failed"))}
    else:
        about = {"exit": given.get("exit", 0)} if kind == "shell" else {"truncated": False}
        state = {"status": "completed", "input": arguments, "output": _output(kind, given), "metadata": about}
    return {"type": "tool", "tool": tool, "callID": f"call_{number}", "state": state}


def qwen(events: Session) -> str:
    """The file of a session of Qwen Code."""
    names = {**_GEMINI, "edit": "edit"}
    about = {"sessionId": "s", "cwd": FOLDER, "version": "0.24.4"}
    records: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "parts": [{"text": "Check task T1."}]}, **about},
        {"type": "system", "subtype": "ui_telemetry", "systemPayload": {}, **about},
    ]
    for number, event in enumerate(events):
        kind, given = _given(event)
        if kind == "say":
            parts: list[dict[str, Any]] = [{"text": "Let me see.", "thought": True}, {"text": given["text"]}]
            records.append({"type": "assistant", "message": {"role": "model", "parts": parts}, **about})
            continue
        tool, key = names.get(kind, given.get("tool")), f"call_{number}"
        parts = [{"functionCall": {"id": key, "name": tool, "args": _arguments(kind, given, "file_path")}}]
        records.append({"type": "assistant", "message": {"role": "model", "parts": parts}, **about})
        failed, text = _failed(kind, given) or bool(given.get("exit")), _output(kind, given)
        result = {"callId": key, "status": "error" if failed else "success"}
        if kind == "shell":
            head = f"Command: {given['command']}\nDirectory: (root)\nOutput: {text}"
            text = (
                f"{head}\nError: (none)\nExit Code: {given.get('exit', 0)}\nSignal: (none)\nProcess Group PGID: (none)"
            )
        if "denied" in given:
            text = given["denied"]
            result["errorType"] = "execution_denied"
        if kind == "unknown":
            text = f'Tool "{tool}" not found in registry.'
        response = {"functionResponse": {"id": key, "name": tool, "response": {"error" if failed else "output": text}}}
        message = {"role": "user", "parts": [response]}
        records.append({"type": "tool_result", "message": message, "toolCallResult": result, **about})
    return _lines(records)


def agent(events: Session) -> str:
    """The events of Lockstep's own agent."""
    records: list[tuple[str, dict[str, Any]]] = [("model", {"step": "check", "model": "scripted"})]
    for number, event in enumerate(events):
        kind, given = _given(event)
        key = f"1.{number}"
        if kind == "say":
            records.append(("thought", {"text": given["text"], "model": 1}))
            continue
        tool = given.get("tool", kind)
        if "denied" in given:
            records.append(("refused", {"key": key, "tool": tool, "by": "policy", "why": given["denied"]}))
            continue
        failed, text = _failed(kind, given), _output(kind, given)
        if kind == "shell":
            text = f"{text}\n[exit {given.get('exit', 0)} after 0.1 s]\n"
        if kind == "unknown":
            text = f"there is no tool {tool}"
        records.append(("call", {"key": key, "tool": tool, "arguments": _arguments(kind, given, "path")}))
        ok = not failed and not given.get("exit")
        records.append(("result", {"key": key, "tool": tool, "ok": ok, "text": text}))
    shared = {"run": "k3f9q2mx", "step": "check", "number": 1, "of": 2, "text": "", "type": "message"}
    return _lines(
        {"cursor": f"4.{number}", "kind": kind, "data": data, **shared} for number, (kind, data) in enumerate(records)
    )


Render = Callable[[Session], str]
# Each form by its name with the ending of its files, and what it does not tell of.
FORMS: dict[str, tuple[Render, str, frozenset[str]]] = {
    "claude": (claude, ".jsonl", frozenset()),
    "claude stream": (claude_stream, ".jsonl", frozenset()),
    "codex": (codex, ".jsonl", frozenset()),
    "codex exec": (codex_exec, ".jsonl", frozenset(("unknown", "denied", "content"))),
    "gemini": (gemini, ".jsonl", frozenset()),
    "gemini document": (gemini_document, ".json", frozenset()),
    "opencode": (opencode, ".json", frozenset()),
    "opencode run": (opencode_run, ".jsonl", frozenset()),
    "qwen": (qwen, ".jsonl", frozenset()),
    "lockstep agent": (agent, ".jsonl", frozenset()),
}
