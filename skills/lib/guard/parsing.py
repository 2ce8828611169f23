"""The expression language as text: Python's expression syntax, restricted, made into small lists.

Only a compilation imports this module: it needs ``ast``.
"""

from __future__ import annotations

import ast
import keyword
import re
import unicodedata
import warnings
from typing import Any

from skills.lib.errors import did_you_mean, nearest
from skills.lib.guard.functions import ARITY

_ARGUMENT, _PARAMETER, _KEY, _ROOT = "__argument_", "__parameter_", "__key_", "__root__"
_ODD = "__odd_"
_ENDS = ("_", ")", "]", "'", '"')  # a dot after one of these is of what stands before it
_CONSTANTS = {"true": True, "false": False, "none": None, "null": None}
_COMPARISONS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
LONGEST = 2000
DEEPEST = 40


class ExpressionError(ValueError):
    """A text that is no expression of the language; the message says why, ``remedy`` what to write."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.remedy = remedy


class UnknownFunction(ExpressionError):
    """A call of what is no function of the language; ``name`` is what was called, as it was written."""

    def __init__(self, name: str) -> None:
        what = f"calls {name:.40}, which is no function{did_you_mean(nearest(name, ARITY))}"
        super().__init__(what, f"use one of {', '.join(ARITY)}")
        self.name = name


def parse(text: str) -> list[Any]:
    """The compiled form of an expression. Raises ExpressionError."""
    if len(text) > LONGEST:
        raise ExpressionError(f"is longer than {LONGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of "x is 1" and the like, which are refused below
            tree = ast.parse(_as_python(text).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply or has odd characters"
        raise ExpressionError(f"is no expression: {reason}", _hint(text)) from None
    return _Parser().node(tree, 0)


# What other languages have, and what this one has in its place.
_HINTS = (
    (r"&&", "write and"),
    (r"\|\|", "write or"),
    (r"!(?!=)", "write not"),
    (r"\?", "write A if C else B"),
    (r"(?<![=!<>])=(?!=)", "compare with =="),
)


def _hint(text: str) -> str:
    """What to write in place of what another language has; empty if it has nothing of the kind."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
    return next((remedy for pattern, remedy in _HINTS if re.search(pattern, bare)), "")


def parse_place(text: str) -> list[Any]:
    """The compiled form of a place of the picture. Raises ExpressionError."""
    node = parse(text)
    if node[0] != "get" or node[1] != ["root"]:
        raise ExpressionError("is no place", 'write a place such as tests.passed or accounts[$user]["limit"]')
    return node


def _as_python(text: str) -> str:
    """The text with names that Python can parse for ``$name``, ``%name``, ``.`` alone, and keys that are keywords."""
    made, at, before = [], 0, ""
    while at < len(text):
        char = text[at]
        if char in "'\"":
            end = _end_of_string(text, at)
        elif char in "$%" and text[at + 1 : at + 2].isidentifier():
            end = _end_of_name(text, at + 1)
            made.append((_ARGUMENT if char == "$" else _PARAMETER) + _kept(text[at + 1 : end]))
            before, at = "_", end
            continue
        elif char == "." and not (before.isalnum() or before in _ENDS or text[at + 1 : at + 2].isdigit()):
            made.append(_ROOT + ("." if text[at + 1 : at + 2].isidentifier() else " "))
            before, at = ".", at + 1
            continue
        elif char.isidentifier():
            end = _end_of_name(text, at)
            is_operator = keyword.iskeyword(text[at:end]) and before != "."
            made.append((_KEY if keyword.iskeyword(text[at:end]) and not is_operator else "") + _kept(text[at:end]))
            before, at = " " if is_operator else "_", end  # after an operator in letters a dot begins a place
            continue
        elif char.isspace():
            made.append(" ")
            at += 1
            continue
        else:
            end = at + 1
        made.append(text[at:end])
        before, at = text[end - 1], end
    return "".join(made)


def _end_of_name(text: str, at: int) -> int:
    while at < len(text) and f"_{text[at]}".isidentifier():
        at += 1
    return at


def _kept(name: str) -> str:
    """The name in a form that Python leaves as it is, and that is none of the parser's own names."""
    is_kept = unicodedata.normalize("NFKC", name) == name and not name.startswith("__")
    return name if is_kept else _ODD + name.encode().hex()


def _written(name: str) -> str:
    """The name as it was written."""
    return bytes.fromhex(name.removeprefix(_ODD)).decode() if name.startswith(_ODD) else name


def _as_written(tree: ast.expr) -> str:
    """An expression as its author wrote it, but for blanks."""
    text = ast.unparse(tree)
    for made, written in ((_ARGUMENT, "$"), (_PARAMETER, "%"), (f"{_ROOT}.", "."), (_ROOT, "."), (_KEY, "")):
        text = text.replace(made, written)
    return re.sub(rf"\b{_ODD}(?:[0-9a-f]{{2}})+", lambda found: _written(found[0]), text)


def _end_of_string(text: str, at: int) -> int:
    quote, end = text[at], at + 1
    while end < len(text) and text[end] != quote:
        end += 2 if text[end] == "\\" else 1
    return min(end + 1, len(text))


class _Parser:
    """Makes lists of Python's syntax tree; knows the variables of the comprehensions around a node."""

    def __init__(self) -> None:
        self.variables: list[str] = []

    def node(self, tree: ast.expr, depth: int) -> list[Any]:
        """The compiled form of one node. Raises ExpressionError for what the language does not have."""
        if depth > DEEPEST:
            raise ExpressionError(f"is nested deeper than {DEEPEST} levels")
        method = getattr(self, f"_{type(tree).__name__.lower()}", None)
        if method is None:
            raise ExpressionError(f"has {_name_of(tree)}, which the language does not have")
        made: list[Any] = method(tree, depth + 1)
        return made

    def _constant(self, tree: ast.Constant, depth: int) -> list[Any]:
        value = tree.value
        if not (value is None or isinstance(value, (bool, int, float, str))) or (
            isinstance(value, float) and value in (float("inf"), float("-inf"))
        ):
            raise ExpressionError(f"has the value {value!r:.40}, which JSON does not have")
        return ["const", value]

    def _list(self, tree: ast.List, depth: int) -> list[Any]:
        return ["list", [self.node(part, depth) for part in tree.elts]]

    _tuple = _list

    def _boolop(self, tree: ast.BoolOp, depth: int) -> list[Any]:
        return ["and" if isinstance(tree.op, ast.And) else "or", [self.node(part, depth) for part in tree.values]]

    def _unaryop(self, tree: ast.UnaryOp, depth: int) -> list[Any]:
        if isinstance(tree.op, ast.Not):
            return ["not", self.node(tree.operand, depth)]
        if not isinstance(tree.op, ast.USub):
            raise ExpressionError("has an operator that the language does not have", "use - or not")
        inner = self.node(tree.operand, depth)
        is_number = inner[0] == "const" and type(inner[1]) in (int, float)
        return ["const", -inner[1]] if is_number else ["neg", inner]

    def _binop(self, tree: ast.BinOp, depth: int) -> list[Any]:
        operator = _ARITHMETIC.get(type(tree.op))
        if operator is None:
            raise ExpressionError("has an operator that the language does not have", "use + - * /")
        return [operator, self.node(tree.left, depth), self.node(tree.right, depth)]

    def _compare(self, tree: ast.Compare, depth: int) -> list[Any]:
        rest = []
        for operator, part in zip(tree.ops, tree.comparators, strict=True):
            if type(operator) not in _COMPARISONS:
                raise ExpressionError("has `is`, which the language does not have", "use == or exists(place)")
            rest.append([_COMPARISONS[type(operator)], self.node(part, depth)])
        return ["cmp", self.node(tree.left, depth), rest]

    def _ifexp(self, tree: ast.IfExp, depth: int) -> list[Any]:
        return ["if", self.node(tree.test, depth), self.node(tree.body, depth), self.node(tree.orelse, depth)]

    def _generatorexp(self, tree: ast.GeneratorExp | ast.ListComp, depth: int) -> list[Any]:
        if len(tree.generators) != 1:
            raise ExpressionError("has two `for` in one comprehension", "nest them: any(any(…) for x in place)")
        (loop,) = tree.generators
        if not isinstance(loop.target, ast.Name) or loop.is_async:
            raise ExpressionError("has a `for` without one simple name", "write `for x in place`")
        source = self.node(loop.iter, depth)
        self.variables += [loop.target.id, "key"]
        made = ["for", self.node(tree.elt, depth), loop.target.id, source]
        made.append([self.node(condition, depth) for condition in loop.ifs])
        del self.variables[-2:]
        return made

    _listcomp = _generatorexp

    def _name(self, tree: ast.Name, depth: int) -> list[Any]:
        name = tree.id
        if name in self.variables:
            return ["var", name]
        for mark, kind in ((_ARGUMENT, "arg"), (_PARAMETER, "param")):
            if name.startswith(mark):
                return [kind, _written(name.removeprefix(mark))]
        if name == _ROOT:
            return ["get", ["root"], []]
        if name in _CONSTANTS:
            return ["const", _CONSTANTS[name]]
        if name in ("result", "forget", "absent"):
            return [name]
        return ["get", ["root"], [_written(name)]]

    def _attribute(self, tree: ast.Attribute, depth: int) -> list[Any]:
        return self._inside(tree.value, _written(tree.attr.removeprefix(_KEY)), depth)

    def _subscript(self, tree: ast.Subscript, depth: int) -> list[Any]:
        if isinstance(tree.slice, ast.Slice):
            raise ExpressionError("has a slice, which the language does not have")
        key = self.node(tree.slice, depth)
        return self._inside(tree.value, key[1] if key[0] == "const" and isinstance(key[1], str) else key, depth)

    def _inside(self, base: ast.expr, key: str | list[Any], depth: int) -> list[Any]:
        inner = self.node(base, depth)
        return ["get", inner[1], [*inner[2], key]] if inner[0] == "get" else ["get", inner, [key]]

    def _call(self, tree: ast.Call, depth: int) -> list[Any]:
        name = tree.func.id if isinstance(tree.func, ast.Name) else ""
        if name not in ARITY:
            raise UnknownFunction(_as_written(tree.func))
        least, most = ARITY[name]
        if tree.keywords or not least <= len(tree.args) <= most or any(isinstance(a, ast.Starred) for a in tree.args):
            wanted = str(least) if least == most else f"{least} to {most}"
            raise ExpressionError(f"calls {name}() with {len(tree.args)} arguments", f"{name}() takes {wanted}")
        parts = [self.node(part, depth) for part in tree.args]
        if name in ("exists", "known") and parts[0][0] not in ("get", "arg", "result", "var"):
            raise ExpressionError(f"asks {name}() of what is no place", f"write {name}(place)")
        return ["call", name, parts]


def _name_of(tree: ast.expr) -> str:
    return {
        "Dict": "a map",
        "Set": "a set in braces",
        "Lambda": "a lambda",
        "NamedExpr": "an assignment (:=)",
        "JoinedStr": "a formatted text",
        "Await": "an await",
    }.get(type(tree).__name__, f"a {type(tree).__name__}")
