"""What a person reads of a run: plain words with counts (SUMMARY), or every thought, call and result (FULL)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.lib import compact_json
from skills.lib.agent.tools import outputs
from skills.lib.model.texts import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.agent.watching.activity import Row
    from skills.lib.agent.watching.progress import Progress
    from skills.lib.ledger.history import Event

# What sessions note for themselves.
_INTERNAL = frozenset(("told",))
# The kinds that a summary has, of a run and of its sub-agents' runs: of the ledger's events, and of activities.
_EVENTS = frozenset(("opened", "moved", "asked", "refused", "finished", "abandoned", "paused", "unpaused"))
_EVENTS_BELOW = frozenset(("opened", "asked", "finished", "abandoned", "lost"))
_ACTIVITIES = frozenset(("cancel", "task", "sent-back", "refused", "stopped", "moved-on", "budget"))
# How a step went, by its outcome.
_ENDS = {"skip": "was left out", "fail": "did not succeed"}
# How much of an argument, a result or a task stands in a line, in characters.
_SHORT, _LINE = 80, 300


class Counts:
    """What a step took: calls of the model and of tools, those without success, those that were not run."""

    def __init__(self, rows: Sequence[Row]) -> None:
        kinds = [row.kind for row in rows]
        self.models, self.calls, self.refused = (kinds.count(kind) for kind in ("model", "call", "refused"))
        self.failed = sum(row.kind == "result" and row.data.get("ok") is False for row in rows)

    def data(self) -> dict[str, int]:
        """The counts by name, for a program."""
        return {"model_calls": self.models, "tool_calls": self.calls, "failed": self.failed, "refused": self.refused}

    def words(self) -> str:
        """The counts in words; empty if there are none."""
        parts = [counted(self.models, "model call")] if self.models else []
        if self.calls:
            failed = f" ({self.failed} without success)" if self.failed else ""
            parts.append(counted(self.calls, "tool call") + failed)
        if self.refused:
            parts.append(f"{self.refused} not allowed")
        return ", ".join(parts)


def is_shown(kind: str) -> bool:
    """True if an activity of this kind is shown to anybody."""
    return kind not in _INTERNAL


def is_in_summary(kind: str, below: bool, visibility: str = "") -> bool:
    """True if a summary has what is of this kind: an event of a run, or an activity, if ``visibility`` is given."""
    if visibility:
        return visibility == "summary" or kind in _ACTIVITIES
    return kind in (_EVENTS_BELOW if below else _EVENTS)


def is_undone(left: str, after: Progress, event: Event) -> bool:
    """True if an event leaves a step or a run that is not done."""
    if event.kind == "finished":
        return after.status != "done"
    return event.kind == "moved" and (left == after.step or event.detail.get("outcome") == "fail")


def of_event(event: Event, left: str, after: Progress, counts: Counts, full: bool) -> str:
    """An event of the ledger in words: ``left`` is the step that the run was at, ``counts`` what that took."""
    detail = event.detail
    if event.kind == "opened":
        return f"Started. {_at(after)}"
    if event.kind in ("moved", "asked"):
        return " ".join([_left(left, after, counts, detail), _now(left, after), _asks(event)]).strip()
    if event.kind == "finished":
        return " ".join([_left(left, after, counts, detail), _end(event, after)])
    if event.kind == "abandoned":
        return f"Given up at {_line(after.title_of(left))}: {_line(detail.get('reason', ''))}"
    if event.kind == "refused":
        if full:
            return f"Refused ({detail.get('code', '')}): {_line(detail.get('why', ''))}"
        return f"The report of {_line(after.title_of(left))} was sent back: something is missing or not valid."
    if event.kind == "paused":
        return "A person paused the run."
    if event.kind == "unpaused":
        return "A person lets the run go on."
    return f"{event.kind.replace('-', ' ').capitalize()}: {_line(compact_json.readable(detail))}"


def of_event_below(event: Event, left: str, after: Progress, counts: Counts, full: bool) -> str:
    """An event of a sub-agent's run in words."""
    reason = _line(event.detail.get("reason", ""))
    if event.kind == "created":
        return f"To do: {_line(after.about)}"
    if event.kind == "opened":
        return f"Started: {_line(after.about)}" if after.of == 1 else f"Started. {_at(after)}"
    if event.kind == "finished":
        took = counts.words()
        return f"{'Done' if after.status == 'done' else 'Ended without success'}{f': {took}' if took else ''}."
    if event.kind in ("lost", "replaced"):
        return f"{'Given up' if event.kind == 'lost' else 'Replaced'}: {reason}"
    return of_event(event, left, after, counts, full)


def of_row(row: Row, number: int, full: bool) -> str:
    """An activity in words; ``number`` says which one of its kind it is in this turn of the run."""
    data = row.data
    tool = str(data.get("tool", ""))
    if row.visibility == "hidden":
        return f"{tool}{_status(data) if row.kind == 'result' else ''}: hidden" if tool else f"{row.kind}: hidden"
    if row.visibility == "brief" and row.kind in ("call", "result"):
        return f"{tool}{_status(data) or ' was called'}."
    if row.kind == "task":
        return f"Task: {_line(data.get('text', ''))}"
    if row.kind == "model":
        return f"Model call {number} of this step"
    if row.kind == "thought":
        return str(data.get("text", "")).strip()
    if row.kind == "usage":
        return f"{data.get('input', 0):,} tokens read, {data.get('output', 0):,} written"
    if row.kind == "call":
        return f"{tool}({_arguments(data.get('arguments'))})"
    if row.kind == "result":
        text = str(data.get("text", ""))
        return f"{tool}{_status(data)}: {_first(text)}"
    if row.kind == "sent-back":
        again = f", time {number}" if number > 1 else ""
        return f"The agent ended its turn before it reported the step, and was sent back{again}."
    if row.kind == "refused":
        return f"{tool} was not run: {_line(data.get('why', ''))}" if full else f"{tool} was not run: {_barred(data)}."
    if row.kind == "suspended":
        return f"{tool} waits for somebody"
    if row.kind == "stopped":
        return f"Stopped: {_line(data.get('reason', ''))}"
    if row.kind == "made":
        return f"Files: {_line(outputs.sentence(data.get('files', ())))}"
    if row.kind == "injection":
        return f"{'Not run' if data.get('why') else 'Run'} for SKILL.md: {_line(data.get('command', ''))}"
    if row.kind == "budget":
        return f"{_line(data.get('text', ''))}."
    if row.kind == "cancel":
        return "Somebody cancelled the session."
    if row.kind == "moved-on":
        return "A new conversation begins; the run goes on where it was."
    return f"{row.kind}: {_line(compact_json.readable(data))}"


def of_todos(completed: Sequence[str], count: str) -> str:
    """The todos that are completed now, of how many."""
    return f"{'; '.join(map(_line, completed))} ({count})"


def data_of(row: Row) -> dict[str, Any]:
    """The data of an activity as they are shown: of a call that is summed up, which tool it was and how it ended."""
    if row.visibility != "brief":
        return dict(row.data)
    return {name: value for name, value in row.data.items() if name not in ("arguments", "text", "why")}


def _at(progress: Progress) -> str:
    again = f", time {progress.visit}" if progress.visit > 1 else ""
    return f"Step {progress.number} of {progress.of}: {_line(progress.title_of(progress.step))}{again}."


def _left(left: str, after: Progress, counts: Counts, detail: Mapping[str, Any]) -> str:
    """How the step went that an event left."""
    if detail.get("answer") is not None:
        return f"{_line(after.title_of(left))}: the answer is {_line(detail['answer'])}."
    took = counts.words()
    how = "is not done yet" if left == after.step else _ENDS.get(str(detail.get("outcome")), "is done")
    return f"{_line(after.title_of(left))} {how}{f': {took}' if took else ''}."


def _now(left: str, after: Progress) -> str:
    """Where a run is now."""
    back = "Back to step" if after.number < after.number_of(left) else "Step"
    children = f" {counted(len(after.children), 'sub-agent')} to run." if after.children else ""
    return f"{_at(after).replace('Step', back, 1)}{children}"


def _asks(event: Event) -> str:
    question = event.change.get("question")
    return f"A person is asked: {_line(question.get('text', ''))}" if isinstance(question, dict) else ""


def _end(event: Event, after: Progress) -> str:
    undone = len(event.change.get("not_done", ()))
    left = f" {counted(undone, 'thing')} left undone." if undone else ""
    return f"{'The run is done.' if after.status == 'done' else 'The run ended without success.'}{left}"


def _status(data: Mapping[str, Any]) -> str:
    """How a call ended; "" for one that only began."""
    return "" if "ok" not in data else " ended" if data["ok"] else " failed"


def _barred(data: Mapping[str, Any]) -> str:
    reasons = {
        "limit": "it failed too often",
        "policy": "a policy forbids it",
        "alone": "it stands alone in a message",
        "report": "only a report was due",
        "unknown": "there is no such tool",
        "text": "this step is reported by a text",
        "unseen": "nobody looked at anything",
    }
    return reasons.get(str(data.get("by", "")), "this step does not allow it")


def _arguments(arguments: object) -> str:
    if not isinstance(arguments, dict):
        return ""
    return ", ".join(f"{name}={shortened(compact_json.readable(value), _SHORT)}" for name, value in arguments.items())


def _line(text: object) -> str:
    """The text on one line, cut."""
    return shortened(" ".join(str(text).split()), _LINE)


def _first(text: str) -> str:
    """The first line of a text, cut, and how many it has."""
    lines = text.strip().splitlines() or [""]
    return f"{_line(lines[0])}{f' ({len(lines):,} lines)' if len(lines) > 1 else ''}"
