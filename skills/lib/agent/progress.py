"""How far a run is, by its events: the step, its number, and the share of the way that was reached so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skills.lib.ledger.history import Event

    # Of a workflow's steps, by its fingerprint: the id and the title of each, in order.
    Steps = Callable[[str], Sequence[tuple[str, str]]]


class Progress:
    """Where a run was after the events that this was given.

    ``percent`` is the share of the steps before the furthest one that was reached. It never goes back, and is 100 only
    if the run is done. ``about`` is what a sub-agent is to do.
    """

    def __init__(self, steps_of: Steps) -> None:
        self._steps_of = steps_of
        self._steps: Sequence[tuple[str, str]] = ()
        self._at_turn: dict[int, str] = {}
        self._visits: dict[str, int] = {}
        self.step = self.status = self.about = ""
        self.turn = self.percent = 0
        self.children: list[str] = []

    def take(self, event: Event) -> None:
        """Go on by an event of the run."""
        change = event.change
        if isinstance(change.get("spec"), dict):
            spec = change["spec"]
            self.about = str(spec.get("target") or spec.get("task") or spec.get("title") or "")
        if change.get("fingerprint"):
            self._steps = self._steps_of(str(change["fingerprint"]))
        if "step" in change:
            self.step = str(change["step"] or "")
        self.status = str(change.get("status", self.status))
        self._visits = dict(change.get("visits", self._visits))
        self.children = list(change.get("children", self.children))
        self.turn = event.turn
        self._at_turn[event.turn] = self.step
        if self.status == "done":
            self.percent = 100
        elif self.number:
            self.percent = max(self.percent, 100 * (self.number - 1) // self.of)

    def at_turn(self, turn: int) -> str:
        """The step at which the run was in that turn."""
        return self._at_turn.get(turn, self.step)

    @property
    def of(self) -> int:
        """How many steps the workflow has."""
        return len(self._steps)

    @property
    def number(self) -> int:
        """The number of the present step; that of the last one if the run is done, and 0 if it never began."""
        return self.of if self.status == "done" else self.number_of(self.step)

    @property
    def visit(self) -> int:
        """How often the present step was entered."""
        return self._visits.get(self.step, 0)

    def number_of(self, step: str) -> int:
        """The number of a step, from 1; 0 for an unknown one."""
        return next((at for at, (name, _) in enumerate(self._steps, 1) if name == step), 0)

    def title_of(self, step: str) -> str:
        """The title of a step; its id if it has none."""
        return next((title for name, title in self._steps if name == step), "") or step
