"""What the source of a handler says: outcomes that it returns, names that it reads, names that it writes.

Only what is written out literally is known. If a handler does anything else the answer is None, and rules are silent.
"""

from __future__ import annotations

import ast
import inspect
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from skills.lib.model.rules import Rules
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, Outcome
from skills.lib.validation.function_source import Access, ContextReads, FunctionSource, Module, literal
from skills.lib.validation.locations import Lines

T = TypeVar("T")

# Functions that give a list as long as the one that they are given.
_COPIES = frozenset(("list", "reversed", "sorted", "tuple"))
# How many functions deep an empty list is looked for, and how many expressions deep an outcome.
_FUNCTIONS_DEEP = 3
_EXPRESSIONS_DEEP = 8


@dataclass(slots=True)
class Source:
    """The facts that one handler's source shows; None stands for an unknown fact."""

    file: str = ""
    line: int = 0
    outcomes: frozenset[Outcome] | None = None
    writes: frozenset[str] | None = None
    accesses: tuple[Access, ...] = ()
    # True if every use of the context was understood, so that what is not in ``accesses`` is not read.
    complete: bool = False
    annotated: frozenset[Outcome] | None = None
    returns: dict[Outcome, int] = field(default_factory=dict)
    # The line of the first return of a list that may be empty; 0 if none is seen.
    empty: int = 0
    # What is returned and is no outcome, with its line.
    odd: list[tuple[str, int]] = field(default_factory=list)


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
        if isinstance(handler, Rules):
            return _of_rules(handler)
        source = Source(annotated=_annotated(handler))
        code = getattr(getattr(handler, "__func__", handler), "__code__", None)
        if not isinstance(code, types.CodeType):
            return source
        source.file, source.line = code.co_filename, code.co_firstlineno
        if source.file not in self._modules:
            self._modules[source.file] = Module(Lines(source.file).tree)
        module = self._modules[source.file]
        found = module.by_line.get(code.co_firstlineno, [])
        if len(found) == 1 and not inspect.iscoroutinefunction(handler) and not inspect.isgeneratorfunction(handler):
            _fill(source, FunctionSource(found[0], module, bound=hasattr(handler, "__func__")))
        return source


def _of_rules(rules: Rules) -> Source:
    """What rules say of themselves: all of it is known."""
    accesses = tuple(
        Access({"state": "step_state", "steps": "run_state"}.get(area, "workflow_params"), step, name, 0, tolerant=True)
        for area, step, name in rules.reads
    )
    return Source(
        outcomes=rules.outcomes,
        writes=frozenset((*rules.keep, *rules.gather)),
        accesses=accesses,
        complete=True,
    )


def _fill(source: Source, function: FunctionSource) -> None:
    pairs = [_outcome_and_state(value) for value in function.returned]
    outcomes = [_outcomes(function, outcome) for outcome, _ in pairs]
    for found, (expression, _) in zip(outcomes, pairs, strict=True):
        for outcome in found or ():
            source.returns.setdefault(outcome, getattr(expression, "lineno", source.line))
    source.outcomes = _union(outcomes)
    source.odd = [(ast.unparse(odd), odd.lineno) for expression, _ in pairs for odd in _odd(expression)]
    is_endless = any(isinstance(node, (ast.Raise, ast.Yield)) for node in function.nodes)
    if None in function.returned or not (function.returned or is_endless):
        source.odd.append(("None", source.line))
    source.writes = _union(
        [_keys(function, state) if found else None for found, (_, state) in zip(outcomes, pairs, strict=True)]
    )
    reads = ContextReads(function)
    source.accesses, source.complete = tuple(reads.found), reads.complete
    source.empty = next((value.lineno for value in function.returned if value and _may_be_empty(function, value)), 0)


def _outcome_and_state(value: ast.expr | None) -> tuple[ast.expr | None, ast.expr | None]:
    """The two parts of what a handler returns."""
    if isinstance(value, ast.Tuple) and len(value.elts) == 2:
        return value.elts[0], value.elts[1]
    return value, ast.Dict([], [])


def _outcomes(function: FunctionSource, node: ast.expr | None, depth: int = 0) -> set[Outcome] | None:
    """The outcomes that an expression can be; None if they are unknown."""
    if node is None or depth > _EXPRESSIONS_DEEP:
        return None
    if isinstance(node, ast.Attribute) and _is_outcome(node.value):
        return {word for word in Outcome if word.name == node.attr} or None
    if isinstance(node, ast.Call) and _is_outcome(node.func):
        word = _called_with(node)
        return None if word is None else {word}
    parts: Sequence[ast.expr | None] = ()
    if isinstance(node, ast.IfExp):
        parts = (node.body, node.orelse)
    elif isinstance(node, ast.Name):
        parts = function.assigned.get(node.id, ())
    found = _union([_outcomes(function, part, depth + 1) for part in parts])
    return None if found is None else set(found)


def _odd(node: ast.expr | None) -> list[ast.expr]:
    """The parts of a returned expression that are written out and are no outcome."""
    if isinstance(node, ast.IfExp):
        return [*_odd(node.body), *_odd(node.orelse)]
    is_odd = isinstance(node, ast.Constant)
    if isinstance(node, ast.Attribute) and _is_outcome(node.value):
        is_odd = node.attr.isupper() and node.attr not in {word.name for word in Outcome}
    if isinstance(node, ast.Call) and _is_outcome(node.func) and _called_with(node) is None:
        is_odd = [type(argument) for argument in node.args] == [ast.Constant]
    return [node] if node is not None and is_odd else []


def _called_with(node: ast.Call) -> Outcome | None:
    """The outcome of ``Outcome("more-tasks")``; None if it is computed, or no outcome."""
    try:
        return Outcome(literal(node.args[0]) or "") if len(node.args) == 1 and not node.keywords else None
    except ValueError:
        return None


def _is_outcome(node: ast.expr) -> bool:
    """True for the name ``Outcome``, alone or after its module's."""
    return ast.unparse(node).rpartition(".")[2] == "Outcome"


def _keys(function: FunctionSource, state: ast.expr | None) -> set[str] | None:
    """The keys of a mapping that is written out in the return, or assigned once before it; None if it may have more."""
    if isinstance(state, ast.Name):
        given = function.assigned.get(state.id, [])
        state = given[0] if len(given) == 1 and not _is_changed(function, state.id) else None
    if not isinstance(state, ast.Dict):
        return None
    keys = [literal(key) if key is not None else None for key in state.keys]
    return None if None in keys else {key for key in keys if key is not None}


def _is_changed(function: FunctionSource, name: str) -> bool:
    """True if a variable is used otherwise than by being returned: something may be added to what it holds."""
    returns = sum(
        isinstance(node, ast.Name) and node.id == name
        for value in function.returned
        for node in (ast.walk(value) if value else ())
    )
    return function.uses_of(name) != returns + 1


def _may_be_empty(function: FunctionSource, node: ast.expr, depth: int = 0) -> bool:
    """True if a list is written as empty, or filtered; a variable counts if its one use is to be returned."""
    if isinstance(node, ast.IfExp):
        return _may_be_empty(function, node.body) or _may_be_empty(function, node.orelse)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return _may_be_empty(function, node.values[-1])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _COPIES and node.args:
        return _may_be_empty(function, node.args[0])
    if isinstance(node, ast.Call) and depth < _FUNCTIONS_DEEP and (called := function.called(node.func)):
        return any(value is not None and _may_be_empty(called, value, depth + 1) for value in called.returned)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return any(part.ifs for part in node.generators)
    if isinstance(node, ast.Name):
        values = function.assigned.get(node.id, [])
        value = values[0] if len(values) == 1 else None
        return function.uses_of(node.id) == 2 and value is not None and _may_be_empty(function, value)
    return isinstance(node, (ast.List, ast.Tuple)) and not node.elts


def _union(parts: Sequence[set[T] | None]) -> frozenset[T] | None:
    """All of the parts together; None if there are none, or if one of them is unknown."""
    known = [part for part in parts if part is not None]
    return frozenset[T]().union(*known) if parts and len(known) == len(parts) else None


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
