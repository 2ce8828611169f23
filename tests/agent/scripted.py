"""A chat model that answers by a function, for tests: it needs no provider and keeps what it was given."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import ToolCall, tool_call_chunk
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

Answer = AIMessage | str
# Of the messages and the bound tools (name, description and parameters of each); raising is the provider's failure.
Answering = Callable[[list[BaseMessage], list[dict[str, Any]]], Answer | Awaitable[Answer]]


class Call(NamedTuple):
    """What the model was given in one call."""

    messages: list[BaseMessage]
    tools: list[dict[str, Any]]
    options: dict[str, Any]

    @property
    def tool_names(self) -> list[str]:
        return [tool["name"] for tool in self.tools]

    @property
    def system(self) -> str:
        """The text of the system messages."""
        return "\n".join(message.text for message in self.messages if message.type == "system")


class ScriptedModel(BaseChatModel):
    """Answers each call by ``answer(messages, tools)``, and keeps each in ``calls``.

    The answer is an AIMessage, a text, or an awaitable of one (async calls only). An AIMessage that is returned again
    is a new message. A message without usage gets an approximate one.
    """

    answer: Answering
    calls: list[Call] = Field(default_factory=list, exclude=True, repr=False)
    model_name: str = "scripted"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _asked(self, messages: list[BaseMessage], options: dict[str, Any]) -> Answer | Awaitable[Answer]:
        tools = [tool["function"] for tool in options.pop("tools", [])]
        self.calls.append(Call([message.model_copy(deep=True) for message in messages], tools, options))
        return self.answer(messages, tools)

    def _message(self, answer: Answer, messages: list[BaseMessage]) -> AIMessage:
        given = AIMessage(answer) if isinstance(answer, str) else answer.model_copy(deep=True)
        spent = count_tokens_approximately(messages)
        written = count_tokens_approximately([given])
        usage = given.usage_metadata or {
            "input_tokens": spent,
            "output_tokens": written,
            "total_tokens": spent + written,
        }
        metadata = {"model_name": self.model_name, **given.response_metadata}
        return given.model_copy(update={"id": None, "usage_metadata": usage, "response_metadata": metadata})

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        answer = cast("Answer", self._asked(messages, kwargs))
        return ChatResult(generations=[ChatGeneration(message=self._message(answer, messages))])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Any:
        answer = self._asked(messages, kwargs)
        if isinstance(answer, Awaitable):
            answer = await answer
        return ChatResult(generations=[ChatGeneration(message=self._message(answer, messages))])

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        result = self._generate(messages, stop, run_manager, **kwargs)
        yield from _chunks(result.generations[0].message)

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        result = await self._agenerate(messages, stop, run_manager, **kwargs)
        for chunk in _chunks(result.generations[0].message):
            yield chunk


def in_turn(*answers: Answer | Exception) -> Answering:
    """A script that gives ``answers`` one after the other; an exception among them is raised."""
    left = list(answers)

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
        assert left, f"the script has {len(answers)} answers, and the model was called again"
        now = left.pop(0)
        if isinstance(now, Exception):
            raise now
        return now

    return answer


def report(**arguments: Any) -> AIMessage:
    """A message that calls ``report_step`` alone."""
    return calling(("report_step", arguments))


def calling(*calls: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    """A message that calls each tool, by name and arguments."""
    return AIMessage(
        text, tool_calls=[ToolCall(name=name, args=args, id=f"call_{uuid.uuid4().hex}") for name, args in calls]
    )


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """The message in pieces: its text by lines, each tool call in three, and at last what belongs to the whole."""
    is_text = isinstance(message.content, str)
    parts = message.content.splitlines(keepends=True) if isinstance(message.content, str) else message.content
    for index, part in enumerate(parts):
        content = part if isinstance(part, str) else {"index": index, **part}
        yield _chunk(content=content if is_text else [content])
    for index, call in enumerate([*message.tool_calls, *message.invalid_tool_calls]):
        given = call["args"] or ""
        arguments = given if isinstance(given, str) else json.dumps(given)
        middle = len(arguments) // 2
        yield _chunk(tool_call_chunks=[tool_call_chunk(name=call["name"], id=call["id"], args="", index=index)])
        for piece in (arguments[:middle], arguments[middle:]):
            yield _chunk(tool_call_chunks=[tool_call_chunk(args=piece, index=index)])
    yield _chunk(
        content="" if is_text else [],
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
        additional_kwargs=message.additional_kwargs,
        chunk_position="last",
    )


def _chunk(**fields: Any) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(**{"content": "", **fields}))
