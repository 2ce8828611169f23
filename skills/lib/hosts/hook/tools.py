"""What each host calls its tools, in one table, and what a call means in the names that steps use."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Canonical name -> host -> the host's names, as its documents and its own tool list give them (November 2026).
TABLE: dict[str, dict[str, tuple[str, ...]]] = {
    "read": {
        "claude": ("Read", "NotebookRead"),
        "codex": ("read_file", "view_image"),
        "opencode": ("read",),
        "qwen": ("read_file", "read_many_files"),
        "gemini": ("read_file", "read_many_files"),
    },
    "search": {
        "claude": ("Grep", "Glob", "LS"),
        "codex": ("grep_files", "list_dir"),
        "opencode": ("grep", "glob", "list"),
        "qwen": ("grep_search", "search_file_content", "glob", "list_directory"),
        "gemini": ("grep_search", "search_file_content", "glob", "list_directory"),
    },
    "edit": {
        "claude": ("Edit", "MultiEdit", "NotebookEdit"),
        "codex": ("apply_patch",),
        "opencode": ("edit", "multiedit", "patch"),
        "qwen": ("edit", "replace", "notebook_edit"),
        "gemini": ("replace",),
    },
    "write": {
        "claude": ("Write",),
        "codex": ("apply_patch",),
        "opencode": ("write",),
        "qwen": ("write_file",),
        "gemini": ("write_file",),
    },
    "shell": {
        "claude": ("Bash",),
        "codex": ("Bash", "shell", "local_shell", "shell_command", "exec_command", "write_stdin"),
        "opencode": ("bash",),
        "qwen": ("run_shell_command",),
        "gemini": ("run_shell_command",),
    },
    "web": {
        "claude": ("WebFetch", "WebSearch"),
        "codex": ("web_search",),
        "opencode": ("webfetch", "websearch"),
        "qwen": ("web_fetch", "web_search", "google_web_search"),
        "gemini": ("web_fetch", "google_web_search"),
    },
    "agent": {
        "claude": ("Agent", "Task"),
        "codex": (
            *("spawn_agent", "wait_agent", "send_input", "resume_agent", "close_agent"),
            *("followup_task", "send_message", "interrupt_agent", "list_agents"),
        ),
        "opencode": ("task",),
        "qwen": ("agent", "task", "send_message", "task_stop", "list_agents"),
        "gemini": ("invoke_agent", "delegate_to_agent", "codebase_investigator", "generalist"),
    },
    "ask": {
        "claude": ("AskUserQuestion",),
        "codex": ("request_user_input", "request_user_input_async"),
        "opencode": ("question",),
        "qwen": ("ask_user_question",),
        "gemini": ("ask_user",),
    },
}
# The one tool whose lines PowerShell reads on every system.
POWERSHELL_TOOL = "PowerShell"
# Tools that mean the same as one above and that nobody would name first.
ALSO = {
    **dict.fromkeys(("ReadMcpResourceTool",), "read"),
    **dict.fromkeys(("LSP", "ListMcpResourcesTool"), "search"),
    **dict.fromkeys((POWERSHELL_TOOL, "Monitor"), "shell"),
    # Gemini CLI has these two beside its shell, and loads no role that names one of them.
    **dict.fromkeys(("list_background_processes", "read_background_output"), "shell"),
    **dict.fromkeys(("SendMessage", "Workflow"), "agent"),
}
# Tools that keep an agent's own lists, load a skill, or read what a background task printed: no step needs to deny
# them.
FREE = frozenset(
    "TodoWrite TaskCreate TaskUpdate TaskList TaskGet TaskOutput TaskStop BashOutput KillShell ToolSearch Skill"
    " EnterPlanMode ExitPlanMode StructuredOutput SubagentHandback WaitForMcpServers update_plan todowrite"
    " todoread todo_write write_todos skill activate_skill exit_plan_mode save_memory"
    " tool_search tool_call update_topic complete_task get_goal create_goal update_goal".split()
)
# Codex has no tools of its own that read or search: there a simple command of these programs does it.
_CODEX_BY_SHELL = {
    "read": ("cat", "head", "tail", "nl", "wc", "sed -n"),
    "search": ("rg", "grep", "ls", "find"),
}
# Codex puts the name of a tool's group in front of its own.
_CODEX_GROUPS = ("multi_agent_v1", "collaboration")
# With these, programs that look change or run something.
_CHANGING = ("-delete", "-exec", "-ok", "-fprint", "-fls", "--pre", "--hostname-bin")
# How hosts name the tools of Lockstep's own MCP server; another server or plugin may have a name that begins so.
_OURS = frozenset(
    prefix + name
    for prefix in ("mcp__lockstep__", "mcp_lockstep_", "lockstep_")
    for name in ("list_skills", "start_run", "next_step", "run_state")
)
HOSTS = ("claude", "codex", "opencode", "qwen", "gemini")
# How a host names a tool of an MCP server: what it puts before the server's name, and between that and the tool's.
_MCP = {
    "claude": ("mcp__", "__"),
    "codex": ("mcp__", "__"),
    "opencode": ("", "_"),
    "qwen": ("mcp__", "__"),
    "gemini": ("mcp_", "_"),
}
# Gemini CLI keeps these signs of a name, and cuts the middle of a longer one.
_GEMINI_SIGNS, _GEMINI_LONGEST = ".:", 63
# What hosts call the path of an editing tool.
_PATHS = ("file_path", "filePath", "notebook_path", "absolute_path", "path")
_HEADINGS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


def meanings(host: str, tool: str, given: Mapping[str, Any]) -> frozenset[str]:
    """The canonical names of one call; empty for a tool that the table does not have."""
    if host == "codex":
        for group in _CODEX_GROUPS:
            tool = tool.removeprefix(group)
    if tool == "apply_patch":
        return _patch(given)
    if host == "lockstep" and tool in TABLE:  # our own agent calls its tools as steps do
        return frozenset((tool,))
    if tool in ALSO:
        return frozenset((ALSO[tool],))
    known = frozenset(name for name, hosts in TABLE.items() if tool in hosts.get(host, ()))
    return known or frozenset(name for name, hosts in TABLE.items() if any(tool in names for names in hosts.values()))


def _patch(given: Mapping[str, Any]) -> frozenset[str]:
    """A patch that only adds files writes; one that touches what is there edits, and one that does both is both."""
    found, changes = set(), False
    for line in "\n".join(_patches(given)).split("\n"):
        # In a change of a file a line that begins with a blank is of that file; elsewhere it may be a heading.
        heading = line if changes and line[:1].isspace() else line.strip()
        if heading.startswith(_HEADINGS):
            changes = heading.startswith("*** Update")
            found.add("write" if heading.startswith("*** Add") else "edit")
    return frozenset(found or ("edit", "write"))


def _patches(given: Mapping[str, Any]) -> list[str]:
    """The texts of a call that may hold a patch."""
    texts = []
    for name in ("command", "input", "patch"):
        value = given.get(name)
        texts += [str(word) for word in value] if isinstance(value, list) else [str(value or "")]
    return texts


def targets(tool: str, given: Mapping[str, Any]) -> list[str]:
    """The paths that a call of an editing tool names."""
    if tool != "apply_patch":
        return [given[name] for name in _PATHS if isinstance(given.get(name), str)]
    lines = [line.strip() for line in "\n".join(_patches(given)).split("\n")]
    return [line.partition(": ")[2] for line in lines if line.startswith((*_HEADINGS, "*** Move to: "))]


def shell_of(host: str, tool: str) -> str:
    """The shell that reads the command line of a tool; empty for the one of the system."""
    from skills.lib.shell_words import POSIX, POWERSHELL

    if tool == POWERSHELL_TOOL:
        return POWERSHELL
    return POSIX if (host, tool) == ("claude", "Bash") else ""


def is_name(tool: str) -> bool:
    """True if a step may name a tool so: canonically, or by shell(PROGRAM …), mcp(SERVER.TOOL) or tool(NAME)."""
    from skills.lib.shell_words import OPERATORS

    words = tool[len("shell(") : -1] if tool.startswith("shell(") and tool.endswith(")") else ""
    is_plain = words == " ".join(words.split()) and set(words).isdisjoint("\t'\"" + "".join(OPERATORS))
    own = tool[len("tool(") : -1] if tool.startswith("tool(") and tool.endswith(")") else ""
    is_own = own.isascii() and own.replace("-", "_").replace(".", "_").isidentifier()
    return tool in TABLE or (bool(words) and is_plain) or is_own or bool(_mcp(tool))


def is_mcp_call(name: str, host: str, tool: str) -> bool:
    """True if ``mcp(SERVER.TOOL)`` is the tool that a host calls so; for a host that is not known, any host's way.

    A host puts ``_`` in the place of most signs, so that two tools may have one name there.
    """
    return tool in [_mcp_name(one, *_mcp(name)) for one in ((host,) if host in _MCP else HOSTS) if _mcp(name)]


def _mcp(name: str) -> tuple[str, ...]:
    """The server and the tool of ``mcp(SERVER.TOOL)``; empty for another name. A server has no dot in its name."""
    if not (name.startswith("mcp(") and name.endswith(")")):
        return ()
    from skills.lib.shell_words import OPERATORS  # few policies and steps name such a tool

    inside = name[len("mcp(") : -1]
    server, _, tool = inside.partition(".")
    is_plain = inside.isprintable() and set(inside).isdisjoint(" '\"" + "".join(OPERATORS))
    return (server, tool) if server and tool and is_plain else ()


def _mcp_name(host: str, server: str, tool: str) -> str:
    """What a host calls a tool of an MCP server."""
    before, between = _MCP[host]
    signs = "_-" + (_GEMINI_SIGNS if host == "gemini" else "")

    def kept(text: str) -> str:
        return "".join([char if char.isascii() and (char.isalnum() or char in signs) else "_" for char in text])

    name = before + kept(server) + between + kept(tool)
    if host == "gemini" and len(name) > _GEMINI_LONGEST:
        return f"{name[:30]}...{name[-30:]}"
    return name


def is_ours(tool: str) -> bool:
    """True if a tool is of Lockstep's own MCP server, which refuses by itself."""
    return tool in _OURS


def allows(allowed: Sequence[str], host: str, tool: str, given: Mapping[str, Any]) -> bool:
    """True if a step that names these tools allows the call; a step that names none allows all."""
    if not allowed or tool in FREE or is_ours(tool):
        return True
    wanted = meanings(host, tool, given)
    if wanted and wanted <= frozenset(allowed):
        return True
    if not wanted and f"tool({tool})" in allowed:
        return True
    if any(name.startswith("mcp(") and is_mcp_call(name, host, tool) for name in allowed):
        return True
    if wanted != {"shell"}:
        return False
    from skills.lib.hosts.hook.shell_calls import words_of

    programs = [name[len("shell(") : -1] for name in allowed if name.startswith("shell(")]
    words = words_of(given)
    if host == "codex" and any(_looks(words, _CODEX_BY_SHELL.get(name, ())) for name in allowed):
        return True
    return any(_runs(words, program) for program in programs)


def _looks(words: Sequence[str], programs: Sequence[str]) -> bool:
    """True if a simple command runs one of these programs and only looks at what is there."""
    if words[:1] == ["sed"]:
        only_prints = len(words) > 2 and set(words[2]) <= set("0123456789,$p ")
        return "sed -n" in programs and words[1] == "-n" and only_prints and not any(w[:1] == "-" for w in words[3:])
    return bool(words) and words[0] in programs and not any(word.startswith(_CHANGING) for word in words[1:])


def _runs(words: Sequence[str], rule: str) -> bool:
    """True if a simple command begins with these words: a program, or a script after its interpreter.

    Nothing may stand between the words: ``git -c … push`` is not ``git push``.
    """
    from skills.lib.hosts.hook.shell_commands import is_interpreter

    program, *following = rule.split()
    names = [word.rpartition("/")[2] for word in words[:2]]
    if names[:1] == [program] and list(words[1 : 1 + len(following)]) == following:
        return True
    is_script = len(names) == 2 and names[1] == program and is_interpreter(words[0]) and words[1][:1] != "-"
    return is_script and list(words[2 : 2 + len(following)]) == following


def named(allowed: Sequence[str], host: str) -> str:
    """The allowed tools for a reader on that host: the canonical names, with the host's own beside."""
    parts = []
    for name in allowed:
        own = _CODEX_BY_SHELL.get(name, ()) if host == "codex" else ()
        own = own or TABLE.get(name, {}).get(host, ())
        own = own or ((_mcp_name(host, *_mcp(name)),) if host in _MCP and _mcp(name) else ())
        parts.append(f"{name} ({', '.join(own)})" if own else name)
    return ", ".join(parts)
