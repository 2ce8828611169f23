"""Where a session left its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skills.lib.agent.prose.skill import FORK
from skills.lib.model.run import FINISHED, Run
from skills.lib.record import Record

if TYPE_CHECKING:
    from skills.lib.agent.following import Following
    from skills.lib.agent.prose.rules import Rules
    from skills.lib.runtime.peeking import Peek


class SessionResult(Record):
    """Where a session left its run.

    ``status`` is ``done``, ``failed``, ``abandoned``, ``waiting`` (for a person: ``question``, and ``choices`` if only
    these are answers) or ``stopped`` (the session ended and the run did not: ``reason``). ``text`` says it in a
    sentence; ``result`` has what the last step recorded. ``outputs`` are the files of the project that the run made or
    changed: the path, the size, the kind (such as ``HTML page``; "" for others) and ``new`` of each. ``objectives`` are
    those of a skill without a graph: the number, the objective, the status (``done``, ``partial`` or ``not``), the
    place and the note of each.
    """

    status: str
    run: str
    step: str = ""
    question: str = ""
    choices: Sequence[str] = ()
    reason: str = ""
    text: str = ""
    result: Mapping[str, Any] = {}
    outputs: Sequence[Mapping[str, Any]] = ()
    objectives: Sequence[Mapping[str, Any]] = ()


def of(following: Following) -> SessionResult:
    """Where the session left the run."""
    peek = following.peek()
    run, rules = peek.run, following.rules
    state = _reported(following, peek)
    objectives = tuple(rules.entries(state)) if rules else ()
    if run.ended:
        text = f"The run is {run.status}."
        return SessionResult(run.status, run.id, result=_result(run, rules, state), text=text, objectives=objectives)
    if run.status == "waiting":
        question = run.question or {}
        choices = tuple(question.get("choices") or ())
        text = str(question.get("text", ""))
        return SessionResult("waiting", run.id, run.step or "", text, choices, text="The run waits for a person.")
    reason = following.stopped(peek)
    return SessionResult(
        "stopped",
        run.id,
        run.step or "",
        reason=reason,
        text=f"The session stopped, the run did not: {reason}",
        result=_result(run, rules, state),
        objectives=objectives,
    )


def _reported(following: Following, peek: Peek) -> Mapping[str, Mapping[str, Any]]:
    """What the steps of the run recorded; of one whose sub-agent has not handed it over, what that recorded."""
    if following.rules is None or not following.rules.is_fork or not peek.children:
        return peek.run.state
    child = following.runner.ledger.run(peek.children[-1]["id"])
    return child.state if child is not None and "record" not in peek.run.state.get(FORK, {}) else peek.run.state


def _result(run: Run, rules: Rules | None, state: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the last step recorded; of a run without a graph the words of its last report, also if it goes on."""
    if rules is not None:
        return rules.result(state)
    return dict(run.state.get(str(run.last.get("step", "")), {})) if run.status in FINISHED else {}
