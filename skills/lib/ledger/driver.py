"""SQLite's C module without what it drags in: 1.0 ms of start-up where the public module takes 4.

The C module imports functools, and with it collections, for ``lru_cache`` alone; a stand-in with that one name serves
while it loads. On any other Python than CPython 3.11 to 3.14 the public module is used.
"""

from __future__ import annotations

import sys

from skills.lib.errors import EnvironmentProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
else:
    ModuleType = type(sys)


def _load() -> ModuleType:
    if "functools" in sys.modules or sys.version_info >= (3, 15):
        import sqlite3

        return sqlite3
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

    stand_in = ModuleType("functools")
    stand_in.lru_cache = lambda size: lambda function: _lru_cache_wrapper(function, size, False, tuple)  # type: ignore[attr-defined]
    sys.modules["functools"] = stand_in
    try:
        import _sqlite3

        return _sqlite3
    finally:
        del sys.modules["functools"]


try:
    sqlite = _load()
except (ImportError, AttributeError, TypeError):
    try:
        import sqlite3 as sqlite  # noqa: F401
    except ImportError as error:
        raise EnvironmentProblem(
            f"{sys.executable} was built without SQLite, which the record of runs needs",
            remedy="run the same command with another Python, 3.11 or later, in place of the interpreter",
        ) from error
