"""Each finding of a review: its status at every iteration, how it was answered, and how it ended.

A run keeps only the latest items of a checkpoint; the earlier ones are in its events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skills.lib.clean_text import one_line
from skills.lib.engine import fixes, verdicts
from skills.lib.model.types import ItemStatus, QRStatus

if TYPE_CHECKING:
    from skills.lib.ledger.history import Event


ASKED, UPHELD, ACCEPTED = "taken to a person", "upheld by a person", "accepted by a person"


@dataclass(frozen=True)
class Answer:
    """What was said to a finding: that its file was changed, or it is disputed; what a person decided on a dispute."""

    how: str
    why: str
    turn: int

    @property
    def text(self) -> str:
        """The answer in words."""
        return f"{self.how}: {self.why}" if self.why else self.how


@dataclass
class Round:
    """One completed review of a checkpoint; ``decision`` is what a person then said, if one was asked.

    ``answers`` are those to its findings by id. ``fell`` has the turns at which its verdict fell, each with the files
    that were changed. ``heard`` is set if a person let the run go on with open findings.
    """

    iteration: int
    level: int
    status: str
    turn: int
    items: Sequence[Mapping[str, Any]]
    decision: Mapping[str, Any] = field(default_factory=dict)
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    fell: list[tuple[int, list[str]]] = field(default_factory=list)
    heard: Mapping[str, Any] = field(default_factory=dict)
    upheld: Sequence[str] = ()

    def answer(self, finding: str, how: str, why: str, turn: int) -> None:
        """Note an answer once."""
        given = self.answers.setdefault(finding, [])
        if all((one.how, one.why) != (how, why) for one in given):
            given.append(Answer(how, why, turn))


@dataclass(frozen=True)
class ItemHistory:
    """One item through the rounds of its checkpoint: what it is, its entry in each round (None: not in it), its end."""

    key: str
    item: Mapping[str, Any]
    entries: tuple[Mapping[str, Any] | None, ...]
    end: str

    @property
    def settled(self) -> bool:
        """True if the last look at it was a pass."""
        return self.entries[-1] is not None and self.entries[-1].get("status") == ItemStatus.PASS


def rounds(events: Sequence[Event]) -> dict[str, list[Round]]:
    """Every completed review of a run in order, by checkpoint; after a pass, the next review begins a new series."""
    found: dict[str, list[Round]] = {}
    latest: dict[str, list[Round]] = {}
    for event in events:
        for checkpoint, review in event.change.get("reviews", {}).items():
            series = review.get("series", 1)
            done = found.setdefault(checkpoint if series == 1 else f"{checkpoint}, series {series}", [])
            latest[checkpoint] = done
            if not done or done[-1].iteration != review["iteration"]:
                level = verdicts.level_of(review)
                one = Round(review["iteration"], level, review["status"], event.turn, review["items"])
                one.upheld = review.get("upheld", ())
                done.append(one)
            _note_answers(done[-1], review, event.turn)
            if review.get("decision"):
                done[-1].decision = review["decision"]
            done[-1].heard = review.get("heard", {})
        question = event.change.get("question") or {}
        if question.get("about") == "dispute" and question["gate"] in latest:
            for name in question["ids"]:
                latest[question["gate"]][-1].answer(name, ASKED, "", event.turn)
        stale = event.detail.get("stale")
        if stale and stale["checkpoint"] in latest:
            latest[stale["checkpoint"]][-1].fell.append((event.turn, stale["files"]))
    return found


def _note_answers(one: Round, review: Mapping[str, Any], turn: int) -> None:
    """Add to a round what is new in its review's record: answers to findings, and decisions of a person on them."""
    reason = str(review.get("decision", {}).get("reason", ""))
    for name, fix in review.get("fixes", {}).items():
        one.answer(name, fix["how"], fix["why"], turn)
    for name in review.get("upheld", ()):
        if name not in one.upheld:
            one.answer(name, UPHELD, reason, turn)
    before = {item["id"] for item in one.items if item.get("accepted")}
    for item in review["items"]:
        if item.get("accepted") and item["id"] not in before:
            one.answer(item["id"], ACCEPTED, item["accepted"], turn)
    for item in verdicts.blocking_now(review) if review.get("settled") else ():
        given = one.answers.get(item["id"])
        if item.get("file") and (not given or given[-1].how == UPHELD):
            one.answer(item["id"], fixes.CHANGED, item["file"], turn)


def as_data(done: Sequence[Round]) -> list[dict[str, Any]]:
    """The rounds of a checkpoint for a program, without their items."""
    return [
        {
            "iteration": one.iteration,
            "status": one.status,
            "turn": one.turn,
            "decision": dict(one.decision),
            "answers": {
                name: [{"how": answer.how, "why": answer.why, "turn": answer.turn} for answer in given]
                for name, given in one.answers.items()
            },
            "fell": [{"turn": turn, "files": files} for turn, files in one.fell],
        }
        for one in done
    ]


def histories(done: Sequence[Round]) -> list[ItemHistory]:
    """Each item of these rounds in the order of its first appearance; an id of two reviewers says whose it is."""
    counts = [Counter(item["id"] for item in one.items) for one in done]
    shared = {name for count in counts for name, times in count.items() if times > 1}
    tables = [_by_key(one.items, shared) for one in done]
    found = []
    for key in dict.fromkeys(key for table in tables for key in table):
        entries = tuple(table.get(key) for table in tables)
        first = next(entry for entry in entries if entry is not None)
        found.append(ItemHistory(key, first, entries, _end(entries, done)))
    return found


def _by_key(items: Sequence[Mapping[str, Any]], shared: set[str]) -> dict[str, Mapping[str, Any]]:
    """The items by id; if several reviewers chose the same id, by the id and the reviewer's target or number."""
    found: dict[str, Mapping[str, Any]] = {}
    for item in items:
        key, number = item["id"], f"reviewer {item.get('owner', '?')}"
        if key in shared:
            key += f" ({one_line(item.get('target') or number)})"
        found[key if key not in found else f"{key}, {number}"] = item
    return found


def _end(entries: Sequence[Mapping[str, Any] | None], done: Sequence[Round]) -> str:
    last, final = entries[-1], done[-1]
    if last is None:
        seen = max(one.iteration for entry, one in zip(entries, done, strict=True) if entry is not None)
        return f"not judged again after iteration {seen}"
    if last["status"] == ItemStatus.PASS:
        at = len(entries)
        while at and (entry := entries[at - 1]) is not None and entry["status"] == ItemStatus.PASS:
            at -= 1
        before = [entry for entry in entries[:at] if entry is not None]
        return f"{before[-1]['status']}, then passed at iteration {done[at].iteration}" if before else "passed"
    if last.get("accepted"):
        return f"{ACCEPTED}: {last['accepted']}"
    if final.heard:
        return f"open, as {who(final.heard)} was told at {final.heard['step']}"
    if last not in verdicts.blocking(final.items, final.level):
        return f"left open: {last['severity']} does not block at iteration {final.iteration}"
    if final.decision.get("answer") == "accept":
        return f"accepted by {who(final.decision)}: {final.decision.get('reason', '')}"
    return "open" if final.status == QRStatus.FAIL else "left open"


def who(decision: Mapping[str, Any]) -> str:
    """Who gave an answer, in words."""
    return "a person" if decision.get("by") == "person" else "a person, as the agent reports"
