"""The runs of a plan as their sessions follow them: the planner's, and the execution's with optimizer and evaluator."""

from __future__ import annotations

import html
import logging

from skills.lib.agent import stops, texts
from skills.lib.agent.calls import Ended
from skills.lib.agent.following import Following
from skills.lib.agent.planning import execution, memory, tools
from skills.lib.agent.planning.planner import PLAN
from skills.lib.agent.redaction import marks
from skills.lib.blocks import parts, xml
from skills.lib.guard.offering import Offer
from skills.lib.model.run import Request
from skills.lib.model.texts import printable
from skills.lib.model.types import Element
from skills.lib.runtime import plans, reporting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.agent.calls import Stamp
    from skills.lib.runtime.peeking import Peek

log = logging.getLogger("lockstep.agent")

# With more tool calls than this an attempt is begun anew; after so many the directive is said again.
STUCK_AFTER, DIRECTIVE_EVERY = 8, 3
# How many characters of an optimizer's last text are kept.
_LONGEST = 50_000
_OPTIMIZER = (
    "You carry out one step of a plan that a person approved: nobody reads along and nobody answers. Do what the "
    "mandatory skill below says and nothing else, with the tools that you are offered. When you are done, or have "
    f"tried what there is to try, end your turn with a text that begins with {plans.SIGNAL} and says what you did and "
    "found: an evaluator verifies it. If nothing is left to try call abort."
)
_EVALUATOR = (
    "You verify one step of a plan that another agent carried out. Look for yourself, with the tools that you are "
    "offered; what its result says is a claim. Then report your verdict with report_step, alone in its message: pass "
    "or fail, the feedback, and each key output as a value that a later step can use as it is. Prose reports nothing."
)
_BY_TEXT = (
    f"End your turn with a text that begins with {plans.SIGNAL}: it is the report of this step, and the step is then "
    "verified."
)


class PlannerFollowing(Following):
    """A planner's run: the report has the schema of a plan, and the skill's files may be read."""

    def skill_folder(self) -> str:
        run = self.runner.ledger.run(self.run)
        return str(run.params.get("skill_folder", "")) if run is not None else ""

    def report_schema(self, peek: Peek) -> dict[str, Any] | None:
        found = reporting.schema(peek)
        if peek.run.step == PLAN:
            found["properties"]["record"]["properties"]["plan"] = plans.SCHEMA
        return found


class ExecutionFollowing(Following):
    """An execution: steps that an optimizer ends with a text, and an evaluator with a verdict."""

    def base(self) -> str:
        step = self._step()
        return _OPTIMIZER if step.endswith(plans.DO) else _EVALUATOR if step.endswith(plans.CHECK) else ""

    def memory(self) -> str:
        """L1, for optimizers."""
        is_optimizer = self._step().endswith(plans.DO)
        found = memory.global_context(self.runner.command_line.project) if is_optimizer else ""
        return self.concealment.redactor.text(found)

    def report_schema(self, peek: Peek) -> dict[str, Any] | None:
        return None if _is(peek, plans.DO) else reporting.schema(peek)

    def block(self, peek: Peek) -> str:
        if not _is(peek, plans.DO):
            return super().block(peek)
        assert peek.element is not None
        kept = [one for one in peek.element.children if not (isinstance(one, Element) and one.tag in _OF_REPORTS)]
        element = Element(peek.element.tag, peek.element.attributes, *kept, parts.next_element(_BY_TEXT))
        return xml.render(element)

    def directive(self, peek: Peek) -> str:
        """The primary directive, after every third tool call of an optimizer."""
        calls = self._tool_calls(peek.run.turn)
        before = self._tool_calls(peek.run.turn, until=self._model_call_before(peek.run.turn))
        if not _is(peek, plans.DO) or calls // DIRECTIVE_EVERY == before // DIRECTIVE_EVERY:
            return ""
        assert peek.step is not None
        said = html.escape("\n".join(peek.step.actions), quote=False)
        return f"<primary_directive>\n{said}\n</primary_directive>"

    def why_not(self, peek: Peek, tool: str, arguments: Mapping[str, Any]) -> str:
        why = super().why_not(peek, tool, arguments)
        if not why and (found := marks(dict(arguments))):
            why = f"{found[0]} stands in place of a text that you were not shown, and no command gets such a mark."
        return why or (tools.why_not_evaluator(tool, arguments) if _is(peek, plans.CHECK) else "")

    def offer(self, peek: Peek) -> Offer:
        """What the step names; a step for thinking has the essential tools alone."""
        found = super().offer(peek)
        return found if found.allowed or not self.settings.switches.filter_tools else Offer((), undeclared="essential")

    def report(self, arguments: Mapping[str, Any], stamp: Stamp | None, alone: bool) -> Ended:
        peek = self.peek()
        if _is(peek, plans.DO) and stamp is not None and stamp.turn == peek.run.turn:
            return self.refused(reporting.REPORT, f"This step is not reported by a tool. {_BY_TEXT}", stops.BY_TEXT)
        if why := self._why_unseen(peek, arguments):
            return self.refused(reporting.REPORT, why, stops.UNSEEN)
        ended = super().report(arguments, stamp, alone)
        self.learn()
        return ended

    def _why_unseen(self, peek: Peek, arguments: Mapping[str, Any]) -> str:
        """Why a pass is not taken: the step's action is a tool, and nobody called one; "" for any other report."""
        name = (peek.run.step or "").removesuffix(plans.CHECK)
        step: Mapping[str, Any] = next((one for one in peek.run.params["plan"]["steps"] if one["id"] == name), {})
        record = arguments.get("record")
        passes = isinstance(record, dict) and record.get("verdict") == plans.PASS
        if not (_is(peek, plans.CHECK) and passes and step.get("action") == "tool"):
            return ""
        for turn in (peek.run.turn - 1, peek.run.turn):
            if any(row.data.get("tool") in plans.TOOLS for row in self.activity.rows(self.run, turn=turn, kind="call")):
                return ""
        return (
            "Nothing was recorded: the step is done by a tool, the optimizer called none in this attempt, and you "
            "looked at nothing. Look at what is there, then report."
        )

    def end_by_text(self, text: str, stamp: Stamp | None) -> str | None:
        """Take an optimizer's last text as the report of its step.

        Returns what the model is told if it is refused, "" if the run went on, and None if the text ends no such step.
        """
        peek = self.peek()
        if stamp is not None and stamp.step.endswith(plans.DO) and stamp.turn < peek.run.turn:
            return ""  # it was taken, and the session was killed before it went on
        if stamp is None or not _is(peek, plans.DO) or self.ends(peek):
            return None
        said = text.lstrip()
        is_complete = said.startswith(plans.SIGNAL)
        if not is_complete:
            log.warning("%s: the last text does not begin with %s; it counts as the report", stamp.step, plans.SIGNAL)
        words = self.concealment.redactor.text(said.removeprefix(plans.SIGNAL).strip(" :\n"))
        result = printable(words)[:_LONGEST]
        signal = plans.COMPLETE if is_complete else plans.MISSING
        return self._leave(peek, {"result": result or "The optimizer said nothing of what it did.", "signal": signal})

    def prepare(self, turn: int | None) -> str:
        """What a new conversation begins with if that of ``turn`` is over; "" if it goes on.

        An optimizer that is stuck is ended here, and its attempt counts as one that failed.
        """
        self.learn()
        while True:
            peek = self.peek()
            if self.ends(peek):
                return ""
            calls = self._tool_calls(peek.run.turn)
            if _is(peek, plans.DO) and calls > STUCK_AFTER:
                words = f"The attempt was ended after {calls} tool calls without a report."
                refused = self._leave(peek, {"result": words, "signal": plans.STUCK})
            elif _is(peek, plans.CHECK) and (attempt := self._attempt(peek)).get("signal") == plans.STUCK:
                words = f"{attempt['result']} Take a shorter way: the step is one action."
                refused = self._leave(peek, {"verdict": plans.FAIL, "feedback": words})
            else:
                break
            if refused:
                self.stop(refused, stops.UNREPORTED)
                return ""
        self.learn()
        if turn == peek.run.turn:
            return ""
        known = memory.skill_memory(peek.run.params["plan"], peek.run.state)
        return "\n\n".join(filter(None, (known, texts.BEGIN)))

    def learn(self) -> None:
        """Keep the cases of the evaluations so far."""
        ledger = self.runner.ledger
        run = ledger.run(self.run)
        if run is not None:
            execution.learn(self.runner.command_line.project, run, ledger, self.activity)

    def _leave(self, peek: Peek, records: Mapping[str, Any]) -> str:
        """Leave the present step by these values; why it was refused, "" if it was not."""
        request = Request("next", run=peek.run.id, turn=peek.run.turn, records=records)
        response = self.runner.advance(self.workflow, self.run, request)
        return response.refusal.why if response.exit_code and response.refusal else ""

    def _step(self) -> str:
        run = self.runner.ledger.run(self.run)
        return (run.step or "") if run is not None else ""

    def _attempt(self, peek: Peek) -> Mapping[str, Any]:
        """What the optimizer left that is evaluated now."""
        found: Mapping[str, Any] = peek.run.state.get((peek.run.step or "").removesuffix(plans.CHECK) + plans.DO, {})
        return found

    def _tool_calls(self, turn: int, until: int | None = None) -> int:
        about = {} if until is None else {"until": until}
        return sum(self.activity.count(self.run, turn=turn, kind=kind, **about) for kind in ("call", "refused"))

    def _model_call_before(self, turn: int) -> int:
        """The number of the model call before the one that is prepared; 0 if there is none."""
        rows = self.activity.rows(self.run, turn=turn, kind="model")
        return rows[-2].id if len(rows) > 1 else 0


# The sections of a block that tell how a step is reported by a tool.
_OF_REPORTS = ("RECORD", "INVOKE_AFTER", "NEXT")


def _is(peek: Peek, part: str) -> bool:
    """True if a run is open at a step of that part of a plan's."""
    return peek.run.status == "open" and (peek.run.step or "").endswith(part)
