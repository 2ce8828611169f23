"""Calls the functions of a skill: handlers, the ``then`` of a Dispatch, and functions that compute targets."""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.engine.decision import Refused
from skills.lib.errors import HandlerError, UsageError
from skills.lib.model.run import Run
from skills.lib.model.steps import StepContext, StepDef, Workflow
from skills.lib.model.texts import check_tree
from skills.lib.model.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def judge(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    function: Callable[[StepContext], Any],
    state: Mapping[str, Any],
    params: Mapping[str, Any],
) -> tuple[Outcome, dict[str, Any]]:
    """The outcome and values that a handler returns.

    Raises HandlerError for an outcome that the step does not have, and for values that cannot be kept.
    """
    given = _call(workflow, run, step, function, state, params)
    name = f"{workflow.name}: the handler of step {step.id}"
    outcome, extra = given if isinstance(given, tuple) and len(given) == 2 else (given, {})
    declared = step.outcomes or tuple(step.next)
    valid = ", ".join(declared)
    if not isinstance(outcome, Outcome) or not isinstance(extra, dict):
        raise HandlerError(f"{name} returned {given!r:.200}", valid="an Outcome, or a pair of an Outcome and a dict")
    is_unknown = outcome.is_own and outcome not in step.declared
    if outcome not in declared and (is_unknown or Outcome.DEFAULT not in step.next):
        raise HandlerError(f"{name} returned {outcome}, which is not declared", valid=valid)
    try:
        check_tree(extra, "what it returned", bounded=False)
        compact_json.dumps(extra)
    except (TypeError, ValueError, UsageError) as error:
        raise HandlerError(f"{name} returned values that cannot be kept: {error}") from error
    return outcome, extra


def targets(workflow: Workflow, run: Run, step: StepDef, function: Callable[[StepContext], Any]) -> Any:
    """The targets that a function returns. Raises HandlerError for anything but texts that a block can hold."""
    given = _call(workflow, run, step, function, run.state.get(step.id, {}), {})
    name = f"{workflow.name}: the targets function of step {step.id}"
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) and one.strip() for one in given):
        raise HandlerError(f"{name} returned {given!r:.200}", valid="a list of texts, none of them empty")
    try:
        check_tree(list(given), "what it returned", bounded=False)
    except UsageError as error:
        raise HandlerError(f"{name}: {error.what}", valid=error.valid) from error
    return given


def _call(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    function: Callable[[StepContext], Any],
    state: Mapping[str, Any],
    params: Mapping[str, Any],
) -> Any:
    """What a function of the skill returns for the run. Raises HandlerError if it raises, and Refused as it is."""
    # Copies: a list that a handler changes in place must not change what the ledger compares with.
    own = _copy({**run.state, step.id: state})
    given = _copy({**run.params, **params})
    context = StepContext(given, own[step.id], own, step.id, run.iteration, _copy(run.reviews))
    try:
        return function(context)
    except Refused:
        raise
    except (Exception, SystemExit) as error:
        trace, place = error.__traceback__, ""
        while trace is not None:  # the last line of the module that has the handler
            if trace.tb_frame.f_globals is getattr(function, "__globals__", None):
                place = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"
            trace = trace.tb_next
        raise HandlerError(
            f"{workflow.name}: the handler of step {step.id} raised {type(error).__name__}: {error}{place}",
            remedy="fix the handler; the run waits",
        ) from error


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(inner) for name, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value
