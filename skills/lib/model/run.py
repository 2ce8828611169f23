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


_STATUSES = ENDED | {"open", "waiting", "pending"}
# How many sub-agents' runs a run may have had.
MOST_CHILDREN = 100_000
# How many characters a run has, and the definition of a workflow: JSON takes many times its length of memory.
RUN_LIMIT = 8_000_000
_IN_AN_ID = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
# What the parts of some fields are: of an entry of ``not_done``, of a review and its items, and so on.
_UNDONE = {"kind", "step", "what"}
_ANY = (object,)
_TEXT, _OPTIONAL, _LIST, _MAP, _NUMBER = (str,), (str, type(None)), (list, tuple), (dict,), (int,)
_ITEM: dict[str, tuple[type, ...]] = {
    "id": _TEXT,
    "status": _TEXT,
    "severity": _TEXT,
    "check": _TEXT,
    "scope": _TEXT,
    "finding": _TEXT,
}
_ITEM |= {"file": _TEXT, "content": _TEXT, "text": _TEXT, "kind": _TEXT, "command": _TEXT, "target": _TEXT}
_REVIEW: dict[str, tuple[type, ...]] = {
    "iteration": _NUMBER,
    "level": _NUMBER,
    "series": _NUMBER,
    "returns": _NUMBER,
    "passed_at": _NUMBER,
}
_REVIEW |= {"status": _TEXT, "content": _OPTIONAL, "covers": _LIST, "items": _LIST, "heard": _MAP, "fixes": _MAP}
_REVIEW |= {"disputes": _MAP, "named": _MAP, "fell_with": _TEXT, "asked_about": _TEXT}
_QUESTION: dict[str, tuple[type, ...]] = {
    "text": _TEXT,
    "choices": _LIST,
    "gate": _TEXT,
    "about": _TEXT,
    "outcome": _OPTIONAL,
}
_LAST: dict[str, tuple[type, ...]] = {
    "turn": _NUMBER,
    "digest": _TEXT,
    "step": _OPTIONAL,
    "judged": _TEXT,
    "reason": _TEXT,
    "outcome": _OPTIONAL,
    "left": _LIST,
}
_LEFT: dict[str, tuple[type, ...]] = {"step": _TEXT, "outcome": _TEXT, "limit": _NUMBER, "stale": (bool,)}
_SPEC: dict[str, tuple[type, ...]] = {
    "agent": _TEXT,
    "step": _TEXT,
    "title": _TEXT,
    "script": _OPTIONAL,
    "task": _TEXT,
    "target": _TEXT,
}
_SPEC |= {"number": _NUMBER, "context": _TEXT, "params": _MAP, "model": _OPTIONAL, "values": _MAP, "checkpoint": _TEXT}
_SPEC |= {
    "forbidden": _LIST,
    "items": _LIST,
    "failed": _LIST,
    "checks": _LIST,
    "covers": _LIST,
    "bases": _LIST,
    "fields": _LIST,
}


def _all(value: Any, kind: type, of: type) -> bool:
    """True if it is a list of values of a type, or an object with such values."""
    if not isinstance(value, kind):
        return False
    inside: Any = value.values() if isinstance(value, dict) else value
    return all(type(one) is of for one in inside)


def _has_kinds(parts: Any, kinds: Mapping[str, tuple[type, ...]]) -> bool:
    """True if each part that is known by name is of one of its types."""
    return type(parts) is dict and all(isinstance(value, kinds.get(name, _ANY)) for name, value in parts.items())


def _is_review(review: Mapping[str, Any]) -> bool:
    if not _has_kinds(review, _REVIEW) or not {"status", "items"} <= review.keys():
        return False
    return all(_has_kinds(item, _ITEM) and {"id", "status", "severity"} <= item.keys() for item in review["items"])


class Run(Record):
    """One walk of one workflow: the projection that the ledger keeps, as plain JSON values.

    ``visits`` counts the entries of each step, ``rounds`` those since its loop was entered; ``state`` holds what each
    step recorded, ``errata`` the corrections to it; ``children`` the ids of the present step's children in order,
    ``born`` how many the run ever had; ``reviews`` each checkpoint's items and completed reviews, ``handed`` the digest
    of the files that each was given; ``question`` what a person is asked; ``spec`` what the parent gave a child;
    ``not_done`` what was left undone; ``last`` the turn and digest of the last request, with the step that was left
    last, and ``left``: all that it left, if these are several.
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

    def _check(self) -> None:
        """Raise TypeError if a field holds what no run has there: a ledger may be anybody's."""
        right = (
            self.status in _STATUSES
            and type(self.turn) is type(self.born) is type(self.version) is int
            and 0 <= self.born <= MOST_CHILDREN
            and not (self.step or "").strip(_IN_AN_ID)
            and "\0" not in self.project + self.script
            and (self.script[:1] in ("", "/", "\\") or self.script[1:2] == ":")
            and type(self.params) is dict
            and type(self.not_done) is list
            and _all(self.children, list, str)
            and _all(self.state, dict, dict)
            and _all(self.visits, dict, int)
            and _all(self.rounds, dict, int)
            and _all(self.handed, dict, str)
            and _all(self.errata, dict, list)
            and _all(self.reviews, dict, dict)
            and all(_all(notes, list, str) for notes in self.errata.values())
            and all(_all(entry, dict, str) and entry.keys() >= _UNDONE for entry in self.not_done)
            and all(_is_review(review) for review in self.reviews.values())
            and (self.question is None or _has_kinds(self.question, _QUESTION))
            and _has_kinds(self.last, _LAST)
            and all(_has_kinds(entry, _LEFT) and "step" in entry for entry in self.last.get("left", ()))
            and _has_kinds(self.spec, _SPEC)
            and (self.parent is None or bool(self.spec.get("script")) or {"step", "task", "number"} <= self.spec.keys())
        )
        if not right:
            raise TypeError("a Run has a field that no run has")

    @property
    def has_moved(self) -> bool:
        """True if a command moved the run since it was opened; the opening itself may have left automatic steps."""
        return self.turn > 1 and bool(self.last.get("digest"))

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
