"""What hosts call their tools and how they report results, for recorded sessions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skills.lib.commands.queries import policies
from skills.lib.guard.calls import SHELL
from skills.lib.guard.replaying import Recorded
from skills.lib.hosts.hook import results, shell_calls, tools
from skills.lib.layers.replaying.events import Call
from skills.lib.layers.replaying.reading import Transcript, is_of_host

# Tools that list names and search for nothing.
_LISTING = frozenset("LS list list_dir list_directory ListMcpResourcesTool".split())
# Words in the name of an MCP server's tool that tell what it does with files.
_SEARCHING, _READING = frozenset("grep glob rg ripgrep".split()), frozenset("read cat view open".split())
_OF_FILES = frozenset("file files code text content contents repo repository symbol symbols path paths".split())
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# How the result of a call begins that a hook refused, and how the reasons of Lockstep's hook begin.
_BY_HOOK = (
    "Command blocked by PreToolUse hook: ",
    "Tool execution blocked: ",
    "Tool call blocked by hook: ",
    "PreToolUse:",
    "Hook PreToolUse:",
)
_REASONS = ("denied, because ", "look first: ", "lockstep answer is for a person")
_BY_PERSON = (
    "The user doesn't want to proceed with this tool use",
    "Permission to use ",
    "Claude requested permissions to ",
    "[Operation Cancelled] Reason: User did not allow tool call",
    "The user rejected permission to use this specific tool call",
    "exec command rejected by user",
)


class HostTerms:
    """The tables of the hook, as they hold for a recorded session."""

    def kinds(self, host: str, tool: str, arguments: Mapping[str, Any]) -> frozenset[str]:
        """The names of steps for a host's tool; empty for another tool."""
        if tool in tools.FREE:
            return frozenset()
        if tool in _LISTING:
            return frozenset(("list",))
        known = tools.meanings(host, tool, arguments)
        return known or _of_server(tool)

    def paths(self, tool: str, arguments: Mapping[str, Any]) -> list[str]:
        """The files that the arguments of a call name."""
        named = tools.targets(tool, arguments)
        return named + [arguments[name] for name in ("dir_path", "dir") if isinstance(arguments.get(name), str)]

    def command(self, arguments: Mapping[str, Any]) -> str:
        """The line of a shell's call."""
        return shell_calls.command_of(arguments)

    def shell(self, host: str, failed: bool, given: Any) -> tuple[bool, int | None, str]:
        """Whether a shell's call succeeded, its exit code and its output."""
        if host == "codex":  # a rollout says it in other places
            return not failed, None, results.text_of(given)
        if host == "gemini" and failed:
            return False, None, results.text_of(given)
        if (
            not failed
            and isinstance(given, str)
            and (host == "claude" or (host == "qwen" and given[:9] != "Command: "))
        ):
            return True, 0, given  # a stream has the output alone, and any other end is an error
        name = "error" if failed else "tool_response"
        wrapped = {"llmContent": given} if host in ("qwen", "gemini") and not failed else given
        event = "PostToolUseFailure" if failed else "PostToolUse"
        found = results.of_shell(host, {"hook_event_name": event, name: wrapped})
        return found.ok, found.value["exit"], found.value["output"]

    def text(self, given: Any) -> str:
        """The text of a result."""
        return results.text_of(given.get("output") if isinstance(given, dict) and "output" in given else given)

    def is_denied(self, text: str) -> bool:
        """True for a result that says that the call was refused before it ran."""
        is_of_run = text.startswith("The run ") and " which allows: " in text
        return is_of_run or text.startswith((*_BY_HOOK, *_REASONS, *_BY_PERSON))


def _of_server(tool: str) -> frozenset[str]:
    """What a tool of an MCP server does with files, by the words of its name."""
    if "_" not in tool and "." not in tool:
        return frozenset()
    words = {word.lower() for word in _WORDS.findall(tool)}
    if words & _SEARCHING or (words & {"search", "find"} and words & _OF_FILES):
        return frozenset(("search",))
    return frozenset(("read",)) if words & _READING and not words & {"write", "edit"} else frozenset()


def records(file: str) -> Iterable[tuple[int, Recorded]]:
    """The calls of a recorded session: of one JSON object a call, or as a host records it."""
    return of_host(file) if is_of_host(file) else policies.records(file)


def of_host(file: str) -> Iterator[tuple[int, Recorded]]:
    """The calls of a session as a host records it, by the names that policies use."""
    for event in Transcript(file, HostTerms()).events():
        if isinstance(event, Call):
            yield event.number, _record(event)


def _record(call: Call) -> Recorded:
    ok = call.ok and not call.was_denied
    if call.command:
        return Recorded(SHELL, {"command": call.command}, ok, {"exit": call.exit, "output": call.output})
    paths = {"path": call.paths[0], "paths": list(call.paths)} if call.paths else {}
    name = min(call.kinds) if len(call.kinds) == 1 else call.tool
    return Recorded(name, {**call.arguments, **paths}, ok, call.output)
