"""The roles of sub-agents: the definition of each, for a host to install."""

from __future__ import annotations

from dataclasses import dataclass

from skills.lib.conventions import read_shared, shared_names, unknown

# What a definition may ask for; a host has its own names for these. ``shell(<script>)`` is a shell for the entry
# scripts of skills alone, ``agent`` starts sub-agents, and ``ask`` puts a question to the user.
TOOLS = ("read", "search", "edit", "write", "shell", "shell(<script>)", "web", "agent", "ask")
_FENCE = "---\n"


@dataclass(frozen=True, slots=True)
class Role:
    """A role's definition: when to choose it, the tools that it needs, and what the sub-agent is told (Markdown)."""

    name: str
    description: str
    tools: tuple[str, ...]
    body: str


def get_role(name: str) -> Role:
    """The definition ``roles/<name>.md``; UsageError names the valid names, and the nearest, for any other.

    Its frontmatter has one ``field: text`` a line, which needs no YAML to be read; ``tools`` is a list with commas.
    """
    text = read_shared("roles", name + ".md")
    if text is None:
        raise unknown("role", name, role_names())
    _, head, body = text.split(_FENCE, 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return Role(fields["name"], fields["description"], tuple(fields["tools"].split(", ")), body.strip())


def role_names() -> list[str]:
    """The names that ``get_role`` knows, sorted."""
    return shared_names("roles")
