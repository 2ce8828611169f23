"""What an author meant, if a module cannot be loaded for a misspelt name: imported only when that happens."""

from __future__ import annotations

import builtins
import inspect
import pkgutil
import sys
from difflib import get_close_matches
from types import FrameType, ModuleType

from skills.lib import record
from skills.lib.model.types import Outcome

# More names than these are not listed: nobody reads them, and the nearest one is named anyway.
LISTED = 32
_UNEXPECTED = "() got an unexpected keyword argument "


def explain(error: Exception) -> tuple[str, str, str]:
    """What is wrong, what is valid there, and what to do; the error's own words if no name is misspelt."""
    try:
        what = f"{type(error).__name__}: {error}"
        given, names = _misspelt(error)
    except Exception:  # the error cannot be put in words, or what it is about cannot be looked at
        return type(error).__name__, "", "fix the module; runs are untouched"
    if given and isinstance(error, TypeError):
        what = f"{str(error).partition(_UNEXPECTED)[0].removesuffix('.__init__')} has no parameter {given!r}"
    valid = ", ".join(names) if len(names) <= LISTED else ""
    folded = {name.lower(): name for name in names}
    near = get_close_matches(given.lower(), folded, 1)
    if near:
        return f"{what}; did you mean {folded[near[0]]}?", valid, f"write {folded[near[0]]}"
    return what, valid, "take one of the valid names" if valid else "fix the module; runs are untouched"


def _misspelt(error: Exception) -> tuple[str, list[str]]:
    """The name that does not exist, and the names that do; empty if the error is about something else."""
    if isinstance(error, AttributeError) and error.name:
        return error.name, _names(error.obj)
    if isinstance(error, ModuleNotFoundError):
        package, _, name = (error.name or "").rpartition(".")
        folder = getattr(sys.modules.get(package), "__path__", ())
        return name, [module.name for module in pkgutil.iter_modules(folder)]
    if isinstance(error, ImportError):  # it has the name in its message alone before Python 3.12
        return _quoted(str(error), "cannot import name "), _names(sys.modules.get(error.name or ""))
    frame = _frame(error)
    if isinstance(error, NameError) and frame:
        return str(error.name), [
            name for name in {**vars(builtins), **frame.f_globals, **frame.f_locals} if name[0] != "_"
        ]
    if isinstance(error, TypeError) and frame and _UNEXPECTED in str(error):
        return _quoted(str(error), _UNEXPECTED), _parameters(frame, str(error).partition(_UNEXPECTED)[0])
    return "", []


def _names(holder: object) -> list[str]:
    """The public names of a module, class or value that are no modules; of a vocabulary its words."""
    if isinstance(holder, type(Outcome)):
        return [word.name for word in holder]
    public = [name for name in dir(holder) if name.isidentifier() and name[0] != "_" and name != "TYPE_CHECKING"]
    return [name for name in public if not isinstance(getattr(holder, name, None), ModuleType)]


def _parameters(frame: FrameType, called: str) -> list[str]:
    """The named parameters of the function or class of that qualified name, as the frame or a module of it knows it."""
    called = called.removesuffix(".__init__")
    known = [*frame.f_locals.values(), *frame.f_globals.values()]
    known += [getattr(value, called, None) for value in known if isinstance(value, ModuleType)]
    found = next((value for value in known if callable(value) and getattr(value, "__qualname__", "") == called), None)
    parameters = inspect.signature(found).parameters.values() if found else ()
    return [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]


def _quoted(message: str, before: str) -> str:
    """The quoted name that follows ``before`` in a message."""
    return message.partition(before)[2][1:].partition("'")[0]


def _frame(error: Exception) -> FrameType | None:
    """The frame that raised the error; if an argument does not fit a record, the frame that makes the record."""
    at, found = error.__traceback__, None
    while at is not None:
        if at.tb_frame.f_code.co_filename != record.__file__:
            found = at.tb_frame
        at = at.tb_next
    return found
