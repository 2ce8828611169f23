"""What tests of skills use: printed documents read back, walks planned, an agent that takes them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skills.lib.testing.agent import Agent
    from skills.lib.testing.blocks import PrintedBlock, parse
    from skills.lib.testing.follower import InProcess, Shell
    from skills.lib.testing.samples import any_of
    from skills.lib.testing.session import Session
    from skills.lib.testing.transitions import every_transition
    from skills.lib.testing.walks import every_walk

__all__ = [
    "Agent",
    "InProcess",
    "PrintedBlock",
    "Session",
    "Shell",
    "any_of",
    "every_transition",
    "every_walk",
    "parse",
]

_ROOMS = {
    "Agent": "agent",
    "InProcess": "follower",
    "PrintedBlock": "blocks",
    "Session": "session",
    "Shell": "follower",
    "any_of": "samples",
    "every_transition": "transitions",
    "every_walk": "walks",
    "parse": "blocks",
}


def __getattr__(name: str) -> object:
    # A test file that takes one name does not wait for lxml, Hypothesis and the engine.
    if name in _ROOMS:
        return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
