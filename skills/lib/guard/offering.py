"""Which tools a step offers and which calls it admits, for a session in process: it needs no framework.

Offered and admitted are one question: a tool that is hidden and called anyway is refused at the call.
"""

from __future__ import annotations

from skills.lib.shell_words import simple_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

# What a session always offers: giving up, and a list of what is to be done.
ESSENTIAL = ("abort", "todowrite", "todoread")
# What a session does by itself where a step names it: it runs sub-agents, and a question is the run's.
BY_SESSION = ("agent", "ask")
# Tools that start a skill: a session that follows one starts no other.
STARTERS = frozenset(("skill", "skill_loader", "start_run", "activate_skill", "Skill"))
SHELL = "shell"
# Names that hosts and SKILL.md files give to tools, with ours.
ALIASES = {
    **dict.fromkeys(("Read", "read_file", "NotebookRead"), "read"),
    **dict.fromkeys(("Grep", "Glob", "LS", "grep", "glob", "list_directory"), "search"),
    **dict.fromkeys(("Edit", "MultiEdit", "NotebookEdit", "replace"), "edit"),
    **dict.fromkeys(("Write", "write_file"), "write"),
    **dict.fromkeys(("Bash", "bash", "run_shell_command", "terminal"), SHELL),
    **dict.fromkeys(("WebFetch", "WebSearch", "web_fetch", "web_search"), "web"),
    **dict.fromkeys(("Task", "Agent", "task"), "agent"),
    "AskUserQuestion": "ask",
}


class Offer:
    """The tools of a step: ``allowed`` are those that it names.

    If it names none, it has all but those that start skills, or with ``undeclared="essential"`` those of ESSENTIAL.
    ``names`` maps tools of a program's own to the names that steps use. ``commands_of`` splits a line of a shell into
    the commands that it starts, each as its words, and gives none for a line that it does not know for certain.
    """

    def __init__(
        self,
        allowed: Sequence[str],
        names: Mapping[str, str] | None = None,
        commands_of: Callable[[str], Sequence[Sequence[str]]] | None = None,
        undeclared: str = "all",
    ) -> None:
        self.allowed = tuple(map(canonical, allowed))
        self._names, self._undeclared = dict(names or {}), undeclared
        self._commands_of = commands_of or (lambda line: [words] if (words := simple_command(line)) else [])

    def name_of(self, tool: str) -> str:
        """The name that steps use for a tool."""
        return self._names.get(tool, tool)

    def offers(self, tool: str) -> bool:
        """True if the step offers a tool, perhaps for some calls only."""
        name = self.name_of(tool)
        if tool in ESSENTIAL:
            return True
        if not self.allowed:
            return self._undeclared == "all" and tool not in STARTERS and name not in STARTERS
        return bool({tool, name, f"tool({tool})"} & {*self.allowed}) or (name == SHELL and bool(self._patterns()))

    def why_not(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Why the step does not admit a call; "" if it does."""
        if not self.offers(tool):
            return f"this step does not allow {tool}. It allows: {', '.join(self.allowed) or 'no tool'}"
        name, patterns = self.name_of(tool), self._patterns()
        if name != SHELL or not patterns or {tool, SHELL, f"tool({tool})"} & {*self.allowed}:
            return ""
        line = arguments.get("command")
        commands = self._commands_of(line) if isinstance(line, str) else []
        if commands and all(any(begins(words, pattern) for pattern in patterns) for words in commands):
            return ""
        return f"this step allows {tool} only for commands that begin with: {', '.join(patterns)}"

    def missing(self, tools: Sequence[str]) -> list[str]:
        """The tools that the step names, that none of these is, and that a session does not bring itself."""
        have = {*tools, *map(self.name_of, tools), *[f"tool({tool})" for tool in tools], *BY_SESSION}
        return [name for name in self.allowed if name.partition("(")[0] not in have and name not in have]

    def _patterns(self) -> list[str]:
        begin = f"{SHELL}("
        return [name[len(begin) : -1] for name in self.allowed if name.startswith(begin) and name.endswith(")")]


def canonical(name: str) -> str:
    """The name that steps use for a tool of a host or a SKILL.md: ``Bash(git diff:*)`` is ``shell(git diff)``."""
    own, bracket, inside = name.partition("(")
    own = ALIASES.get(own, own)
    if not bracket:
        return own
    words = inside.removesuffix(")").removesuffix("*").removesuffix(":").strip()
    return f"{own}({words})" if words else own


def begins(words: Sequence[str], pattern: str) -> bool:
    """True if a simple command begins with the words of a pattern: a path to another program of that name does not."""
    wanted = pattern.split()
    return list(words[: len(wanted)]) == wanted
