"""What the source of a handler says: outcomes that it returns, names that it reads, names that it writes.

Only what is written out literally is told; where a handler does anything else the answer is None, and rules are silent.
"""

from __future__ import annotations

import ast
import inspect
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from skills.lib.workflow.core import StepDef
from skills.lib.workflow.types import Dispatch, Outcome

_AREAS = ("workflow_params", "step_state", "run_state")
# Functions that give a list as long as the one that they are given.
_COPIES = frozenset(("list", "reversed", "sorted", "tuple"))
Function = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Access:
    """A value that a handler reads: a run parameter (step ''), or a key of a step's state (step None is its own).

    ``tolerant`` is a read by ``get`` or ``in``, which bears a missing value.
    """

    area: Literal["workflow_params", "step_state", "run_state"]
    step: str | None
    name: str
    line: int
    tolerant: bool


@dataclass(slots=True)
class Source:
    """What one handler's source says; None where it cannot be told."""

    file: str = ""
    line: int = 0
    outcomes: frozenset[Outcome] | None = None
    writes: frozenset[str] | None = None
    accesses: tuple[Access, ...] = ()
    # Whether every use of the context was understood, so that what is not in ``accesses`` is not read.
    complete: bool = False
    annotated: frozenset[Outcome] | None = None
    returns: dict[Outcome, int] = field(default_factory=dict)
    # The line of the first return of a list that may have nothing in it; 0 where none is seen.
    empty: int = 0


class Handlers:
    """The sources of a workflow's handlers, by step number; each file is parsed once.

    ``on_entry`` holds those of the functions that compute a Dispatch's targets.
    """

    def __init__(self, steps: Sequence[StepDef]) -> None:
        self._functions: dict[str, dict[int, list[Function]]] = {}
        self.by_step = {at: self._read(step.function) for at, step in enumerate(steps) if step.function}
        self.on_entry = {
            at: self._read(step.handler.targets)
            for at, step in enumerate(steps)
            if isinstance(step.handler, Dispatch) and callable(step.handler.targets)
        }

    def _read(self, handler: Callable[..., Any]) -> Source:
        source = Source(annotated=_annotated(handler))
        code = getattr(getattr(handler, "__func__", handler), "__code__", None)
        if not isinstance(code, types.CodeType):
            return source
        source.file, source.line = code.co_filename, code.co_firstlineno
        found = self._in_file(code.co_filename).get(code.co_firstlineno, [])
        if len(found) != 1 or inspect.iscoroutinefunction(handler) or inspect.isgeneratorfunction(handler):
            return source
        _Reading(found[0], bound=hasattr(handler, "__func__")).into(source)
        return source

    def _in_file(self, file: str) -> dict[int, list[Function]]:
        if file not in self._functions:
            functions = self._functions[file] = dict[int, list[Function]]()
            for node in ast.walk(_parse(file)):
                if isinstance(node, ast.FunctionDef):
                    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                    functions.setdefault(first, []).append(node)
                elif isinstance(node, ast.Lambda):
                    functions.setdefault(node.lineno, []).append(node)
        return self._functions[file]


class _Reading:
    """One walk over a function's own statements; functions inside it are not entered."""

    def __init__(self, function: Function, *, bound: bool) -> None:
        arguments = [*function.args.posonlyargs, *function.args.args][1 if bound else 0 :]
        self.context = arguments[0].arg if arguments else ""
        self.body = function.body if isinstance(function, ast.FunctionDef) else [ast.Return(function.body)]
        self.nodes = [node for statement in self.body for node in _own(statement)]
        self.assigned = self._assignments()

    def into(self, source: Source) -> None:
        """Write what was found."""
        given = [node.value for node in self.nodes if isinstance(node, ast.Return)]
        pairs = [_pair(value) for value in given]
        outcomes = [self._outcomes(outcome) for outcome, _ in pairs]
        known: set[Outcome] = set()
        for found, (expression, _) in zip(outcomes, pairs, strict=True):
            for outcome in found or ():
                source.returns.setdefault(outcome, getattr(expression, "lineno", source.line))
            known |= found or set()
        source.outcomes = frozenset(known) if given and None not in outcomes else None
        written = [_keys(state) if found else None for found, (_, state) in zip(outcomes, pairs, strict=True)]
        if given and None not in written:
            source.writes = frozenset().union(*(keys for keys in written if keys is not None))
        source.accesses, source.complete = self._accesses()
        source.empty = next((value.lineno for value in given if value is not None and self._may_be_empty(value)), 0)

    def _assignments(self) -> dict[str, list[ast.expr | None]]:
        assigned: dict[str, list[ast.expr | None]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        assigned.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                assigned.setdefault(node.target.id, []).append(node.value)
        stored = Counter(
            node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        for name, times in stored.items():
            if times != len(assigned.get(name, ())):
                assigned.setdefault(name, []).append(None)
        return assigned

    def _outcomes(self, node: ast.expr | None, depth: int = 0) -> set[Outcome] | None:
        """The outcomes that an expression can be; None where that cannot be told."""
        if node is None or depth > 8:
            return None
        if isinstance(node, ast.IfExp):
            return _union([self._outcomes(node.body, depth + 1), self._outcomes(node.orelse, depth + 1)])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Outcome":
            return {word for word in Outcome if word.name == node.attr} or None
        if isinstance(node, ast.Name) and self.assigned.get(node.id):
            return _union([self._outcomes(value, depth + 1) for value in self.assigned[node.id]])
        return None

    def _may_be_empty(self, node: ast.expr) -> bool:
        """Whether a list is written as empty, or filtered; a variable counts where its one use is to be returned."""
        if isinstance(node, ast.IfExp):
            return self._may_be_empty(node.body) or self._may_be_empty(node.orelse)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return self._may_be_empty(node.values[-1])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _COPIES and node.args:
            return self._may_be_empty(node.args[0])
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return any(part.ifs for part in node.generators)
        if isinstance(node, ast.Name):
            uses = sum(isinstance(one, ast.Name) and one.id == node.id for one in self.nodes)
            values = self.assigned.get(node.id, [])
            return uses == 2 and len(values) == 1 and values[0] is not None and self._may_be_empty(values[0])
        return isinstance(node, (ast.List, ast.Tuple)) and not node.elts

    def _accesses(self) -> tuple[tuple[Access, ...], bool]:
        parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        found: list[Access] = []
        complete = True
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id == self.context:
                understood, access = _access(node, parents)
                complete &= understood
                if access:
                    found.append(access)
        nested = any(isinstance(node, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)) for node in self.nodes)
        return tuple(found), complete and not nested and bool(self.context)


def _access(name: ast.Name, parents: dict[ast.AST, ast.AST]) -> tuple[bool, Access | None]:
    """What one use of the context reads, and whether it was understood."""
    area = parents.get(name)
    if not isinstance(area, ast.Attribute):
        return False, None
    if area.attr in ("step_id", "iteration", "reviews"):
        return True, None
    if area.attr not in _AREAS:
        return False, None
    first, outer, tolerant = _lookup(area, parents)
    if first is None or outer is None:
        return False, None
    if area.attr != "run_state":
        owner = "" if area.attr == "workflow_params" else None
        return True, Access(area.attr, owner, first, name.lineno, tolerant)  # type: ignore[arg-type]
    second, inner, late = _lookup(outer, parents)
    if second is None or inner is None:
        return False, None
    return True, Access("run_state", first, second, name.lineno, tolerant or late)


def _lookup(table: ast.AST, parents: dict[ast.AST, ast.AST]) -> tuple[str | None, ast.AST | None, bool]:
    """The literal key looked up in ``table``, the expression that does so, and whether a missing one is borne."""
    use = parents.get(table)
    if isinstance(use, ast.Subscript) and use.value is table and isinstance(use.ctx, ast.Load):
        return _text(use.slice), use, False
    if isinstance(use, ast.Attribute) and use.attr == "get":
        call = parents.get(use)
        if isinstance(call, ast.Call) and call.func is use and call.args:
            return _text(call.args[0]), call, True
    if isinstance(use, ast.Compare) and use.comparators == [table] and isinstance(use.ops[0], (ast.In, ast.NotIn)):
        return _text(use.left), use, True
    return None, None, False


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _own(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement without the insides of functions and classes in it."""
    stack = [statement]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def _pair(value: ast.expr | None) -> tuple[ast.expr | None, ast.expr | None]:
    if isinstance(value, ast.Tuple) and len(value.elts) == 2:
        return value.elts[0], value.elts[1]
    return value, ast.Dict([], [])


def _keys(state: ast.expr | None) -> frozenset[str] | None:
    if not isinstance(state, ast.Dict):
        return None
    keys = [_text(key) if key is not None else None for key in state.keys]
    return None if None in keys else frozenset(key for key in keys if key is not None)


def _union(parts: list[set[Outcome] | None]) -> set[Outcome] | None:
    union: set[Outcome] = set()
    for part in parts:
        if part is None:
            return None
        union |= part
    return union


def _annotated(handler: Callable[..., Any]) -> frozenset[Outcome] | None:
    """The outcomes of a return annotation ``Literal[Outcome.OK, …]``, alone or first of a tuple."""
    try:
        given = typing.get_type_hints(handler).get("return")
    except Exception:  # a name that exists for type checkers only, or anything an annotation may raise
        return None
    if typing.get_origin(given) is tuple:
        given = (typing.get_args(given) or (None,))[0]
    if typing.get_origin(given) is not Literal:
        return None
    words = typing.get_args(given)
    return frozenset(words) if all(isinstance(word, Outcome) for word in words) else None


def _parse(file: str) -> ast.Module:
    from skills.lib.workflow.validation.lines import Lines

    return Lines(file).tree
