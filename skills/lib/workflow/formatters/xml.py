"""Rendering as XML: the one seam where text becomes XML."""

from skills.lib.blocks import formatters
from skills.lib.blocks.xml import attribute as attribute
from skills.lib.blocks.xml import check_characters as check_characters
from skills.lib.blocks.xml import escape as escape
from skills.lib.blocks.xml import render as render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.blocks.formatters.banners import *  # noqa: F403
    from skills.lib.blocks.formatters.dispatch import *  # noqa: F403
    from skills.lib.blocks.formatters.evidence import *  # noqa: F403
    from skills.lib.blocks.formatters.gates import *  # noqa: F403
    from skills.lib.blocks.formatters.guidance import *  # noqa: F403
    from skills.lib.blocks.formatters.record import *  # noqa: F403
    from skills.lib.blocks.formatters.resources import *  # noqa: F403
    from skills.lib.blocks.formatters.steps import *  # noqa: F403


def __getattr__(name: str) -> object:
    found = formatters.find(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found  # the next use finds it at once
    return found
