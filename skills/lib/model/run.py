"""Where a run stands, and what is asked of it: the two values that the engine works on."""

from __future__ import annotations

from skills.lib.field_checks import EMPTY
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import KW_ONLY
    from typing import Any

# The statuses that nothing moves a run out of: done, or failed where it ended by a FAIL or with a failed review that no
# person accepted. The others: open (somebody is to act), waiting (a person is to answer), pending (a child that has not
# begun).
FINISHED = frozenset(("done", "failed"))
ENDED = FINISHED | {"abandoned", "lost", "replaced"}

# The record that answers the findings of a failed review (engine/fixes.py).
FIXES = "fixes"


class Run:
    """One walk of one workflow: the projection that the ledger keeps, as plain JSON values.

    ``visits`` counts the entries of each step, ``rounds`` those since its loop was entered; ``state`` holds what each
    step recorded, ``errata`` the corrections to it; ``children`` the ids of the present step's children in order,
    ``born`` how many the run ever had; ``reviews`` each checkpoint's items and completed reviews, ``handed`` the digest
    of the files that each was given; ``question`` what a person is asked; ``spec`` what the parent gave a child;
    ``not_done`` what was left undone; ``last`` the turn and digest of the request that led here.
    """

    __slots__ = (
        "id",
        "workflow",
        "fingerprint",
        "script",
        "project",
        "parent",
        "spec",
        "status",
        "step",
        "turn",
        "params",
        "state",
        "visits",
        "rounds",
        "errata",
        "children",
        "born",
        "reviews",
        "handed",
        "question",
        "not_done",
        "last",
        "version",
    )
    id: str
    workflow: str
    fingerprint: str
    script: str
    project: str
    parent: str | None
    spec: dict[str, Any]
    status: str
    step: str | None
    turn: int
    params: dict[str, Any]
    state: dict[str, dict[str, Any]]
    visits: dict[str, int]
    rounds: dict[str, int]
    errata: dict[str, list[str]]
    children: list[str]
    born: int
    reviews: dict[str, dict[str, Any]]
    handed: dict[str, str]
    question: dict[str, Any] | None
    not_done: list[dict[str, str]]
    last: dict[str, Any]
    version: int

    def __init__(self, **fields: Any) -> None:
        for name in self.__slots__:
            setattr(self, name, fields.get(name, _EMPTY[name]() if name in _EMPTY else None))

    def to_data(self) -> dict[str, Any]:
        """Every field by name; ``Run(**data)`` is its inverse."""
        return {name: getattr(self, name) for name in self.__slots__}

    def changed(self, **fields: Any) -> Run:
        """A copy with these fields replaced; the values of the others are shared and never altered in place."""
        made = object.__new__(Run)
        for name in self.__slots__:
            setattr(made, name, fields[name] if name in fields else getattr(self, name))
        return made

    @property
    def ended(self) -> bool:
        """Whether nothing moves this run any more."""
        return self.status in ENDED

    @property
    def iteration(self) -> int:
        """How often the present step has been entered: since its loop was, where it has a limit."""
        step = self.step or ""
        return self.rounds.get(step) or self.visits.get(step, 1)

    @property
    def recorded(self) -> dict[str, Any]:
        """What every step recorded, by ``step.field``."""
        return {f"{step}.{name}": value for step, state in self.state.items() for name, value in state.items()}


_EMPTY: dict[str, Any] = {
    "id": str,
    "workflow": str,
    "fingerprint": str,
    "script": str,
    "project": str,
    "spec": dict,
    "status": lambda: "open",
    "turn": lambda: 1,
    "params": dict,
    "state": dict,
    "visits": dict,
    "rounds": dict,
    "errata": dict,
    "children": list,
    "born": int,
    "reviews": dict,
    "handed": dict,
    "not_done": list,
    "last": dict,
    "version": int,
}


class Request(Record):
    """What one call of a step script asks: the step, the run and turn it believes in, and what it reports.

    ``params`` and ``records`` hold values as given (text from the command line, JSON from a record file); ``filed`` has
    the path of the file that each record came from.
    """

    step: str = "next"
    _: KW_ONLY
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
        """Whether it says anything beyond which step it wants."""
        reported = self.params or self.records or self.errata or self.outcome or self.answer
        return bool(reported or self.lost or self.replace) or (self.qr_status, self.qr_iteration, self.qr_fail) != (
            None,
            None,
            None,
        )
