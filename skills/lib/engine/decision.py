"""What the engine decides: a move, a repeat, or a refusal that changes nothing."""

from __future__ import annotations

from skills.lib.compact_json import digest
from skills.lib.field_checks import EMPTY
from skills.lib.model import values
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import StepDef
    from skills.lib.model.types import Outcome


class Refusal(Record):
    """Not allowed from where the run stands: a code for programs, the reason in words, what would be valid."""

    code: str
    why: str
    valid: tuple[str, ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()


class Repeat(Record):
    """The very request that led to where the run stands: nothing to do but to print the block again."""


class Move(Record):
    """The run after the request, the event to record, the children to create or end, and files under review to keep.

    ``contents`` has the digest of each file by path, by one digest over all of them.
    """

    run: Run
    kind: str
    detail: dict[str, Any]
    create: tuple[dict[str, Any], ...] = ()
    end: tuple[tuple[str, str], ...] = ()
    contents: Mapping[str, dict[str, str]] = EMPTY

    def keeping(self, contents: Mapping[str, dict[str, str]]) -> Move:
        """The same move, with more files to keep."""
        more = {**contents, **self.contents}
        return Move(self.run, self.kind, self.detail, self.create, self.end, more) if contents else self


class Detour(Record):
    """Where a run goes instead of where its outcome leads: a verdict fell with its files."""

    run: Run
    to: str
    detail: dict[str, Any]


Decision = Refusal | Repeat | Move


class Refused(Exception):
    """Carries a refusal out of the middle of a decision."""

    def __init__(self, code: str, why: str, valid: tuple[str, ...] = (), evidence: tuple[dict[str, Any], ...] = ()):
        self.refusal = Refusal(code, why, valid, evidence)


def check_outcome(step: StepDef, request: Request, outcome: Outcome) -> None:
    if request.outcome is not None and request.outcome != outcome:
        why = f"The outcome of {step.id} is {outcome}, not {request.outcome!r:.60}."
        raise Refused("wrong-outcome", why, (outcome,))


def request_digest(request: Request) -> str:
    """Identifies a request: the same digest is the very same command; values of secret names are left out."""
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


def last_of(run: Run, request: Request, step: StepDef, state: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of the request that leads on; of a reviewer also the last step that recorded items."""
    last = {"turn": run.turn, "digest": request_digest(request), "step": step.id}
    if "checkpoint" in run.spec:
        last["judged"] = step.id if "items" in state else run.last.get("judged", "")
    return last
