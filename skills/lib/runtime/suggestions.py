"""What an author meant where a module that cannot be loaded misspells a name: loaded only when that happens."""

from __future__ import annotations

import builtins
import inspect
import pkgutil
import sys
from collections.abc import Collection, Iterator
from types import FrameType, ModuleType

from skills.lib import record
from skills.lib.errors import did_you_mean, nearest
from skills.lib.model.types import Outcome

# More names than these are not listed: nobody reads them, and the nearest one is told anyway.
LISTED = 32
# What is wrong in words, the name that was written, those that are valid, and more that may have been meant.
Slip = tuple[str, str, Collection[str], Collection[str]]
_UNEXPECTED = "() got an unexpected keyword argument "


def told(error: Exception) -> tuple[str, str, str]:
    """What is wrong, what is valid there, and what to do; Python's own words where no name is misspelt."""
    try:
        slip, words = _slip(error), f"{type(error).__name__}: {error}"
    except Exception:  # the error cannot be put in words, or what it is about cannot be looked at
        slip, words = None, type(error).__name__
    if slip is None:
        return words, "", "mend the module; runs are untouched"
    what, given, names, others = slip
    near = _nearest(given, names) or _nearest(given, others)
    valid = ", ".join(names) if len(names) <= LISTED else ""
    if near:
        return what + did_you_mean(near), valid, f"write {near}"
    return what, valid, "take one of the valid names" if valid else "mend the module; runs are untouched"


def _slip(error: Exception) -> Slip | None:
    if isinstance(error, AttributeError):
        return _attribute(error)
    if isinstance(error, ModuleNotFoundError):
        return _module(error)
    if isinstance(error, ImportError):
        return _imported(error)
    if isinstance(error, NameError):
        return _variable(error)
    return _parameter(error) if isinstance(error, TypeError) else None


def _attribute(error: AttributeError) -> Slip | None:
    if not isinstance(error.name, str) or error.obj is None:
        return None
    if isinstance(error.obj, ModuleType):
        return f"{error.obj.__name__} has no name {error.name!r}", error.name, _names(error.obj), _public(error.obj)
    kind = error.obj if isinstance(error.obj, type) else type(error.obj)
    return f"{kind.__name__} has no member {error.name!r}", error.name, _names(error.obj), ()


def _imported(error: ImportError) -> Slip | None:
    """``from module import name``: the name stands in the message alone before Python 3.12."""
    module, name = sys.modules.get(error.name or ""), _quoted(str(error), "cannot import name ")
    if module is None or not name:
        return None
    return f"{error.name} has no name {name!r}", name, _names(module), [*_public(module), *_modules(module)]


def _module(error: ModuleNotFoundError) -> Slip | None:
    package, _, name = (error.name or "").rpartition(".")
    if package not in sys.modules:
        return None
    return f"{package} has no module {name!r}", name, _modules(sys.modules[package]), ()


def _variable(error: NameError) -> Slip | None:
    frame = _frame(error)
    if not isinstance(error.name, str) or frame is None:
        return None
    known = {**vars(builtins), **frame.f_globals, **frame.f_locals}
    return f"name {error.name!r} is not defined", error.name, [name for name in known if name[:1] != "_"], ()


def _parameter(error: TypeError) -> Slip | None:
    called, found, _ = str(error).partition(_UNEXPECTED)
    name, frame = _quoted(str(error), _UNEXPECTED), _frame(error)
    if not found or not name or frame is None:
        return None
    called = called.removesuffix(".__init__")
    for value in _reached(frame, called):
        try:
            parameters = inspect.signature(value).parameters.values()
        except (TypeError, ValueError):
            continue
        names = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
        return f"{called} has no parameter {name!r}", name, names, ()
    return None


def _reached(frame: FrameType, qualified: str) -> Iterator[type]:
    """What a frame knows under that qualified name: by itself, or in a module that it knows."""
    for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
        candidate = getattr(value, qualified, None) if isinstance(value, ModuleType) else value
        if callable(candidate) and getattr(candidate, "__qualname__", "") == qualified:
            yield candidate


def _names(holder: object) -> list[str]:
    """What an author may take from it: the words of a vocabulary, what a module itself makes, public members."""
    if isinstance(holder, type(Outcome)):
        return [word.name for word in holder]
    if not isinstance(holder, ModuleType):
        return _public(holder)
    own, held = holder.__name__, vars(holder)
    makers = ("skills.lib.",) if own.startswith("skills.lib.workflow.") else (own,)  # a face makes nothing itself
    return [
        name
        for name in _public(holder)
        if not isinstance(held.get(name), ModuleType)
        and str(getattr(held.get(name), "__module__", own)).startswith(makers)
    ]


def _public(holder: object) -> list[str]:
    return [name for name in dir(holder) if name.isidentifier() and name[0] != "_" and name != "TYPE_CHECKING"]


def _modules(package: ModuleType) -> list[str]:
    return [module.name for module in pkgutil.iter_modules(getattr(package, "__path__", ()))]


def _quoted(message: str, before: str) -> str:
    """The quoted name that follows ``before`` in a message."""
    return message.partition(before)[2][1:].partition("'")[0]


def _frame(error: Exception) -> FrameType | None:
    """The frame that raised it; for an argument that does not fit a record, the frame that makes the record."""
    at, found = error.__traceback__, None
    while at is not None:
        if at.tb_frame.f_code.co_filename != record.__file__:
            found = at.tb_frame
        at = at.tb_next
    return found


def _nearest(given: str, names: Collection[str]) -> str:
    """The only name that ``given`` is a part of, else the nearest."""
    parts = [name for name in names if len(given) > 3 and given.lower() in name.lower().split("_")]
    return parts[0] if len(parts) == 1 else nearest(given, names)
