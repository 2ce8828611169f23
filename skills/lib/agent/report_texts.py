"""What became of a report, as its model reads it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.agent.calls import Stamp
    from skills.lib.model.run import Run


def refusal(refused: Any) -> str:
    """A refused report as a model reads it: why, what is missing and wrong by its name, what would be valid."""
    lines = [f"Refused ({refused.code}), nothing was changed: {refused.why}"]
    lines += [f"  {name}: {fault}" for name, fault in refused.faults.items() if fault not in refused.why]
    lines += [f"  {name} is one of: {', '.join(choices)}" for name, choices in refused.choices.items()]
    lines += [f"  valid {kind}: {', '.join(map(str, several))}" for kind, several in refused.valid.items() if several]
    missing = [name for name in refused.missing if name not in refused.faults]
    lines += [f"  missing: {', '.join(missing)}"] if missing else []
    return "\n".join(lines)


def moved(run: Run, stamp: Stamp | None) -> str:
    """Where an accepted report has led its run."""
    if run.ended:
        return f"Recorded. The run is {run.status}."
    if run.status == "waiting":
        return "Recorded. The run waits for a person now."
    if stamp is not None and run.step == stamp.step and run.turn == stamp.turn:
        return "Nothing new was recorded."
    return f"Recorded. The run is at {run.step} now: its block stands in the system message."
