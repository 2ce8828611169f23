"""The state of a run, and a request to it: the two values that the engine works on."""

from __future__ import annotations

from skills.lib.field_checks import EMPTY
from skills.lib.model.texts import printable, shortened
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import KW_ONLY
    from typing import Any

# The statuses of a run that has ended: done, or failed (by a FAIL, or with a failed review that no person accepted).
# The others: open (somebody must act), waiting (a person must answer), pending (a child that has not begun).
FINISHED = frozenset(("done", "failed"))
ENDED = FINISHED | {"abandoned", "lost", "replaced"}

# How much of an answer, a reason or a finding stands in an entry of ``not_done``.
SHORT = 300
# The record that answers the findings of a failed review (engine/fixes.py).
FIXES = "fixes"


# Shared by all runs: the values of a run are never altered in place.
_NOTHING: dict[str, Any] = {}
_NONE: list[Any] = []


class Run(Record):
    """One walk of one workflow: the projection that the ledger keeps, as plain JSON values.

    ``visits`` counts the entries of each step, ``rounds`` those since its loop was entered; ``state`` holds what each
    step recorded, ``errata`` the corrections to it; ``children`` the ids of the present step's children in order,
    ``born`` how many the run ever had; ``reviews`` each checkpoint's items and completed reviews, ``handed`` the digest
    of the files that each was given; ``question`` what a person is asked; ``spec`` what the parent gave a child;
    ``not_done`` what was left undone; ``last`` the turn and digest of the last request.
    """

    _: KW_ONLY
    id: str = ""
    workflow: str = ""
    fingerprint: str = ""
    script: str = ""
    project: str = ""
    parent: str | None = None
    spec: dict[str, Any] = _NOTHING
    status: str = "open"
    step: str | None = None
    turn: int = 1
    params: dict[str, Any] = _NOTHING
    state: dict[str, dict[str, Any]] = _NOTHING
    visits: dict[str, int] = _NOTHING
    rounds: dict[str, int] = _NOTHING
    errata: dict[str, list[str]] = _NOTHING
    children: list[str] = _NONE
    born: int = 0
    reviews: dict[str, dict[str, Any]] = _NOTHING
    handed: dict[str, str] = _NOTHING
    question: dict[str, Any] | None = None
    not_done: list[dict[str, str]] = _NONE
    last: dict[str, Any] = _NOTHING
    version: int = 0

    def changed(self, **fields: Any) -> Run:
        """A copy with these fields replaced; the values of the others are shared and never altered in place."""
        made = object.__new__(Run)
        made._set(**{**self.fields(), **fields})
        return made

    def noted(self, kind: str, step: str, what: str) -> Run:
        """The run with one more entry of what was not done: its kind in a word, the step or checkpoint, and what."""
        entry = {"kind": kind, "step": step, "what": shortened(printable(what), SHORT)}
        return self.changed(not_done=[*self.not_done, entry])

    @property
    def ended(self) -> bool:
        """True if no request moves this run any more."""
        return self.status in ENDED

    @property
    def iteration(self) -> int:
        """How often the present step was entered; if it has a limit, since its loop was entered."""
        step = self.step or ""
        return self.rounds.get(step) or self.visits.get(step, 1)

    @property
    def recorded(self) -> dict[str, Any]:
        """What every step recorded, by ``step.field``."""
        return {f"{step}.{name}": value for step, state in self.state.items() for name, value in state.items()}


class Request(Record):
    """What one call of a step script requests: the step, the run and its turn, and what it reports.

    ``typed`` is the step as it was typed, if ``step`` is the id that was meant by it. ``params`` and ``records`` hold
    values as given (text from the command line, JSON from a record file); ``filed`` has the path of the file that each
    record came from.
    """

    step: str = "next"
    _: KW_ONLY
    typed: str = ""
    run: str | None = None
    turn: int | None = None
    project: str | None = None
    params: Mapping[str, Any] = EMPTY
    records: Mapping[str, Any] = EMPTY
    filed: Mapping[str, str] = EMPTY
    outcome: str | None = None
    answer: str | None = None
    lost: str | None = None
    replace: str | None = None
    reason: str | None = None
    errata: Mapping[str, str] = EMPTY
    qr_status: str | None = None
    qr_iteration: int | None = None
    qr_fail: bool | None = None
    total_steps: int | None = None
    stateless: bool = False
    new: bool = False

    @property
    def reports(self) -> bool:
        """True if it says anything beyond the step that it wants."""
        echoed = (self.qr_status, self.qr_iteration, self.qr_fail) != (None, None, None)
        reported = self.params or self.records or self.errata or self.outcome or self.answer
        return bool(reported or self.lost or self.replace or echoed)
