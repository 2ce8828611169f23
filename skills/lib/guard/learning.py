"""What the result of a call shows or changes, as places and values."""

from __future__ import annotations

from skills.lib.compact_json import loads
from skills.lib.guard.calls import is_of_shell
from skills.lib.guard.expressions import evaluated, path_of
from skills.lib.guard.picture import odd_member
from skills.lib.guard.places import at_place, reduced
from skills.lib.guard.values import ABSENT, UNKNOWN, Fault, child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.guard.expressions import Scope


def parsed_result(tool: str, result: Any) -> Any:
    """A result as expressions read it: JSON in a text as its value, ``True`` and ``False`` alone as booleans.

    A shell result without an exit, or with null, has an UNKNOWN one.
    """
    if is_of_shell(tool):
        if not isinstance(result, dict):
            result = {"output": result}
        return result if result.get("exit") is not None else {**result, "exit": UNKNOWN}
    if not isinstance(result, str):
        return result
    text = result.strip()
    if text in ("True", "False"):
        return text == "True"
    try:
        return loads(text, strict=True)
    except ValueError:
        return result


def learned(effects: list[list[Any]], scope: Scope, reads: dict[str, Any]) -> list[tuple[list[Any], Any, list[str]]]:
    """The writes that effects make: path, value, names of the whole picture that stay.

    All values are computed from the picture before the call. A value that is not known, or faulty, makes its place
    UNKNOWN; an effect whose key is not known makes the map around it UNKNOWN. Only what some expression reads is kept.
    """
    writes = []
    for _, _, target, node, _, keep in effects:
        value = evaluated(node, scope)
        path = path_of(target, scope)
        if not isinstance(path, list):
            path, value = _known_part(target, scope), UNKNOWN
        if isinstance(value, Fault):
            value = UNKNOWN
        trees = at_place(reads, path)
        if trees:
            kept = value if value is UNKNOWN or value is ABSENT else reduced(value, trees)
            writes.append((path, kept, keep))
            continue
        odd = odd_member(scope.root, path, value)
        if odd is not None and at_place(reads, path[:odd]):
            writes.append((path[:odd], UNKNOWN, keep))
        elif value is not ABSENT and _replaces(path, scope.root, reads):
            writes.append((path, UNKNOWN, keep))
    return writes


def _replaces(path: list[Any], root: Any, reads: dict[str, Any]) -> bool:
    """True if a write that no expression reads makes a map of a place around it that was known to be none."""
    for at in range(1, len(path)):
        root = child(root, path[at - 1])
        if root is UNKNOWN or not at_place(reads, path[:at]):
            return False
        if not isinstance(root, dict) and not (isinstance(root, list) and isinstance(path[at], int)):
            return True
    return False


def _known_part(target: list[Any], scope: Scope) -> list[Any]:
    """The keys of a place before the first that is not known."""
    keys: list[Any] = []
    for key in target[2]:
        known = path_of(["get", ["root"], [key]], scope)
        if not isinstance(known, list):
            return keys
        keys += known
    return keys
