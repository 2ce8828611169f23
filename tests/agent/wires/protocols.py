"""The bytes of an answer as each protocol has them, and what providers refuse of a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple


class Said(NamedTuple):
    """An answer of a model; ``calls`` has the id, the tool and the arguments as text of each call of a tool."""

    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    thought: str = ""
    finish: str = ""
    refusal: str = ""
    usage: tuple[int, int] = (11, 7)


def encoded(protocol: str, said: Said, streams: bool) -> bytes:
    """The bytes of an answer."""
    return _events(protocol, said) if streams else _document(protocol, said)


def _document(protocol: str, said: Said) -> bytes:
    made = {"openai": _completion, "responses": _response, "anthropic": _message}[protocol](said)
    return json.dumps(made).encode()


def _events(protocol: str, said: Said) -> bytes:
    if protocol == "openai":
        lines = [f"data: {json.dumps(event)}\n\n" for event in _completion_chunks(said)]
        return "".join([*lines, "data: [DONE]\n\n"]).encode()
    events = _response_events(said) if protocol == "responses" else _message_events(said)
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def _completion(said: Said) -> dict[str, Any]:
    calls = [
        {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call, name, arguments in said.calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if calls:
        message["tool_calls"] = calls
    if said.refusal:
        message["refusal"] = said.refusal
    if said.thought:
        message["reasoning_content"] = said.thought
    finish = said.finish or ("tool_calls" if calls else "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "test-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _usage(said),
    }


def _completion_chunks(said: Said) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "test-model",
            "choices": [choice],
        }

    yield chunk({"role": "assistant", "content": ""})
    if said.thought:
        yield chunk({"reasoning_content": said.thought})
    for piece in _pieces(said.text):
        yield chunk({"content": piece})
    if said.refusal:
        yield chunk({"refusal": said.refusal})
    for index, (call, name, arguments) in enumerate(said.calls):
        yield chunk(
            {
                "tool_calls": [
                    {"index": index, "id": call, "type": "function", "function": {"name": name, "arguments": ""}}
                ]
            }
        )
        for piece in _pieces(arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, said.finish or ("tool_calls" if said.calls else "stop"))
    yield {**chunk({}), "choices": [], "usage": _usage(said)}


def _as_completion(item: dict[str, Any]) -> dict[str, Any]:
    """An item of a request for a response, as it stands among the messages of a completion."""
    if item.get("type") == "function_call":
        return {"role": "assistant", "content": "", "tool_calls": [{"id": item["call_id"]}]}
    if item.get("type") == "function_call_output":
        return {"role": "tool", "content": item["output"], "tool_call_id": item["call_id"]}
    return item


def _response(said: Said) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if said.text:
        output.append(_item_of_text(said.text))
    output += [_item_of_call(number, call) for number, call in enumerate(said.calls)]
    given, written = said.usage
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": said.finish or "completed",
        "model": "test-model",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + written,
        },
    }


def _item_of_text(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def _item_of_call(number: int, call: tuple[str, str, str]) -> dict[str, Any]:
    own, name, arguments = call
    item = {"type": "function_call", "id": f"fc_{number}", "call_id": own, "name": name, "arguments": arguments}
    return {**item, "status": "completed"}


def _response_events(said: Said) -> Iterator[dict[str, Any]]:
    whole = _response(said)
    numbers = count()

    def event(type: str, **fields: Any) -> dict[str, Any]:
        return {"type": f"response.{type}", "sequence_number": next(numbers), **fields}

    yield event("created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for at, item in enumerate(whole["output"]):
        about = {"output_index": at, "item_id": item["id"]}
        if item["type"] == "message":
            yield event("output_item.added", output_index=at, item=_item_of_text(""))
            for piece in _pieces(said.text):
                yield event("output_text.delta", **about, content_index=0, delta=piece, logprobs=[])
        else:
            yield event("output_item.added", output_index=at, item={**item, "arguments": "", "status": "in_progress"})
            for piece in _pieces(item["arguments"]):
                yield event("function_call_arguments.delta", **about, delta=piece)
        yield event("output_item.done", output_index=at, item=item)
    yield event("incomplete" if said.finish == "incomplete" else "completed", response=whole)


def _usage(said: Said) -> dict[str, int]:
    given, written = said.usage
    return {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written}


def _blocks(said: Said) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if said.thought:
        blocks.append({"type": "thinking", "thinking": said.thought, "signature": "c2lnbmVk"})
    if said.text or said.refusal:
        blocks.append({"type": "text", "text": said.text or said.refusal})
    for call, name, arguments in said.calls:
        try:
            given = json.loads(arguments or "{}")
        except ValueError:
            given = arguments  # what this protocol cannot say: its arguments are JSON already
        blocks.append({"type": "tool_use", "id": call, "name": name, "input": given})
    return blocks


def _message(said: Said) -> dict[str, Any]:
    stop = said.finish or ("refusal" if said.refusal else "tool_use" if said.calls else "end_turn")
    given, written = said.usage
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test-model",
        "content": _blocks(said),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": given, "output_tokens": written},
    }


def _message_events(said: Said) -> Iterator[dict[str, Any]]:
    message = _message(said)
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "ping"}
    arguments = iter([arguments for _, _, arguments in said.calls])
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            start, deltas = (
                {**block, "input": {}},
                [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(next(arguments))],
            )
        elif block["type"] == "thinking":
            start = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            start = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _pieces(text: str) -> list[str]:
    """The text in three, as tokens come."""
    third = len(text) // 3 + 1
    return [text[at : at + third] for at in range(0, len(text), third)]


def complaint(protocol: str, body: dict[str, Any]) -> str:
    """Why the providers refuse a conversation; "" if they do not."""
    open_calls: list[str] = []
    known: set[str] = set()
    for turn in body["input"] if protocol == "responses" else body["messages"]:
        if protocol == "responses":
            turn = _as_completion(turn)
        content = turn["content"] if isinstance(turn["content"], list) else []
        if protocol != "anthropic":
            results = [turn["tool_call_id"]] if turn["role"] == "tool" else []
            calls = [call["id"] for call in turn.get("tool_calls") or []]
        else:
            results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
            calls = [block["id"] for block in content if block["type"] == "tool_use"]
        for result in results:
            if result not in open_calls:
                return f"a result of {result}, which was not called"
            open_calls.remove(result)
        if open_calls and not calls and not (protocol != "anthropic" and turn["role"] == "tool"):
            return f"no result of {', '.join(open_calls)}"
        if len({*calls, *known}) < len(calls) + len(known):
            return "an id of a call stands twice"
        if turn["role"] == "user" and not turn["content"]:
            return "a message without content"
        known |= {*calls}
        open_calls += calls
    return f"no result of {', '.join(open_calls)}" if open_calls else ""
