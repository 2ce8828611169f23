"""Where links of a project lead that stand in places which the gateway does not write."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# No skill is looked for in these, and what git and node keep in them is large.
_SKIPPED = frozenset((".git", ".lockstep", "node_modules", "__pycache__"))
# More links, one behind another, are followed by no system.
_DEEPEST = 40


def led_to(project: str, is_kept: Callable[[str], bool], holds: Callable[[str, str], bool]) -> dict[str, str]:
    """The resolved paths to which kept links lead, and the links on the way there, each with the first of its links.

    ``is_kept`` says whether a place is not written; ``holds(folder, path)`` whether a path may be in a folder. A link
    in a folder to which a kept link leads is kept, too.
    """
    waiting = list(_links(project))
    found: dict[str, str] = {}
    while True:
        kept = [link for link in waiting if is_kept(link) or any(holds(place, link) for place in found)]
        if not kept:
            return found
        for link in kept:
            for place in _on_the_way(link, _DEEPEST):
                found.setdefault(place, link)
        waiting = [link for link in waiting if link not in kept]


def _links(project: str) -> Iterator[str]:
    """Every link below a folder, by its path; none is followed."""
    waiting = [project]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        yield entry.path
                    elif entry.name not in _SKIPPED and entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:  # it is gone, or closed to us
            continue


def _on_the_way(link: str, left: int) -> Iterator[str]:
    """The links through which a link leads, and its end; they are there or not."""
    try:
        target = os.path.join(os.path.dirname(link), os.readlink(link))
    except (OSError, ValueError):
        return
    place = os.sep
    for part in target.split(os.sep):
        place = os.path.normpath(os.path.join(place, part))
        if left and os.path.islink(place):
            yield place
            yield from _on_the_way(place, left - 1)
            place = os.path.realpath(place)
    yield place
