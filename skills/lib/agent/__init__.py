"""The autonomous host: a session of a model that follows a run, and what it leaves behind.

Importing it loads no framework; a name is loaded when it is first used.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.agent.agent import Agent
    from skills.lib.agent.configuration.settings import Settings, Switches
    from skills.lib.agent.middleware import LockstepMiddleware
    from skills.lib.agent.prompt import Sections
    from skills.lib.agent.results import SessionResult

_MODULES = {
    "Agent": "agent",
    "LockstepMiddleware": "middleware",
    "Sections": "prompt",
    "SessionResult": "results",
    "Settings": "configuration.settings",
    "Switches": "configuration.settings",
}

__all__ = ["Agent", "LockstepMiddleware", "Sections", "SessionResult", "Settings", "Switches"]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return __all__
