"""Counts of many runs: deviations by kind, commands, ways back, runs that ended, and what went wrong."""

from __future__ import annotations

import dataclasses
import statistics
from collections import Counter
from typing import NamedTuple

EXAMPLES = 20


class Fault(NamedTuple):
    """One thing that should not have happened: what, in which skill and step, by which command, what was printed."""

    what: str
    skill: str
    step: str
    command: str
    printed: str


@dataclasses.dataclass
class Counts:
    """The counts of many runs; ``faults`` keeps the first few as examples."""

    runs: int = 0
    ended: int = 0
    commands: int = 0
    disturbed_runs: int = 0
    holes: int = 0
    made: Counter[str] = dataclasses.field(default_factory=Counter)
    held: Counter[str] = dataclasses.field(default_factory=Counter)
    recoveries: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    steps: Counter[str] = dataclasses.field(default_factory=Counter)
    faults: list[Fault] = dataclasses.field(default_factory=list)

    def deviation(self, kind: str, held: bool) -> None:
        """Count one deviation, and whether it was refused (or had no effect, if that is right)."""
        self.made[kind] += 1
        self.held[kind] += held

    def recovery(self, kind: str, commands: int) -> None:
        """Count the commands from a refusal to the next accepted transition."""
        self.recoveries.setdefault(kind, []).append(commands)

    def fault(self, fault: Fault) -> None:
        """Keep a fault."""
        if len(self.faults) < EXAMPLES:
            self.faults.append(fault)

    def share(self, kind: str | None = None) -> float | None:
        """The share of deviations (of one kind) that were refused; None if there were none."""
        made = self.made[kind] if kind else sum(self.made.values())
        held = self.held[kind] if kind else sum(self.held.values())
        return held / made if made else None

    def mean_recovery(self, kind: str | None = None) -> float | None:
        """The mean number of commands until the run moved again."""
        counts = self.recoveries.get(kind, []) if kind else [one for many in self.recoveries.values() for one in many]
        return statistics.mean(counts) if counts else None
