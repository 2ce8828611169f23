"""Where a step leads for each combination of values, and the same as decisions, one parameter after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from skills.lib.migration.execution import Way, domain
from skills.lib.migration.printing import Said
from skills.lib.migration.values import OTHER, Parameter

# More combinations than this are not looked at.
MOST = 512


@dataclass(frozen=True)
class Decision:
    """The branches by a parameter's value; each leads to another decision, or to a step (None is the end).

    Without a parameter there is one branch, which is always taken.
    """

    parameter: Parameter | None
    branches: tuple[tuple[tuple[Any, ...], Decision | int | None], ...]


@dataclass(frozen=True)
class Seen:
    """The ways through one step, with what each says."""

    number: int
    ways: tuple[tuple[Way, Said], ...]
    parameters: Mapping[str, Parameter]
    literals: Mapping[str, set[Any]]

    @property
    def said(self) -> Said:
        """What all of them say, but for the way on."""
        return self.ways[0][1]


Table = dict[tuple[Any, ...], int | None]


def tables(
    given: Sequence[tuple[dict[str, Any], Any]], counters: Sequence[Parameter], others: Sequence[Parameter], seen: Seen
) -> list[tuple[Any, Table]] | None:
    """The target of each combination of values, for each value of the counter; None for too many."""
    domains = [[one for one in domain(other, dict(seen.literals)) if one is not None] for other in others]
    counts: list[Any] = [None]
    if counters:
        default = counters[0].default if isinstance(counters[0].default, (int, float)) else 1
        counts = [count for count in domain(counters[0], dict(seen.literals)) if count is not None and count >= default]
    size = len(counts)
    for values in domains:
        size *= len(values)
    if size > MOST or not counts:
        return None
    names = [other.name for other in others]
    tables = []
    for count in counts:
        table: Table = {}
        for combination in product(*domains):
            full = dict(zip(names, combination, strict=True))
            if counters:
                full[counters[0].name] = count
            table[combination] = next(
                onward.step for values, onward in given if all(full[name] == value for name, value in values.items())
            )
        tables.append((count, table))
    return tables


def tree(others: Sequence[Parameter], seen: Seen, table: Table, fixed: dict[str, Any]) -> Decision | int | None:
    """The table as decisions, one parameter after another; one that makes no difference is left out."""
    if not others:
        return table[tuple(fixed.values())]
    first, *rest = others
    branches: list[tuple[list[Any], Decision | int | None]] = []
    for value in domain(first, dict(seen.literals)):
        if value is None:
            continue
        below = tree(rest, seen, table, {**fixed, first.name: value})
        same = next((values for values, other in branches if other == below), None)
        if same is None:
            branches.append(([value], below))
        else:
            same.append(value)
    if len(branches) == 1:
        return branches[0][1]
    # What is told by "any other" comes last; otherwise the way that fewer values take comes first.
    branches.sort(key=lambda branch: (OTHER in branch[0], len(branch[0])))
    return Decision(first, tuple((tuple(values), below) for values, below in branches))


def leaves(tree: Decision | int | None) -> list[int | None]:
    if not isinstance(tree, Decision):
        return [tree]
    return [leaf for _, below in tree.branches for leaf in leaves(below)]
