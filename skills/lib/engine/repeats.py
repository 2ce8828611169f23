"""Whether a report is the same as the last one of its step."""

from __future__ import annotations

from skills.lib.engine.decision import Refused
from skills.lib.engine.transition import proved_by
from skills.lib.model import values
from skills.lib.model.requirements import Field
from skills.lib.model.types import Dispatch, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef
    from skills.lib.model.types import Outcome


def check(
    run: Run, step: StepDef, outcome: Outcome, reported: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]
) -> None:
    """Refuse a report that is the same as the last one, if that led back to this step and would do so again."""
    if step.route(outcome) != (step.id,) or isinstance(step.handler, (Dispatch, Person)):
        return
    worded = {spec.name for spec in step.requires if isinstance(spec, Field) and not spec.choices}
    if not any(isinstance(value, (str, list, dict)) and name in worded for name, value in reported.items()):
        return  # a choice or a number may well be the same again
    before = run.state.get(step.id, {})
    same = values.keepable(dict(reported))
    proved = run.last.get("proved", "") == proved_by(evidence)
    if proved and all(_without_blanks(before.get(name)) == _without_blanks(value) for name, value in same.items()):
        why = f"This is what was reported of {step.id} the last time, word for word: it would lead back here again."
        raise Refused("same-report", f"{why} Look again, and report what that showed.")


def _without_blanks(value: Any) -> Any:
    """The value with each run of blanks in a text as one space."""
    if isinstance(value, (list, tuple)):
        return [_without_blanks(entry) for entry in value]
    return " ".join(value.split()) if isinstance(value, str) else value
