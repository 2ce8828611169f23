"""What goes into a decision of the engine, and what comes out: a move, or a refusal that changes nothing."""

from __future__ import annotations

from skills.lib.field_checks import EMPTY
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.engine.proof import Proof
    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef, Workflow
    from skills.lib.model.types import Outcome

# The actor of an answer that the agent passes on, if a prompt shows that a person gave it.
PROMPTED = "person (prompt)"


def is_person(actor: str) -> bool:
    """True for ``person (terminal)``, ``(prompt)``, ``(web)`` and ``(api)``; an older record says ``person``."""
    return actor == "person" or actor.startswith("person (")


class Refused(Exception):
    """Not allowed in the present state of the run: a code for programs, the reason in words, what would be valid.

    The words may name flags of a step script; ``of`` says what the valid texts are (``steps``, ``outcomes``,
    ``choices``, ``names``, ``runs``; ``commands`` are a shell's alone), ``missing`` names what was not given.
    ``wrong`` names the fields, parameters and arguments that are wrong, if they are others than those; ``faults`` has
    why by the name of each, and ``choices`` its valid values, if there are only some. ``how`` says what
    a reader of the printed document does; it speaks of its parts.
    """

    def __init__(
        self,
        code: str,
        why: str,
        valid: tuple[str, ...] = (),
        evidence: tuple[dict[str, Any], ...] = (),
        of: str = "choices",
        missing: tuple[str, ...] = (),
        wrong: tuple[str, ...] = (),
        how: str = "",
    ):
        super().__init__(f"{code}: {why}")
        self.code, self.why, self.valid, self.evidence = code, why, valid, evidence
        self.of, self.missing, self.how = of, missing, how
        self.faults = dict.fromkeys(wrong or missing, why)
        self.choices = dict.fromkeys(self.faults, valid) if valid and of == "choices" else {}

    @property
    def printed(self) -> str:
        """The reason as a document prints it, with what its reader does."""
        return f"{self.why} {self.how}" if self.how else self.why


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


class Report(Record):
    """What a request reports, read and checked: ``target`` is the step that it wants, ``outcome`` the one it names.

    ``digest`` is that of the whole request.
    """

    digest: str
    target: str
    outcome: str | None = None
    params: Mapping[str, Any] = EMPTY
    recorded: Mapping[str, Any] = EMPTY
    errata: Mapping[str, str] = EMPTY

    def check_outcome(self, step: StepDef, outcome: Outcome) -> None:
        """Refuse an ``--outcome`` that is not the outcome of the step."""
        if self.outcome is not None and self.outcome != outcome:
            why = f"The outcome of {step.id} is {outcome}, not {self.outcome!r:.60}."
            raise Refused("wrong-outcome", why, (outcome,), of="outcomes", wrong=("outcome",))


class Leaving(Record):
    """A step that a request leaves: ``state`` is what the step keeps, ``answered`` says that a person decided."""

    workflow: Workflow
    step: StepDef
    report: Report
    proof: Proof
    state: dict[str, Any]
    answered: bool = False

    def last(self, run: Run, state: Mapping[str, Any] = EMPTY) -> dict[str, Any]:
        """What is kept of the request as the run's last; for a reviewer also the last step that recorded items."""
        last = {"turn": run.turn, "digest": self.report.digest, "step": self.step.id}
        if "checkpoint" in run.spec:
            last["judged"] = self.step.id if "items" in state else run.last.get("judged", "")
        return last
