"""Why a module cannot be loaded, and what its author meant by a misspelt name: imported only when that happens."""

from __future__ import annotations

import builtins
import inspect
import pkgutil
import sys
import traceback
from types import FrameType, ModuleType

from skills.lib import record
from skills.lib.errors import InvalidWorkflow, LockstepError, SkillError, UsageError, did_you_mean, nearest
from skills.lib.model.types import Outcome

# More names than these are not listed: nobody reads them, and the nearest one is named anyway.
LISTED = 32
_UNEXPECTED = "() got an unexpected keyword argument "


def raise_explained(error: BaseException, path: str) -> None:
    """Raise SkillError that says why the module file cannot be loaded; return if ``error`` says it.

    An error of Lockstep gets the line of the file where it arose, but for one that names its place itself.
    """
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
    if not lines and isinstance(error, SyntaxError) and error.lineno:
        lines = [error.lineno]
    place = f"{path}:{lines[-1]}" if lines else path
    if isinstance(error, (SkillError, UsageError)) and not isinstance(error, InvalidWorkflow):
        error.what = f"{place}: {error.what}"
        error.args = (error.what,)
    elif isinstance(error, SystemExit):
        what = f"{path} exits while it is imported ({error.code})"
        raise SkillError(what, remedy="let it only register its workflow") from error
    elif isinstance(error, Exception) and not isinstance(error, LockstepError):
        what, valid, remedy = explain(error)
        raise SkillError(f"{place}: {what}", valid=valid, remedy=remedy) from error


def explain(error: Exception) -> tuple[str, str, str]:
    """What is wrong, what is valid there, and what to do; the error's own words if no name is misspelt."""
    try:
        what = f"{type(error).__name__}: {error}"
        slip = _misspelt(error)
    except Exception:  # the error cannot be put in words, or what it is about cannot be looked at
        what, slip = type(error).__name__, None
    if slip is None:
        return what, "", "fix the module; runs are untouched"
    what, given, names = slip
    valid = ", ".join(names) if len(names) <= LISTED else ""
    near = nearest(given, names)
    if near:
        return what + did_you_mean(near), valid, f"write {near}"
    return what, valid, "take one of the valid names" if valid else "fix the module; runs are untouched"


def _misspelt(error: Exception) -> tuple[str, str, list[str]] | None:
    """What is wrong in words, the name that does not exist, and those that do; None if no name is misspelt."""
    # The frame that raised the error; if an argument does not fit a record, the frame that makes the record.
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    frame = next((frame for frame in reversed(frames) if frame.f_code.co_filename != record.__file__), None)
    text = str(error)
    if isinstance(error, AttributeError) and error.name and error.obj is not None:
        holder, kind = error.obj, "name" if isinstance(error.obj, ModuleType) else "member"
        called = getattr(holder, "__name__", "") if isinstance(holder, (ModuleType, type)) else type(holder).__name__
        return f"{called} has no {kind} {error.name!r}", error.name, _names(holder)
    if isinstance(error, ModuleNotFoundError):
        package, _, name = (error.name or "").rpartition(".")
        return (f"{package} has no module {name!r}", name, _modules(package)) if package in sys.modules else None
    if isinstance(error, ImportError):  # it has the name in its message alone before Python 3.12
        name, module = _quoted(text, "cannot import name "), error.name or ""
        names = [*_names(sys.modules.get(module)), *_modules(module)]
        return (f"{module} has no name {name!r}", name, names) if name and module in sys.modules else None
    if isinstance(error, NameError) and error.name and frame:
        known = {**vars(builtins), **frame.f_globals, **frame.f_locals}
        return f"name {error.name!r} is not defined", error.name, [name for name in known if name[:1] != "_"]
    called, found, _ = text.partition(_UNEXPECTED)
    if isinstance(error, TypeError) and found and frame:
        called, name = called.removesuffix(".__init__"), _quoted(text, _UNEXPECTED)
        parameters = _parameters(frame, called)
        return (f"{called} has no parameter {name!r}", name, parameters) if name and parameters else None
    return None


def _names(holder: object) -> list[str]:
    """The public names of a module, class or value that are no modules; of a vocabulary its words."""
    if isinstance(holder, type(Outcome)):
        return [word.name for word in holder]
    public = [name for name in dir(holder) if name.isidentifier() and name[0] != "_" and name != "TYPE_CHECKING"]
    # A name that is loaded when it is asked for stays unloaded.
    return [name for name in public if not isinstance(inspect.getattr_static(holder, name, None), ModuleType)]


def _modules(package: str) -> list[str]:
    return [module.name for module in pkgutil.iter_modules(getattr(sys.modules.get(package), "__path__", ()))]


def _parameters(frame: FrameType, called: str) -> list[str]:
    """The named parameters of the function or class of that qualified name, as the frame or a module of it knows it."""
    known = [*frame.f_locals.values(), *frame.f_globals.values()]
    known += [getattr(value, called, None) for value in known if isinstance(value, ModuleType)]
    found = next((value for value in known if callable(value) and getattr(value, "__qualname__", "") == called), None)
    parameters = inspect.signature(found).parameters.values() if found else ()
    return [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]


def _quoted(message: str, before: str) -> str:
    """The quoted name that follows ``before`` in a message."""
    return message.partition(before)[2][1:].partition("'")[0]
