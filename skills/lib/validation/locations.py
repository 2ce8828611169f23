"""Where steps are written: the lines of a file, and the calls that made a step.

A step that a helper function, a loop or a comprehension makes has no StepDef call of its own in the source. While a
module is loaded to be validated, ``remembered`` replaces StepDef's constructor with one that records its callers, so
that a step which is printed pays nothing for it.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import islice
from threading import RLock
from types import FrameType
from typing import Any

from skills.lib import paths
from skills.lib.graphfile.compiling import lines_of
from skills.lib.model.steps import StepDef

_LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_LOOP = "review_loop"
# A helper of a helper of a helper: beyond this no caller is remembered.
DEPTH = 40
_LOCK = RLock()
_REMEMBERED: dict[int, tuple[StepDef, tuple[CallSite, ...]]] = {}


@dataclass(frozen=True, slots=True)
class Location:
    """A file and line; ``made`` names in words the function that makes a step without a StepDef call of its own."""

    file: str
    line: int
    made: str = ""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call that led to a step: the file and the function that made it, and where the call begins."""

    file: str
    function: str
    line: int
    column: int

    @property
    def is_own(self) -> bool:
        """True if the call is in the module itself or in a comprehension, not in a function."""
        return self.function.startswith("<") and self.function != "<lambda>"


class Lines:
    """Line numbers in one file, found in its source by the syntax; 0 if they are unknown."""

    def __new__(cls, file: str) -> Lines:
        return super().__new__(YamlLines if paths.yaml_of(file) else cls)

    def __init__(self, file: str) -> None:
        self.file = file

    def of_workflow(self) -> int:
        """The line of the first Workflow(...) call."""
        return min((call.lineno for call in self._calls if _name(call.func) == "Workflow"), default=0)

    def location(self, step: StepDef, occurrence: int = 0, outcome: str | None = None) -> Location:
        """The location of the nth step of that id, or of its route for ``outcome``; else of the call that makes it.

        A StepDef call with the id as text is found in the source, as is a call of review_loop. Any other step is found
        if the module was loaded inside ``remembered``, or if its id stands in a call of Workflow.
        """
        written = self._steps.get(step.id, [])
        if written:
            call = written[min(occurrence, len(written) - 1)]
            return Location(self.file, _route_line(call, outcome) or call.lineno)
        loop = self._loops.get(step.id)
        if loop:
            return self._made(loop, step.id, outcome)
        remembered = callers(step)
        if remembered:
            return self._remembered(remembered, step.id, outcome)
        made = self._makers.get(step.id)
        return self._made(made, step.id, outcome) if made else Location(self.file, self.of_workflow())

    def _made(self, call: ast.Call, step_id: str, outcome: str | None) -> Location:
        made = f'{_name(call.func)}("{self._text(call, "checkpoint")}") makes {step_id}'
        parameter = None
        if _name(call.func) == _LOOP and step_id.endswith("-gate"):
            parameter = {"ok": "passed", "fail": "work"}.get(outcome or "")  # the target of the gate's outcome
        line = next((word.value.lineno for word in call.keywords if word.arg == parameter), 0)
        if parameter:
            made += f"; its {parameter} is where {outcome} leads"
        return Location(self.file, line or _route_line(call, outcome) or call.lineno, made)

    def _remembered(self, calls: tuple[CallSite, ...], step_id: str, outcome: str | None) -> Location:
        """The call in this file, else in the file that made the step, and the helper that it calls."""
        here = os.path.realpath(self.file)
        own = [call for call in calls if os.path.realpath(call.file) == here] or list(calls)
        call = own.pop()
        while own and own[-1].is_own:
            call = own.pop()
        line = call.line
        if outcome:
            source = self if os.path.realpath(call.file) == here else Lines(call.file)
            begins = (call.line, call.column)
            found = [node for node in source._calls if (node.lineno, node.col_offset) == begins]
            line = (_route_line(found[0], outcome) if found else 0) or line
        maker = calls[0]
        if maker == call:
            return Location(call.file, line)
        where = "" if maker.file == call.file else f" of {os.path.basename(maker.file)}"
        return Location(call.file, line, f"{maker.function}() makes {step_id}, in line {maker.line}{where}")

    def of_parameter(self, name: str) -> int:
        """The line of the Arg(...) call of that name."""
        lines = (call.lineno for call in self._calls if _name(call.func) == "Arg" and self._text(call, "name") == name)
        return min(lines, default=0) or self.of_workflow()

    def calls_of(self, function: str) -> list[ast.Call]:
        """The calls of a function of that name, in the order of their lines."""
        return sorted((call for call in self._calls if _name(call.func) == function), key=lambda call: call.lineno)

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file; an empty module if it cannot be read or parsed."""
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
        """The texts that the module gives names to."""
        return {
            target.id: node.value.value
            for node in self.tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    @cached_property
    def _steps(self) -> dict[str, list[ast.Call]]:
        steps: dict[str, list[ast.Call]] = {}
        for call in sorted(self._calls, key=lambda call: (call.lineno, call.col_offset)):
            step_id = self._text(call, "id") if _name(call.func) == "StepDef" else None
            if step_id is not None:
                steps.setdefault(step_id, []).append(call)
        return steps

    @cached_property
    def _loops(self) -> dict[str, ast.Call]:
        """The calls of review_loop by the ids of the two steps that each makes."""
        return self._of_reviews(self.calls_of(_LOOP))

    @cached_property
    def _makers(self) -> dict[str, ast.Call]:
        """The calls in a call of Workflow that make a step, or that are unpacked and make the two steps of a review."""
        given = [node for call in self.calls_of("Workflow") for node in call.args]
        makers = self._of_reviews(
            [node.value for node in given if isinstance(node, ast.Starred) and isinstance(node.value, ast.Call)]
        )
        for node in given:
            step_id = self._text(node, "id") if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and step_id is not None:
                makers.setdefault(step_id, node)
        return makers

    def _of_reviews(self, calls: list[ast.Call]) -> dict[str, ast.Call]:
        makers: dict[str, ast.Call] = {}
        for call in calls:
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


class YamlLines(Lines):
    """Line numbers in the workflow.yaml of which a graph is compiled."""

    def __init__(self, file: str) -> None:
        super().__init__(paths.yaml_of(file))

    def of_workflow(self) -> int:
        """The line of the workflow's name."""
        return self._line(("name",))

    def location(self, step: StepDef, occurrence: int = 0, outcome: str | None = None) -> Location:
        """The location of the step, or of its route for ``outcome``."""
        at = ("steps", step.id)
        return Location(self.file, self._line((*at, "next", outcome) if outcome else at))

    def of_parameter(self, name: str) -> int:
        """The line of the parameter."""
        return self._line(("params", name))

    @cached_property
    def tree(self) -> ast.Module:
        """No Python."""
        return ast.Module([], [])

    @cached_property
    def _line(self) -> Callable[[tuple[str, ...]], int]:
        return lines_of(self.file)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _route_line(call: ast.Call, outcome: str | None) -> int:
    """The line of the first mapping in the call that has the outcome as a key: next is before when; 0 if none has."""
    named = [word.value for word in sorted(call.keywords, key=lambda word: word.arg != "next")]
    for table in [*call.args, *named]:
        for key in table.keys if isinstance(table, ast.Dict) else ():
            if outcome and key is not None and _names_outcome(key, outcome):
                return key.lineno
    return 0


def _names_outcome(key: ast.expr, outcome: str) -> bool:
    """True for ``Outcome.OK``, ``"ok"`` and ``Outcome("ok")``."""
    if isinstance(key, ast.Attribute):
        return key.attr == outcome.upper()
    word = key.args[0] if isinstance(key, ast.Call) and len(key.args) == 1 else key
    return isinstance(word, ast.Constant) and word.value == outcome


@contextmanager
def remembered() -> Iterator[None]:
    """Record the callers of every StepDef that is made inside the ``with``."""
    with _LOCK:
        original = StepDef.__init__

        @wraps(original)
        def remember(step: StepDef, *args: Any, **fields: Any) -> None:
            original(step, *args, **fields)
            _REMEMBERED[id(step)] = step, tuple(islice(_callers_in(sys._getframe(1)), DEPTH))

        _replace(remember)
        try:
            yield
        finally:
            _replace(original)


def callers(step: StepDef) -> tuple[CallSite, ...]:
    """The calls that made a step, the innermost first, without the library's own; empty if none were recorded."""
    kept, found = _REMEMBERED.get(id(step), (None, ()))
    return found if kept is step else ()


def _replace(constructor: Any) -> None:
    type.__setattr__(StepDef, "__init__", constructor)


def _callers_in(frame: FrameType | None) -> Iterator[CallSite]:
    """The calls from this frame up to the module that is loaded."""
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith((_LIBRARY, "<frozen")):
            line, _, column, _ = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
            yield CallSite(code.co_filename, code.co_name, line or frame.f_lineno, column or 0)
        if code.co_name == "<module>":
            return
        frame = frame.f_back
