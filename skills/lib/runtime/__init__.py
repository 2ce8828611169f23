"""One call of a step script, and the library behind it: a Desk starts, advances and shows runs."""

from __future__ import annotations

from skills.lib.runtime.script import main

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.runtime.desk import Desk
    from skills.lib.runtime.project import Reply

__all__ = ["Desk", "Reply", "main"]


def __getattr__(name: str) -> object:
    # The desk brings SQLite, which a stateless step does without.
    if name in ("Desk", "Reply"):
        from skills.lib.runtime import desk, project

        return desk.Desk if name == "Desk" else project.Reply
    raise AttributeError(name)
