"""Follows a run in any agent of LangChain: the block at each model call, the tools of the step, one way on."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, hook_config
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.types import Command

from skills.lib.agent import prompt, stops, texts, trimming
from skills.lib.agent.calls import Ended, Stamp, readable_values
from skills.lib.agent.deadline import TimedOut, timed_out, within
from skills.lib.agent.following import Following, Present
from skills.lib.agent.kept.kept_conversation import STAMP, KeptConversation
from skills.lib.agent.models import chat_models
from skills.lib.agent.money.pricing import Usage
from skills.lib.agent.prose.rules import LAST
from skills.lib.agent.tool_calls import Place, ended_by, ended_by_error, ends_by_itself
from skills.lib.agent.watching.concealment import NOT_KEPT
from skills.lib.record import Record
from skills.lib.runtime import reporting
from skills.lib.runtime.peeking import Peek
from skills.lib.runtime.reporting import REPORT

# Under which names LangChain says how many tokens went into a provider's cache.
_WRITTEN = ("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
# Where a message carries what a session says in place of a model.
ENDS = "lockstep_ends"
# How much longer a tool is waited for that ends by itself what it runs, in seconds.
_GRACE = 5.0


class RunMiddleware(AgentMiddleware[Any, Any, Any]):
    """Holds an agent of LangChain to a run.

    ``run_children`` runs the sub-agents of a step before the model goes on with it. ``sections`` are what else stands
    in the system prompt. ``model_of`` chooses the model of each call in place of the agent's. One that ``is_embedded``
    is in an agent of somebody else, who answers the interrupts of tools and reads their artifacts.
    """

    is_embedded = False

    def __init__(
        self,
        following: Following,
        run_children: Callable[[ModelRequest[Any]], None],
        sections: prompt.Sections | None = None,
        model_of: Callable[[Peek], BaseChatModel] | None = None,
    ) -> None:
        super().__init__()
        self.following = following
        self._run_children = run_children
        self._sections = sections or prompt.Sections()
        self._model_of = model_of
        self._conversation = KeptConversation(following.concealment)
        # Registered so that a report's call is carried out; each model call offers the schema of its step.
        self.tools = [_report_tool()]

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        present = self._present(request)
        if present.ends:
            return _ending(present)
        asked = self._asked(request, present)
        if isinstance(asked, AIMessage):
            return asked
        try:
            response = within(self._seconds, lambda: handler(asked.request))
        except TimedOut as error:
            return self._too_late(asked, error)
        except BaseException as error:
            self.following.fail_model_call(asked.stamp, chat_models.may_cost(error))
            raise
        return self._stamped(response, asked)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        present = await asyncio.to_thread(self._present, request)  # sub-agents take their time
        if present.ends:
            return _ending(present)
        asked = await asyncio.to_thread(self._asked, request, present)
        if isinstance(asked, AIMessage):
            return asked
        try:
            async with asyncio.timeout(self._seconds or None):
                response = await handler(asked.request)
        except TimeoutError:
            if not self._seconds:
                raise
            return self._too_late(asked, timed_out(self._seconds))
        except BaseException as error:
            self.following.fail_model_call(asked.stamp, chat_models.may_cost(error))
            raise
        return self._stamped(response, asked)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        place = Place(request, self._conversation)
        if told := self._begun(place, request):
            return self._conversation.kept_result(place.answered(told), place.tool, place.arguments)
        try:
            bounded = self._bounded(place.whole(request))
            result = within(self._seconds and self._seconds + _GRACE, lambda: handler(bounded))
        except (Exception, SystemExit) as error:
            result = self._failed(place, error)
        return self._ended(place, request, result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        place = Place(request, self._conversation)
        if told := await asyncio.to_thread(self._begun, place, request):  # a report may check commands
            return self._conversation.kept_result(place.answered(told), place.tool, place.arguments)
        try:
            async with asyncio.timeout((self._seconds and self._seconds + _GRACE) or None):
                result = await handler(self._bounded(place.whole(request)))
        except (Exception, SystemExit) as error:
            if isinstance(error, TimeoutError) and self._seconds:
                error = timed_out(self._seconds)
            result = await asyncio.to_thread(self._failed, place, error)
        return await asyncio.to_thread(self._ended, place, request, result)

    @property
    def _seconds(self) -> float:
        return self.following.settings.timeout_per_iteration

    def _too_late(self, asked: _Asked, error: TimedOut) -> AIMessage:
        """What stands in place of an answer that did not come in time: the session ends."""
        self.following.fail_model_call(asked.stamp, True)
        self.following.stop(f"The model did not answer: {error.what}.", stops.MODEL)
        return _ending(self.following.present())

    def _bounded(self, request: ToolCallRequest) -> ToolCallRequest:
        """The call of a tool that can end what it runs, with no more time than an iteration has."""
        if not self._seconds or request.tool is None or not ends_by_itself(request.tool):
            return request
        call = request.tool_call
        most = max(1, math.ceil(self._seconds))
        arguments = {**call["args"], "timeout": min(call["args"].get("timeout") or most, most)}
        return request.override(tool_call={**call, "args": arguments})

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Send a model back that ended its turn in mid-run, a bounded number of times."""
        text = self.following.sent_back()
        return {"messages": [HumanMessage(text)], "jump_to": "model"} if text else None

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self.after_agent(state, runtime)

    def _present(self, request: ModelRequest[Any]) -> Present:
        """What the run is at, its sub-agents run."""
        present = self.following.present()
        rules = self.following.rules
        if not present.ends and (_has_open_children(present) or (rules is not None and rules.is_fork)):
            self._run_children(request)
            present = self.following.present()
        return present

    def _asked(self, request: ModelRequest[Any], present: Present) -> _Asked | AIMessage:
        """The model call, begun; what ends the session in its place if a budget does not admit its model."""
        following = self.following
        if self._model_of is not None:
            request = request.override(model=self._model_of(present.peek))
        model = chat_models.name_of(request.model)
        if following.budget and (why := following.budget.why_not(model)):
            following.stop(why, stops.BUDGET)
            return _ending(following.present())
        stamp = following.begin_model_call(present.peek, model)
        prepared = self._prepared(request, present)
        system = [prepared.system_message] if prepared.system_message else []
        tokens = trimming.estimated_tokens([*system, *prepared.messages]) + trimming.tokens_of_tools(prepared.tools)
        following.count_model_call(stamp, model, tokens)
        return _Asked(prepared, stamp, model, tokens)

    def _prepared(self, request: ModelRequest[Any], present: Present) -> ModelRequest[Any]:
        """The model call with the block, the tools of the step, and messages that fit."""
        following, peek = self.following, present.peek
        settings, whole = following.settings, self._conversation.whole(request.messages)
        tools = [] if present.only_report else request.tools
        tools = [tool for tool in tools if _is_offered(present, _name_of_tool(tool))]
        names = [_name_of_tool(tool) for tool in tools]
        switches, turn = settings.switches, peek.run.turn
        _log_tools(peek, list(map(_name_of_tool, request.tools)), names)
        has_block = switches.protect_in_summaries or not _is_summarized(request.messages, following.first_call(turn))
        own = request.system_message.text if request.system_message else ""
        schema = following.report_schema(peek)
        reports = [_schema_of(schema)] if schema else []
        sections = prompt.forced(
            texts.sections(following, self._sections, own),
            peek.run.workflow,
            following.block(peek) if has_block else "",
            [*names, *([REPORT] if schema else [])],
            call=following.limits.calls(turn),
            switches=switches,
            moved_on=_moved_on(request.messages, turn),
            directive=LAST if present.only_report else following.directive(peek),
        )
        offered = [*tools, *reports]
        system, messages = trimming.fitted(sections, whole, offered, settings.context_tokens, switches)
        return request.override(system_message=system, messages=messages, tools=offered)

    def _stamped(self, response: ModelResponse[Any], asked: _Asked) -> ModelResponse[Any]:
        for message in response.result:
            if isinstance(message, AIMessage):
                _make_readable(message)
                message.response_metadata = {**message.response_metadata, STAMP: asked.stamp.fields()}
                usage, text = _usage_of(message), _text_of(message)
                estimate = Usage(asked.tokens, trimming.estimated_tokens([message]))
                self._conversation.keep(message, asked.stamp)
                self.following.end_model_call(asked.stamp, text, asked.model, usage or estimate, usage is None)
        return response

    def _begun(self, place: Place, request: ToolCallRequest) -> Ended | None:
        """What a call comes to that is not carried out by its tool; None if it is."""
        if place.tool == REPORT:
            return self.following.report(place.arguments, place.stamp, place.alone)
        if request.tool is None:
            return self.following.refused(place.tool, f"There is no tool {place.tool!r:.80}.", stops.UNKNOWN)
        if not place.is_known:
            return Ended(NOT_KEPT, False)
        reads = bool((request.tool.metadata or {}).get("reads"))
        return self.following.begin_call(place.tool, place.arguments, place.key, place.stamp, reads)

    def _failed(self, place: Place, error: BaseException) -> ToolMessage:
        """What a tool that raised says to the model; raises the error if it belongs to the graph."""
        if isinstance(error, GraphInterrupt) and not self.is_embedded:
            error = RuntimeError("it asks by an interrupt of LangGraph, which nobody answers here")
        if isinstance(error, GraphBubbleUp):
            self.following.suspend_call(place.tool, place.key)
            raise error
        return place.answered(ended_by_error(error))

    def _ended(
        self, place: Place, request: ToolCallRequest, result: ToolMessage | Command[Any]
    ) -> ToolMessage | Command[Any]:
        """The result of a tool, noted; a command to the graph is passed on as it is."""
        ended = self.following.end_call(place.tool, place.arguments, place.key, ended_by(result))
        if ended.ok and request.tool is not None and (request.tool.metadata or {}).get("ends"):
            self.following.stop(ended.text.strip(), stops.GAVE_UP)
        if isinstance(result, Command):
            return self._conversation.kept_command(result, place.tool, place.arguments)
        return self._conversation.kept_result(
            place.answered(ended, result, self.is_embedded), place.tool, place.arguments
        )


class _Asked(Record):
    """A model call that was begun: its request, its stamp, the name of its model, and how many tokens it sends."""

    request: ModelRequest[Any]
    stamp: Stamp
    model: str
    tokens: int


def _has_open_children(present: Present) -> bool:
    return any(child["status"] in ("pending", "open", "waiting") for child in present.peek.children)


def _ending(present: Present) -> AIMessage:
    """What stands in a conversation where the session ends: no model was asked."""
    return AIMessage(present.ends, response_metadata={ENDS: True})


def _make_readable(message: AIMessage) -> None:
    """Replace halves of characters, which models write and no provider takes back."""
    message.content = readable_values(message.content)
    for call in message.tool_calls:
        call["args"] = readable_values(call["args"])


def _report_tool() -> BaseTool:
    def report_step(**arguments: Any) -> str:
        raise RuntimeError("a report is carried out by the middleware alone")

    schema = {"title": REPORT, "type": "object", "properties": {}, "additionalProperties": True}
    return StructuredTool.from_function(
        report_step, name=REPORT, description=reporting.DESCRIPTION, args_schema=schema, infer_schema=False
    )


def _schema_of(parameters: dict[str, Any]) -> dict[str, Any]:
    function = {"name": REPORT, "description": reporting.DESCRIPTION, "parameters": parameters}
    return {"type": "function", "function": function}


def _is_offered(present: Present, name: str) -> bool:
    return name != REPORT and present.offer.offers(name)


def _log_tools(peek: Peek, there: list[str], offered: list[str]) -> None:
    """Say what a model call leaves out of the tools that there are."""
    if left_out := [name for name in there if name not in (*offered, REPORT)]:
        shown = ", ".join(offered) or "none"
        prompt.log.info(
            "%s:%s: tools offered: %s; left out: %s", peek.run.workflow, peek.run.step, shown, ", ".join(left_out)
        )


def _name_of_tool(tool: BaseTool | dict[str, Any]) -> str:
    if isinstance(tool, BaseTool):
        return tool.name
    return str(tool.get("name") or (tool.get("function") or {}).get("name") or "")


def _text_of(message: Any) -> str:
    return str(message.text)


def _usage_of(message: AIMessage) -> Usage | None:
    """What the provider says of tokens; None if it says nothing."""
    usage = message.usage_metadata
    if not usage:
        return None
    details: dict[str, Any] = dict(usage.get("input_token_details") or {})
    written = sum(tokens or 0 for name, tokens in details.items() if name in _WRITTEN)
    return Usage(usage["input_tokens"], usage["output_tokens"], details.get("cache_read") or 0, written)


def _stamps(messages: Sequence[AnyMessage]) -> list[Stamp]:
    stamps = [Stamp.of(one.response_metadata.get(STAMP)) for one in messages if isinstance(one, AIMessage)]
    return [stamp for stamp in stamps if stamp]


def _is_summarized(messages: Sequence[AnyMessage], first: int) -> bool:
    """True if the conversation has no longer the answer to the model call ``first``, but a later one."""
    calls = [stamp.model for stamp in _stamps(messages)]
    return first not in calls and max(calls, default=0) > first


def _moved_on(messages: Sequence[AnyMessage], turn: int) -> bool:
    """True if the run moved since the conversation's last answer by another way than that answer's own report."""
    known = max((stamp.turn for stamp in _stamps(messages)), default=turn)
    return turn > known + 1
