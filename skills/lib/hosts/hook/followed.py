"""The types of what the hook knows of a run, for type checkers alone."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

Status = dict[str, Any]  # of a status file


class Followed(TypedDict):
    """A run that an agent follows.

    ``signed`` if a signed status file said that this user ran the script for this run; ``given_up`` if the agent
    has called ``lockstep abandon`` for it; ``opened`` if it has opened the run itself.
    """

    run: str
    project: str
    script: str
    signed: NotRequired[bool]
    given_up: NotRequired[bool]
    opened: NotRequired[bool]
