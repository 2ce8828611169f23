"""What a refusal says: what was asked, where the run stands, why not, what is valid, and the command that goes on."""

from __future__ import annotations

from skills.lib.blocks.parts import BLOCK_LIMIT, clipped
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.engine.decision import Refusal
    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import Workflow

# How much is printed of a request, of why it is refused, and of what would be valid, where the commands leave room.
ASKED_LIMIT, WHY_LIMIT, VALID_LIMIT = 1_000, 3_000, 3_000
# After these the last of what is valid opens a run, which is wanted however many are open.
_LOST = ("no-run", "unknown-run")
# What a refusal has besides: its elements, where the run stands, how much of it is not shown.
FRAME = 1_000


def asked_for(request: Request) -> str:
    """The request in words, for a refusal."""
    words = f"--step {request.typed or request.step}"
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
    room = BLOCK_LIMIT - FRAME - printed(next_line) - printed(show)
    share = max(0.1, min(1.0, room / (ASKED_LIMIT + WHY_LIMIT + VALID_LIMIT)))
    why = _bounded(refusal.why, int(WHY_LIMIT * share))
    shown = _fitting([str(choice) for choice in refusal.valid], int(VALID_LIMIT * share), refusal.code in _LOST)
    if len(shown) < len(refusal.valid):
        why += f" {len(refusal.valid) - len(shown)} of what is valid is not shown here."
    told = _bounded(asked, int(ASKED_LIMIT * share))
    parts = [Element("ASKED", {}, told), Element("STANDS", {}, stands), Element("WHY", {}, why)]
    if shown:
        parts.append(Element("VALID", {}, *[Element("choice", {}, choice) for choice in shown]))
    if show:
        parts.append(Element("SHOW", {}, show))
    if next_line:
        parts.append(Element("NEXT", {"required": "true"}, next_line))
    return Element("refused", attributes, *parts)


def printed(text: str) -> int:
    """How many characters a text takes in a document at most, be it escaped or in CDATA."""
    return len(text) + 4 * text.count("&") + 3 * text.count("<") + 17 * text.count("\r") + 12 * text.count("]]>")


def _bounded(text: str, limit: int) -> str:
    """As much of a text as takes so many characters in a document."""
    keep = min(limit, len(text))
    while (taken := printed(text[:keep])) > limit:
        keep = keep * limit // taken
    return clipped(text, keep)


def _fitting(choices: list[str], limit: int, keeps_last: bool) -> list[str]:
    """As many of the choices, whole, as there is room for; the last one before others where it is to be kept."""
    fitting: list[str] = []
    last = choices[-1:] if keeps_last else []
    left = limit - sum(printed(choice) + 50 for choice in last)
    if left < 0:
        left, last = limit, []
    for choice in choices[: len(choices) - len(last)]:
        left -= printed(choice) + 50
        if left < 0:
            break
        fitting.append(choice)
    return fitting + last
