"""The source of a function: its statements, its variables, the functions of its module, and what it reads.

What a handler reads from its context is known as far as it is named literally.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
Function = ast.FunctionDef | ast.Lambda
Parents = dict[ast.AST, ast.AST]
_AREAS = ("workflow_params", "step_state", "run_state")
# Attributes of the context that hold no recorded values.
_OTHERS = ("step_id", "iteration", "reviews")


class Module:
    """The functions of a module: by the line on which each begins, and those at its left margin by name."""

    def __init__(self, tree: ast.Module) -> None:
        self.by_line: dict[int, list[Function]] = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
                first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
                self.by_line.setdefault(first, []).append(node)
        self.by_name = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


class FunctionSource:
    """One function. Its ``nodes`` leave out the insides of ``nested`` functions and classes.

    ``assigned`` holds the expressions that each variable is assigned; None among them is an unknown value.
    """

    def __init__(self, function: Function, module: Module, *, bound: bool = False) -> None:
        self.module = module
        self.parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)][1 if bound else 0 :]
        self.body = function.body if isinstance(function, ast.FunctionDef) else [ast.Return(function.body)]
        self.nodes = [node for statement in self.body for node in _own_nodes(statement)]
        self.nested = [node for node in self.nodes if isinstance(node, _FUNCTIONS)]
        self.returned = [node.value for node in self.nodes if isinstance(node, ast.Return)]
        self.assigned = self._assignments()

    def called(self, function: ast.expr) -> FunctionSource | None:
        """The function of the module that a call names; None for any other."""
        found = self.module.by_name.get(function.id) if isinstance(function, ast.Name) else None
        return FunctionSource(found, self.module) if found else None

    def uses_of(self, name: str) -> int:
        """How often the function names a variable; an assignment counts."""
        return sum(isinstance(node, ast.Name) and node.id == name for node in self.nodes)

    def _assignments(self) -> dict[str, list[ast.expr | None]]:
        assigned: dict[str, list[ast.expr | None]] = {}
        for node in self.nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        assigned.setdefault(target.id, []).append(node.value)
        stored = Counter(
            node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        for name, times in stored.items():
            if times != len(assigned.get(name, ())):
                assigned.setdefault(name, []).append(None)
        return assigned


def parents_of(nodes: list[ast.AST]) -> Parents:
    """The parent of each child of ``nodes``."""
    return {child: node for node in nodes for child in ast.iter_child_nodes(node)}


def look_up(table: ast.AST, parents: Parents) -> tuple[str | None, ast.AST | None, bool]:
    """The literal key looked up in ``table``, the expression that does so, and True if a missing key raises nothing."""
    use = parents.get(table)
    if isinstance(use, ast.Subscript) and use.value is table and isinstance(use.ctx, ast.Load):
        return literal(use.slice), use, False
    if isinstance(use, ast.Attribute) and use.attr == "get":
        call = parents.get(use)
        if isinstance(call, ast.Call) and call.func is use and call.args:
            return literal(call.args[0]), call, True
    if isinstance(use, ast.Compare) and use.comparators == [table] and isinstance(use.ops[0], (ast.In, ast.NotIn)):
        return literal(use.left), use, True
    return None, None, False


def literal(node: ast.expr) -> str | None:
    """The text that an expression is; None for any other expression."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _own_nodes(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement without the insides of functions and classes in it."""
    stack = [statement]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            stack.extend(ast.iter_child_nodes(node))


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
