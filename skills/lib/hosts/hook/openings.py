"""Which run a session has opened: a mark is made before a command that may open one; what it printed names the run.

The mark costs a file for the time of the call, so that no program is started for the results of all other calls.
"""

from __future__ import annotations

import os

from skills.lib import files, paths, status_files
from skills.lib.hosts.hook import results, tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.hosts.hook.event import Event

# The folder of the marks, in the folder of what Lockstep keeps for a user; early.py and the hosts' hooks look there.
OPENINGS = "openings"
# The first tag of a block is within so many characters of the result.
_BEGIN = 20_000


def folder() -> str:
    """The folder of the marks."""
    return os.path.join(paths.state(), OPENINGS)


def mark(event: Event) -> None:
    """Keep in mind that a call that may open a run does not go on with one.

    If that cannot be written, the run is followed from its first report. A key of the user is made with the first mark:
    the block that opens the run is then signed.
    """
    goes_on = event.given.get("run") if tools.is_ours(event.tool) else "--run" in event.command
    if not goes_on:
        from skills.lib import user_key  # few calls open a run

        try:
            user_key.make()
            files.write(_path(event.own), b"")
        except OSError:
            return


def take(event: Event) -> str:
    """The id of the run whose block was printed by a call that may have opened it; else "". The mark is removed."""
    path = _path(event.own)
    if not os.path.lexists(path):
        return ""
    files.remove(path)
    try:  # noqa: SIM105  as in user_key
        os.rmdir(folder())  # hosts look for the folder alone
    except OSError:
        pass  # another session opens a run
    return _printed(_result(event))


def _path(name: str) -> str:
    return os.path.join(folder(), name)


def _result(event: Event) -> Any:
    if tools.is_ours(event.tool):
        return results.of_tool(event.payload).value
    return results.of_shell(event.host, event.payload).value["output"]


def _printed(result: Any) -> str:
    """The run of the block that a call printed: other open runs that it names do not count."""
    if isinstance(result, dict):
        run = result.get("run") if result.get("kind") in ("step", "waiting") else ""
    else:
        lines = str(result)[:_BEGIN].split("\n")  # a host may put the errors before the output
        tag = next((line for line in lines if line.startswith(("<step ", "<waiting "))), "")
        run = tag.partition(' run="')[2].partition('"')[0]
    return run if isinstance(run, str) and status_files.is_id(run) and "." not in run else ""
