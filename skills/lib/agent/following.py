"""One run as a session follows it: what a model is told and offered, and what becomes of what it does.

It needs no framework; ``middleware`` adapts it to LangChain. All that is counted is counted from the activities, so it
survives a restart.
"""

from __future__ import annotations

import os
import threading

from skills.lib.agent import report_texts, stops
from skills.lib.agent.calls import Ended, Stamp, plain, readable
from skills.lib.agent.configuration.settings import SIMPLE
from skills.lib.agent.limits import Limits
from skills.lib.agent.money.pricing import Usage
from skills.lib.agent.money.spending import user_name
from skills.lib.agent.watching.concealment import BARE, NOT_KEPT, WHOLE, Concealed, Concealment
from skills.lib.blocks import for_tools, xml
from skills.lib.errors import LockstepError, RefusedError
from skills.lib.guard.offering import ESSENTIAL, Offer
from skills.lib.ledger import history
from skills.lib.model.texts import counted
from skills.lib.record import Record
from skills.lib.runtime import reporting
from skills.lib.runtime.reporting import REPORT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skills.lib.agent.configuration.settings import Settings
    from skills.lib.agent.guarding import Guarding
    from skills.lib.agent.money.budgeting import Budget
    from skills.lib.agent.prose.rules import Rules
    from skills.lib.agent.watching.activity import Activity, Row
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime.peeking import Peek
    from skills.lib.runtime.runner import Runner

_INTERRUPTED = (
    "This call was interrupted: the session was killed while it ran, and it is not run again. Look at what it did "
    "before you go on."
)


class Present(Record):
    """What a run is at for a session: ``ends`` says why no model is called, "" if one is.

    ``only_report`` says that the model may do nothing but report the step.
    """

    peek: Peek
    offer: Offer
    ends: str = ""
    only_report: bool = False


class Following:
    """A run, with what a session of it needs. ``names`` maps a program's own tools to the names that steps use.

    ``rules`` are those of a run whose skill has no graph.
    """

    def __init__(
        self,
        runner: Runner,
        workflow: Workflow,
        run: str,
        activity: Activity,
        settings: Settings,
        *,
        names: Mapping[str, str] | None = None,
        commands_of: Callable[[str], Sequence[Sequence[str]]] | None = None,
        guarding: Guarding | None = None,
        is_cancelled: Callable[[], bool] = bool,
        rules: Rules | None = None,
        concealment: Concealment | None = None,
    ) -> None:
        self.runner, self.workflow, self.run = runner, workflow, run
        self.activity, self.settings = activity, settings
        self.rules = rules
        self.limits = Limits(activity, settings, run, per_run=rules is not None)
        self._names, self._commands_of, self._guarding = dict(names or {}), commands_of, guarding
        self.is_cancelled = is_cancelled
        self._noting = threading.Lock()
        self.budget: Budget | None = None
        # True while somebody else follows the run: then this session leaves no word of its end.
        self.is_void: Callable[[], bool] | None = None
        self.concealment = concealment or Concealment()

    def peek(self) -> Peek:
        """What the run is at."""
        return self.runner.peek(self.run)

    def present(self) -> Present:
        """What the run is at, the tools that its step offers, and whether a model goes on with it."""
        peek = self.peek()
        return Present(peek, self.offer(peek), self.ends(peek), self._only_reports(peek, 0))

    @property
    def _is_simple(self) -> bool:
        return self.rules is not None and self.settings.execution_mode == SIMPLE

    def _only_reports(self, peek: Peek, begun: int) -> bool:
        """True if a model call may do nothing but report: the next one, or the one that is ``begun``."""
        if self.rules is None:
            return False
        return self.rules.reports_now(peek.run.step or "", self.limits.calls_of_session() - begun, self.settings)

    def offer(self, peek: Peek) -> Offer:
        """The tools of the present step."""
        if not self.settings.switches.filter_tools:
            return Offer((), self._names, self._commands_of)
        return Offer(peek.tools, self._names, self._commands_of, self.settings.undeclared)

    def ends(self, peek: Peek) -> str:
        """Why the session ends here; "" if it goes on."""
        return self._ending(peek)[0]

    def _ending(self, peek: Peek) -> tuple[str, str]:
        """Why the session ends here, and the code of that; two empty texts if it goes on."""
        if peek.run.ended:
            return f"The run is {peek.run.status}.", ""
        if peek.run.status == "waiting":
            return "The run waits for a person.", ""
        if peek.is_paused:
            return "A person paused the run.", stops.PAUSED
        if self.is_cancelled():
            return "The session was cancelled.", stops.CANCELLED
        if reason := self.limits.stopped():
            return reason, ""
        if reason := self.limits.spent(peek.run.turn):
            return reason, stops.LIMIT
        reason = self.budget.spent() if self.budget else ""
        return reason, stops.BUDGET if reason else ""

    def stop(self, reason: str, code: str = stops.STOPPED) -> None:
        """End the session, not the run, and note why."""
        if self.is_void is not None and self.is_void():
            return
        self.note("stopped", {"reason": reason, "code": code})

    def stopped(self, peek: Peek) -> str:
        """Why the session ended, which is noted if it was not."""
        reason, code = self._ending(peek)
        reason = reason or "The model ended its turn."
        if not self.limits.stopped():
            self.stop(reason, code or stops.UNREPORTED)
        return reason

    def note(self, kind: str, data: Mapping[str, Any], turn: int | None = None, visibility: str = WHOLE) -> int:
        """Record that something happened now, without secrets; the id of its row."""
        return self._write(kind, self.concealment.redactor.value(dict(data)), turn, visibility)

    def _write(self, kind: str, data: Mapping[str, Any], turn: int | None = None, visibility: str = WHOLE) -> int:
        ledger = self.runner.ledger
        if turn is None:
            run = ledger.run(self.run)
            turn = run.turn if run is not None else 0
        return self.activity.note(self.run, turn, history.last(ledger.database), kind, data, visibility)

    def task(self) -> str:
        """What the run is for, as it was given; "" if its block says it, as that of a skill without a graph."""
        if self.rules is not None:
            return ""
        rows = self.activity.rows(self.run, kind="task")
        return str(rows[0].data["text"]) if rows else ""

    def block(self, peek: Peek) -> str:
        """The block of the present step for who calls tools."""
        assert peek.element is not None
        if self.rules is None:
            return xml.render(for_tools.block(peek.element, REPORT))
        shown = self.rules.shown(peek.element, peek.run.state)
        return xml.render(for_tools.block(shown, REPORT, speaks_of_commands=False))

    def base(self) -> str:
        """The first words of the system prompt; "" for those of any session."""
        return ""

    def memory(self) -> str:
        """What stands in the system prompt of what is remembered of all runs."""
        return ""

    def skill_folder(self) -> str:
        """The folder of the skill that is followed."""
        if self.rules is not None:
            return self.rules.skill_folder
        return os.path.dirname(os.path.dirname(self.runner.command_line.script))

    def directive(self, peek: Peek) -> str:
        """What a model call says anew of the step in place of the reinforcement; "" if nothing."""
        return ""

    def report_schema(self, peek: Peek) -> dict[str, Any] | None:
        """The JSON Schema of a report of the present step; None if it is not reported by a tool."""
        found = reporting.schema(peek)
        return self.rules.report_schema(found) if self.rules else found

    def why_not(self, peek: Peek, tool: str, arguments: Mapping[str, Any]) -> str:
        """Why the present step does not admit a call; "" if it does."""
        return self.offer(peek).why_not(tool, arguments)

    def begin_model_call(self, peek: Peek, model: str) -> Stamp:
        """Note that a model is called; the stamp of its answer."""
        run = peek.run
        number = self.note("model", {"step": run.step, "model": model}, run.turn)
        return Stamp(run.id, run.turn, run.step or "", number)

    def count_model_call(self, stamp: Stamp, model: str, tokens: int) -> None:
        """Count a call against the budgets, by the estimate of what is sent."""
        if self.budget:
            self.budget.begin(stamp.model, model, tokens)

    def fail_model_call(self, stamp: Stamp, may_cost: bool) -> None:
        """Count a call that got no answer."""
        if self.budget:
            self.budget.fail(stamp.model, may_cost)

    def first_call(self, turn: int) -> int:
        """The number of the first model call in this entry of the step."""
        return next((row.id for row in self.activity.rows(self.run, turn=turn, kind="model")), 0)

    def end_model_call(self, stamp: Stamp, text: str, model: str, usage: Usage, is_estimate: bool) -> None:
        """Note what a model thought, and what it took: ``usd`` is missing if the price is unknown."""
        if text:
            hides = self.concealment.hides(stamp.turn)
            thought = {"model": stamp.model} if hides else {"text": readable(text), "model": stamp.model}
            self.note("thought", thought, stamp.turn, BARE if hides else WHOLE)
        usd = self.budget.end(stamp.model, model, usage) if self.budget else None
        taken: dict[str, Any] = {name: tokens for name, tokens in usage.fields().items() if tokens}
        known = {"model": model, "user": user_name(), **({"usd": round(usd, 9)} if usd is not None else {})}
        self._write(
            "usage", {**taken, **known, **({"estimate": True} if is_estimate else {}), "call": stamp.model}, stamp.turn
        )

    def report(self, arguments: Mapping[str, Any], stamp: Stamp | None, alone: bool) -> Ended:
        """Report the step for the turn at which the model was asked, and go on."""
        if not alone:
            why = (
                f"{REPORT} stands alone in a message: call it again by itself, once you have seen the others' results."
            )
            with self._noting:  # the calls of a message run side by side, and it is noted once
                known = self.activity.rows(self.run, kind="refused", after=stamp.model if stamp else 0)
                if not any(row.data.get("by") == "alone" for row in known):
                    self.note("refused", {"tool": REPORT, "by": "alone", "why": why})
            return Ended(why, False)
        try:
            peek = self.peek()
            request = reporting.request(peek, self.concealment.reported(arguments), stamp.turn if stamp else None)
            response = self.runner.advance(self.workflow, self.run, request)
        except RefusedError as error:
            return Ended(error.what, False)
        except LockstepError as error:
            if error.exit_code in _OURS:
                raise
            return Ended("\n".join(error.lines()), False)
        if response.exit_code or response.run is None:
            return Ended(report_texts.refusal(response.refusal), False)
        return self._left_undone(peek.run, response.run) or Ended(report_texts.moved(response.run, stamp))

    def _left_undone(self, before: Run, after: Run) -> Ended | None:
        """What a report comes to that left objectives undone; None for any other."""
        if self.rules is None or after.ended or after.turn == before.turn or after.step != before.step:
            return None
        said = self.rules.partial(after)
        goes_on = not self.settings.early_termination and not self._is_simple
        if goes_on and not self.limits.spent(after.turn):
            return Ended(f"Recorded: {said}. Model calls are left: go on with the others, then report again.")
        self.stop(f"{said}; see lockstep trace {self.run}", stops.PARTIAL)
        return Ended(f"Recorded: {said}. The session ends here.")

    def refused(self, tool: str, why: str, by: str) -> Ended:
        """A call that is not run, noted: of a tool that there is not, or that the step is not reported by."""
        self.note("refused", {"tool": readable(tool)[:80], "by": by, "why": why})
        return Ended(why, False)

    def begin_call(
        self, tool: str, arguments: Mapping[str, Any], key: str, stamp: Stamp | None, reads: bool
    ) -> Ended | None:
        """What a call of a tool comes to that is refused, was interrupted or is known already; None to carry it out.

        ``key`` is the call's place among all, and ``reads`` says that it may be run again after a crash. ``end_call``
        follows one that is carried out.
        """
        peek = self.peek()
        if reason := self.limits.stopped():
            return Ended(f"Nothing was done: the session has ended. {reason}", False)
        if self.is_cancelled():
            return Ended("Nothing was done: the session was cancelled.", False)
        if stamp is not None and stamp.turn != peek.run.turn:
            where = peek.run.step or peek.run.status
            return Ended(f"The run has moved since: it is at {where}. Nothing was done.", False)
        call = self.concealment.call(self._names.get(tool, tool), arguments)
        before = self._before(key)
        if before is not None and before.kind == "result":
            return Ended(before.data.get("text", NOT_KEPT), before.data["ok"])
        if before is not None and before.kind == "call" and not reads:
            self._note_result(key, tool, interrupted := Ended(_INTERRUPTED, False), call)
            return interrupted
        why = self.why_not(peek, tool, arguments)
        kind = "step"
        if not why and self._only_reports(peek, 1):
            why, kind = f"{REPORT} alone was offered", "report"
        if not why:
            why, kind = self.limits.too_often(call.digest, peek.run.turn), "limit"
        if not why and (guarding := self._guarding_of(tool)):
            why, kind = guarding.check(self._names.get(tool, tool), arguments, key), "policy"
        if not why:
            project = self.runner.command_line.project
            why, kind = self.concealment.why_not_written(self._names.get(tool, tool), arguments, project), "mark"
        if why:
            said = {} if call.visibility == BARE else {"why": why}
            self.note("refused", {"key": key, "tool": tool, "by": kind, **said}, peek.run.turn, call.visibility)
            return Ended(self.concealment.redactor.text(f"Refused, nothing was done: {why}"), False)
        self._write("call", {"key": key, "tool": tool, **call.data, "reads": reads}, peek.run.turn, call.visibility)
        return None

    def end_call(self, tool: str, arguments: Mapping[str, Any], key: str, ended: Ended) -> Ended:
        """Note what a call came to that was carried out; the same as its model reads it."""
        if made := ended.data.get("made"):
            self.note("made", plain({"files": made, "key": key}))
        name, redact = self._names.get(tool, tool), self.concealment.redactor.value
        call = self.concealment.call(name, arguments)
        ended = Ended(redact(readable(ended.text)), ended.ok, redact(dict(ended.data)))
        self._note_result(key, tool, ended, call)
        if guarding := self._guarding_of(tool):
            kept = Ended("", ended.ok) if call.visibility == BARE else ended
            guarding.learn(name, redact(dict(arguments)), key, kept)
        if not ended.ok and not self.settings.enable_error_recovery:
            first = "" if call.visibility == BARE else (ended.text.strip().splitlines() or [""])[0]
            self.stop(f"{tool} failed, and enable_error_recovery is false: {first:.300}", stops.TOOL_FAILED)
        return ended

    def suspend_call(self, tool: str, key: str) -> None:
        """Note that a call waits for somebody: it is carried out again once it goes on."""
        self.note("suspended", {"key": key, "tool": tool})

    def _guarding_of(self, tool: str) -> Guarding | None:
        return None if tool in ESSENTIAL else self._guarding

    def _before(self, key: str) -> Row | None:
        """The last row of a call that was begun before."""
        model = int(key.partition(".")[0])
        rows = self.activity.rows(self.run, after=model, holding=f'"key":"{key}"') if model else []
        return next((row for row in reversed(rows) if row.data.get("key") == key and row.kind in _OF_CALLS), None)

    def _note_result(self, key: str, tool: str, ended: Ended, call: Concealed) -> None:
        ok = ended.ok and ended.data.get("exit", 0) == 0  # a command that failed is a result to the model
        text = {} if call.visibility == BARE else {"text": ended.text}
        self._write("result", {"key": key, "tool": tool, "ok": ok, **text}, None, call.visibility)

    def sent_back(self) -> str:
        """What a model that ended its turn too early is told; "" if it was told often enough, or may end."""
        peek = self.peek()
        if self.ends(peek):
            return ""
        told = self.limits.early_ends(peek.run.turn)
        if told >= (0 if self._is_simple else self.settings.early_ends):
            self.stop(
                f"The model ended its turn {counted(told + 1, 'time')} at {peek.run.step} without reporting the step.",
                stops.UNREPORTED,
            )
            return ""
        text = (
            f"The run is not done: it is at {peek.run.step}, step {_number(peek)}. What you write counts "
            f"only by {REPORT}. Do what the step still needs, then call {REPORT}."
        )
        self.note("sent-back", {"text": text, "times": told + 1}, peek.run.turn)
        return text


# Of the rows of a call the last says what became of it.
_OF_CALLS = ("call", "result", "suspended")
# Errors that are not the model's to mend: of the environment, a broken skill, a bug.
_OURS = (4, 5, 70)


def _number(peek: Peek) -> str:
    """The number of the present step, as ``3 of 7``."""
    assert peek.element is not None
    return f"{peek.element.attributes['number']} of {peek.element.attributes['of']}"
