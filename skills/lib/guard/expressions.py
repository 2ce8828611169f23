"""The evaluation of compiled expressions: every operator, three-valued.

A compiled expression is a small list: its operator, then its parts. A value is True, False or UNKNOWN where a question
is asked, else what values.py names. What is wrong with known values is a Fault: FALSE with a reason, under ``not`` too,
so that a mistake of an author neither allows a call nor asks to look for ever.
"""

from __future__ import annotations

from skills.lib.guard import functions
from skills.lib.guard.values import (
    ABSENT,
    UNKNOWN,
    Distinct,
    Failing,
    Fault,
    Open,
    OpenList,
    child,
    contains,
    exists,
    is_moment,
    is_number,
    is_partial,
    kind_of,
    same,
    same_members,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Node = list[Any]


class Scope:
    """What an expression can read.

    ``missing`` collects what it read and is not known: the keys of places, and arguments such as ``$user``.
    """

    __slots__ = ("arguments", "calls", "folder", "missing", "params", "result", "root", "variables")

    def __init__(
        self,
        root: Any,
        arguments: Mapping[str, Any],
        params: Mapping[str, Any],
        calls: Mapping[str, int],
        folder: str,
        result: Any = UNKNOWN,
    ) -> None:
        self.root = root
        self.arguments = arguments
        self.params = params
        self.calls = calls
        self.folder = folder
        self.result = result
        self.variables: dict[str, Any] = {}
        self.missing: list[Any] = []


def evaluate(node: Node, scope: Scope) -> Any:
    """The value of a compiled expression."""
    return _OPERATORS[node[0]](node, scope)


def _operand(node: Node, scope: Scope) -> Any:
    """The value of a part that is no condition; what is FALSE or a Fault is not known there."""
    value = evaluate(node, scope)
    return UNKNOWN if isinstance(value, Failing) else value


def evaluated(node: Node, scope: Scope) -> Any:
    """The value of a whole expression; a Fault if values are nested too deeply to be gone through."""
    try:
        return evaluate(node, scope)
    except RecursionError:
        return Fault("a value that is nested too deeply")


def path_of(node: Node, scope: Scope) -> list[str | int] | Fault | Any:
    """The keys of a place of the picture: a list; UNKNOWN if a key is not known, a Fault if one is no key."""
    keys: list[Any] = []
    for part in node[2]:
        key = _key(part, scope)
        if isinstance(key, Fault) or key is UNKNOWN:
            return key
        keys.append(key)
    return keys


def _key(part: str | Node, scope: Scope) -> Any:
    """A key as text or whole number; UNKNOWN, or a Fault for what cannot be a key."""
    if type(part) is str:
        return part
    key = _operand(part, scope)  # type: ignore[arg-type]
    if type(key) is str or type(key) is int or key is UNKNOWN or isinstance(key, Fault):
        return key
    if type(key) is float and key.is_integer():
        return int(key)
    if isinstance(key, Open):
        return UNKNOWN
    return Fault(f"a key that is {kind_of(key)}")


def _constant(node: Node, scope: Scope) -> Any:
    return node[1]


def _argument(node: Node, scope: Scope) -> Any:
    try:
        value = scope.arguments[node[1]]
    except KeyError:
        value = UNKNOWN
    if value is UNKNOWN:
        scope.missing.append(f"${node[1]}")
    return value


def _parameter(node: Node, scope: Scope) -> Any:
    return scope.params[node[1]]


def _result(node: Node, scope: Scope) -> Any:
    return scope.result


def _variable(node: Node, scope: Scope) -> Any:
    return scope.variables[node[1]]


def _get(node: Node, scope: Scope) -> Any:
    """What a place holds, of the picture (its base is ["root"]) or of any other value."""
    base = node[1]
    value = scope.root if base[0] == "root" else _operand(base, scope)
    if isinstance(value, Fault):
        return value
    asked = len(scope.missing)
    for part in node[2]:
        key = _key(part, scope)
        if isinstance(key, Fault):
            return key
        if key is UNKNOWN:
            value = ABSENT if value is ABSENT or (value == {} and not isinstance(value, Open)) else UNKNOWN
        elif base[0] != "root" and (value is None or isinstance(value, (str, int, float))):
            return Fault(f"{kind_of(value)} has nothing inside")
        else:
            value = child(value, key)
        if value is UNKNOWN or value is ABSENT:
            break
    if base[0] == "root" and asked == len(scope.missing) and (value is UNKNOWN or isinstance(value, Open)):
        keys = [_key(part, scope) for part in node[2]]
        scope.missing.append([key if isinstance(key, (str, int)) else None for key in keys])
    return value


def place_text(keys: list[Any]) -> str:
    """A place as an author writes it: ``accounts["bob"].balance``; a key that is not known is ``[…]``."""
    text = ""
    for key in keys:
        if isinstance(key, str) and key.isidentifier():
            text += f".{key}" if text else key
        elif isinstance(key, (str, int)):
            quoted = str(key) if isinstance(key, int) else functions.quoted(key)
            text += f"[{quoted}]"
        else:
            text += "[…]"
    return text or "."


def _list(node: Node, scope: Scope) -> Any:
    made = [_operand(part, scope) for part in node[1]]
    return next((value for value in made if isinstance(value, Fault)), made)


def _truth(value: Any) -> Any:
    """True, False, UNKNOWN or a Fault."""
    if value is True or value is False or value is UNKNOWN or isinstance(value, Fault):
        return value
    if isinstance(value, Open) and not value:
        return UNKNOWN
    return Fault("is not there" if value is ABSENT else f"is not a yes or no ({kind_of(value)})")


def _and(node: Node, scope: Scope) -> Any:
    return all_of(_truth(evaluate(part, scope)) for part in node[1])


def _or(node: Node, scope: Scope) -> Any:
    return any_of(_truth(evaluate(part, scope)) for part in node[1])


def all_of(values: Iterator[Any]) -> Any:
    """False if a value is False; Failing if one is a Fault and another not known; a Fault, UNKNOWN, else True."""
    fault, unknown = None, False
    for value in values:
        if value is False:
            return False
        if isinstance(value, Fault):
            fault = fault or value
            unknown = unknown or isinstance(value, Failing)
        elif value is UNKNOWN:
            unknown = True
    if fault is None:
        return UNKNOWN if unknown else True
    return Failing(fault.reason) if unknown else fault


def any_of(values: Iterator[Any]) -> Any:
    """True if a value is True, else UNKNOWN if there is one, a Fault, Failing, else False."""
    result: Any = False
    for value in values:
        if value is True:
            return True
        if value is UNKNOWN or result is False or (isinstance(result, Failing) and value is not False):
            result = value
    return result


def _not(node: Node, scope: Scope) -> Any:
    value = _truth(evaluate(node[1], scope))
    return not value if isinstance(value, bool) else UNKNOWN if isinstance(value, Failing) else value


def _if(node: Node, scope: Scope) -> Any:
    condition = _truth(evaluate(node[1], scope))
    if condition is True or condition is False:
        return evaluate(node[2 if condition else 3], scope)
    yes, no = evaluate(node[2], scope), evaluate(node[3], scope)
    if _is_known(yes) and _is_known(no) and ((yes is ABSENT and no is ABSENT) or same(yes, no) is True):
        return yes  # whatever the condition is
    if isinstance(condition, Fault) and not isinstance(condition, Failing):
        is_open = not (isinstance(yes, Fault) or isinstance(no, Fault)) and same(yes, no) is UNKNOWN
        return UNKNOWN if is_open or isinstance(yes, Failing) or isinstance(no, Failing) else condition
    possible = [no, condition] if isinstance(condition, Failing) else [yes, no]
    faults = [value for value in possible if isinstance(value, Fault)]
    if not faults or any(value is not False and not isinstance(value, Fault) for value in possible):
        return UNKNOWN
    sure = len(faults) == 2 and not isinstance(yes, Failing) and not isinstance(no, Failing)
    return faults[0] if sure and condition is UNKNOWN else Failing(faults[0].reason)


def _is_known(value: Any) -> bool:
    return not isinstance(value, Fault) and not is_partial(value)


def _compare(node: Node, scope: Scope) -> Any:
    """A comparison, or a chain of them: FALSE if one part is."""
    if len(node[2]) == 1:
        operator, part = node[2][0]
        return compared(operator, _operand(node[1], scope), _operand(part, scope))
    values = [_operand(node[1], scope), *(_operand(part, scope) for _, part in node[2])]
    return all_of(compared(operator, values[at], values[at + 1]) for at, (operator, _) in enumerate(node[2]))


def compared(operator: str, left: Any, right: Any) -> Any:
    """True, False, UNKNOWN or a Fault: the comparison of two values."""
    if isinstance(left, Fault) or isinstance(right, Fault):
        return left if isinstance(left, Fault) else right
    if operator == "==":
        return same(left, right)
    if operator == "!=":
        return _negated(same(left, right))
    if operator == "in":
        return _member(left, right)
    if operator == "not in":
        return _negated(_member(left, right))
    return _ordered(operator, left, right)


def _negated(value: Any) -> Any:
    return not value if isinstance(value, bool) else value


def _member(value: Any, members: Any) -> Any:
    """Whether a value is in a list, the keys of a map, or a text; nothing is in a place that is not there."""
    if members is ABSENT:
        return False
    if isinstance(members, list):
        return contains(members, value)
    if isinstance(members, dict):
        return _key_in(value, members)
    if members is UNKNOWN:
        return UNKNOWN
    if isinstance(members, str):
        if isinstance(value, str):
            return value in members
        if value is UNKNOWN or (isinstance(value, Open) and not value):
            return UNKNOWN
        return Fault(f"{kind_of(value)} cannot be in a text")
    return Fault(f"nothing can be in {kind_of(members)}")


def _key_in(value: Any, members: dict[str, Any]) -> Any:
    if value is UNKNOWN:
        return False if not members and not isinstance(members, Open) else UNKNOWN
    if isinstance(members, Open) and not members:
        return UNKNOWN
    if type(value) is not str and type(value) is not int:
        return False
    return exists(child(members, value))


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: bool(left < right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    ">=": lambda left, right: bool(left >= right),
}


def _ordered(operator: str, left: Any, right: Any) -> Any:
    for value in (left, right):
        if value is None or value is ABSENT or value is True or value is False:
            return Fault(f"{kind_of(value)} is neither more nor less than anything")
    if _hidden(left) or _hidden(right):
        return _one_known(left if _hidden(right) else right)
    if isinstance(left, Distinct) and isinstance(right, Distinct):
        return _subset(operator, left, right)
    if (isinstance(left, (int, float)) and isinstance(right, (int, float))) or (type(left) is type(right) is str):
        return _ORDERS[operator](left, right)
    if is_moment(left) or is_moment(right):
        from skills.lib.guard.moments import aligned

        pair = aligned(left, right)
        if pair:
            return _ORDERS[operator](*pair)
    return Fault(f"{kind_of(left)} and {kind_of(right)} cannot be compared by {operator}")


def _hidden(value: Any) -> bool:
    """True for what is not known at all; an open place without a key may hold a number."""
    return value is UNKNOWN or (isinstance(value, Open) and not value)


def _one_known(value: Any) -> Any:
    """A comparison of order with something that is not known: a Fault if the other side is never in an order."""
    if isinstance(value, dict) and value and not _hidden(value):
        return Fault("a map is neither more nor less than anything")
    return UNKNOWN


def _subset(operator: str, left: Distinct, right: Distinct) -> Any:
    small, large = (left, right) if operator[0] == "<" else (right, left)
    inside = all_of(contains(large, member) for member in small)
    return inside if operator[1:] else all_of(iter((inside, _negated(same_members(small, large)))))


def _arithmetic(node: Node, scope: Scope) -> Any:
    return functions.calculated(node[0], _operand(node[1], scope), _operand(node[2], scope))


def _negative(node: Node, scope: Scope) -> Any:
    value = _operand(node[1], scope)
    return -value if is_number(value) else functions.calculated("-", 0, value)


def members(node: Node, scope: Scope) -> Any:
    """The members of a list or comprehension: pairs of (True or UNKNOWN if it may be left out, value), and whether
    these are all of them; UNKNOWN or a Fault if there is nothing to go through."""
    if node[0] != "for":
        return _as_pairs(_operand(node, scope))
    _, element, variable, source, conditions = node
    found = _operand(source, scope)
    if isinstance(found, (str, int, float)) or found is None or is_moment(found):
        return Fault(f"{kind_of(found)} has no members")
    listed = _items(found)
    if listed is None:
        return found if isinstance(found, Fault) else UNKNOWN
    pairs, kept = [], dict(scope.variables)
    for key, value in listed:
        scope.variables = {**kept, variable: value, "key": key}
        included = all_of(_truth(evaluate(condition, scope)) for condition in conditions)
        if value is UNKNOWN and exists(value) is UNKNOWN and isinstance(found, dict):
            included = all_of(iter((included, UNKNOWN)))  # a key that was forgotten may be gone
        if isinstance(included, Fault):
            pairs.append((UNKNOWN if isinstance(included, Failing) else True, Fault(included.reason)))
        elif included is not False:
            pairs.append((included, evaluate(element, scope)))
    scope.variables = kept
    return pairs, not isinstance(found, (Open, OpenList))


def _items(found: Any) -> list[tuple[Any, Any]] | None:
    """Keys and values of a map, places and members of a list; what is not there has none. None if not known."""
    if found is ABSENT:
        return []
    if isinstance(found, dict):
        return [(key, value) for key, value in found.items() if value is not ABSENT]
    return list(enumerate(found)) if isinstance(found, list) else None


def _as_pairs(value: Any) -> Any:
    if isinstance(value, Fault) or value is UNKNOWN:
        return value
    listed = _items(value)
    if listed is None:
        return UNKNOWN if isinstance(value, Open) else Fault(f"{kind_of(value)} has no members")
    pairs = [(True if not isinstance(value, dict) else exists(part) is True or UNKNOWN, part) for _, part in listed]
    return pairs, not isinstance(value, (Open, OpenList))


def _for(node: Node, scope: Scope) -> Any:
    """The list that a comprehension makes, as far as it is known."""
    found = members(node, scope)
    if not isinstance(found, tuple):
        return found
    pairs, complete = found
    faults = [(included, value) for included, value in pairs if isinstance(value, Fault)]
    if faults:
        sure_faults = [value for included, value in faults if included is True and not isinstance(value, Failing)]
        return sure_faults[0] if sure_faults else UNKNOWN
    sure = [value for included, value in pairs if included is True]
    return sure if complete and len(sure) == len(pairs) else OpenList(sure)


def _call(node: Node, scope: Scope) -> Any:
    name, parts = node[1], node[2]
    if name in ("all", "any"):
        return _quantified(name, parts[0], scope)
    if name in ("exists", "known", "calls"):
        return _questions(name, _operand(parts[0], scope), scope)
    values = [_operand(part, scope) for part in parts]
    fault = next((value for value in values if isinstance(value, Fault)), None)
    return fault or functions.FUNCTIONS[name](values, scope.folder)


def _questions(name: str, value: Any, scope: Scope) -> Any:
    if isinstance(value, Fault):
        return value
    if name == "exists":
        return exists(value)
    if name == "known":
        return not is_partial(value)
    return scope.calls.get(value, 0) if isinstance(value, str) else Fault("calls() takes the name of a tool")


def _quantified(name: str, node: Node, scope: Scope) -> Any:
    found = members(node, scope)
    if not isinstance(found, tuple):
        return found
    pairs, complete = found
    decides = name == "any"
    values = []
    for included, value in pairs:
        truth = _truth(value)
        # A member that may be left out decides nothing by being there; what it would not decide does not matter.
        values.append(UNKNOWN if included is UNKNOWN and truth is not (not decides) else truth)
    if not complete:
        values.append(UNKNOWN)
    return any_of(iter(values)) if decides else all_of(iter(values))


_OPERATORS: dict[str, Callable[[Node, Scope], Any]] = {
    "const": _constant,
    "arg": _argument,
    "param": _parameter,
    "result": _result,
    "var": _variable,
    "get": _get,
    "list": _list,
    "and": _and,
    "or": _or,
    "not": _not,
    "if": _if,
    "cmp": _compare,
    "+": _arithmetic,
    "-": _arithmetic,
    "*": _arithmetic,
    "/": _arithmetic,
    "neg": _negative,
    "for": _for,
    "call": _call,
    "forget": lambda node, scope: UNKNOWN,
    "absent": lambda node, scope: ABSENT,
}
