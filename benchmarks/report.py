"""The form of a benchmark's result: tables that can be printed for people or as JSON for programs."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

Cell = str | int | float | None


class Figures(NamedTuple):
    """One table: a title, the names of its columns, its rows, and notes for the reader."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()

    def to_data(self) -> dict[str, Any]:
        """The table as JSON data: each row as an object by column."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def to_table(self) -> Table:
        """The table as people see it: numbers to the right, fractions with a fitting number of digits."""
        table = Table(title=self.title, title_justify="left", title_style="bold")
        for at, column in enumerate(self.columns):
            numeric = any(isinstance(row[at], (int, float)) for row in self.rows)
            table.add_column(column, justify="right" if numeric else "left")
        for row in self.rows:
            table.add_row(*[_shown(cell) for cell in row])
        return table


def machine() -> dict[str, str]:
    """Machine, Python and date of the figures, to be quoted with them."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{_processor()}, {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else '?'} cores",
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {sys.version.split()[0]}",
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}" if abs(cell) < 10 else f"{cell:.1f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
