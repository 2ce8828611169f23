"""A role's definition as each host wants it: Markdown with its own frontmatter, or TOML."""

from __future__ import annotations

import json

from skills.lib import roles
from skills.lib.hosts.hook import tools
from skills.lib.hosts.known_hosts import KNOWN
from skills.lib.roles import Role

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# opencode allows all that a definition does not deny.
_OPENCODE_DENIED = {"edit": ("edit", "write"), "bash": ("shell", "shell(<script>)"), "webfetch": ("web",)}


def definitions(host: str, names: Iterable[str]) -> dict[str, bytes]:
    """The files of the definitions of these roles by name; a role that the host has built in is left out."""
    if host not in _FORMS:
        return {}
    ending, form = _FORMS[host]
    wanted = sorted(set(names) & set(roles.role_names()) - KNOWN[host].built_in)
    return {name + ending: form(host, roles.get_role(name)).encode() for name in wanted}


def files(host: str) -> set[str]:
    """The names that a host's role definitions can have, also of roles that the host has built in by now."""
    return {name + _FORMS[host][0] for name in roles.role_names()} if host in _FORMS else set()


def _claude(host: str, role: Role) -> str:
    return _markdown(role, name=role.name, description=_quoted(role), tools=", ".join(_tools(host, role)))


def _listed(host: str, role: Role) -> str:
    """As Qwen Code and Gemini CLI want it: the tools as a list."""
    listed = "".join(f"\n  - {tool}" for tool in _tools(host, role))
    return _markdown(role, name=role.name, description=_quoted(role), tools=listed)


def _opencode(host: str, role: Role) -> str:
    denied = [f"\n  {name}: deny" for name, needs in _OPENCODE_DENIED.items() if not set(needs) & set(role.tools)]
    permission = {"permission": "".join(denied)} if denied else {}
    return _markdown(role, description=_quoted(role), mode="subagent", **permission)


def _codex(host: str, role: Role) -> str:
    """Codex has no list of tools for an agent; its hook holds to what a step allows."""
    body = f"{role.body}\n".replace("\\", "\\\\").replace('"', '\\"')
    description = f"description = {_quoted(role)}"
    return f'name = "{role.name}"\n{description}\ndeveloper_instructions = """\n{body}"""\n'


def _tools(host: str, role: Role) -> list[str]:
    """The host's names for what the role needs."""
    named = ["shell" if tool == "shell(<script>)" else tool for tool in role.tools]
    return list(dict.fromkeys(own for name in named for own in tools.TABLE[name][host]))


def _markdown(role: Role, **fields: str) -> str:
    head = "".join(f"{name}: {text}\n".replace(": \n", ":\n") for name, text in fields.items())
    return f"---\n{head}---\n\n{role.body}\n"


def _quoted(role: Role) -> str:
    """The description as YAML and TOML take it in quotes."""
    return json.dumps(role.description, ensure_ascii=False)


_FORMS: dict[str, tuple[str, Callable[[str, Role], str]]] = {
    "claude": (".md", _claude),
    "codex": (".toml", _codex),
    "opencode": (".md", _opencode),
    "qwen": (".md", _listed),
    "gemini": (".md", _listed),
}
