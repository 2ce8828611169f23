"""What the expressions of a legacy script come to, for one step and one choice of its parameters.

Where the way on depends on a parameter, NeedsValue says so, and the caller tries each value in turn.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from skills.lib.migration import calls
from skills.lib.migration.refusals import Book, excerpt
from skills.lib.migration.values import (
    OTHER,
    Function,
    Made,
    Named,
    Parameter,
    Place,
    Shifted,
    Template,
    Unknown,
    joined,
)

LARGEST = 1_000_000
_SIZED = (str, list, tuple, dict, set)
_CONVERSIONS: dict[int, Callable[[Any], str]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}
_UNKNOWN_WHY = "its value is known only when the script runs"
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}


class NeedsValue(Exception):
    """The way on depends on a parameter that has no value yet."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter.name)
        self.parameter = parameter


class Evaluator:
    """Evaluates expressions in a scope; ``values`` holds the parameters that were given a value."""

    def __init__(self, book: Book, values: dict[str, Any], literals: dict[str, set[Any]]) -> None:
        self.book = book
        self.values = values
        self.literals = literals
        self.declared: dict[str, Parameter] = {}
        self.scopes: list[dict[str, Any]] = [{}]

    def printed(self, name: str, given: list[Any], named: dict[str, Any], node: ast.Call) -> Any:
        """Keep what a print writes; outside the main function there is none to keep."""
        return self.refuse(node, f"`{excerpt(node)}`")

    def call_function(self, function: Function, given: list[Any], named: dict[str, Any], node: ast.Call) -> Any:
        """The value that a function of the script returns; outside the main function none is called."""
        return self.refuse(node, f"a call of `{excerpt(node.func)}`", "it runs when the script is imported")

    def value(self, node: ast.expr) -> Any:
        """The value of an expression; Unknown where it cannot be told."""
        kind = type(node).__name__.lower()
        method = getattr(self, f"_{kind}", None)
        if method is None:
            return self.refuse(node, f"`{excerpt(node)}`", "this kind of expression is not followed")
        return method(node)

    def refuse(self, node: ast.AST, what: str, why: str = _UNKNOWN_WHY, do: str = "") -> Unknown:
        """Note that an expression cannot be followed."""
        self.book.refuse(node, what, why, do or "write it as literals, or move this step to the new form by hand")
        return Unknown(getattr(node, "lineno", 0), what, told=True)

    def truth(self, value: Any, node: ast.expr) -> bool | None:
        """Whether a value counts as true; None, with a note in the book, where that cannot be told."""
        if isinstance(value, Parameter):
            return bool(self.pick(value))
        if isinstance(value, Unknown):
            if not value.told:
                self.refuse(node, f"the condition `{excerpt(node)}`", do=_CONDITION)
            return None
        if isinstance(value, Template):
            return True
        return bool(value)

    def pick(self, parameter: Parameter) -> Any:
        """The value that this walk gives a parameter."""
        if parameter.name not in self.values:
            raise NeedsValue(parameter)
        return self.values[parameter.name]

    def chosen(self, value: Any, beside: Any) -> Any:
        """The value, or the one that a parameter has on this walk where it is compared with literals."""
        if not isinstance(value, Parameter) or not calls.is_plain(beside):
            return value
        for literal in beside if isinstance(beside, (list, tuple, set, dict)) else (beside,):
            self.seen(value, literal)
        return self.pick(value)

    def seen(self, parameter: Parameter, literal: Any) -> None:
        """Keep a literal that a parameter is compared with."""
        if literal is not None and not parameter.choices:
            self.literals.setdefault(parameter.name, set()).add(literal)

    def lookup(self, name: str) -> Any:
        """The value of a name, or None where it has none."""
        for scope in (self.scopes[-1], self.scopes[0]):
            if name in scope:
                return scope[name]
        return Named(name) if name in calls.BUILTINS else None

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        if node.id == "__file__":
            return Place()
        if node.id == "__name__":
            return "__main__"
        found = self.lookup(node.id)
        if found is None and not any(node.id in scope for scope in self.scopes):
            return Unknown(node.lineno, f"`{node.id}`")
        return found

    def _joinedstr(self, node: ast.JoinedStr) -> Any:
        parts = []
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue):
                parts.append(self._formatted(piece))
            else:
                parts.append(self.value(piece))
        return self.bounded(node, joined(parts, node.lineno))

    def _formatted(self, node: ast.FormattedValue) -> Any:
        value = self.value(node.value)
        plain = node.conversion == -1 and node.format_spec is None
        if isinstance(value, (str, Template, Parameter, Shifted, Place, Unknown)) and plain:
            return value
        if isinstance(value, Made):
            return Unknown(node.lineno, f"the text `{excerpt(node.value)}`")
        if not calls.is_plain(value):
            return Unknown(node.lineno, f"`{excerpt(node.value)}`")
        spec = self.value(node.format_spec) if node.format_spec is not None else ""
        if not isinstance(spec, str) or calls.is_wide("format", [spec]):
            return Unknown(node.lineno, f"`{excerpt(node.value)}`")
        shown = _CONVERSIONS[node.conversion](value) if node.conversion != -1 else value
        return self.safely(node, lambda: format(shown, spec))

    def _list(self, node: ast.List) -> Any:
        return list(self._items(node.elts))

    def _tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._items(node.elts))

    def _set(self, node: ast.Set) -> Any:
        items = list(self._items(node.elts))
        return self.safely(node, lambda: set(items))

    def _items(self, nodes: list[ast.expr]) -> Iterator[Any]:
        for node in nodes:
            if not isinstance(node, ast.Starred):
                yield self.value(node)
                continue
            many = self.value(node.value)
            if isinstance(many, (list, tuple, set, dict, range)):
                yield from many
            else:
                yield Unknown(node.lineno, f"the list `{excerpt(node.value)}`")

    def _dict(self, node: ast.Dict) -> Any:
        found: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item)
            if key is None:
                if not isinstance(value, dict):
                    return Unknown(node.lineno, f"the table `{excerpt(item)}`")
                found.update(value)
                continue
            name = self.value(key)
            if not isinstance(name, (str, int, float, bool, type(None))):
                return Unknown(key.lineno, f"the key `{excerpt(key)}`")
            found[name] = value
        return found

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        for value in (left, right):
            if isinstance(value, Unknown):
                return value
        if isinstance(left, Place) or (isinstance(right, Place) and isinstance(node.op, ast.Div)):
            return left
        if isinstance(node.op, ast.Add) and isinstance(left, Parameter) and isinstance(right, int):
            return Shifted(left, right)
        if isinstance(node.op, ast.Add) and all(isinstance(one, (str, Template)) for one in (left, right)):
            return self.bounded(node, joined((left, right), node.lineno))
        if isinstance(node.op, ast.Add) and isinstance(left, (list, tuple)) and type(left) is type(right):
            return self.bounded(node, type(left)((*left, *right)))
        operate = _ARITHMETIC.get(type(node.op))
        if operate is None or not (calls.is_plain(left) and calls.is_plain(right)) or _is_huge(left, right):
            return Unknown(node.lineno, f"`{excerpt(node)}`")
        return self.safely(node, lambda: operate(left, right))

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            truth = self.truth(value, node.operand)
            return Unknown(node.lineno, "", told=True) if truth is None else not truth
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        return Unknown(node.lineno, f"`{excerpt(node)}`")

    def _boolop(self, node: ast.BoolOp) -> Any:
        wanted = isinstance(node.op, ast.And)
        value: Any = wanted
        for operand in node.values:
            value = self.value(operand)
            truth = self.truth(value, operand)
            if truth is None:
                return Unknown(node.lineno, "", told=True)
            if truth is not wanted:
                return value
        return value

    def _ifexp(self, node: ast.IfExp) -> Any:
        truth = self.truth(self.value(node.test), node.test)
        if truth is None:
            return Unknown(node.lineno, "", told=True)
        return self.value(node.body if truth else node.orelse)

    def _compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            found = self._compared(node, op, left, right)
            if found is not True:
                return found
            left = right
        return True

    def _compared(self, node: ast.Compare, op: ast.cmpop, left: Any, right: Any) -> Any:
        for one in (left, right):
            if isinstance(one, Unknown):
                return one
        if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, dict):
            right = list(right)
        left, right = self.chosen(left, right), self.chosen(right, left)
        if OTHER in (left, right) and not isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            listed = isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, (list, tuple, set))
            if not listed:
                return Unknown(node.lineno, f"the condition `{excerpt(node)}`")
        identity = isinstance(op, (ast.Is, ast.IsNot)) and right is None
        if not identity and not all(calls.is_plain(one) or one is OTHER for one in (left, right)):
            return Unknown(node.lineno, f"the condition `{excerpt(node)}`")
        return self.safely(node, lambda: _COMPARISONS[type(op)](left, right))

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Place):
            return owner
        if isinstance(owner, Unknown):
            return owner
        if isinstance(node.slice, ast.Slice):
            return self._sliced(node, owner)
        key = self.value(node.slice)
        if isinstance(owner, dict):
            key = self.chosen(key, list(owner))
        if not isinstance(owner, (dict, list, tuple, str)) or not isinstance(key, (str, int)):
            return Unknown(node.lineno, f"`{excerpt(node)}`")
        try:
            return owner[key]  # type: ignore[index]  # a wrong kind of key is the TypeError below
        except (KeyError, IndexError, TypeError):
            what = f"`{excerpt(node)}`: there is no {key!r}"
            return self.refuse(node, what, "the script fails here", "add what is missing, or take the step out")

    def _sliced(self, node: ast.Subscript, owner: Any) -> Any:
        assert isinstance(node.slice, ast.Slice)
        ends = [None if end is None else self.value(end) for end in (node.slice.lower, node.slice.upper)]
        if node.slice.step is not None or not isinstance(owner, (str, list, tuple)):
            return Unknown(node.lineno, f"`{excerpt(node)}`")
        return self.safely(node, lambda: owner[ends[0] : ends[1]])

    def _attribute(self, node: ast.Attribute) -> Any:
        return calls.attribute(self, self.value(node.value), node)

    def _call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        given = list(self._items(node.args))
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, dict):
                named.update(value)
            elif isinstance(value, Unknown) and value.told:
                return value
            else:
                return self.refuse(node, f"`{excerpt(node)}`")
        if isinstance(function, Function):
            return self.call_function(function, given, named, node)
        return calls.call(self, function, given, named, node)

    def _listcomp(self, node: ast.ListComp) -> Any:
        return self._comprehended(node, node.elt)

    def _generatorexp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehended(node, node.elt)

    def _comprehended(self, node: ast.ListComp | ast.GeneratorExp, element: ast.expr) -> Any:
        generator = node.generators[0]
        many = self.value(generator.iter)
        if len(node.generators) > 1 or not isinstance(many, (list, tuple, range)) or len(many) > LARGEST:
            return many if isinstance(many, Unknown) else Unknown(node.lineno, f"the list `{excerpt(node)}`")
        found = []
        self.scopes.append(dict(self.scopes[-1]))
        try:
            for item in many:
                self.assign(generator.target, item)
                tests = [self.truth(self.value(test), test) for test in generator.ifs]
                if None in tests:
                    return Unknown(node.lineno, "", told=True)
                if all(tests):
                    found.append(self.value(element))
        finally:
            self.scopes.pop()
        return found

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name, or each of several; anything else is refused."""
        if isinstance(target, ast.Name):
            self.scopes[-1][target.id] = value
            return
        if isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (list, tuple)) and len(value) == len(target.elts):
                for one, item in zip(target.elts, value, strict=True):
                    self.assign(one, item)
                return
            for one in target.elts:
                self.assign(one, Unknown(target.lineno, f"`{excerpt(target)}`"))
            return
        if isinstance(target, ast.Subscript):
            owner, key = self.value(target.value), self.value(target.slice)
            if isinstance(owner, dict) and isinstance(key, (str, int)):
                owner[key] = value
                return
        self.refuse(target, f"`{excerpt(target)}` is set", "it changes something that outlives the step", _STATE)

    def bounded(self, node: ast.AST, value: Any) -> Any:
        """The value, or Unknown for one that is larger than anything that a step says."""
        size = abs(value) >> 62 if isinstance(value, int) else len(value) if isinstance(value, _SIZED) else 0
        return self.refuse(node, f"`{excerpt(node)}` is very large") if size > LARGEST else value

    def safely(self, node: ast.AST, compute: Callable[[], Any]) -> Any:
        """What pure arithmetic comes to; Unknown where Python itself refuses it."""
        try:
            return self.bounded(node, compute())
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            return self.refuse(node, f"`{excerpt(node)}`: {error}", "the script fails here", "mend it first")


_CONDITION = 'compare a parameter with a literal, as in `confidence == "high"`, or branch by hand in a handler'
_STATE = "keep what a step records in a Field of the new form"


def _is_huge(left: Any, right: Any) -> bool:
    sizes = [len(one) if isinstance(one, (str, list, tuple)) else abs(one) for one in (left, right) if one is not None]
    return len(sizes) == 2 and sizes[0] * sizes[1] > LARGEST and not all(isinstance(one, int) for one in (left, right))
