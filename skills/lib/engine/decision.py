"""What goes into a decision of the engine, and what comes out: a move, a repeat, or a refusal that changes nothing."""

from __future__ import annotations

from skills.lib.compact_json import digest
from skills.lib.field_checks import EMPTY
from skills.lib.model import values
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol

    from skills.lib.model.requirements import Artifact, Command
    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import StepDef, Workflow
    from skills.lib.model.types import Outcome

    class Proof(Protocol):
        """What the engine looks up outside; the runtime answers, and each answer is evidence."""

        def children(self) -> list[Run]:
            """The present step's child runs, replaced ones included, in order."""

        def check(self, requirement: Artifact | Command, fields: Mapping[str, Any]) -> dict[str, Any]:
            """Look at a file or run a command: ``{"ok": …, "what": …, "why": …}``."""

        def contents(self, covers: Sequence[str]) -> dict[str, str]:
            """The digest of each file of the project that the patterns cover, by path."""

        def digest(self, files: Mapping[str, str]) -> str:
            """One digest over the files of ``contents``."""

        def known(self, digest: str) -> dict[str, str] | None:
            """The files of that digest, as they were recorded; None if the record has none."""

        def covered(self, covers: Sequence[str], paths: Sequence[str]) -> set[str]:
            """Those of the paths that the patterns cover."""

        def look(self, place: str, bases: Sequence[str] = ()) -> dict[str, Any]:
            """What a place leads to: its ``file``, the file's ``content``, and ``why`` it is not there."""


class Refusal(Record):
    """Not allowed in the present state of the run: a code for programs, the reason in words, what would be valid."""

    code: str
    why: str
    valid: tuple[str, ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()


class Repeat(Record):
    """The same request as the last one: nothing changes, and the block is printed again."""


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
        return Move(self.run, self.kind, self.detail, self.create, self.end, {**contents, **self.contents})


class Detour(Record):
    """Where a run goes instead of where its outcome leads, because a verdict fell with its files."""

    run: Run
    to: str
    detail: dict[str, Any]


Decision = Refusal | Repeat | Move


class Leaving(Record):
    """A step that a request leaves: ``state`` is what the step keeps, ``answered`` says that a person decided."""

    workflow: Workflow
    step: StepDef
    request: Request
    proof: Proof
    state: dict[str, Any]
    answered: bool = False

    def last(self, run: Run, state: Mapping[str, Any] = EMPTY) -> dict[str, Any]:
        """What is kept of the request as the run's last; for a reviewer also the last step that recorded items."""
        last = {"turn": run.turn, "digest": request_digest(self.request), "step": self.step.id}
        if "checkpoint" in run.spec:
            last["judged"] = self.step.id if "items" in state else run.last.get("judged", "")
        return last


class Refused(Exception):
    """Carries a refusal out of the middle of a decision."""

    def __init__(self, code: str, why: str, valid: tuple[str, ...] = (), evidence: tuple[dict[str, Any], ...] = ()):
        self.refusal = Refusal(code, why, valid, evidence)


def check_outcome(step: StepDef, request: Request, outcome: Outcome) -> None:
    """Refuse an ``--outcome`` that is not the outcome of the step."""
    if request.outcome is not None and request.outcome != outcome:
        why = f"The outcome of {step.id} is {outcome}, not {request.outcome!r:.60}."
        raise Refused("wrong-outcome", why, (outcome,))


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
