"""What models answer, made sound: whole, with one id for each tool call, and no call that was cut off."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks

from skills.lib.agent.models.model_errors import NoAnswer

# No model writes so much: what does is no answer, and would fill the disk.
LARGEST = 10_000_000
# Before arguments that are no JSON: langchain-core completes what is cut off, and a tool would run with the half of it.
CUT_OFF = "(not JSON) "
# Where a block of a call has its id: Anthropic's messages, OpenAI's responses.
_IDS = {"tool_use": "id", "function_call": "call_id"}
# Under one of these a provider says why an answer ended.
_ENDS = ("finish_reason", "stop_reason", "status")

G = TypeVar("G", ChatGeneration, ChatGenerationChunk)


class Gathered:
    """The chunks of one answer."""

    def __init__(self) -> None:
        self._chunks: list[ChatGenerationChunk] = []
        self._size = 0

    def add(self, chunk: ChatGenerationChunk) -> None:
        """Keep a chunk; raises NoAnswer if the answer gets larger than any is."""
        self._size += _size(chunk.message)
        _check(self._size)
        self._chunks.append(chunk)

    def merged(self, says_its_end: bool) -> ChatGenerationChunk:
        """All chunks as one; raises NoAnswer if there are none, or if the stream ended without saying why."""
        merged = merge_chat_generation_chunks(self._chunks)
        if merged is None:
            raise NoAnswer("cut-off", "it is empty")
        told = {**(merged.generation_info or {}), **merged.message.response_metadata}
        if says_its_end and not any(told.get(key) for key in _ENDS):
            raise NoAnswer("cut-off", "it does not say why it ended")
        return merged


def whole(result: ChatResult) -> ChatResult:
    """The answer; raises NoAnswer if there is no message in it."""
    if not result.generations:
        raise NoAnswer("cut-off", "it is empty")
    _check(_size(result.generations[0].message))
    return result


def sound_result(result: ChatResult, messages: Sequence[BaseMessage]) -> ChatResult:
    """The answer, its first message made sound."""
    return ChatResult(generations=[sound(result.generations[0], messages)], llm_output=result.llm_output)


def sound(generation: G, messages: Sequence[BaseMessage]) -> G:
    """The answer with ids that no other message and no other call has; a refusal is its text if it has no other."""
    message = generation.message
    if not isinstance(message, AIMessage):
        return generation
    refusal = message.additional_kwargs.get("refusal")
    if refusal and not message.content:
        message.content = str(refusal)
    strict = _strict(message) if isinstance(message, AIMessageChunk) else message
    if any(one.id == strict.id for one in messages):
        strict = strict.model_copy(update={"id": None})  # or LangGraph puts it in the place of the other message
    taken = {call["id"] for one in messages if isinstance(one, AIMessage) for call in _calls(one)}
    renamed: Any = _renamed(strict, taken)
    return type(generation)(message=renamed, generation_info=generation.generation_info)


def _strict(message: AIMessageChunk) -> AIMessageChunk:
    """The streamed message without the calls that langchain-core completed."""
    chunks: list[Any] = [dict(chunk) for chunk in message.tool_call_chunks]
    for chunk in chunks:
        try:
            json.loads(chunk["args"] or "{}", strict=False)
        except json.JSONDecodeError:
            chunk["args"] = f"{CUT_OFF}{chunk['args']}"
    if chunks == message.tool_call_chunks:
        return message
    return _chunk_with(message, chunks, message.content)


def _renamed(message: AIMessage, taken: set[Any]) -> AIMessage:
    """The message with a new id for each call whose id is missing, or taken by another call."""
    ids = [call["id"] for call in _calls(message)]
    given: list[str] = []
    for own in ids:
        fresh = own if own and own not in taken else f"call_{uuid.uuid4().hex}"
        taken.add(fresh)
        given.append(fresh)
    if given == ids:
        return message
    content = _content_with(message.content, ids, given)
    if isinstance(message, AIMessageChunk):
        chunks: list[Any] = [{**chunk, "id": new} for chunk, new in zip(message.tool_call_chunks, given, strict=True)]
        return _chunk_with(message, chunks, content)
    fresh_ids = iter(given)
    valid = [{**call, "id": next(fresh_ids)} for call in message.tool_calls]
    invalid = [{**call, "id": next(fresh_ids)} for call in message.invalid_tool_calls]
    return message.model_copy(update={"content": content, "tool_calls": valid, "invalid_tool_calls": invalid})


def _calls(message: AIMessage) -> Iterator[Any]:
    """The calls of a message: those of a streamed one in the order of its chunks, which is that of its blocks."""
    if isinstance(message, AIMessageChunk):
        yield from message.tool_call_chunks
    else:
        yield from message.tool_calls
        yield from message.invalid_tool_calls


def _content_with(content: Any, ids: list[Any], given: list[str]) -> Any:
    """The content with the new ids in its blocks of calls, in their order."""
    if not isinstance(content, list):
        return content
    left = [*zip(ids, given, strict=True)]
    blocks = []
    for block in content:
        key = _IDS.get(block.get("type", ""), "") if isinstance(block, dict) else ""
        place = next((pair for pair in left if key and pair[0] == block.get(key)), None)
        if place:
            left.remove(place)
            block = {**block, key: place[1]}
        blocks.append(block)
    return blocks


def _chunk_with(message: AIMessageChunk, chunks: list[Any], content: Any) -> AIMessageChunk:
    """The message with other chunks of tool calls, from which its calls are read again."""
    fields = {name: getattr(message, name) for name in type(message).model_fields}
    fields |= {"content": content, "tool_call_chunks": chunks, "tool_calls": [], "invalid_tool_calls": []}
    return AIMessageChunk(**fields)


def _size(message: BaseMessage) -> int:
    """The characters of a message, about."""
    content = message.content
    size = len(content) if isinstance(content, str) else sum(len(str(block)) for block in content)
    if isinstance(message, AIMessageChunk):
        return size + sum(len(chunk["args"] or "") for chunk in message.tool_call_chunks)
    if isinstance(message, AIMessage):
        return size + sum(len(str(call["args"])) for call in _calls(message))
    return size


def _check(size: int) -> None:
    if size > LARGEST:
        raise NoAnswer("unreadable", f"more than {LARGEST:,} characters")
