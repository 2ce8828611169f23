"""Two sessions of one host: what is decided before the library is loaded, and the same by the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hosts.hook.guarded_host import CODING, SILENT, Guarded
from tests.hosts.hook.hooked import Answer

POLICY = CODING + "  shell(make release): {needs: [\"approval.by == 'person'\"]}\n"
QUICK, LONG = "quick-1", "long-1"
# An event that may name a run is served by the library.
BY_LIBRARY = {"note": "/step"}


def both(host: Guarded, event: dict[str, Any]) -> Answer:
    """What the hook says to an event, which must be what the library says to it, with the same facts afterwards."""
    answers = []
    for session, more in ((QUICK, {}), (LONG, BY_LIBRARY)):
        host.session = session
        answers.append(host.tell({**event, **more}))
    assert answers[0] == answers[1]
    assert facts(host, QUICK) == facts(host, LONG)
    return answers[0]


def facts(host: Guarded, session: str) -> list[str]:
    """The facts of a session, line by line."""
    found = [path for path in (host.state / "facts").glob("*") if f"-{session}." in path.name]
    return [line for path in sorted(found) for line in path.read_text().splitlines()]


def begun(folder: Path, policy: str = POLICY) -> Guarded:
    """A host whose two sessions know that the tests passed."""
    host = Guarded(folder, policy)
    for session in (QUICK, LONG):
        host.session, host.calls = session, 0
        assert host.shell("make test") == SILENT
    return host
