"""The evaluation of compiled expressions: every operator, three-valued.

A compiled expression is a small list: its operator, then its parts. A value is True, False or UNKNOWN where a question
is asked, else what values.py names. What is wrong with known values is a Fault: FALSE with a reason, under ``not`` too,
so that a mistake of an author neither allows a call nor asks to look for ever.
"""

from __future__ import annotations

from skills.lib.guard.comparing import compared
from skills.lib.guard.failing import may_be_no_answer, may_fail, unless_fault
from skills.lib.guard.truth import all_of, any_of, negated, truth
from skills.lib.guard.values import (
    ABSENT,
    UNKNOWN,
    Failing,
    Fault,
    Open,
    OpenList,
    child,
    exists,
    is_moment,
    is_number,
    is_partial,
    is_unseen,
    kind_of,
    same,
    shown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Node = list[Any]


# What hosts give as arguments: values of JSON, and lists of which only a part is known.
_PLAIN = frozenset((str, int, float, bool, type(None), list, dict, OpenList, type(UNKNOWN)))


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
    if type(value) not in _PLAIN:
        from skills.lib.guard.plain_values import plain  # only programs give such values

        value = plain(value)
    if value is UNKNOWN or type(value) is OpenList:
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
    rest = iter(node[2])
    for part in rest:
        key = part if type(part) is str else _key(part, scope)
        if type(value) is dict and type(key) is str:  # most steps are of this kind
            value = value.get(key, ABSENT)
            if value is UNKNOWN or value is ABSENT:
                break
            continue
        if isinstance(key, Fault):
            return key
        if key is UNKNOWN:
            is_empty = value is ABSENT or (value == {} and not isinstance(value, Open))
            value = ABSENT if is_empty and part[0] == "arg" else UNKNOWN
        elif base[0] != "root" and (value is None or isinstance(value, (str, int, float))):
            return Fault(f"{kind_of(value)} has nothing inside")
        elif base[0] != "root" and is_unseen(value):
            value = UNKNOWN  # it may turn out to be a number, which has nothing inside
        else:
            value = child(value, key)
        if value is UNKNOWN or value is ABSENT:
            break
    if value is ABSENT:
        return _absent([part for part in rest if type(part) is not str], scope)
    if base[0] == "root" and asked == len(scope.missing) and (value is UNKNOWN or isinstance(value, Open)):
        keys = [_key(part, scope) for part in node[2]]
        fault = next((key for key in keys if isinstance(key, Fault)), None)
        if fault is not None:
            return fault  # such as null: nothing that is looked at first could make it a key
        scope.missing.append([key if isinstance(key, (str, int)) else None for key in keys])
    return value


def _absent(parts: list[Node], scope: Scope) -> Any:
    """ABSENT, unless one of the further keys can be no key, or may turn out to be none."""
    keys = [_key(part, scope) for part in parts]
    fault = next((key for key in keys if isinstance(key, Fault)), None)
    unsure = any(key is UNKNOWN and part[0] != "arg" for key, part in zip(keys, parts, strict=True))
    return fault or (UNKNOWN if unsure else ABSENT)


def place_text(keys: list[Any]) -> str:
    """A place as an author writes it: ``accounts["bob"].balance``; a key that is not known is ``[…]``."""
    text = ""
    for key in keys:
        if isinstance(key, str) and key.isidentifier():
            text += f".{key}" if text else key
        elif isinstance(key, (str, int)):
            quoted = str(key) if isinstance(key, int) else shown(key)
            text += f"[{quoted}]"
        else:
            text += "[…]"
    return text or "."


def _list(node: Node, scope: Scope) -> Any:
    return _listed([_operand(part, scope) for part in node[1]], node[1], scope)


def _listed(made: list[Any], nodes: list[Node], scope: Scope) -> Any:
    """The list of these values, a Fault if one is; UNKNOWN if one may turn out to be a Fault."""
    fault = next((value for value in made if isinstance(value, Fault)), None)
    if fault is not None:
        return fault
    pairs = zip(made, nodes, strict=True)
    return UNKNOWN if any(value is UNKNOWN and may_fail(node, scope.variables) for value, node in pairs) else made


def _and(node: Node, scope: Scope) -> Any:
    return all_of(truth(evaluate(part, scope)) for part in node[1])


def _or(node: Node, scope: Scope) -> Any:
    return any_of(truth(evaluate(part, scope)) for part in node[1])


def _not(node: Node, scope: Scope) -> Any:
    value = truth(evaluate(node[1], scope))
    return not value if isinstance(value, bool) else UNKNOWN if isinstance(value, Failing) else value


def _if(node: Node, scope: Scope) -> Any:
    condition = truth(evaluate(node[1], scope))
    if condition is True or condition is False:
        return evaluate(node[2 if condition else 3], scope)
    yes, no = evaluate(node[2], scope), evaluate(node[3], scope)
    if _is_known(yes) and _is_known(no) and ((yes is ABSENT and no is ABSENT) or same(yes, no) is True):
        return yes  # whatever the condition is
    if _is_sure_fault(condition):
        if _is_sure_fault(yes) or _is_sure_fault(no):
            return condition
        is_open = isinstance(yes, Failing) or isinstance(no, Failing) or _may_be_same(yes, no)
        return UNKNOWN if is_open else condition
    possible = [no, condition] if isinstance(condition, Failing) else [yes, no]
    faults = [value for value in possible if isinstance(value, Fault)]
    if not faults or any(value is not False and not isinstance(value, Fault) for value in possible):
        return UNKNOWN
    sure = len(faults) == 2 and not isinstance(yes, Failing) and not isinstance(no, Failing)
    return faults[0] if sure and condition is UNKNOWN else Failing(faults[0].reason)


def _may_be_same(left: Any, right: Any) -> bool:
    """True if two values that are not both known may turn out to be the same, or both not to be there."""
    may_be_absent = exists(left) is not True and exists(right) is not True and (left is not right)
    return may_be_absent or same(left, right) is UNKNOWN


def _is_sure_fault(value: Any) -> bool:
    return isinstance(value, Fault) and not isinstance(value, Failing)


def _is_known(value: Any) -> bool:
    return not isinstance(value, Fault) and not is_partial(value)


def _compare(node: Node, scope: Scope) -> Any:
    """A comparison, or a chain of them: FALSE if one part is."""
    left, before = node[1], _operand(node[1], scope)
    parts = []
    for operator, right in node[2]:
        if right[0] == "list" and operator in ("in", "not in") and not isinstance(before, Fault):
            made = [_operand(part, scope) for part in right[1]]
            value, found = _listed(made, right[1], scope), _one_of(operator, before, made, right[1], scope)
            is_unsure = False
        else:
            value = _operand(right, scope)
            found = compared(operator, before, value)
            is_unsure = value is UNKNOWN and may_fail(right, scope.variables)
        if is_unsure or (before is UNKNOWN and may_fail(left, scope.variables)):
            found = unless_fault(found, f"{shown(before)} {operator} {shown(value)} does not hold")
        parts.append(found)
        left, before = right, value
    return parts[0] if len(parts) == 1 else all_of(iter(parts))


def _one_of(operator: str, value: Any, made: list[Any], nodes: list[Node], scope: Scope) -> Any:
    """Whether a value is one of those that are written out: as their comparisons, joined by ``or``."""
    found = []
    for member, node in zip(made, nodes, strict=True):
        equal = compared("==", value, member)
        is_unsure = member is UNKNOWN and may_fail(node, scope.variables)
        found.append(unless_fault(equal, "a member of the list may have no value") if is_unsure else equal)
    inside = any_of(iter(found))
    if operator == "in":
        return inside
    return UNKNOWN if isinstance(inside, Failing) else negated(inside)


def _arithmetic(node: Node, scope: Scope) -> Any:
    from skills.lib.guard.arithmetic import calculated  # few policies calculate

    return calculated(node[0], _operand(node[1], scope), _operand(node[2], scope))


def _negative(node: Node, scope: Scope) -> Any:
    value = _operand(node[1], scope)
    if is_number(value):
        return -value
    from skills.lib.guard.arithmetic import calculated

    return calculated("-", 0, value)


def members(node: Node, scope: Scope) -> Any:
    """The members of a list or comprehension: pairs of (True, UNKNOWN if it may be left out, None if it may turn out
    to be a Fault; value), and whether these are all of them; UNKNOWN or a Fault if there is nothing to go through."""
    if node[0] == "list":
        return [(True, _operand(part, scope)) for part in node[1]], True
    if node[0] != "for":
        return _as_pairs(_operand(node, scope))
    _, element, variable, source, conditions = node
    found = [_operand(part, scope) for part in source[1]] if source[0] == "list" else _operand(source, scope)
    if isinstance(found, (str, int, float)) or found is None or is_moment(found):
        return Fault(f"{kind_of(found)} has no members")
    listed = None if is_unseen(found) else _items(found)
    if listed is None:
        return found if isinstance(found, Fault) else UNKNOWN
    pairs: list[tuple[Any, Any]] = []
    kept = dict(scope.variables)
    for key, value in listed:
        scope.variables = {**kept, variable: value, "key": key}
        told = [truth(evaluate(condition, scope)) for condition in conditions]
        included = all_of(iter(told))
        if isinstance(found, dict) and exists(value) is UNKNOWN:
            included = all_of(iter((included, UNKNOWN)))  # a key that was forgotten may be gone
        if isinstance(included, Fault):
            pairs.append((UNKNOWN if isinstance(included, Failing) else True, Fault(included.reason)))
        elif included is not False:
            unsure = [node for node, one in zip(conditions, told, strict=True) if one is UNKNOWN]
            made = (
                UNKNOWN if any(may_be_no_answer(one, scope.variables) for one in unsure) else evaluate(element, scope)
            )
            is_unsure = made is UNKNOWN and (bool(unsure) or may_fail(element, scope.variables))
            pairs.append((None if is_unsure else included, made))
    scope.variables = kept
    return pairs, not isinstance(found, (Open, OpenList))


def _items(found: Any) -> list[tuple[Any, Any]] | None:
    """Keys and values of a map, places and members of a list; what is not there has none. None if not known.

    Where a member of a list is of which there may be more is not known.
    """
    if found is ABSENT:
        return []
    if isinstance(found, dict):
        return [(key, value) for key, value in found.items() if value is not ABSENT]
    if isinstance(found, OpenList):
        return [(UNKNOWN, value) for value in found]
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
    if any(included is None for included, _ in pairs):
        return UNKNOWN
    if not complete and (may_fail(node[1]) or any(map(may_be_no_answer, node[4]))):
        return UNKNOWN
    return sure if complete and len(sure) == len(pairs) else OpenList(sure)


def _call(node: Node, scope: Scope) -> Any:
    name, parts = node[1], node[2]
    if name in ("all", "any"):
        return _quantified(name, parts[0], scope)
    if name in ("exists", "known", "calls"):
        return _questions(name, _operand(parts[0], scope), scope)
    values = [_operand(part, scope) for part in parts]
    fault = next((value for value in values if isinstance(value, Fault)), None)
    if fault:
        return fault
    from skills.lib.guard.functions import FUNCTIONS  # many policies call none

    found = FUNCTIONS[name](values, scope.folder)
    if UNKNOWN in values and any(
        value is UNKNOWN and may_fail(part, scope.variables) for value, part in zip(values, parts, strict=True)
    ):
        return unless_fault(found, f"{name}() of what is not known does not hold")
    return found


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
        told = truth(value)
        # A member that may be left out decides nothing by being there; what it would not decide does not matter.
        values.append(UNKNOWN if included is UNKNOWN and told is not (not decides) else told)
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
