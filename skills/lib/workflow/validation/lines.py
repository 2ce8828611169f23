"""On which line of the registering file a step, or one of its routes, is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

_LOOP = "review_loop"


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
            return self._of_made_step(step_id, outcome) or self.of_workflow()
        call = calls[min(occurrence, len(calls) - 1)]
        return (_route_line(call, outcome) if outcome else 0) or call.lineno

    def _of_made_step(self, step_id: str, outcome: str | None) -> int:
        call = self._makers.get(step_id)
        if call is None:
            return 0
        parameter = _parameter(call, step_id, outcome)
        return next((word.value.lineno for word in call.keywords if word.arg == parameter), call.lineno)

    def origin(self, step_id: str, outcome: str | None = None) -> str:
        """In words: which call makes a step that has no StepDef of its own, and what of it says where that leads."""
        call = None if step_id in self._steps else self._makers.get(step_id)
        if call is None:
            return ""
        made = f'{_name(call.func)}("{self._text(call, "checkpoint")}") makes {step_id}'
        parameter = _parameter(call, step_id, outcome)
        return f"{made}; its {parameter} is where {outcome} leads" if parameter else made

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

    @cached_property
    def _makers(self) -> dict[str, ast.Call]:
        """The calls that make the two steps of a review, by their ids: review_loop, and what a Workflow unpacks."""
        unpacked = [
            node.value
            for call in self.calls_of("Workflow")
            for node in call.args
            if isinstance(node, ast.Starred) and isinstance(node.value, ast.Call)
        ]
        makers: dict[str, ast.Call] = {}
        for call in [*self.calls_of(_LOOP), *unpacked]:
            checkpoint = self._text(call, "checkpoint")
            if checkpoint is not None:
                makers.setdefault(f"{checkpoint}-review", call)
                makers.setdefault(f"{checkpoint}-gate", call)
        return makers

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


def _parameter(call: ast.Call, step_id: str, outcome: str | None) -> str | None:
    """The parameter of review_loop that says where an outcome of the gate leads."""
    if _name(call.func) != _LOOP or not step_id.endswith("-gate"):
        return None
    return {"ok": "passed", "fail": "work"}.get(outcome or "")


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
