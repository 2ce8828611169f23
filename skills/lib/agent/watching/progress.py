"""How far a run is, by its events and its list of todos: the step, its number, the share of the way, milestones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skills.lib.agent.watching.activity import Row
    from skills.lib.ledger.history import Event

    # Of a workflow's steps, by its fingerprint: the id and the title of each, in order.
    Steps = Callable[[str], Sequence[tuple[str, str]]]

# The steps of a skill without a graph, and how much of the way is before the work.
_PROSE = {("objectives", "work"): 0.05, ("work",): 0.0}
# What is left for the end of a step whose todos are all done.
_MOST = 0.95
_MILESTONES = ("moved", "asked", "finished")


class Progress:
    """Where a run was after the events and rows that this was given.

    ``percent`` is the share of the steps before the furthest one that was reached, with that of the present step's
    todos that are completed, or of the objectives that were reported as done. It never goes back, and is 100 only if
    the run is done. ``about`` is what a sub-agent is to do. ``milestones`` counts the steps that were left and the
    todos that were completed, and ``since`` is the place of the last one, ``before`` that of the one before it.
    """

    def __init__(self, steps_of: Steps) -> None:
        self._steps_of = steps_of
        self._steps: Sequence[tuple[str, str]] = ()
        self._at_turn: dict[int, str] = {}
        self._visits: dict[str, int] = {}
        self.step = self.status = self.about = ""
        self.turn = self.percent = 0
        self.children: list[str] = []
        self.milestones = 0
        self.since = self.before = (0, 0)
        # The share of the objectives of a skill without a graph that were reported as done.
        self._reported = 0.0
        # The todos of the present step that were completed, and how many there are.
        self._completed: dict[str, None] = {}
        self._todos = 0

    def take(self, event: Event) -> None:
        """Go on by an event of the run."""
        change = event.change
        if isinstance(change.get("spec"), dict):
            spec = change["spec"]
            self.about = str(spec.get("target") or spec.get("task") or spec.get("title") or "")
        if change.get("fingerprint"):
            self._steps = self._steps_of(str(change["fingerprint"]))
        if "step" in change and str(change["step"] or "") != self.step:
            self.step, self._completed, self._todos = str(change["step"] or ""), {}, 0
        self.status = str(change.get("status", self.status))
        self._visits = dict(change.get("visits", self._visits))
        self.children = list(change.get("children", self.children))
        self.turn = event.turn
        self._at_turn[event.turn] = self.step
        work = change.get("state", {}).get("work", {})
        if work.get("objectives") and isinstance(work.get("done"), int):
            self._reported = work["done"] / len(work["objectives"])
        if event.kind in _MILESTONES:
            self._reach((event.seq, 0))
        self._advance()

    def take_row(self, row: Row) -> list[str]:
        """Go on by an activity of the run; the todos that it says are completed now."""
        todos = row.data.get("arguments", {}).get("todos") if row.kind == "call" else None
        if not isinstance(todos, list):
            return []
        known = [todo for todo in todos if isinstance(todo, dict)]
        done = [str(todo.get("content", "")) for todo in known if todo.get("status") == "completed"]
        new = [text for text in dict.fromkeys(done) if text not in self._completed]
        self._completed |= dict.fromkeys(new)
        self._todos = max(len(known), len(self._completed))
        if new:
            self._reach((row.after, row.id))
            self._advance()
        return new

    @property
    def todos(self) -> str:
        """How many todos of the present step are completed, as ``2 of 5``; "" if there are none."""
        return f"{len(self._completed)} of {self._todos}" if self._todos else ""

    def _reach(self, place: tuple[int, int]) -> None:
        self.milestones += 1
        self.before, self.since = self.since, place

    def _advance(self) -> None:
        """Note the share of the way, which never goes back."""
        if self.status == "done":
            self.percent = 100
        elif self.number:
            share = _MOST * len(self._completed) / self._todos if self._todos else 0.0
            before = _PROSE.get(tuple(step for step, _ in self._steps))
            if before is None or self.step != "work":
                way = (self.number - 1 + share) / self.of if before is None else 0.0
            else:
                way = before + (1 - before) * max(share, _MOST * self._reported)
            self.percent = max(self.percent, int(100 * way))

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
