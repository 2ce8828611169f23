"""Compiled conditions and values as the text that a ``workflow.yaml`` has for them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from skills.lib.graphfile.rules import FUNCTIONS

_NAMES = {compiled: name for name, compiled in FUNCTIONS.items()}
_WORDS = {None: "null", True: "true", False: "false"}


def recorded(how: Mapping[str, Any], fields: Collection[str] = ()) -> Any:
    """An entry of ``keep`` or ``gather``; ``fields`` are those that the sub-agents report."""
    found: dict[str, Any] = {}
    for key, value in how.items():
        if key == "append":
            entries = [template(entry, fields) for entry in value]
            found[key] = entries[0] if len(entries) == 1 and isinstance(entries[0], str) else entries
        elif key == "take":
            found[key] = template(value, fields)
        elif key == "where":
            found[key] = condition(value)
        elif key in ("first", "cut"):
            found[key] = value[1] if value[0] == "const" else condition(value)
        else:
            found[key] = value
    return found["take"] if list(found) == ["take"] and isinstance(found["take"], str) else found


def template(node: Any, fields: Collection[str] = ()) -> Any:
    """A text with values in braces, or a mapping of such texts."""
    if node[0] == "map":
        return {name: template(part, fields) for name, part in node[1]}
    parts = node[1] if node[0] == "text" else [node]
    return "".join(part if isinstance(part, str) else f"{{{condition(part, fields)}}}" for part in parts)


def condition(node: Any, fields: Collection[str] = ()) -> str:
    """A condition or value as it is written in a rule."""
    kind = node[0]
    if kind == "const":
        return _constant(node[1])
    if kind == "var":
        return str(node[1])
    if kind == "get":
        return _place(node, fields)
    if kind == "not":
        return f"not {_inner(node[1], fields)}"
    if kind in ("and", "or"):
        return f" {kind} ".join(_inner(part, fields) for part in node[1])
    if kind == "cmp":
        rest = "".join(f" {operator} {_inner(part, fields)}" for operator, part in node[2])
        return _inner(node[1], fields) + rest
    if kind == "call":
        parts = [condition(part, fields) for part in node[2]]
        inside = parts[0][1:-1] if len(parts) == 1 and node[2][0][0] == "for" else ", ".join(parts)
        return f"{_NAMES.get(node[1], node[1])}({inside})"
    if kind == "for":
        made = f"{condition(node[1], fields)} for {node[2]} in {_inner(node[3], fields)}"
        return f"[{made}{''.join(f' if {_inner(part, fields)}' for part in node[4])}]"
    if kind == "list":
        return f"[{', '.join(condition(part, fields) for part in node[1])}]"
    if kind == "neg":
        return f"-{_inner(node[1], fields)}"
    if kind == "if":
        test, then, other = (_inner(part, fields) for part in node[1:])
        return f"{then} if {test} else {other}"
    left, right = (_inner(part, fields) for part in node[1:])
    return f"{left} {kind} {right}"


def _inner(node: Any, fields: Collection[str]) -> str:
    """A part of a condition, in parentheses if it has parts of its own."""
    text = condition(node, fields)
    return text if node[0] in ("const", "var", "get", "call", "list", "for") else f"({text})"


def _constant(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _place(node: Any, fields: Collection[str]) -> str:
    base, keys = node[1], list(node[2])
    if base == ["root"]:
        area = keys.pop(0)
        if area == "iteration":
            return str(area)
        head = str(keys.pop(0))
    elif base == ["var", "result"]:
        head = str(keys.pop(0))
        if head == "values" and keys and keys[0] in (*fields, "result"):
            head = str(keys.pop(0))
    else:
        head = _inner(base, fields)
    return head + "".join(_key(key, fields) for key in keys)


def _key(key: Any, fields: Collection[str]) -> str:
    if isinstance(key, str):
        return f".{key}" if key.isidentifier() else f"[{_constant(key)}]"
    return f"[{condition(key, fields)}]"
