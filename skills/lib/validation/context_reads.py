"""Which values a handler reads from its context, as far as they are named literally."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from skills.lib.validation.function_source import FunctionSource, look_up, parents_of

_AREAS = ("workflow_params", "step_state", "run_state")
# Attributes of the context that hold no recorded values.
_OTHERS = ("step_id", "iteration", "reviews")


@dataclass(frozen=True, slots=True)
class Access:
    """A value that a handler reads: a run parameter (step ''), or a key of a step's state (step None is its own).

    ``tolerant`` is a read by ``get`` or ``in``, which allows for a missing value.
    """

    area: str
    step: str | None
    name: str
    line: int
    tolerant: bool


@dataclass(frozen=True, slots=True)
class Holder:
    """What a variable holds: the context, one of its areas, or the state of one step of ``run_state``.

    ``tolerant`` is a state that may be missing: it was looked up by ``get``.
    """

    area: str = ""
    step: str | None = None
    tolerant: bool = False


class ContextReads:
    """Follows the context through a function, its variables, and the functions of the module that it is passed to.

    ``complete`` is True if every use of the context was understood, so that what is not ``found`` is not read.
    """

    def __init__(self, function: FunctionSource) -> None:
        self.found: list[Access] = []
        self.complete = bool(function.parameters)
        self._visited: set[tuple[int, tuple[tuple[str, Holder], ...]]] = set()
        if function.parameters:
            self.follow(function, {function.parameters[0]: Holder()})

    def follow(self, function: FunctionSource, holders: Mapping[str, Holder]) -> None:
        """Read what a function does with the variables that hold the context or a part of it."""
        key = (id(function.body[0]), tuple(sorted(holders.items(), key=lambda item: item[0])))
        if key not in self._visited:
            self._visited.add(key)
            _Following(self, function, holders)


class _Following:
    """Follows the context through one function."""

    def __init__(self, reads: ContextReads, function: FunctionSource, holders: Mapping[str, Holder]) -> None:
        self.reads = reads
        self.function = function
        self.parents = parents_of(function.nodes)
        self.holders = dict(holders)
        waiting = self.waiting = list(holders)
        while waiting:
            name = waiting.pop()
            for node in function.nodes:
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                    self._use(node, self.holders[name])
        inside = {one.id for node in function.nested for one in ast.walk(node) if isinstance(one, ast.Name)}
        reads.complete &= not inside & set(self.holders)

    def _use(self, node: ast.expr, held: Holder) -> None:
        """One use of an expression that holds the context or a part of it."""
        use = self.parents.get(node)
        if not held.area and isinstance(use, ast.Attribute):
            if use.attr in _AREAS:
                self._use(use, Holder(use.attr))
            else:
                self.reads.complete &= use.attr in _OTHERS
            return
        key, found, tolerant = look_up(node, self.parents) if held.area else (None, None, False)
        if key is not None and found is not None:
            self._look_up(key, found, tolerant, held)
        elif isinstance(use, ast.Call) and node in use.args:
            self._pass_on(use, use.args.index(node), held)
        elif isinstance(use, ast.keyword) and isinstance(call := self.parents.get(use), ast.Call):
            self._pass_on(call, use.arg, held)
        elif (name := self._variable(node)) and len(self.function.assigned.get(name, ())) == 1:
            if name not in self.holders:
                self.holders[name] = held
                self.waiting.append(name)
        else:
            self.reads.complete = False

    def _look_up(self, key: str, found: ast.AST, tolerant: bool, held: Holder) -> None:
        if held.area != "run_state" or held.step is not None:
            step = "" if held.area == "workflow_params" else held.step
            line = getattr(found, "lineno", 0)
            self.reads.found.append(Access(held.area, step, key, line, tolerant or held.tolerant))
        elif isinstance(found, ast.expr) and not isinstance(found, ast.Compare):
            self._use(found, Holder("run_state", key, tolerant))

    def _pass_on(self, call: ast.Call, at: int | str | None, held: Holder) -> None:
        """Follow an argument, by place or name, into a function of the module; others may do anything with it."""
        called = self.function.called(call.func)
        if called and isinstance(at, int) and not any(isinstance(part, ast.Starred) for part in call.args):
            at = called.parameters[at] if at < len(called.parameters) else None
        if called is None or not isinstance(at, str):
            self.reads.complete = False
        else:
            self.reads.follow(called, {at: held})

    def _variable(self, node: ast.expr) -> str:
        """The variable that an expression is assigned to, alone or as an entry of a tuple."""
        use = self.parents.get(node)
        outer = self.parents.get(use) if isinstance(use, ast.Tuple) else use
        if not isinstance(outer, ast.Assign) or len(outer.targets) != 1:
            return ""
        target: ast.expr = outer.targets[0]
        if isinstance(use, ast.Tuple):
            if not isinstance(target, ast.Tuple) or len(target.elts) != len(use.elts):
                return ""
            target = target.elts[use.elts.index(node)]
        return target.id if isinstance(target, ast.Name) else ""
