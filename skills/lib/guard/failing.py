"""Which expressions may turn out to have no value: what is not known of them may be a Fault, and not any value."""

from __future__ import annotations

from skills.lib.guard.values import UNKNOWN, Failing, child, is_unseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Node = list[Any]


def unless_fault(found: Any, reason: str) -> Any:
    """What a comparison gives if a side that is not known may turn out to be a Fault."""
    return Failing(reason) if found is False else UNKNOWN if found is True else found


def may_fail(node: Node, variables: Mapping[str, Any] | None = None) -> bool:
    """True if what is not known of an expression may turn out to be a Fault, and not any value.

    ``variables`` are those of the comprehensions around it, if they have values.
    """
    kind = node[0]
    if kind == "get":
        if node[1][0] == "root":
            return any(isinstance(key, list) and key[0] != "arg" for key in node[2])
        return node[1][0] != "var" or variables is None or not _is_inside_maps(variables[node[1][1]], node[2])
    if kind == "cmp":
        sides = [node[1], *(right for _, right in node[2])]
        return any(one not in ("==", "!=") for one, _ in node[2]) or any(may_fail(side, variables) for side in sides)
    if kind in ("and", "or", "not"):
        return any(may_be_no_answer(part, variables) for part in (node[1:] if kind == "not" else node[1]))
    if kind == "call" and node[1] in ("exists", "known"):
        return may_fail(node[2][0], variables)
    return kind not in ("arg", "const", "param", "result")


def _is_inside_maps(value: Any, keys: list[Any]) -> bool:
    """True if the keys lead through what is known to be maps."""
    for key in keys:
        if type(key) is not str or not isinstance(value, dict) or is_unseen(value):
            return False
        value = child(value, key)
    return True


def may_be_no_answer(node: Node, variables: Mapping[str, Any] | None = None) -> bool:
    """True if what is not known of a condition may turn out to be a Fault, or no yes or no."""
    is_question = node[0] in ("cmp", "and", "or", "not") or (node[0] == "call" and node[1] in ("exists", "known"))
    return not is_question or may_fail(node, variables)
