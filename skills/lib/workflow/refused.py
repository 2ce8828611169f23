"""What a refusal says: what was asked, where the run stands, why not, what is valid, and the command that goes on."""

from __future__ import annotations

from skills.lib.workflow.document import clipped
from skills.lib.workflow.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.core import Workflow
    from skills.lib.workflow.decision import Refusal
    from skills.lib.workflow.state import Request, Run

# How much is printed of a request, of why it is refused, and of what would be valid.
ASKED_LIMIT, WHY_LIMIT, VALID_LIMIT = 1_000, 3_000, 3_000


def asked_for(request: Request) -> str:
    """The request in words, for a refusal."""
    words = f"--step {request.step}"
    if request.run:
        words += f" --run {request.run}"
    if request.turn is not None:
        words += f" --turn {request.turn}"
    given = [*request.params, *request.records]
    if given:
        words += f", reporting {', '.join(sorted(given))}"
    for flag, value in (("outcome", request.outcome), ("answer", request.answer), ("qr-status", request.qr_status)):
        if value is not None:
            words += f", --{flag} {value[:200]}"
    return words


def refused_document(
    workflow: Workflow | None,
    run: Run | None,
    refusal: Refusal,
    asked: str,
    next_line: str = "",
    show: str = "",
) -> Element:
    """What was asked, where the run stands, why it is refused, and the command that goes on."""
    attributes: dict[str, object] = {"protocol": "1", "code": refusal.code}
    if workflow is not None:
        attributes["skill"] = workflow.name
    stands = "No run was opened, nothing was changed."
    if run is not None:
        attributes.update(run=run.id, turn=run.turn)
        stands = f"Nothing was changed. The run is {run.status}, at turn {run.turn}"
        if run.step and workflow is not None and workflow.has(run.step):
            number, of = workflow.number(run.step), len(workflow.steps)
            stands = f"Nothing was changed. The run stands at {run.step}, step {number} of {of}, turn {run.turn}"
        stands += "."
    why = clipped(refusal.why, WHY_LIMIT)
    shown = _fitting([str(choice) for choice in refusal.valid])
    if len(shown) < len(refusal.valid):
        why += f" {len(refusal.valid) - len(shown)} of what is valid is not shown here."
    parts = [Element("ASKED", {}, clipped(asked, ASKED_LIMIT)), Element("STANDS", {}, stands), Element("WHY", {}, why)]
    if shown:
        parts.append(Element("VALID", {}, *[Element("choice", {}, choice) for choice in shown]))
    if show:
        parts.append(Element("SHOW", {}, show))
    if next_line:
        parts.append(Element("NEXT", {"required": "true"}, next_line))
    return Element("refused", attributes, *parts)


def _fitting(choices: list[str]) -> list[str]:
    """As many of the choices, whole, as a refusal has room for."""
    left, fitting = VALID_LIMIT, []
    for choice in choices:
        left -= len(choice) + 20
        if left < 0:
            break
        fitting.append(choice)
    return fitting
