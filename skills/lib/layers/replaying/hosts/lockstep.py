"""Lockstep's own records: the events of ``lockstep agent run --json --detail full``, and ``lockstep trace --json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skills.lib import compact_json
from skills.lib.layers.replaying import verdicts
from skills.lib.layers.replaying.events import Changed, Event, Judged, Said, Terms, revised
from skills.lib.layers.replaying.pending import Pending


class Session:
    """Reads the events of one session of the agent."""

    host = "lockstep"

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._pending = Pending(self.host, terms)

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        return isinstance(record.get("cursor"), str) and "kind" in record and isinstance(record.get("data"), dict)

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What a record tells."""
        data = record.get("data")
        if not isinstance(data, dict):
            return
        kind, key, text = record.get("kind"), data.get("key"), data.get("text")
        if kind == "call":
            self._pending.begin(key, number, data.get("tool"), data.get("arguments", {}))
        elif kind == "result":
            yield from self._result(number, data, key, text)
        elif kind == "refused" and isinstance(data.get("tool"), str):
            call = self._pending.call(number, data["tool"], {}, True, data.get("why"))
            yield revised(call, was_denied=True)
        elif kind == "made" and isinstance(data.get("files"), list):
            yield Changed(number, [path for path in data["files"] if isinstance(path, str)])
        elif kind == "thought" and isinstance(text, str):
            yield Said(number, text)
        elif kind in ("moved", "finished"):
            yield from _recorded(number, data)

    def end(self) -> Iterator[Event]:
        """What is left at the end of the file."""
        yield from self._pending.left()

    def _result(self, number: int, data: Mapping[str, Any], key: Any, text: Any) -> Iterator[Event]:
        code = _exit_in(text) if data.get("tool") == "shell" else None
        given = {"output": text, "exit": code} if data.get("tool") == "shell" else text
        failed = data.get("ok") is False and code is None
        if call := self._pending.end(key, number, failed, given):
            yield call


class Trace:
    """Reads the document of a run: what the engine ran itself, and what was reported."""

    host = "lockstep"

    def __init__(self, terms: Terms) -> None:
        self._pending = Pending(self.host, terms)

    @staticmethod
    def recognises(record: Mapping[str, Any]) -> bool:
        """True for a record of this form."""
        runs = record.get("")
        return isinstance(runs, list) and bool(runs) and all(isinstance(run, dict) and "events" in run for run in runs)

    def read(self, number: int, record: Mapping[str, Any]) -> Iterator[Event]:
        """What the document tells; a number is that of an event of the ledger."""
        events = [event for run in record[""] for event in run.get("events") or () if isinstance(event, dict)]
        for event in sorted(events, key=_place):
            detail = event.get("detail")
            if isinstance(detail, dict):
                yield from self._evidence(_place(event), detail)
                yield from _recorded(_place(event), detail)

    def end(self) -> Iterator[Event]:
        """Nothing is left at the end of the file."""
        return iter(())

    def _evidence(self, number: int, detail: Mapping[str, Any]) -> Iterator[Event]:
        found = detail.get("evidence")
        for one in found if isinstance(found, list) else ():
            if not isinstance(one, dict) or not isinstance(what := one.get("what"), str):
                continue
            if one.get("kind") == "command":
                given = {"output": one.get("output", ""), "exit": one.get("exit")}
                yield self._pending.call(number, "shell", {"command": what}, False, given)
            elif one.get("kind") == "artifact":
                yield self._pending.call(number, "read", {"path": what}, one.get("ok") is not True, one.get("why"))


def _place(event: Mapping[str, Any]) -> int:
    found = event.get("seq")
    return found if type(found) is int else 0


def _recorded(number: int, detail: Mapping[str, Any]) -> Iterator[Event]:
    recorded = detail.get("recorded")
    if not isinstance(recorded, dict) or not recorded:
        return
    judged = recorded.get("judged")
    verdict = judged.get("verdict") if isinstance(judged, dict) else None
    if isinstance(verdict, dict):  # what the agent reported is evidence for it, and no verdict
        yield Judged(number, verdicts.of_engine(verdict))
    else:
        yield Said(number, compact_json.readable(recorded))


def _exit_in(text: Any) -> int | None:
    """The exit code at the end of a command's result; None if it has none."""
    last = text.rstrip().rpartition("\n")[2] if isinstance(text, str) else ""
    for line in text.split("\n") if isinstance(text, str) and not last.startswith("[exit ") else [last]:
        word = line.removeprefix("[exit ").partition(" after ")[0] if line.startswith("[exit ") else ""
        if word.isdigit() and len(word) < 10:
            return int(word)
    return None
