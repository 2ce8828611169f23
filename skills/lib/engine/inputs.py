"""What a request reports: parameters, records and errata, read as the step and the workflow declare them."""

from __future__ import annotations

from skills.lib.engine.decision import Refused
from skills.lib.model import values
from skills.lib.model.requirements import Field
from skills.lib.model.run import FIXES, Request, Run
from skills.lib.model.steps import StepDef, Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.requirements import Arg


def parameters(specs: tuple[Arg, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of these parameters, defaults filled in. Raises Refused if one is missing, unknown or out of range."""
    known = {spec.name: spec for spec in specs}
    for name in given:
        if name not in known:
            valid = tuple(spec.flag for spec in specs)
            raise Refused("unknown-parameter", f"--{name.replace('_', '-')} is not asked for here.", valid)
    found = {}
    for spec in specs:
        if spec.name in given:
            found[spec.name] = _value(spec, given[spec.name])
            _check_waiver(spec, found[spec.name])
        elif spec.required:
            raise Refused("missing-parameter", _wanted(f"{spec.flag} is missing", spec), tuple(spec.choices))
        else:
            found[spec.name] = spec.default
    return found


def _wanted(what: str, spec: Arg | Field) -> str:
    """What is missing, with what a value of ``spec`` must be and what it is for."""
    about = f" ({spec.help})" if spec.help else ""
    return f"{what}: {values.expectation(spec)}{about}."


def _value(spec: Arg | Field, raw: Any, known: Sequence[Mapping[str, Any]] = ()) -> Any:
    try:
        return values.read(spec, raw, known)
    except ValueError as error:
        unfilled = isinstance(raw, str) and values.is_placeholder(raw, spec.name)
        # A refusal is kept with the run, and a secret is not.
        secret = values.is_secret(spec.name) and not unfilled
        why = f"{spec.name} is not {values.expectation(spec)}" if secret else str(error)
        raise Refused("unfilled" if unfilled else "bad-value", f"{why}.", tuple(spec.choices)) from None


def _check_waiver(spec: Arg, value: Any) -> None:
    """Refuse a value that waives evidence and is no reason."""
    if not (spec.waives and isinstance(value, str) and value):
        return
    from skills.lib.reasons import is_reason  # few steps ask for a reason

    if not is_reason(value):
        why = f"{spec.flag} waives {spec.waives}: give the reason in more than a word; it is kept and told at the end."
        raise Refused("no-reason", why)


def step_params(workflow: Workflow, run: Run, step: StepDef, request: Request) -> dict[str, Any]:
    """The parameters reported on leaving the step; one may be given as a record if no field has its name."""
    given = beyond_run(workflow, run, request)
    specs = workflow.step_params(step.id)
    for name in _recorded_params(specs, step, request):
        given.setdefault(name, request.records[name])
    return parameters(specs, given)


def _recorded_params(specs: tuple[Arg, ...], step: StepDef, request: Request) -> list[str]:
    """The step's parameters that are given as records, and not with another value as a parameter."""
    fields = {spec.name for spec in step.requires if isinstance(spec, Field)}
    asked = {spec.name for spec in specs} - fields
    return [
        name
        for name, value in request.records.items()
        if name in asked and str(request.params.get(name, value)) == str(value)
    ]


def beyond_run(workflow: Workflow, run: Run, request: Request) -> dict[str, Any]:
    """The given parameters without the run's. Raises Refused if one of the run's has another value now."""
    given = dict(request.params)
    for spec in workflow.run_params():
        if spec.name in given and _value(spec, given.pop(spec.name)) != run.params.get(spec.name):
            kept = run.params.get(spec.name)
            raise Refused("fixed-parameter", f"{spec.flag} was fixed when the run opened, as {kept!r:.200}.")
    return given


def records(workflow: Workflow, run: Run, step: StepDef, request: Request) -> dict[str, Any]:
    """The fields recorded on leaving the step. Raises one Refused for everything that is wrong with them."""
    fields = {spec.name: spec for spec in step.requires if isinstance(spec, Field)}
    asked = _recorded_params(workflow.step_params(step.id), step, request)
    for name in request.records:
        if name not in fields and name not in asked and not (name == FIXES and run.reviews):
            raise Refused("unknown-field", f"Step {step.id} records no {name!r:.80}.", tuple(fields))
    recorded, wrong = {}, []
    for name, spec in fields.items():
        try:
            if name in request.records:
                recorded[name] = _field(workflow, run, step, spec, request.records[name])
            elif spec.required:
                raise Refused("missing-evidence", _wanted(f"{name} is not recorded", spec), tuple(spec.choices))
        except Refused as refused:
            wrong.append(refused)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise Refused(wrong[0].refusal.code, " ".join(refused.refusal.why for refused in wrong))
    return recorded


def fits(workflow: Workflow, run: Run, step: StepDef, spec: Arg | Field, raw: Any) -> bool:
    """True if a value can be reported for this field or parameter of the run's present step."""
    try:
        if isinstance(spec, Field):
            _field(workflow, run, step, spec, raw)
            return True
    except Refused:
        return False
    return fits_parameter(spec, raw)


def fits_parameter(spec: Arg, raw: Any) -> bool:
    """True if a value can be given for a parameter."""
    try:
        _check_waiver(spec, _value(spec, raw))
    except Refused:
        return False
    return True


def _field(workflow: Workflow, run: Run, step: StepDef, spec: Field, raw: Any) -> Any:
    """The value of a field; statements get their numbers, and a re-verification is held to the items given."""
    if spec.type not in ("items", "statements"):
        return _value(spec, raw)
    from skills.lib.engine import answers, quality

    if spec.type == "statements":
        return answers.numbered(workflow, run, step.id, spec.name, _value(spec, raw))
    known = answers.to_judge(workflow, run.spec)
    value = _value(spec, raw, known)
    if not known:
        return value
    try:
        quality.check_same(value, known, run.spec.get("failed", ()))
    except ValueError as error:
        raise Refused("other-items", f"{error}.") from None
    return quality.as_split(value, known)


def corrected(run: Run, request: Request) -> Run:
    """The run with the errata that the request reports. Raises Refused if one names nothing that was recorded."""
    from skills.lib.reasons import is_reason  # few steps ask for a reason

    errata = dict(run.errata)
    known = {name: value for name, value in {**run.params, **run.recorded}.items() if value is not None}
    for name, note in request.errata.items():
        if name not in known:
            step, _, _ = name.partition(".")
            valid = tuple(key for key in known if key.startswith(step + ".")) or tuple(known)
            raise Refused("unknown-field", f"--erratum: nothing was recorded as {name!r:.80}.", valid[:20])
        if values.is_placeholder(note, "note"):
            raise Refused("unfilled", f"--erratum {name}: say what proved wrong with it.")
        if not is_reason(note):
            raise Refused("no-reason", f"--erratum {name}: say what proved wrong with it, in more than a word.")
        errata[name] = [*errata.get(name, ()), note]
    return run.changed(errata=errata)


def without_outdated_errata(run: Run, step: StepDef, state: Mapping[str, Any]) -> Run:
    """The run without the errata to values that the step's new state has changed or left out."""
    if not run.errata:
        return run
    before = run.state.get(step.id, {})
    changed = [f"{step.id}.{name}" for name, value in before.items() if name not in state or state[name] != value]
    return run.changed(errata={name: notes for name, notes in run.errata.items() if name not in changed})


def check_echo(run: Run, step: StepDef, request: Request) -> None:
    """Refuse a --qr flag that the ledger does not confirm."""
    if request.qr_status is None and request.qr_iteration is None and request.qr_fail is None:
        return
    from skills.lib.engine import quality

    checkpoint = step.gate.checkpoint if step.gate else step.checkpoint
    state = quality.state(run.reviews.get(checkpoint or ""))
    status = str(state.status or "not reviewed")
    if request.qr_status is not None and request.qr_status != status:
        why = f"--qr-status {request.qr_status} is not what the ledger has for {checkpoint or step.id}: {status}."
        raise Refused("forged-verdict", why)
    if request.qr_iteration is not None and request.qr_iteration != state.iteration:
        raise Refused("forged-verdict", f"--qr-iteration {request.qr_iteration}: the ledger has {state.iteration}.")
    if request.qr_fail is not None and request.qr_fail != state.failed:
        raise Refused("forged-verdict", f"--qr-fail {str(request.qr_fail).lower()} is not what the ledger has.")
