"""One call of a step script, and the library behind it: a Runner starts, advances and shows runs."""

from __future__ import annotations

from skills.lib.runtime.script import main

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.runtime.project import Response
    from skills.lib.runtime.runner import Runner

__all__ = ["Response", "Runner", "main"]


def __getattr__(name: str) -> object:
    # The runner imports SQLite, which a stateless step does not need.
    if name in ("Runner", "Response"):
        from skills.lib.runtime import project, runner

        return runner.Runner if name == "Runner" else project.Response
    raise AttributeError(name)
