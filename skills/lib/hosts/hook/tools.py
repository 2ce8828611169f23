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
        "gemini": ("run_shell_command", "list_background_processes", "read_background_output"),
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
# Tools that mean the same as one above and that nobody would name first.
ALSO = {
    **dict.fromkeys(("ReadMcpResourceTool",), "read"),
    **dict.fromkeys(("LSP", "ListMcpResourcesTool"), "search"),
    **dict.fromkeys(("PowerShell", "Monitor"), "shell"),
    **dict.fromkeys(("SendMessage", "Workflow"), "agent"),
}
# What keeps an agent's own books, loads a skill, or reads what a background task printed: no step has a reason to deny
# it.
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
_HEADINGS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
_OPERATORS = frozenset(";|&<>()`$\n\r\0")
# These begin something else only where they begin a word.
_LEADING = frozenset("{}!#")
_SHELLS = frozenset(("sh", "bash", "zsh", "dash"))
_INTERPRETERS = _SHELLS | frozenset(("python", "python3", "node"))
# A command that is longer is not looked into: nobody types one, and a scan of megabytes takes seconds.
LONGEST = 200_000


def meanings(host: str, tool: str, given: Mapping[str, Any]) -> frozenset[str]:
    """The canonical names of one call; empty for a tool that the table does not have."""
    if host == "codex":
        for group in _CODEX_GROUPS:
            tool = tool.removeprefix(group)
    if tool == "apply_patch":
        return _patch(given)
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
    """The texts of a call in which a patch may stand."""
    texts = []
    for name in ("command", "input", "patch"):
        value = given.get(name)
        texts += [str(word) for word in value] if isinstance(value, list) else [str(value or "")]
    return texts


def is_name(tool: str) -> bool:
    """Whether a step may name a tool so: by a canonical name, or as ``shell(PROGRAM)``."""
    program = tool[len("shell(") : -1] if tool.startswith("shell(") and tool.endswith(")") else ""
    return tool in TABLE or (bool(program) and set(program).isdisjoint(" \t'\"" + "".join(_OPERATORS)))


def is_ours(tool: str) -> bool:
    """Whether a tool is of Lockstep's own MCP server, which refuses by itself."""
    return tool in _OURS


def allows(allowed: Sequence[str], host: str, tool: str, given: Mapping[str, Any]) -> bool:
    """Whether a step that names these tools allows the call; a step that names none allows all."""
    if not allowed or tool in FREE or is_ours(tool):
        return True
    wanted = meanings(host, tool, given)
    if not wanted:
        return False
    if wanted <= frozenset(allowed):
        return True
    programs = [name[len("shell(") : -1] for name in allowed if name.startswith("shell(")]
    if wanted != {"shell"}:
        return False
    words = words_of(given)
    if host == "codex" and any(_looks(words, _CODEX_BY_SHELL.get(name, ())) for name in allowed):
        return True
    return any(_runs(words, program) for program in programs)


def _looks(words: Sequence[str], programs: Sequence[str]) -> bool:
    """Whether a simple command runs one of these programs and only looks at what is there."""
    if words[:1] == ["sed"]:
        only_prints = len(words) > 2 and set(words[2]) <= set("0123456789,$p ")
        return "sed -n" in programs and words[1] == "-n" and only_prints and not any(w[:1] == "-" for w in words[3:])
    return bool(words) and words[0] in programs and not any(word.startswith(_CHANGING) for word in words[1:])


def _runs(words: Sequence[str], program: str) -> bool:
    """Whether the words of a simple command start that program, or have an interpreter start that script."""
    names = [word.rpartition("/")[2] for word in words[:2]]
    if names[:1] == [program]:
        return True
    return len(names) == 2 and names[1] == program and is_interpreter(words[0]) and words[1][:1] != "-"


def is_interpreter(word: str) -> bool:
    """Whether a word names a program that runs the script which follows it: python3.12, bash, node."""
    name = word.rpartition("/")[2]
    return name in _INTERPRETERS or (name.startswith("python3.") and name[len("python3.") :].isdigit())


def command_of(given: Mapping[str, Any]) -> str:
    """The command line of a shell tool's call as text, or what is typed into one; "" where it has none."""
    command, typed = _command(given), given.get("chars")
    line = " ".join(command) if isinstance(command, list) else command
    return f"{line}\n{typed}" if isinstance(typed, str) else line


def words_of(given: Mapping[str, Any]) -> list[str]:
    """The words of a shell tool's call where it is one simple command; empty where it is anything else."""
    command = _command(given)
    return command if isinstance(command, list) else simple_command(command)


def _command(given: Mapping[str, Any]) -> str | list[str]:
    """The command line, or the words where no shell reads them; a list that hands a line to a shell is that line."""
    command = given.get("command", given.get("cmd"))
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) and "\0" not in word for word in command):
        return ""
    line = script_of(command)
    return command if line is None else line


def script_of(words: Sequence[str]) -> str | None:
    """The line that the words of a command hand to a shell (``bash -lc LINE``); None where they do not."""
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-lc", "-ic", "-lic"):
        return words[2]
    return None


def simple_command(line: str) -> list[str]:
    """The words of one simple command, unquoted; empty where the line holds an operator, an expansion, or nothing.

    What only a shell can tell (variables, substitutions) counts as no simple command, and so does one with a variable
    set before it. A pattern such as ``*.py`` stands as it was typed.
    """
    found = _split(line.strip(" \t\n"), strict=True) if len(line) <= LONGEST else None
    return found[0] if found and not sets_variable(found[0][:1]) else []


def sets_variable(words: Sequence[str]) -> bool:
    """Whether the first word is no program's name: ``PATH=/tmp`` and what it has a shell find instead."""
    name, equals, _ = words[0].partition("=") if words else ("", "", "")
    return bool(equals) and (name[:1].isalpha() or name[:1] == "_") and "/" not in name


def commands_in(line: str) -> list[list[str]]:
    """The words of each command of a line, as far as that can be told without a shell; to look something up in."""
    return _split(line[:LONGEST], strict=False) or []


def _split(line: str, strict: bool) -> list[list[str]] | None:
    """The words of each command; None where ``strict`` wants one simple command and the line is another thing."""
    commands: list[list[str]] = [[]]
    word: list[str] | None = None
    brace = False  # whether the word has one that is not quoted: with a comma or a range a shell makes words of it
    at = 0
    while at < len(line):
        char = line[at]
        brace = char == "{" or (brace and char not in " \t")
        if strict and brace and (char == "," or line.startswith("..", at)):
            return None
        special = char in _OPERATORS or (char in _LEADING and not word)
        if strict and special:
            return None
        if special or char == " " or char == "\t":
            if word is not None:
                commands[-1].append("".join(word))
            if special and commands[-1]:
                commands.append([])
            word, at = None, at + 1
            continue
        text, at = _quoted(line, at, strict) if char in "'\"\\" else (char, at + 1)
        if at < 0:
            return None
        if word is None:
            word = []
        word.append(text)
    if word is not None:
        commands[-1].append("".join(word))
    return commands


def _quoted(line: str, at: int, strict: bool) -> tuple[str, int]:
    """The text that is quoted from there, and where it ends; -1 where ``strict`` does not admit it."""
    char = line[at]
    if char == "\\":
        escaped = line[at + 1 : at + 2]
        return escaped, -1 if strict and escaped in ("", "\n", "\0") else at + 2
    if char == '"':
        return _double_quoted(line, at + 1, strict)
    close = line.find("'", at + 1)
    if close < 0:
        return line[at + 1 :], -1 if strict else len(line)
    text = line[at + 1 : close]
    return text, -1 if strict and "\0" in text else close + 1


def _double_quoted(line: str, at: int, strict: bool) -> tuple[str, int]:
    """The text up to the closing quote; ``strict`` admits none that is open or has a shell run something."""
    text: list[str] = []
    while at < len(line):
        char = line[at]
        if char == '"':
            return "".join(text), at + 1
        if strict and (char in "`\0" or (char == "$" and line[at + 1 : at + 2] in ("(", "{", "["))):
            return "", -1
        if char == "\\" and line[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            at += 1
        text.append(line[at])
        at += 1
    return "".join(text), -1 if strict else at


def named(allowed: Sequence[str], host: str) -> str:
    """The allowed tools for a reader on that host: the canonical names, with the host's own beside."""
    parts = []
    for name in allowed:
        own = _CODEX_BY_SHELL.get(name, ()) if host == "codex" else ()
        own = own or TABLE.get(name, {}).get(host, ())
        parts.append(f"{name} ({', '.join(own)})" if own else name)
    return ", ".join(parts)
