"""Whether the libraries that workers need are installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from skills.lib.commands.session import extra as session
from skills.lib.errors import EnvironmentProblem


def require() -> None:
    """Raise EnvironmentProblem if a library of the extras is not installed."""
    session.require()
    if find_spec("dbos") is None:
        raise EnvironmentProblem(
            f"workers need the extra [fleet], which is not installed for {sys.executable}: dbos",
            remedy="pip install '/path/to/lockstep[fleet]'",
        )
