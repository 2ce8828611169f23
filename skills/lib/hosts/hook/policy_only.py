"""An event of a session that follows no run, below a policy: it is served here if nothing but policies is asked.

``decision`` serves every other event, and this one again if anything fails here: nothing that was kept counts twice.
"""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.hosts.hook.event import Denied, Event, say_why

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def serve(raw: bytes, options: Mapping[str, str], watched: dict[str, bool]) -> int | None:
    """Serve the use of a tool, or its result, and return the exit code; None if ``decision`` has to serve the event.

    ``watched`` as in ``decision.main``.
    """
    event = Event(options.get("--host", "claude"), compact_json.loads(raw.decode()))
    if not event.session or event.kind not in ("tool", "result"):
        return None
    if event.command:
        from skills.lib.hosts.hook.shell_calls import may_concern_lockstep

        if may_concern_lockstep(event.command):
            return None
    watched["open"] = False
    if event.kind == "result":
        from skills.lib.hosts.hook import learning

        learning.learn(event, ())
        return 0
    from skills.lib.hosts.hook import guarding

    try:
        guarding.check(event, (), watched)
    except Denied as denied:
        say_why(denied)
        return 2
    return 0
