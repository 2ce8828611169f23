"""The policy of a workflow in the record of its runs: by which text a run goes on, and what the hook knows for it."""

from __future__ import annotations

import os

from skills.lib import compact_json, files, paths, run_facts
from skills.lib.blocks import parts
from skills.lib.runtime.project import noting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.engine.decision import Move
    from skills.lib.model.types import Element
    from skills.lib.runtime.project import Project

# A longer text is no policy.
_LONGEST = 1_000_000
_UNREADABLE = "unreadable"


def noted(project: Project, policy: str, move: Move) -> tuple[Move, list[Element]]:
    """The move with the checksum of the policy if it is new to the run, and that of its facts; and what is to be said.

    ``policy`` is the name of a file beside the run's script.
    """
    facts = run_facts.digest(move.run.id, project.command_line.project)
    now, before = _digest(move.run.script, policy), _before(project, move)
    more = {**({"facts": facts} if facts else {}), **({"policy": now} if now != before else {})}
    if not before or now == before:
        return noting(move, more), []
    changed = f"The workflow's policy {policy} changed since the last step."
    return noting(move, {**more, "policy_was": before}), [parts.notice(changed)]


def _digest(script: str, policy: str) -> str:
    """The checksum of the policy's text."""
    try:
        path = paths.of_skill(os.path.join(os.path.dirname(script), policy))
        return compact_json.checksum(files.read(path, _LONGEST))
    except (OSError, ValueError):
        return _UNREADABLE


def _before(project: Project, move: Move) -> str:
    """The checksum that the run's record has last; empty if it has none."""
    if move.kind == "opened":
        return ""
    kept = [event.detail["policy"] for event in project.ledger.each_event(move.run.id) if "policy" in event.detail]
    return str(kept[-1]) if kept else ""
