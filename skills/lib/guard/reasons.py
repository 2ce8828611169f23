"""Why a need is not TRUE: the places that are missing, the tools that show them, the values that made it FALSE."""

from __future__ import annotations

from skills.lib.guard.decisions import Deny, Look
from skills.lib.guard.expressions import Scope, evaluate, place_text
from skills.lib.guard.places import overlap, parts
from skills.lib.guard.truth import is_false
from skills.lib.guard.values import ABSENT, Fault, kind_of, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

MOST = 4


def deny_of(file: str, need: list[Any], value: Any, scope: Scope, offered: Collection[str] | None, tool: str) -> Deny:
    """The denial by a need that is FALSE."""
    tools = tools_of(need, [], offered, tool)
    return Deny(tool, need[0], reason_of(need, value, scope), tools, f"{file}:{need[1]}")


def look_of(file: str, unknown: list[tuple[list[Any], Scope]], offered: Collection[str] | None, tool: str) -> Look:
    """The look by the needs that are UNKNOWN, of which there is at least one."""
    need = unknown[0][0]
    missing = [place for one, scope in unknown for place in missing_of(one, scope)]
    tools = [name for one, scope in unknown for name in tools_of(one, scope.missing, offered, tool)]
    where = f"{file}:{need[1]}"
    names = tuple(dict.fromkeys(missing))
    reason = f"{', '.join(names) or 'something'} {'is' if len(names) < 2 else 'are'} not known yet"
    return Look(tool, need[0], names, tuple(dict.fromkeys(tools)), reason, where)


def explained(
    need: list[Any], value: Any, scope: Scope, offered: Collection[str] | None, tool: str
) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """The word for a need's value, the reason, the missing places, and the tools that tell of it."""
    reason = reason_of(need, value, scope)
    if is_false(value):
        return "FALSE", reason, (), tools_of(need, [], offered, tool)
    if value is True:
        return "TRUE", reason, (), ()
    return "UNKNOWN", reason, missing_of(need, scope), tools_of(need, scope.missing, offered, tool)


def reason_of(need: list[Any], value: Any, scope: Scope) -> str:
    """Why a need has its value, as a sentence."""
    if isinstance(value, Fault):
        return f"{need[0]} is FALSE: {value.reason}"
    if value is True:
        return f"{need[0]} is TRUE"
    if not is_false(value):
        names = missing_of(need, scope)
        return f"{need[0]} is UNKNOWN: {', '.join(names) or 'something'} {'is' if len(names) < 2 else 'are'} not known"
    if value is not False:
        return (
            f"{need[0]} is FALSE: it {'is not there' if value is ABSENT else f'is not a yes or no ({kind_of(value)})'}"
        )
    if need[2][:2] == ["call", "all"]:
        failing = _failing_member(need[2][2][0], scope)
        if failing:
            return f"{need[0]} is FALSE: {failing}"
    facts = [f"{name} is {shown(known)}" for name, known in _read(need[2], scope).items()]
    return f"{need[0]} is FALSE" + (f": {', '.join(facts[:MOST])}" if facts else "")


def _failing_member(node: list[Any], scope: Scope) -> str:
    """The first member of a comprehension for which it is FALSE; empty if there is none to name."""
    if node[0] != "for":
        return ""
    _, element, variable, source, conditions = node
    found = evaluate(source, scope)
    members = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    kept, failing = dict(scope.variables), ""
    for key, value in members:
        scope.variables = {**kept, variable: value, "key": key}
        is_included = all(evaluate(condition, scope) is True for condition in conditions)
        if is_included and evaluate(element, scope) is False:
            failing = f"{variable} is {shown(value)}"
            break
    scope.variables = kept
    return failing


def _read(node: list[Any], scope: Scope) -> dict[str, Any]:
    """The places, arguments and parameters of an expression with their values; none inside a comprehension."""
    if node[0] in ("arg", "param"):
        return {("$" if node[0] == "arg" else "%") + node[1]: evaluate(node, scope)}
    if node[0] == "get" and node[1] == ["root"] and not _has_variable(node):
        value = evaluate(node, scope)
        keys = [key if isinstance(key, str) else evaluate(key, scope) for key in node[2]]
        return {place_text(keys): value}
    if node[0] == "call" and node[1] == "calls":
        return {f"calls({shown(evaluate(node[2][0], scope))})": evaluate(node, scope)}
    found: dict[str, Any] = {}
    for part in parts(node) if node[0] != "for" else [node[3]]:
        found.update(_read(part, scope))
    return found


def _has_variable(node: list[Any]) -> bool:
    return node[0] == "var" or any(_has_variable(part) for part in parts(node))


def missing_of(need: list[Any], scope: Scope) -> tuple[str, ...]:
    """The places and arguments that made a need UNKNOWN, as an author writes them."""
    found = [name if isinstance(name, str) else place_text(name) for name in scope.missing]
    if not found:
        found = [place_text(read[1]) for read in need[3]]
    return tuple(dict.fromkeys(found))


def tools_of(need: list[Any], missing: list[Any], offered: Collection[str] | None, tool: str) -> tuple[str, ...]:
    """The offered tools that show or change a place of a need: one of the missing places, if any are given."""
    places = [keys for keys in missing if not isinstance(keys, str)]
    found = []
    for _, pattern, tools in need[3]:
        if not missing or any(overlap(pattern, keys) for keys in places):
            found += [name for name in tools if name != tool and (offered is None or name in offered)]
    return tuple(dict.fromkeys(found))
