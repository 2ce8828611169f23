"""What people answered in the runs that an agent follows, as calls of the tool ``answer`` of a policy.

The answers are read from the ledger, which says who gave each: ``$by`` is "person" or "agent". A run that may have come
with the project has no answers: it must have been run by this user.
"""

from __future__ import annotations

from skills.lib import paths, status_files
from skills.lib.engine.decision import is_person
from skills.lib.ledger import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.hosts.hook.evidence import Evidence
    from skills.lib.hosts.hook.followed import Status


def learn(evidence: Evidence, statuses: Sequence[Status]) -> None:
    """Have a policy learn the answers that its facts do not have yet."""
    known = {record["run"]: record["seq"] for record in evidence.facts.records if record.get("kind") == "answers"}
    for status in statuses:
        run, project = str(status["run"]), str(status["project"])
        signed = status_files.read(project, run)
        ledger = Ledger.existing(paths.home(project))
        if ledger is None or signed is None or not status_files.is_signed(project, run, signed):
            continue
        with ledger:
            events = [event for event in ledger.each_event(run) if event.seq > known.get(run, 0)]
        records: list[dict[str, Any]] = []
        for event in events:
            if "answer" in event.detail:
                given = {name: event.detail.get(name) for name in ("answer", "reason")}
                given |= {"step": event.detail.get("from"), "by": "person" if is_person(event.actor) else "agent"}
                records += evidence.guard.learn("answer", given, True, given["answer"], f"{run}-{event.seq}")
        if events:
            evidence.keep(records, {"kind": "answers", "run": run, "seq": events[-1].seq})
