"""Notes on recorded values that proved wrong."""

from __future__ import annotations

from skills.lib.engine.decision import Refused
from skills.lib.field_checks import is_reason
from skills.lib.model import values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef


def corrected(run: Run, reported: Mapping[str, str]) -> Run:
    """The run with the reported errata. Raises Refused if one names nothing that was recorded."""
    errata = dict(run.errata)
    known = {name: value for name, value in {**run.params, **run.recorded}.items() if value is not None}
    for name, note in reported.items():
        if name not in known:
            step, _, _ = name.partition(".")
            valid = tuple(key for key in known if key.startswith(step + ".")) or tuple(known)
            why = f"--erratum: nothing was recorded as {name!r:.80}."
            raise Refused("unknown-field", why, valid[:20], of="names", wrong=("errata",))
        if values.is_placeholder(note, "note"):
            raise Refused("unfilled", f"--erratum {name}: say what proved wrong with it.", wrong=("errata",))
        if not is_reason(note):
            why = f"--erratum {name}: say what proved wrong with it, in more than a word."
            raise Refused("no-reason", why, wrong=("errata",))
        errata[name] = [*errata.get(name, ()), note]
    return run.changed(errata=errata)


def without_outdated(run: Run, step: StepDef, state: Mapping[str, Any]) -> Run:
    """The run without the errata to values that the step's new state has changed or left out."""
    before = run.state.get(step.id, {})
    changed = [f"{step.id}.{name}" for name, value in before.items() if name not in state or state[name] != value]
    return run.changed(errata={name: notes for name, notes in run.errata.items() if name not in changed})
