"""How the hosts report a command that has ended."""

from __future__ import annotations

from typing import Any


def reported(host: str, output: str, code: int) -> dict[str, Any]:
    """The event with which a host reports a command that wrote that output and ended with that code."""
    if host == "qwen":
        text = f"Command: x\nDirectory: (root)\nOutput: {output}\nError: (none)\nExit Code: {code}\nSignal: (none)"
        text += "\nProcess Group PGID: 7"
        if code:
            return {"hook_event_name": "PostToolUseFailure", "error": text}
        return {"hook_event_name": "PostToolUse", "tool_response": {"llmContent": text, "returnDisplay": output}}
    if host == "gemini":
        said = [f"Output: {output or '(empty)'}", *([f"Exit Code: {code}"] if code else []), "Process Group PGID: 7"]
        text = "\n".join(["<untrusted_context>", *said, "</untrusted_context>"])
        return {"hook_event_name": "AfterTool", "tool_response": {"llmContent": text, "returnDisplay": output}}
    if host == "claude" and code:
        return {"hook_event_name": "PostToolUseFailure", "error": f"Exit code {code}\n{output}", "is_interrupt": False}
    if host == "claude":
        return {
            "hook_event_name": "PostToolUse",
            "tool_response": {"stdout": output, "stderr": "", "interrupted": False},
        }
    return {"hook_event_name": "PostToolUse", "tool_response": {"output": output, "exit": code}}


def command_ended(call: str, code: Any, output: str = "") -> dict[str, Any]:
    item = {"type": "CommandExecution", "id": call, "aggregated_output": output, "exit_code": code}
    return {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}
