"""What a refusal says: what was requested, where the run is, why not, what is valid, and the command that goes on."""

from __future__ import annotations

from skills.lib.blocks.parts import BLOCK_LIMIT, clipped, filled, next_element
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.engine.decision import Refused
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow

# How much is printed of a request, of why it is refused, and of what would be valid, if the commands leave room.
ASKED_LIMIT, WHY_LIMIT, VALID_LIMIT = 1_000, 3_000, 3_000
# After these the last valid choice opens a run: it is always printed, however many runs are open.
LOST = ("no-run", "unknown-run")
# The characters of the rest of a refusal: its elements, where the run is, how many choices are not shown.
FRAME = 1_000


def refused_document(
    workflow: Workflow | None,
    run: Run | None,
    refusal: Refused,
    asked: str,
    next_line: str = "",
    show: str = "",
) -> Element:
    """What was requested, where the run is, why it is refused, and the command that goes on."""
    attributes = {
        "protocol": "1",
        "code": refusal.code,
        "skill": workflow.name if workflow is not None else None,
        "run": run.id if run is not None else None,
        "turn": run.turn if run is not None else None,
    }
    state = "No run was opened, nothing was changed."
    if run is not None:
        state = f"Nothing was changed. The run is {run.status}, at turn {run.turn}"
        if run.step and workflow is not None and workflow.has(run.step):
            number, of = workflow.number(run.step), len(workflow.steps)
            state = f"Nothing was changed. The run stands at {run.step}, step {number} of {of}, turn {run.turn}"
        state += "."
    room = BLOCK_LIMIT - FRAME - printed(next_line) - printed(show)
    share = max(0.1, min(1.0, room / (ASKED_LIMIT + WHY_LIMIT + VALID_LIMIT)))
    why = _bounded(refusal.why, int(WHY_LIMIT * share))
    shown = _fitting([str(choice) for choice in refusal.valid], int(VALID_LIMIT * share), refusal.code in LOST)
    if len(shown) < len(refusal.valid):
        why += f" {len(refusal.valid) - len(shown)} of what is valid is not shown here."
    sections = filled(
        Element("ASKED", None, _bounded(asked, int(ASKED_LIMIT * share))),
        Element("STANDS", None, state),
        Element("WHY", None, why),
        Element("VALID", None, *[Element("choice", None, choice) for choice in shown]),
        Element("SHOW", None, show) if show else None,
        next_element(next_line) if next_line else None,
    )
    return Element("refused", attributes, *sections)


def printed(text: str) -> int:
    """The most characters that a text takes in a document, escaped or in CDATA."""
    return len(text) + 4 * text.count("&") + 3 * text.count("<") + 17 * text.count("\r") + 12 * text.count("]]>")


def _bounded(text: str, limit: int) -> str:
    """The beginning of a text that takes at most ``limit`` characters in a document."""
    keep = min(limit, len(text))
    while (taken := printed(text[:keep])) > limit:
        keep = keep * limit // taken
    return clipped(text, keep)


def _fitting(choices: list[str], limit: int, keeps_last: bool) -> list[str]:
    """As many whole choices as ``limit`` has room for; with ``keeps_last`` the last one comes before the others."""
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
