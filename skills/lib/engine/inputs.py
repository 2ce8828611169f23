"""Reads a request: what it reports as the step and the workflow declare it, and the step that it wants.

What is wrong with it is refused here, before anything is looked up or decided.
"""

from __future__ import annotations

from skills.lib.compact_json import digest
from skills.lib.engine.decision import Refused, Report
from skills.lib.field_checks import is_reason
from skills.lib.model import values
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.run import FIXES, Request, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome, is_own_word, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


def request_digest(request: Request) -> str:
    """A digest that is equal for equal commands; values of secret names are left out."""
    return digest(
        [
            request.step,
            request.turn,
            values.keepable(dict(request.params)),
            values.keepable(dict(request.records)),
            request.outcome,
            request.answer,
            request.lost,
            request.replace,
            request.reason,
            request.qr_status,
            request.qr_iteration,
            request.qr_fail,
            *([dict(request.errata)] if request.errata else []),
        ]
    )


def read(workflow: Workflow, run: Run, step: StepDef, request: Request, digest: str) -> tuple[Run, Report]:
    """The run with the answers to findings and the errata of the request, and what else it reports of the step.

    Raises Refused for what the step does not ask for, what it lacks, and what cannot be a value.
    """
    if request.answer is not None:
        why = f"Step {step.id} asks nobody anything, so there is nothing to answer."
        raise Refused("no-question", why, wrong=("answer",))
    if run.reviews and FIXES in request.records:
        from skills.lib.engine import fixes  # few runs have reviews

        run = fixes.read(run, step, request.records[FIXES])
    if request.errata:
        from skills.lib.engine import errata  # few values prove wrong

        run = errata.corrected(run, request.errata)
    params = step_params(workflow, run, step, request)
    recorded = records(workflow, run, step, request)
    check_echo(run, step, request)
    if step.asks_later and request.outcome is not None:
        raise Refused("wrong-outcome", f"A person says how {step.id} ends: leave --outcome out.", wrong=("outcome",))
    outcome = request.outcome if step.handler else _outcome(step, request.outcome, request.step)
    return run, Report(digest, request.step, outcome, params, recorded, request.errata)


def check_target_possible(workflow: Workflow, step: StepDef, wanted: str) -> None:
    """Refuse a step to which no outcome leads."""
    target = None if wanted == "done" else wanted
    if wanted == "next" or target in step.next.values():
        return
    ways = tuple(target or "done" for target in dict.fromkeys(step.next.values()))
    if wanted == "current":
        why = f"--step current only shows {step.id}; what it reports is given with the step that it leads to."
        raise Refused("skipped-step", why, ways, of="steps", wrong=("step",))
    known = target is None or workflow.has(target)
    lead = f"step {wanted}" if known and target else ("the end" if known else f"{wanted}, which is no step of it")
    raise Refused("skipped-step", f"From {step.id} the graph has no way to {lead}.", ways, of="steps", wrong=("step",))


def _outcome(step: StepDef, given: str | None, target: str) -> Outcome:
    """The outcome of a step without a handler: the only one, or the one reported, or the one the target implies."""
    valid = tuple(outcome.value for outcome in step.next)
    if given is not None:
        if values.is_placeholder(given, "outcome"):
            why = "--outcome still stands as a placeholder; say how the step ended."
            raise Refused("unfilled", why, valid, of="outcomes", missing=("outcome",))
        if not (is_word(Outcome, given) or is_own_word(given)) or step.route(Outcome(given)) is None:
            why = f"Step {step.id} has no outcome {given!r:.60}."
            raise Refused("wrong-outcome", why, valid, of="outcomes", wrong=("outcome",))
        return Outcome(given)
    if len(step.next) == 1:
        return next(iter(step.next))
    if target != "next":
        wanted = None if target == "done" else target
        ways = [outcome for outcome, way in step.next.items() if way == wanted]
        if len(ways) == 1:
            return ways[0]
    why = f"Step {step.id} can end in {len(valid)} ways: say which with --outcome."
    raise Refused("missing-outcome", why, valid, of="outcomes", missing=("outcome",))


def parameters(specs: tuple[Arg, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of these parameters, defaults filled in. Raises Refused if one is missing, unknown or out of range."""
    known = {spec.name: spec for spec in specs}
    for name in given:
        if name not in known:
            valid = tuple(spec.flag for spec in specs)
            why = f"--{name.replace('_', '-')} is not asked for here."
            raise Refused("unknown-parameter", why, valid, of="names", wrong=(name,))
    found = {}
    for spec in specs:
        if spec.name in given:
            found[spec.name] = _value(spec, given[spec.name])
            _check_waiver(spec, found[spec.name])
        elif spec.required:
            why = _wanted(f"{spec.flag} is missing", spec)
            raise Refused("missing-parameter", why, tuple(spec.choices), missing=(spec.name,))
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
        code, missing = ("unfilled", (spec.name,)) if unfilled else ("bad-value", ())
        raise Refused(code, f"{why}.", tuple(spec.choices), missing=missing, wrong=(spec.name,)) from None


def _check_waiver(spec: Arg, value: Any) -> None:
    """Refuse a value that waives evidence and is no reason."""
    if not (spec.waives and isinstance(value, str) and value):
        return
    if not is_reason(value):
        why = f"{spec.flag} waives {spec.waives}: give the reason in more than a word; it is kept and told at the end."
        raise Refused("no-reason", why, wrong=(spec.name,))


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
            why = f"{spec.flag} was fixed when the run opened, as {kept!r:.200}."
            raise Refused("fixed-parameter", why, wrong=(spec.name,))
    return given


def records(workflow: Workflow, run: Run, step: StepDef, request: Request) -> dict[str, Any]:
    """The fields recorded on leaving the step. Raises one Refused for everything that is wrong with them."""
    fields = {spec.name: spec for spec in step.requires if isinstance(spec, Field)}
    asked = _recorded_params(workflow.step_params(step.id), step, request)
    for name in request.records:
        if name not in fields and name not in asked and not (name == FIXES and run.reviews):
            why = f"Step {step.id} records no {name!r:.80}."
            raise Refused("unknown-field", why, tuple(fields), of="names", wrong=(name,))
    recorded, wrong = {}, []
    for name, spec in fields.items():
        try:
            if name in request.records:
                recorded[name] = _field(workflow, run, step, spec, request.records[name])
            elif spec.required:
                why = _wanted(f"{name} is not recorded", spec)
                raise Refused("missing-evidence", why, tuple(spec.choices), missing=(name,))
        except Refused as refused:
            wrong.append(refused)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        missing = tuple(name for refused in wrong for name in refused.missing)
        every = Refused(wrong[0].code, " ".join(refused.why for refused in wrong), missing=missing)
        every.faults = {name: why for refused in wrong for name, why in refused.faults.items()}
        every.choices = {name: valid for refused in wrong for name, valid in refused.choices.items()}
        raise every
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
    from skills.lib.engine import answers, verdicts  # only reviewers report these

    if spec.type == "statements":
        return answers.numbered(workflow, run, step.id, spec.name, _value(spec, raw))
    known = answers.to_judge(workflow, run.spec)
    value = _value(spec, raw, known)
    if not known:
        return value
    try:
        verdicts.check_same(value, known, run.spec.get("failed", ()))
    except ValueError as error:
        raise Refused("other-items", f"{error}.", wrong=(spec.name,)) from None
    return verdicts.as_split(value, known)


def check_echo(run: Run, step: StepDef, request: Request) -> None:
    """Refuse a --qr flag that the ledger does not confirm."""
    if request.qr_status is None and request.qr_iteration is None and request.qr_fail is None:
        return
    from skills.lib.engine import verdicts  # few commands echo a review

    checkpoint = step.gate.checkpoint if step.gate else step.checkpoint
    state = verdicts.state(run.reviews.get(checkpoint or ""))
    status = str(state.status or "not reviewed")
    if request.qr_status is not None and request.qr_status != status:
        why = f"--qr-status {request.qr_status} is not what the ledger has for {checkpoint or step.id}: {status}."
        raise Refused("forged-verdict", why, wrong=("qr_status",))
    if request.qr_iteration is not None and request.qr_iteration != state.iteration:
        why = f"--qr-iteration {request.qr_iteration}: the ledger has {state.iteration}."
        raise Refused("forged-verdict", why, wrong=("qr_iteration",))
    if request.qr_fail is not None and request.qr_fail != state.failed:
        why = f"--qr-fail {str(request.qr_fail).lower()} is not what the ledger has."
        raise Refused("forged-verdict", why, wrong=("qr_fail",))
