"""Waves: which milestones may be carried out at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .faults import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def waves(milestones: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The ids in waves: what each depends on stands in an earlier wave, and no two of a wave share a file.

    Of two that share a file the earlier id goes first. Dependencies on what is not among the milestones are left out of
    account. Raises PlanError, which names the cycle, where milestones depend on each other in a circle.
    """
    circle = cycle(milestones)
    if circle:
        raise PlanError(f"milestones depend on each other in a circle: {' -> '.join(circle)}; cut one of these")
    left = {one["id"]: one for one in sorted(milestones, key=lambda one: one["id"])}
    made: list[list[str]] = []
    while left:
        wave: list[str] = []
        taken: set[str] = set()
        for name, one in left.items():
            # The same file on a system that does not tell A from a.
            files = {path.casefold() for path in one["files"]}
            if not files & taken and not any(other in left for other in one["depends_on"]):
                wave.append(name)
                taken |= files
        made.append(wave)
        for name in wave:
            del left[name]
    return made


def in_order(milestones: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The milestones as they are carried out, wave after wave."""
    by_id = {one["id"]: one for one in milestones}
    return [by_id[name] for wave in waves(milestones) for name in wave]


def cycle(milestones: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids that depend on each other in a circle, the first one again at the end; empty where there is none."""
    needs = {one["id"]: sorted(one["depends_on"]) for one in milestones}
    done: set[str] = set()
    for start in sorted(needs):
        path: list[str] = []
        ways = [iter([start])]
        while ways:
            name = next(ways[-1], None)
            if name is None:
                ways.pop()
                if path:
                    done.add(path.pop())
            elif name in path:
                return [*path[path.index(name) :], name]
            elif name in needs and name not in done:
                path.append(name)
                ways.append(iter(needs[name]))
    return []
