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

from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, Outcome

_AREAS = ("workflow_params", "step_state", "run_state")
# Functions that give a list as long as the one that they are given.
_COPIES = frozenset(("list", "reversed", "sorted", "tuple"))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# How many functions deep it is looked whether a list may be empty.
_DEEP = 3
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
        self._modules: dict[str, Module] = {}
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
        if source.file not in self._modules:
            self._modules[source.file] = Module(_parse(source.file))
        module = self._modules[source.file]
        found = module.by_line.get(code.co_firstlineno, [])
        if len(found) != 1 or inspect.iscoroutinefunction(handler) or inspect.isgeneratorfunction(handler):
            return source
        _Reading(found[0], module, bound=hasattr(handler, "__func__")).into(source)
        return source


class Module:
    """The functions of a module: by the line on which each begins, and those at its left margin by name."""

    def __init__(self, tree: ast.Module) -> None:
        self.by_line: dict[int, list[Function]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                self.by_line.setdefault(first, []).append(node)
            elif isinstance(node, ast.Lambda):
                self.by_line.setdefault(node.lineno, []).append(node)
        self.by_name = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


class _Reading:
    """One walk over a function's own statements; functions inside it are not entered."""

    def __init__(self, function: Function, module: Module, *, bound: bool = False) -> None:
        arguments = [*function.args.posonlyargs, *function.args.args][1 if bound else 0 :]
        self.module = module
        self.context = arguments[0].arg if arguments else ""
        self.body = function.body if isinstance(function, ast.FunctionDef) else [ast.Return(function.body)]
        self.nodes = [node for statement in self.body for node in _own(statement)]
        self.assigned = self._assignments()

    def into(self, source: Source) -> None:
        """Write what was found."""
        given = self.returned()
        pairs = [_pair(value) for value in given]
        outcomes = [self._outcomes(outcome) for outcome, _ in pairs]
        known: set[Outcome] = set()
        for found, (expression, _) in zip(outcomes, pairs, strict=True):
            for outcome in found or ():
                source.returns.setdefault(outcome, getattr(expression, "lineno", source.line))
            known |= found or set()
        source.outcomes = frozenset(known) if given and None not in outcomes else None
        written = [self._keys(state) if found else None for found, (_, state) in zip(outcomes, pairs, strict=True)]
        if given and None not in written:
            source.writes = frozenset().union(*(keys for keys in written if keys is not None))
        follow = _Following(self.module)
        follow.function(self, {self.context: Holder()} if self.context else {})
        source.accesses, source.complete = tuple(follow.found), follow.complete and bool(self.context)
        source.empty = next((value.lineno for value in given if value is not None and self._may_be_empty(value)), 0)

    def returned(self) -> list[ast.expr | None]:
        """What each return gives."""
        return [node.value for node in self.nodes if isinstance(node, ast.Return)]

    def _keys(self, state: ast.expr | None) -> frozenset[str] | None:
        """The keys of a mapping that is written out in the return or assigned once before it."""
        if isinstance(state, ast.Name):
            given = self.assigned.get(state.id, [])
            state = given[0] if len(given) == 1 and not self._is_changed(state.id) else None
        if not isinstance(state, ast.Dict):
            return None
        keys = [_text(key) if key is not None else None for key in state.keys]
        return None if None in keys else frozenset(key for key in keys if key is not None)

    def _is_changed(self, name: str) -> bool:
        """Whether a variable is used otherwise than by being returned: something may be added to what it holds."""
        uses = sum(isinstance(node, ast.Name) and node.id == name for node in self.nodes)
        returns = sum(
            isinstance(node, ast.Name) and node.id == name for value in self.returned() for node in _all(value)
        )
        return uses != returns + 1

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

    def _may_be_empty(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a list is written as empty, or filtered; a variable counts where its one use is to be returned."""
        if isinstance(node, ast.IfExp):
            return self._may_be_empty(node.body) or self._may_be_empty(node.orelse)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return self._may_be_empty(node.values[-1])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _COPIES and node.args:
            return self._may_be_empty(node.args[0])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and depth < _DEEP:
            called = self.module.by_name.get(node.func.id)
            return called is not None and any(
                value is not None and reading._may_be_empty(value, depth + 1)
                for reading in [_Reading(called, self.module)]
                for value in reading.returned()
            )
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return any(part.ifs for part in node.generators)
        if isinstance(node, ast.Name):
            uses = sum(isinstance(one, ast.Name) and one.id == node.id for one in self.nodes)
            values = self.assigned.get(node.id, [])
            return uses == 2 and len(values) == 1 and values[0] is not None and self._may_be_empty(values[0])
        return isinstance(node, (ast.List, ast.Tuple)) and not node.elts


@dataclass(frozen=True, slots=True)
class Holder:
    """What a variable holds: the context, one of its areas, or the state of one step of ``run_state``.

    ``tolerant`` is a state that may be missing: it was asked for by ``get``.
    """

    area: str = ""
    step: str | None = None
    tolerant: bool = False


class _Following:
    """Follows the context through a function, its variables, and the functions of the module that it is handed to."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.found: list[Access] = []
        self.complete = True
        self._visited: set[tuple[int, tuple[tuple[str, Holder], ...]]] = set()

    def function(self, reading: _Reading, holders: dict[str, Holder]) -> None:
        """Read what a function makes of the variables that hold the context or a part of it."""
        key = (id(reading.body[0]), tuple(sorted(holders.items(), key=lambda item: item[0])))
        if key in self._visited:
            return
        self._visited.add(key)
        parents = {child: node for node in reading.nodes for child in ast.iter_child_nodes(node)}
        holders = dict(holders)
        waiting = list(holders)
        while waiting:
            name = waiting.pop()
            for node in reading.nodes:
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                    self._use(node, holders[name], parents, reading, holders, waiting)
        nested = [node for node in reading.nodes if isinstance(node, (*_FUNCTIONS, ast.ClassDef))]
        inside = {one.id for node in nested for one in ast.walk(node) if isinstance(one, ast.Name)}
        self.complete &= not inside & set(holders)

    def _use(
        self,
        node: ast.expr,
        held: Holder,
        parents: dict[ast.AST, ast.AST],
        reading: _Reading,
        holders: dict[str, Holder],
        waiting: list[str],
    ) -> None:
        """One use of an expression that holds the context or a part of it."""
        use = parents.get(node)
        if not held.area and isinstance(use, ast.Attribute):
            if use.attr in _AREAS:
                self._use(use, Holder(use.attr), parents, reading, holders, waiting)
            else:
                self.complete &= use.attr in ("step_id", "iteration", "reviews")
            return
        key, found, tolerant = _lookup(node, parents) if held.area else (None, None, False)
        if key is not None and found is not None:
            self._look_up(key, found, tolerant, held, parents, reading, holders, waiting)
        elif isinstance(use, ast.Call) and node in use.args:
            self._hand_on(use, use.args.index(node), held)
        elif isinstance(use, ast.keyword) and isinstance(call := parents.get(use), ast.Call):
            self._hand_on(call, use.arg, held)
        elif (name := _variable(node, parents)) and reading.assigned.get(name, []) and len(reading.assigned[name]) == 1:
            if name not in holders:
                holders[name] = held
                waiting.append(name)
        else:
            self.complete = False

    def _look_up(
        self,
        key: str,
        found: ast.AST,
        tolerant: bool,
        held: Holder,
        parents: dict[ast.AST, ast.AST],
        reading: _Reading,
        holders: dict[str, Holder],
        waiting: list[str],
    ) -> None:
        line = getattr(found, "lineno", 0)
        if held.area != "run_state" or held.step is not None:
            step = "" if held.area == "workflow_params" else held.step
            self.found.append(Access(held.area, step, key, line, tolerant or held.tolerant))  # type: ignore[arg-type]
        elif isinstance(found, ast.Compare):
            return
        elif isinstance(found, ast.expr):
            self._use(found, Holder("run_state", key, tolerant), parents, reading, holders, waiting)

    def _hand_on(self, call: ast.Call, at: int | str | None, held: Holder) -> None:
        """What a function of the module makes of an argument, by place or name; others may do anything with it."""
        called = self.module.by_name.get(call.func.id) if isinstance(call.func, ast.Name) else None
        names = [one.arg for one in (*called.args.posonlyargs, *called.args.args)] if called else []
        if isinstance(at, int) and not any(isinstance(part, ast.Starred) for part in call.args):
            at = names[at] if at < len(names) else None
        if called is None or not isinstance(at, str):
            self.complete = False
        else:
            self.function(_Reading(called, self.module), {at: held})


def _variable(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> str:
    """The variable that an expression is assigned to, alone or as an entry of a tuple."""
    use = parents.get(node)
    if isinstance(use, ast.Assign) and len(use.targets) == 1 and isinstance(use.targets[0], ast.Name):
        return use.targets[0].id
    outer = parents.get(use) if isinstance(use, ast.Tuple) else None
    if isinstance(outer, ast.Assign) and isinstance(use, ast.Tuple) and len(outer.targets) == 1:
        target = outer.targets[0]
        if isinstance(target, ast.Tuple) and len(target.elts) == len(use.elts):
            name = target.elts[use.elts.index(node)]
            return name.id if isinstance(name, ast.Name) else ""
    return ""


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
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def _pair(value: ast.expr | None) -> tuple[ast.expr | None, ast.expr | None]:
    if isinstance(value, ast.Tuple) and len(value.elts) == 2:
        return value.elts[0], value.elts[1]
    return value, ast.Dict([], [])


def _all(node: ast.expr | None) -> Iterator[ast.AST]:
    return ast.walk(node) if node is not None else iter(())


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
    from skills.lib.validation.lines import Lines

    return Lines(file).tree
