"""Whether the libraries that a session needs are installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from skills.lib.errors import EnvironmentProblem

_EXTRA = "pip install '/path/to/lockstep[agent]'"
_PACKAGES = ("langchain", "langgraph", "langgraph.checkpoint.sqlite", "filelock")


def require() -> None:
    """Raise EnvironmentProblem if a library of the extra is not installed."""
    missing = [name for name in _PACKAGES if not _is_there(name)]
    if missing:
        raise EnvironmentProblem(
            f"lockstep agent needs the extra [agent], which is not installed for {sys.executable}: "
            f"{', '.join(missing)}",
            remedy=_EXTRA,
        )


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:  # of the package that it is in
        return False
