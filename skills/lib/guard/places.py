"""Places as patterns: which ones an expression reads, and what of a result is worth keeping.

A pattern is a list of keys; None stands for any key. What is read of a place: ``"value"`` all of it, ``"there"`` only
whether it exists.
"""

from __future__ import annotations

from skills.lib.guard.values import ABSENT, UNKNOWN, Open, OpenList

Pattern = list[str | None]
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Of a value, what lies deeper is not kept.
DEEPEST = 60


def target_pattern(node: list[Any]) -> Pattern:
    """The pattern of a compiled place."""
    return [key if isinstance(key, str) else str(key[1]) if key[0] == "const" else None for key in node[2]]


def patterns_read(node: list[Any]) -> list[list[Any]]:
    """What an expression reads of the picture: pairs of "value" or "there", and the pattern of the place."""
    found: list[list[Any]] = []
    _collect(node, "value", found)
    return found


def parts(node: list[Any]) -> list[list[Any]]:
    """The expressions that an expression is made of."""
    kind = node[0]
    if kind in ("const", "arg", "param", "var", "result", "root", "forget", "absent"):
        return []
    if kind in ("list", "and", "or"):
        return list(node[1])
    if kind == "get":
        return [node[1], *(key for key in node[2] if isinstance(key, list))]
    if kind == "cmp":
        return [node[1], *(part for _, part in node[2])]
    if kind == "for":
        return [node[1], node[3], *node[4]]
    return list(node[2]) if kind == "call" else node[1:]


def _collect(node: list[Any], how: str, found: list[list[Any]]) -> None:
    if node[0] == "get" and node[1] == ["root"]:
        pattern = [how, target_pattern(node)]
        if pattern not in found:
            found.append(pattern)
    below = "there" if node[:2] == ["call", "exists"] else "value"
    for part in parts(node):
        _collect(part, below, found)


def named(kind: str, node: list[Any]) -> list[str]:
    """The names of a kind ("arg", "param") that an expression has; "result" if it reads the result."""
    own = [node[-1]] if node[0] == kind else []
    return own + [name for part in parts(node) for name in named(kind, part)]


def overlap(one: Pattern, other: Pattern) -> bool:
    """True if one place may be the other, or lie inside it."""
    return all(mine is None or yours is None or mine == yours for mine, yours in zip(one, other, strict=False))


def merged_reads(reads: list[list[Any]]) -> dict[str, Any]:
    """All patterns as a tree: keys, "*" for any key, and "" with 2 if all of the place is read, 1 if that it exists."""
    tree: dict[str, Any] = {}
    for how, pattern in reads:
        inner = tree
        for key in pattern:
            inner = inner.setdefault("*" if key is None else f"={key}", {})
        inner[""] = max(inner.get("", 0), 2 if how == "value" else 1)
    return tree


def reduced(value: Any, trees: list[dict[str, Any]], depth: int = 0) -> Any:
    """A copy of a value without what no expression reads; what is nested too deeply is UNKNOWN.

    ``trees`` are the parts of the tree of reads that concern its place.
    """
    if depth > DEEPEST:
        return UNKNOWN
    if any(tree.get("") == 2 for tree in trees):
        return _copied(value, depth)
    if isinstance(value, dict):
        kept = {}
        for key, part in value.items():
            inside = _below(trees, key)
            if inside:
                kept[key] = reduced(part, inside, depth + 1)
        return type(value)(kept)
    if isinstance(value, list):
        below = [_below(trees, str(at)) for at in range(len(value))]
        return [reduced(part, inner, depth + 1) for part, inner in zip(value, below, strict=True)] if any(below) else []
    return value if value is UNKNOWN or value is ABSENT or trees else Open()


def _below(trees: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return [tree[name] for tree in trees for name in (f"={key}", "*") if name in tree]


def at_place(tree: dict[str, Any], path: list[Any]) -> list[dict[str, Any]]:
    """The parts of a tree of reads that concern a place; none if nothing reads it.

    If all of a place around it is read, so is all of it; if only whether a place around it exists, then only that.
    """
    trees, around = [tree], 0
    for key in path:
        around = max([around, *(one.get("", 0) for one in trees)])
        trees = _below(trees, str(key))
    return [*trees, {"": around}] if around else trees


def _copied(value: Any, depth: int) -> Any:
    if depth > DEEPEST:
        return UNKNOWN
    if isinstance(value, dict):
        return type(value)({key: _copied(part, depth + 1) for key, part in value.items()})
    if isinstance(value, list):
        return (OpenList if isinstance(value, OpenList) else list)([_copied(part, depth + 1) for part in value])
    return value
