"""The figures of the adherence benchmark: Lockstep beside the plain printer, kind by kind."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.adherence import simulation
from benchmarks.adherence.attempts import NAMES
from benchmarks.adherence.hosts import own_ledgers
from benchmarks.adherence.lazy import walked
from benchmarks.adherence.lazy_ways import ATTEMPTS, UNREFUSED
from benchmarks.report import Cell, Figures

if TYPE_CHECKING:
    from benchmarks.adherence.counts import Counts
    from benchmarks.options import Options

# Of the runs with deviations: as many honest ones, and so many walked twice, once by real processes; and the least.
HONEST_SHARE, PROCESS_SHARE, LEAST = 0.5, 0.01, 8


def figures(options: Options) -> list[Figures]:
    """Walk all runs and give the tables."""
    runs, seed, p = options.runs, options.seed, options.p
    honest_runs, process_runs = (max(LEAST, int(runs * share)) for share in (HONEST_SHARE, PROCESS_SHARE))
    by_kind, honest = {}, {}
    with options.progress("adherence", 2 * (runs + honest_runs) + process_runs) as tick:
        for kind in (simulation.LEDGER, simulation.BASELINE):
            by_kind[kind] = simulation.simulate(kind, runs, seed, p, tick)
            honest[kind] = simulation.simulate(kind, honest_runs, seed, 0, tick)
        same = simulation.same_as_process(process_runs, seed, p, tick)
    return [
        _by_kind(by_kind, seed, p),
        _whole_runs(
            by_kind, honest, [f"{same} of {process_runs} runs print the same by real processes, to the letter."]
        ),
        _lazy(),
        *_faults([*by_kind.values(), *honest.values()]),
    ]


def _by_kind(by_kind: dict[str, Counts], seed: int, p: float) -> Figures:
    ours, plain = by_kind[simulation.LEDGER], by_kind[simulation.BASELINE]
    rows: list[list[Cell]] = [
        [
            kind,
            ours.made[kind],
            _percent(ours.share(kind)),
            ours.mean_recovery(kind),
            plain.made[kind],
            _percent(plain.share(kind)),
        ]
        for kind in NAMES
    ]
    total: list[Cell] = [sum(ours.made.values()), _percent(ours.share()), ours.mean_recovery()]
    rows.append(["all", *total, sum(plain.made.values()), _percent(plain.share())])
    columns = ["deviation", "made", "refused", "commands to recover", "made, plain printer", "refused, plain printer"]
    notes = [
        f"{ours.runs:,} runs, seed {seed}; at each block an agent deviates with probability {p:g}, perhaps repeatedly.",
        "Refused: exit 2 or 3, and every run in the ledger as before. A retry: one effect and the same block. Two at",
        "once: one is taken, and both are shown the block after it. Stopping early: another agent is led to the same",
        "block. Recovery ends with the next accepted transition.",
    ]
    return Figures("Deviations refused", columns, rows, notes)


def _whole_runs(by_kind: dict[str, Counts], honest: dict[str, Counts], notes: list[str]) -> Figures:
    rows: list[list[Cell]] = [
        [
            kind,
            by_kind[kind].runs,
            _percent(by_kind[kind].holes / by_kind[kind].runs),
            honest[kind].runs,
            honest[kind].commands,
            honest[kind].disturbed_runs + by_kind[kind].disturbed_runs,
        ]
        for kind in by_kind
    ]
    columns = [
        "host",
        "runs with deviations",
        "of these, runs that ended with something undone",
        "honest runs",
        "honest commands",
        "runs with an honest command refused",
    ]
    return Figures("Whole runs", columns, rows, notes)


def _lazy() -> Figures:
    """How far the laziest agents come that keep to the form."""
    ends: dict[str, list[str]] = {}
    for name, way in ATTEMPTS.items():
        with own_ledgers(), tempfile.TemporaryDirectory() as project:
            ends.setdefault(name.partition(":")[0], []).append(walked(way, Path(project)).how)
    rows: list[list[Cell]] = [
        [skill, len(found), *[found.count(how) for how in ("refused", "waiting", "failed", "done")]]
        for skill, found in ends.items()
    ]
    columns = ["skill", "lazy ways", "refused", "left to a person", "ended as failed", "ended as done"]
    notes = [
        "Each gives the least that a block lets pass: x in each field, sub-agents lost, steps skipped, made-up words.",
        *[f"{name}: {why}." for name, why in UNREFUSED.items()],
    ]
    return Figures("The laziest agents that keep to the form", columns, rows, notes)


def _faults(many: list[Counts]) -> list[Figures]:
    rows: list[list[Cell]] = [
        [fault.what, fault.skill, fault.step, fault.command, fault.printed[:300]]
        for counts in many
        for fault in counts.faults
    ]
    return [Figures("What went wrong", ["what", "skill", "step", "command", "printed"], rows)] if rows else []


def _percent(share: float | None) -> str:
    """A share in percent, never rounded up to 100."""
    if share is None:
        return "-"
    return "100 %" if share == 1 else f"{min(share * 100, 99.9):.1f} %"
