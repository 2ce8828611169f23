"""Providers on the loopback: OpenAI's chat completions and responses, and Anthropic's messages, broken as told."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, NamedTuple

# No handler lives longer than this.
BOUND = 20.0


class Said(NamedTuple):
    """An answer of a model; ``calls`` has the id, the tool and the arguments as text of each call of a tool."""

    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    thought: str = ""
    finish: str = ""
    refusal: str = ""
    usage: tuple[int, int] = (11, 7)


class Status(NamedTuple):
    """An error by its HTTP status."""

    code: int
    message: str = "so it is"
    type: str = "some_error"
    headers: tuple[tuple[str, str], ...] = ()


class Raw(NamedTuple):
    """Bytes with a content type, whatever was asked."""

    body: bytes
    type: str = "application/json"


class Hang(NamedTuple):
    """No answer for so long."""

    seconds: float


class Reset(NamedTuple):
    """The connection is reset before an answer."""


class Cut(NamedTuple):
    """The connection is closed after this part of an answer, of which the headers promised more."""

    said: Said
    part: float = 0.5


class Half(NamedTuple):
    """This part of an answer, and then the end, as if it were whole."""

    said: Said
    part: float = 0.5


class Erring(NamedTuple):
    """An answer that begins, and then says what went wrong (streamed); an error of status 500 (plain)."""

    said: Said
    type: str = "overloaded_error"


class Trickle(NamedTuple):
    """An answer that comes byte by byte, without an end."""


Reply = Said | Status | Raw | Hang | Reset | Cut | Half | Erring | Trickle


class Asked(NamedTuple):
    """A request."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Script = Callable[[Asked], Reply]


class Wire:
    """A provider: where it is, and what it was asked."""

    def __init__(self, protocol: str, script: Script) -> None:
        self.protocol = protocol
        self.asked: list[Asked] = []
        self._script = script
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self.url = ""

    def reply(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            wrong = complaint(self.protocol, asked.body)
            return Status(400, wrong, "invalid_request_error") if wrong else self._script(asked)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [asked.body for asked in self.asked]


@contextmanager
def serving(protocol: str, script: Script) -> Iterator[Wire]:
    """A provider that answers by ``script`` while the context lasts."""
    wire = Wire(protocol, script)

    class Handler(_Handler):
        pass

    Handler.wire = wire
    server = _Server(("127.0.0.1", 0), Handler)
    wire.url = f"http://127.0.0.1:{server.server_port}" + ("" if protocol == "anthropic" else "/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        wire.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def replies(*given: Reply) -> Script:
    """A script of one reply after the other, the last again and again."""
    left = list(given)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # the other side went away


class _Handler(BaseHTTPRequestHandler):
    wire: Wire
    protocol_version = "HTTP/1.1"
    timeout = BOUND
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        reply = self.wire.reply(asked)
        streams = bool(body.get("stream"))
        encode = _events if streams else _document
        kind = "text/event-stream" if streams else "application/json"
        match reply:
            case Said():
                self._send(encode(self.wire.protocol, reply), kind)
            case Status():
                self._send(_error(reply), "application/json", reply.code, reply.headers)
            case Raw():
                self._send(reply.body, reply.type)
            case Half():
                whole = encode(self.wire.protocol, reply.said)
                self._send(whole[: int(len(whole) * reply.part)], kind)
            case Cut():
                whole = encode(self.wire.protocol, reply.said)
                self._send(whole, kind, part=reply.part)
            case Erring() if streams:
                begun = _events(self.wire.protocol, reply.said)
                self._send(
                    begun[: len(begun) // 2].rpartition(b"\n\n")[0]
                    + b"\n\n"
                    + _event_of_error(self.wire.protocol, reply),
                    kind,
                )
            case Erring():
                self._send(_error(Status(500, type=reply.type)), kind, 500)
            case Hang():
                self.wire.closing.wait(min(reply.seconds, BOUND))
                self.close_connection = True
            case Reset():
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
            case Trickle():
                self._trickle(kind)

    def _send(
        self,
        body: bytes,
        kind: str,
        code: int = 200,
        headers: tuple[tuple[str, str], ...] = (),
        part: float = 1.0,
    ) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: int(len(body) * part)])
        self.wfile.flush()
        self.close_connection = True

    def _trickle(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()
        for _ in range(int(BOUND / 0.02)):
            if self.wire.closing.wait(0.02):
                break
            self.wfile.write(b": still here\n\n" if "event" in kind else b" ")
            self.wfile.flush()
        self.close_connection = True


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


def _error(status: Status) -> bytes:
    """Both protocols write errors alike, but for a word."""
    return json.dumps({"type": "error", "error": {"type": status.type, "message": status.message}}).encode()


def _event_of_error(protocol: str, erring: Erring) -> bytes:
    error: dict[str, Any] = {"type": "error", "error": {"type": erring.type, "message": "Overloaded"}}
    if protocol == "responses":
        error = {"type": "error", "code": erring.type, "message": "Overloaded", "param": None, "sequence_number": 9}
    return f"event: error\ndata: {json.dumps(error)}\n\n".encode()


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
