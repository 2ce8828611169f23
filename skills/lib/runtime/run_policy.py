"""The policies of a run in its record: by which texts it goes on, and what the hook knows for each.

They are that of its workflow, and those of the core skills beneath it. In the record that of the workflow is under
``policy`` and ``facts``; those of layers are under ``policies``, by the core's name.
"""

from __future__ import annotations

import os

from skills.lib import compact_json, files, paths, run_facts
from skills.lib.blocks import parts
from skills.lib.runtime.project import noting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.engine.decision import Move
    from skills.lib.model.steps import Workflow
    from skills.lib.model.types import Element
    from skills.lib.runtime.project import Project

# A longer text is no policy.
_LONGEST = 1_000_000
_UNREADABLE = "unreadable"


def noted(project: Project, workflow: Workflow, move: Move) -> tuple[Move, list[Element]]:
    """The move with the checksum of each policy that is new to the run, and of its facts; and what is to be said."""
    notices = []
    if workflow.policy:
        path = paths.of_skill(os.path.join(os.path.dirname(move.run.script), workflow.policy))
        before, now = _before(project, move, "policy"), _digest(path)
        facts = run_facts.digest(move.run.id, project.command_line.project)
        more = {**({"facts": facts} if facts else {}), **({"policy": now} if now != before else {})}
        if before and now != before:
            more["policy_was"] = before
            notices.append(parts.notice(f"The workflow's policy {workflow.policy} changed since the last step."))
        move = noting(move, more)
    if any(layer.policy for layer in workflow.layers):
        move, changed = _noted_layers(project, workflow, move)
        notices += changed
    return move, notices


def _noted_layers(project: Project, workflow: Workflow, move: Move) -> tuple[Move, list[Element]]:
    root = project.command_line.project
    named = {layer.skill: layer.policy for layer in workflow.layers if layer.policy}
    now = {skill: _digest(paths.of_layer(move.run.script, root, skill, file)) for skill, file in named.items()}
    before = _before(project, move, "policies")
    known = {skill: digest for skill in named if (digest := run_facts.digest(move.run.id, root, skill))}
    more = {**({"facts_of_layers": known} if known else {}), **({"policies": now} if now != before else {})}
    changed = [skill for skill in now if before and before.get(skill) != now[skill]]
    words = "The policy of {}, which holds beneath this run, changed since the last step."
    return noting(move, more), [parts.notice(words.format(skill)) for skill in changed]


def _digest(path: str) -> str:
    """The checksum of a policy's text."""
    try:
        return compact_json.checksum(files.read(path, _LONGEST))
    except (OSError, ValueError):
        return _UNREADABLE


def _before(project: Project, move: Move, name: str) -> Any:
    """What the run's record has last under a name; None if it has nothing."""
    if move.kind == "opened":
        return None
    kept = [event.detail[name] for event in project.ledger.each_event(move.run.id) if name in event.detail]
    return kept[-1] if kept else None
