"""The values of an author's own script, printed by bare formatters: no run, no turn, no ledger.

They are names of ``skills.lib.workflow.types``, which loads them from here when they are asked for.
"""

from __future__ import annotations

from skills.lib.field_checks import coerce, shown
from skills.lib.model.types import AgentRole, Dispatch, QRStatus
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class QRState(Record):
    """Where a review loop stands: its iteration, whether its work step was entered to fix, the last verdict."""

    iteration: int = 1
    failed: bool = False
    status: QRStatus | str | None = None

    def _check(self) -> None:
        if isinstance(self.iteration, bool) or not isinstance(self.iteration, int) or self.iteration < 1:
            raise ValueError(f"QRState iteration: {self.iteration!r} is not a whole number of 1 or more")
        if self.status is not None:
            self._set(status=coerce(QRStatus, self.status, "QRState status"))

    @property
    def passed(self) -> bool:
        """True if the last verdict was a pass."""
        return self.status is QRStatus.PASS


class GateConfig(Record):
    """How a bare gate routes: the work step on fail, the next step on pass (None ends), who fixes."""

    qr_name: str
    work_step: int | str
    pass_step: int | str | None
    pass_message: str
    self_fix: bool = False
    fix_target: AgentRole | str | None = None

    def _check(self) -> None:
        _check_step(self.work_step, "GateConfig work_step")
        if self.pass_step is not None:
            _check_step(self.pass_step, "GateConfig pass_step")
        if self.fix_target is not None:
            self._set(fix_target=coerce(AgentRole, self.fix_target, "GateConfig fix_target"))


class LinearRouting(Record):
    """The next step is the one that follows."""


class BranchRouting(Record):
    """The next step depends on a verdict."""

    if_pass: int | str
    if_fail: int | str

    def _check(self) -> None:
        _check_step(self.if_pass, "BranchRouting if_pass")
        _check_step(self.if_fail, "BranchRouting if_fail")


class TerminalRouting(Record):
    """There is no next step."""


Routing = LinearRouting | BranchRouting | TerminalRouting


class Step(Record):
    """A step of an author's own script, printed by a bare formatter: no run, no turn, no ledger."""

    title: str
    actions: Sequence[str] = ()
    routing: Routing = LinearRouting()
    dispatch: Dispatch | None = None

    def _check(self) -> None:
        routing = LinearRouting() if self.routing is None else self.routing
        if self.dispatch is not None and not isinstance(self.dispatch, Dispatch):
            raise TypeError(f"Step {self.title!r} dispatch: {shown(self.dispatch)} is not a Dispatch")
        if not isinstance(routing, Routing):
            what = f"{shown(routing)} is none of LinearRouting, Branch…, Terminal…"
            raise TypeError(f"Step {self.title!r} routing: {what}")
        self._set(routing=routing)


def _check_step(value: int | str, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError(f"{where}: {shown(value)} is not the number or id of a step")
