"""What a refusal says: what was requested, where the run is, why not, what is valid, and the command that goes on.

A shell reads it as a document with the flags of commands; a program takes the same as data (``Refusal``).
"""

from __future__ import annotations

from skills.lib.blocks.document import reports_outcome
from skills.lib.blocks.parts import BLOCK_LIMIT, clipped, filled, next_element
from skills.lib.field_checks import EMPTY
from skills.lib.model.types import RESERVED_FLAGS, Element
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from skills.lib.engine.decision import Refused
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow

# How much is printed of a request, of why it is refused, and of what would be valid, if the commands leave room.
ASKED_LIMIT, WHY_LIMIT, VALID_LIMIT = 1_000, 3_000, 3_000
# After these the last valid choice opens a run: it is always printed, however many runs are open.
LOST = ("no-run", "unknown-run")
# Refusals of where a run was to go: the ways from its step are valid.
_OF_WAYS = ("skipped-step", "missing-outcome", "wrong-outcome")
_IN_A_FLAG = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
# The characters of the rest of a refusal: its elements, where the run is, how many choices are not shown.
FRAME = 1_000


class Refusal(Record):
    """A refusal as data, for a program that says it in its own words.

    ``code`` is for programs, ``why`` the reason in words: an argument stands there by its name, not as a flag. ``run``,
    ``step`` and ``turn`` say where the run is. ``valid`` has what would be valid, by its kind: ``steps``, ``outcomes``,
    ``choices``, ``names`` (of fields, parameters, findings, recorded values) and ``runs``. ``missing`` names what was
    not given. ``faults`` has, by its name, why each field, parameter or argument is wrong or missing, and ``choices``
    its valid values, if there are only some: ``valid`` has these only if the refusal is about one.
    """

    code: str
    why: str
    run: str | None = None
    step: str | None = None
    turn: int | None = None
    valid: Mapping[str, Sequence[str]] = EMPTY
    missing: Sequence[str] = ()
    faults: Mapping[str, str] = EMPTY
    choices: Mapping[str, Sequence[str]] = EMPTY


def refusal_data(workflow: Workflow, run: Run | None, refusal: Refused, runs: Sequence[str] = ()) -> Refusal:
    """The refusal as data; ``runs`` are those that may have been meant."""
    flags = flags_of(workflow)
    why = without_flags(refusal.why, flags)
    faults = {name: without_flags(fault, flags) for name, fault in refusal.faults.items()}
    choices = {name: [str(choice) for choice in several] for name, several in refusal.choices.items()}
    valid: dict[str, Sequence[str]] = {"runs": runs} if runs else {}
    if refusal.valid and refusal.of != "commands":
        names = [str(one) for one in refusal.valid]
        valid[refusal.of] = [_argument(name[2:]) if name[:2] == "--" else name for name in names]
    if run is None:
        return Refusal(refusal.code, why, None, None, None, valid, refusal.missing, faults, choices)
    step = workflow.step(run.step) if run.step and not run.ended and workflow.has(run.step) else None
    if step is not None and refusal.code in _OF_WAYS and run.status != "waiting":
        valid.setdefault("steps", [target or "done" for target in dict.fromkeys(step.next.values())])
        if reports_outcome(step):
            valid.setdefault("outcomes", [str(outcome) for outcome in step.next])
    return Refusal(refusal.code, why, run.id, run.step, run.turn, valid, refusal.missing, faults, choices)


def flags_of(workflow: Workflow | None = None) -> set[str]:
    """The flags of a step script without their dashes: its parameters among them, if a workflow is given."""
    return {*RESERVED_FLAGS, *[arg.flag[2:] for arg in (workflow.params if workflow else ())]}


def without_flags(text: str, flags: Collection[str]) -> str:
    """The text with the name of an argument in place of each of these flags, and of any flag that it begins with."""
    first, *rest = text.split("--")
    found = [first]
    for part in rest:
        end = next((at for at, char in enumerate(part) if char not in _IN_A_FLAG), len(part))
        is_word = not found[-1] or not (found[-1][-1] in _IN_A_FLAG or found[-1][-1] in "/=")
        if end and is_word and (part[:end] in flags or found == [""]):
            found.append(_argument(part[:end]) + part[end:])
        else:
            found[-1:] = [f"{found[-1]}--{part}"]
    return "".join(found)


def _argument(flag: str) -> str:
    return flag.replace("-", "_")


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
    why = _bounded(refusal.printed, int(WHY_LIMIT * share))
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
