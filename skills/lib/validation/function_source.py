"""The source of a function: its parameters, its own statements, its variables, and the functions of its module."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
Function = ast.FunctionDef | ast.Lambda
Parents = dict[ast.AST, ast.AST]


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
