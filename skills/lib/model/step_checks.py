"""Checks of what few steps and workflows have; no other step loads them."""

from __future__ import annotations

from skills.lib.field_checks import check_records, shown
from skills.lib.model.requirements import Field
from skills.lib.model.types import Dispatch, Gate, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.model.requirements import Arg

# Signs that a shell reads otherwise than they stand: no part of a tool's name.
_SHELL_SIGNS = frozenset("()'\"|&;<>$`")


def check_fields_of_child(dispatch: Dispatch, checkpoint: str | None, where: str) -> None:
    """Raise TypeError or ValueError for fields that the sub-agents of a step cannot report."""
    what = f"{where} Dispatch requires"
    fields = check_records(dispatch.requires, what, "requires=[Field('cause')]", Field, "a Field")
    if dispatch.script or checkpoint:
        instead = f"the fields of {dispatch.script} are its own" if dispatch.script else "a reviewer reports items"
        raise ValueError(f"{what}: only a sub-agent with a task of its own reports fields; {instead}")
    names = ["result", "verdict", *[field.name for field in fields]]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{what}: {twice!r} stands twice, or is what every sub-agent reports; choose another name")
    for field in fields:
        if field.type in ("items", "statements", "answers"):
            raise ValueError(f"{what}: {field.name} holds {field.type}, which only a reviewer reports")


def check_session(fresh: object, model: str | None, handler: object, where: str) -> None:
    """Raise TypeError or ValueError for a ``fresh`` or ``model`` that no agent could be run by."""
    if fresh is not None and not isinstance(fresh, bool):
        raise TypeError(f"{where} fresh: {shown(fresh)} is not True or False")
    if model is not None and (not model.strip() or not model.isprintable() or len(model) > 200):
        raise ValueError(f"{where} model: {shown(model)} is not the name of a model")
    if isinstance(handler, Person) and (fresh or model):
        raise ValueError(f"{where}: a person answers it, so that no agent needs fresh or model")


def check_automatic(automatic: object, handler: object, requires: Sequence[object], ways: int, where: str) -> None:
    """Raise TypeError or ValueError for an ``automatic`` step that somebody has to do, to report or to decide."""
    if not isinstance(automatic, bool):
        raise TypeError(f"{where} automatic: {shown(automatic)} is not True or False")
    if not automatic:
        return
    if isinstance(handler, (Person, Gate, Dispatch)):
        raise ValueError(f"{where}: a step with a {type(handler).__name__} is not automatic")
    required = [spec.name for spec in requires if isinstance(spec, Field) and spec.required]
    if required:
        raise ValueError(f"{where}: it is automatic, and requires {required[0]}, which only an agent can report")
    if handler is None and ways > 1:
        raise ValueError(f"{where}: it is automatic, and only an agent can say by which of its ways it ends")
    if handler is None and all(isinstance(spec, Field) for spec in requires):
        what = "it is automatic, and has no Command, file or handler: the engine could do nothing there"
        raise ValueError(f"{where}: {what}, and what its actions say would be left out")


def check_automatic_params(step_id: str, params: Sequence[Arg], where: str) -> None:
    """Raise ValueError for an ``automatic`` step with a parameter that has to be given as it is left."""
    flag = next((arg.flag for arg in params if arg.step == step_id and arg.required), None)
    if flag is not None:
        raise ValueError(f"{where}: {step_id} is automatic, and its {flag} must be given, which only an agent can do")


def check_policy(name: str, where: str) -> None:
    """Raise ValueError for a policy that is no YAML file beside the script."""
    is_plain = name.endswith((".yaml", ".yml")) and name[0] != "." and not set(name) & set("/\\\0")
    if not is_plain:
        raise ValueError(f"{where} policy: {shown(name)} is not the name of a YAML file beside the script")


def check_tool(tool: str, names: Sequence[str], where: str) -> None:
    """Raise ValueError unless a tool that none of the names is, is a shell's command, an MCP server's, or named so."""
    own = _name_of_own_tool(tool)
    if own in names:
        raise ValueError(f"{where} tools: {tool!r} is a tool that every host has: write {own!r}")
    if not own and not _is_shell_rule(tool) and not _is_mcp_tool(tool):
        valid = f"{', '.join(names)}, shell(PROGRAM), shell(PROGRAM SUBCOMMAND), mcp(SERVER.TOOL), tool(NAME)"
        raise ValueError(f"{where} tools: {tool!r} is not a tool: use one of {valid}")


def _name_of_own_tool(tool: str) -> str:
    """The name in ``tool(NAME)``, which is a tool of the program that runs the agent; empty for another tool."""
    name = tool[len("tool(") : -1] if tool.startswith("tool(") and tool.endswith(")") else ""
    return name if name.isascii() and name.replace("-", "_").replace(".", "_").isidentifier() else ""


def _is_shell_rule(tool: str) -> bool:
    """True for ``shell(git)`` and ``shell(git push)``: a program with the first words that it gets."""
    words = tool[len("shell(") : -1] if tool.startswith("shell(") and tool.endswith(")") else ""
    return bool(words) and words == " ".join(words.split()) and not set(words) & _SHELL_SIGNS


def _is_mcp_tool(tool: str) -> bool:
    """True for ``mcp(SERVER.TOOL)``: one tool of an MCP server."""
    inside = tool[len("mcp(") : -1] if tool.startswith("mcp(") and tool.endswith(")") else ""
    server, _, name = inside.partition(".")
    return bool(server and name) and not set(inside) & _SHELL_SIGNS and not any(map(str.isspace, inside))
