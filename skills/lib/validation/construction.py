"""Where steps are made: while a module is loaded to be validated, each StepDef remembers the calls that lead to it.

A step that a helper function, a loop or a comprehension makes has no StepDef call of its own in the source. The
constructor is replaced for as long as the module is loaded, so that a step which is printed pays nothing for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from threading import RLock
from types import FrameType
from typing import Any

from skills.lib.model.steps import StepDef

_LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
# A helper of a helper of a helper: beyond this no caller is remembered.
DEPTH = 40
_LOCK = RLock()
_REMEMBERED: dict[int, tuple[StepDef, tuple[CallSite, ...]]] = {}


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call on the way to a step: the file and the function that make it, and where the call begins."""

    file: str
    function: str
    line: int
    column: int

    @property
    def is_own(self) -> bool:
        """Whether the call is in the module itself or in a comprehension, not in a function."""
        return self.function.startswith("<") and self.function != "<lambda>"


@contextmanager
def remembered() -> Iterator[None]:
    """Remember of every step that is made in this context by which calls it is made."""
    with _LOCK:
        original = StepDef.__init__

        @wraps(original)
        def remember(step: StepDef, *args: Any, **fields: Any) -> None:
            original(step, *args, **fields)
            _REMEMBERED[id(step)] = step, tuple(islice(_callers(sys._getframe(1)), DEPTH))

        _replace(remember)
        try:
            yield
        finally:
            _replace(original)


def callers(step: StepDef) -> tuple[CallSite, ...]:
    """The calls that lead to a step, the innermost first, without the library's own; none if nobody remembers."""
    kept, found = _REMEMBERED.get(id(step), (None, ()))
    return found if kept is step else ()


def _replace(constructor: Any) -> None:
    type.__setattr__(StepDef, "__init__", constructor)


def _callers(frame: FrameType | None) -> Iterator[CallSite]:
    """The calls up to the module that is loaded."""
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith((_LIBRARY, "<frozen")):
            line, _, column, _ = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
            yield CallSite(code.co_filename, code.co_name, line or frame.f_lineno, column or 0)
        if code.co_name == "<module>":
            return
        frame = frame.f_back
