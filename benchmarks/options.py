"""What a benchmark is told: how much to do, and where to show how far it is."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclasses.dataclass(frozen=True)
class Options:
    """``runs``, ``seed`` and ``p`` are of the adherence benchmark; ``quick`` takes smaller sizes and fewer repeats.

    ``disturbed`` is how many runs the fleet benchmark follows with workers that are killed and stopped.
    """

    quick: bool = False
    seed: int = 1
    runs: int = 2_000
    p: float = 0.2
    disturbed: int = 0
    console: Console = dataclasses.field(default_factory=lambda: Console(stderr=True))

    @contextlib.contextmanager
    def progress(self, name: str, total: int) -> Iterator[Callable[[], None]]:
        """Show a bar on standard error while the body runs; call what is given once for each part that is done."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal) as bar:
            task = bar.add_task(name, total=total)
            yield lambda: bar.advance(task)
