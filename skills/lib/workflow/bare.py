"""The values of an author's own script, printed by bare formatters: no run, no turn, no ledger.

They are names of ``skills.lib.workflow.types``, which loads them from here when they are asked for.
"""

from __future__ import annotations

from skills.lib.workflow.types import AgentRole, Dispatch, QRStatus, Value, check_text, check_texts, coerce, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class QRState(Value):
    """Where a review loop stands: its iteration, whether its work step was entered to fix, the last verdict."""

    __slots__ = ("iteration", "failed", "status")
    iteration: int
    failed: bool
    status: QRStatus | None

    def __init__(self, iteration: int = 1, failed: bool = False, status: QRStatus | str | None = None) -> None:
        if isinstance(iteration, bool) or not isinstance(iteration, int) or iteration < 1:
            raise ValueError(f"QRState iteration: {iteration!r} is not a whole number of 1 or more")
        self._set(
            iteration=iteration,
            failed=bool(failed),
            status=None if status is None else coerce(QRStatus, status, "QRState status"),
        )

    @property
    def passed(self) -> bool:
        """Whether the last verdict was a pass."""
        return self.status is QRStatus.PASS


class GateConfig(Value):
    """How a bare gate routes: the work step on fail, the next step on pass (None ends), who fixes."""

    __slots__ = ("qr_name", "work_step", "pass_step", "pass_message", "self_fix", "fix_target")
    qr_name: str
    work_step: int | str
    pass_step: int | str | None
    pass_message: str
    self_fix: bool
    fix_target: AgentRole | None

    def __init__(
        self,
        qr_name: str,
        work_step: int | str,
        pass_step: int | str | None,
        pass_message: str,
        self_fix: bool = False,
        fix_target: AgentRole | str | None = None,
    ) -> None:
        role = None if fix_target is None else coerce(AgentRole, fix_target, "GateConfig fix_target")
        self._set(
            qr_name=check_text(qr_name, "GateConfig qr_name"),
            work_step=_step(work_step, "GateConfig work_step"),
            pass_step=None if pass_step is None else _step(pass_step, "GateConfig pass_step"),
            pass_message=check_text(pass_message, "GateConfig pass_message"),
            self_fix=bool(self_fix),
            fix_target=role,
        )


class LinearRouting(Value):
    """The next step is the one that follows."""

    __slots__ = ()


class BranchRouting(Value):
    """The next step depends on a verdict."""

    __slots__ = ("if_pass", "if_fail")
    if_pass: int | str
    if_fail: int | str

    def __init__(self, if_pass: int | str, if_fail: int | str) -> None:
        self._set(if_pass=_step(if_pass, "BranchRouting if_pass"), if_fail=_step(if_fail, "BranchRouting if_fail"))


class TerminalRouting(Value):
    """There is no next step."""

    __slots__ = ()


Routing = LinearRouting | BranchRouting | TerminalRouting


class Step(Value):
    """A step of an author's own script, printed by a bare formatter: no run, no turn, no ledger."""

    __slots__ = ("title", "actions", "routing", "dispatch")
    title: str
    actions: tuple[str, ...]
    routing: Routing
    dispatch: Dispatch | None

    def __init__(
        self,
        title: str,
        actions: Sequence[str] = (),
        routing: Routing | None = None,
        dispatch: Dispatch | None = None,
    ) -> None:
        if dispatch is not None and not isinstance(dispatch, Dispatch):
            raise TypeError(f"Step {title!r} dispatch: {shown(dispatch)} is not a Dispatch")
        if routing is not None and not isinstance(routing, Routing):
            raise TypeError(f"Step {title!r} routing: {shown(routing)} is none of LinearRouting, Branch…, Terminal…")
        self._set(
            title=check_text(title, "Step title"),
            actions=check_texts(actions, "Step actions"),
            routing=LinearRouting() if routing is None else routing,
            dispatch=dispatch,
        )


def _step(value: int | str, where: str) -> int | str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError(f"{where}: {shown(value)} is not the number or id of a step")
    return value
