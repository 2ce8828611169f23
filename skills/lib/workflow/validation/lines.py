"""On which line of the registering file a step, or one of its routes, is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property


class Lines:
    """Line numbers by step id, found in the source by its syntax; 0 where they cannot be told."""

    def __init__(self, file: str) -> None:
        self.file = file

    def of_workflow(self) -> int:
        """The line of the first Workflow(...) call."""
        return min((call.lineno for call in self._calls if _name(call.func) == "Workflow"), default=0)

    def of_step(self, step_id: str, occurrence: int = 0, outcome: str | None = None) -> int:
        """The line of the nth StepDef call with that id, or of its route for ``outcome``."""
        calls = self._steps.get(step_id, [])
        if not calls:
            return self.of_workflow()
        call = calls[min(occurrence, len(calls) - 1)]
        return (_route_line(call, outcome) if outcome else 0) or call.lineno

    def of_parameter(self, name: str) -> int:
        """The line of the Arg(...) call of that name."""
        lines = (call.lineno for call in self._calls if _name(call.func) == "Arg" and self._text(call, "name") == name)
        return min(lines, default=0) or self.of_workflow()

    def calls_of(self, function: str) -> list[ast.Call]:
        """The calls of a function of that name, in the order of their lines."""
        return sorted((call for call in self._calls if _name(call.func) == function), key=lambda call: call.lineno)

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file; an empty module where it cannot be read or parsed."""
        try:
            with open(self.file, encoding="utf-8") as source:
                return ast.parse(source.read())
        except (OSError, ValueError, SyntaxError, RecursionError):
            return ast.Module([], [])

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]

    @cached_property
    def _constants(self) -> dict[str, str]:
        return dict(_text_constants(self.tree))

    @cached_property
    def _steps(self) -> dict[str, list[ast.Call]]:
        steps: dict[str, list[ast.Call]] = {}
        for call in sorted(self._calls, key=lambda call: (call.lineno, call.col_offset)):
            step_id = self._text(call, "id") if _name(call.func) == "StepDef" else None
            if step_id is not None:
                steps.setdefault(step_id, []).append(call)
        return steps

    def _text(self, call: ast.Call, keyword: str) -> str | None:
        given = [word.value for word in call.keywords if word.arg == keyword] or call.args[:1]
        if given and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str):
            return given[0].value
        if given and isinstance(given[0], ast.Name):
            return self._constants.get(given[0].id)
        return None


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _route_line(call: ast.Call, outcome: str) -> int:
    routes = [word.value for word in call.keywords if word.arg == "next"] + call.args[3:4]
    for table in routes:
        for key in table.keys if isinstance(table, ast.Dict) else ():
            if isinstance(key, ast.Attribute) and key.attr == outcome.upper():
                return key.lineno
    return 0


def _text_constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value.value
