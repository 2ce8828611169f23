"""``python -m benchmarks [NAME …]``: measure, and print tables or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from rich.console import Console

from benchmarks.options import Options
from benchmarks.report import machine

if TYPE_CHECKING:
    from benchmarks.report import Figures

BENCHMARKS = {
    "steps": "benchmarks.steps",
    "deep": "benchmarks.deep",
    "compiled": "benchmarks.compiled",
    "growth": "benchmarks.growth",
    "hooks": "benchmarks.hooks",
    "hook-sessions": "benchmarks.hook_sessions",
    "validation": "benchmarks.validation",
    "drawing": "benchmarks.drawing",
    "formatters": "benchmarks.formatters",
    "adherence": "benchmarks.adherence.figures",
    "gates": "benchmarks.gates.figures",
    "contents": "benchmarks.contents",
    "guard": "benchmarks.guard",
    "session": "benchmarks.session",
    "compliance": "benchmarks.compliance",
    "cost": "benchmarks.cost.figures",
    "deviations": "benchmarks.deviations",
    "recovery": "benchmarks.recovery.figures",
    "context": "benchmarks.context",
    "fleet": "benchmarks.fleet",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the named benchmarks, or all; exit code 0."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measures what README and docs/benchmarks.md quote."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; all without one")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer repeats: to try, not to quote")
    parser.add_argument("--seed", type=int, default=1, help="of adherence and gates (default: %(default)s)")
    parser.add_argument("--runs", type=int, help="runs of adherence (default: 2000, quick 160)")
    parser.add_argument("--p", type=float, default=0.2, help="how likely a deviation is (default: %(default)s)")
    parser.add_argument("--disturbed", type=int, default=0, metavar="N", help="fleet: N runs while workers are killed")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in BENCHMARKS]
    if unknown or not 0 <= chosen.p < 0.9 or (chosen.runs is not None and chosen.runs < 1):
        parser.error(
            f"{unknown[0]} is no benchmark: {', '.join(BENCHMARKS)}" if unknown else "--p is 0 to 0.9, --runs 1 or more"
        )
    if chosen.disturbed < 0 or (chosen.disturbed and chosen.names != ["fleet"]):
        parser.error("--disturbed is of the benchmark fleet alone, and 1 or more")
    runs = chosen.runs or (160 if chosen.quick else 2_000)
    options = Options(quick=chosen.quick, seed=chosen.seed, runs=runs, p=chosen.p, disturbed=chosen.disturbed)
    found: dict[str, list[Figures]] = {}
    for name in chosen.names or BENCHMARKS:
        found[name] = import_module(BENCHMARKS[name]).figures(options)
        if not chosen.json:
            _show(found[name])
    if chosen.json:
        tables = {name: [table.to_data() for table in tables] for name, tables in found.items()}
        print(json.dumps({**machine(), "quick": chosen.quick, "benchmarks": tables}, indent=2))
    else:
        print("; ".join(machine().values()))
    return 0


def _show(tables: list[Figures]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 140)
    for table in tables:
        console.print(table.to_table())
        console.print(" ".join(table.notes), style="dim", highlight=False)
        console.print()


if __name__ == "__main__":
    sys.exit(main())
