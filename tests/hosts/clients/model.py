"""A scripted model on loopback: it answers the four clients over their own wires, one action a turn.

A script is a callable from what the client sent last to what the model does next, so a test says what an agent would
do and sees what an agent would see. Three wires: Responses (Codex), Chat Completions (opencode, Qwen Code) and
generateContent (Gemini CLI). Nothing but the standard library, nothing but 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MODEL = "scripted"
SUMMARY = "A summary: the work goes on."


@dataclass(frozen=True)
class Call:
    """The model calls a tool of the client; ``arguments`` is a text for a free-form tool (Codex's apply_patch)."""

    tool: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True)
class Say:
    """The model says something and calls nothing: its turn ends."""

    text: str


Action = Call | Say


@dataclass(frozen=True)
class Message:
    """One entry of a conversation; the role is system, user, model or tool."""

    role: str
    text: str


@dataclass(frozen=True)
class Turn:
    """What a client sent: the whole conversation as the model sees it, and the tools that it offers."""

    messages: Sequence[Message]
    tools: Sequence[str]

    @property
    def since(self) -> Sequence[Message]:
        """What was said since the model spoke last."""
        spoken = [at for at, message in enumerate(self.messages) if message.role == "model"]
        return self.messages[spoken[-1] + 1 :] if spoken else self.messages

    @property
    def output(self) -> str:
        """What the tools gave since the model spoke last."""
        return "\n".join(message.text for message in self.since if message.role == "tool")

    @property
    def told(self) -> str:
        """What the client or its user said since the model spoke last."""
        return "\n".join(message.text for message in self.since if message.role == "user")

    @property
    def is_aside(self) -> bool:
        """Whether the client asks for a title or a summary: it offers no tools, or Codex's words are there."""
        return not self.tools or "CONTEXT CHECKPOINT COMPACTION" in self.told

    @property
    def text(self) -> str:
        """Everything that the model sees."""
        return "\n".join(message.text for message in self.messages)


@dataclass
class Model:
    """A running server: its address, its script, and the turns that it was asked for."""

    script: Callable[[Turn], Action]
    # What the server reports as the length of the conversation: a large number makes a client compact.
    tokens: Callable[[Turn], int] = lambda turn: 10
    turns: list[Turn] = field(default_factory=list, repr=False)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        model = self

        class Served(_Handler):
            scripted = model

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Served)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Model:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def address(self) -> str:
        """The server's root, without a slash at its end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def act(self, turn: Turn) -> Action:
        """The script's action; a request aside from the conversation gets a text and is no turn."""
        if turn.is_aside:
            return Say(SUMMARY)
        with self._lock:
            self.turns.append(turn)
            try:
                return self.script(turn)
            except Exception as error:
                since = "\n".join(f"{message.role}: {message.text[:2000]}" for message in turn.since)
                self.faults.append(f"{type(error).__name__}: {error}\nThe model had just read:\n{since}")
                return Say("That is all.")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    scripted: Model

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on stderr."""

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": MODEL, "object": "model"}], "models": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        path = self.path.partition("?")[0]
        wire: Wire
        if path.endswith("/responses"):
            wire = Responses()
        elif path.endswith("/chat/completions"):
            wire = Chat()
        elif path.endswith((":generateContent", ":streamGenerateContent")):
            wire = Generate()
        elif path.endswith(":countTokens"):
            return self._send({"totalTokens": 10})
        else:
            return self._send({"error": {"message": f"no such path: {path}"}}, 404)
        turn = wire.turn(body)
        tokens = self.scripted.tokens(turn)
        events = list(wire.answer(self.scripted.act(turn), tokens, f"{time.monotonic_ns():x}"))
        if path.endswith(":streamGenerateContent") or body.get("stream"):
            return self._send_events(events, wire.end)
        return self._send(wire.whole(events))

    def _send(self, data: object, status: int = 200) -> None:
        self._write(json.dumps(data).encode(), "application/json", status)

    def _send_events(self, events: Sequence[dict[str, Any]], end: str) -> None:
        named = (f"event: {event['type']}\n" if "type" in event else "" for event in events)
        text = "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(named, events, strict=True))
        self._write((text + end).encode(), "text/event-stream", 200)

    def _write(self, data: bytes, kind: str, status: int) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        with contextlib.suppress(ConnectionError):  # a client that was interrupted is gone
            self.end_headers()
            self.wfile.write(data)


def _flat(content: object) -> str:
    """The text of a message's content: a string, a list of parts, or any other JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_flat(part) for part in content)
    if isinstance(content, dict):
        for key in ("text", "output", "content", "error"):
            if isinstance(content.get(key), (str, list)):
                return _flat(content[key])
        return json.dumps(content, ensure_ascii=False)
    return "" if content is None else str(content)


class Wire(Protocol):
    """One way in which a client and its model speak; ``end`` closes a stream of events."""

    end: str

    def turn(self, body: dict[str, Any]) -> Turn:
        """What a request says."""

    def answer(self, action: Action, tokens: int, mark: str) -> Iterator[dict[str, Any]]:
        """The events that say the action; ``mark`` makes their ids."""

    def whole(self, events: Sequence[dict[str, Any]]) -> object:
        """The same as one document, for a request that wants no stream."""


class Responses:
    """The Responses API, as Codex speaks it."""

    end = ""

    def turn(self, body: dict[str, Any]) -> Turn:
        messages = [Message("system", _flat(body.get("instructions")))]
        offered = list(body.get("tools") or [])
        for item in body.get("input", []):
            kind = item.get("type", "message")
            if kind == "additional_tools":
                offered += item["tools"]
            elif kind == "message":
                role = {"assistant": "model", "developer": "system"}.get(item["role"], item["role"])
                messages.append(Message(role, _flat(item.get("content"))))
            elif kind.endswith("_output"):
                messages.append(Message("tool", _flat(item.get("output"))))
            elif kind.endswith("_call"):
                messages.append(Message("model", json.dumps(item, ensure_ascii=False)))
            else:
                messages.append(Message("user", _flat(item)))
        tools = []
        for tool in offered:
            name = tool.get("name") or tool["type"]
            inner = tool.get("tools") if tool["type"] == "namespace" else None
            tools += [f"{name}/{one['name']}" for one in inner] if inner else [name]
        return Turn(messages, tools)

    def answer(self, action: Action, tokens: int, mark: str) -> Iterator[dict[str, Any]]:
        response = {"id": f"resp_{mark}", "object": "response", "created_at": 0, "model": MODEL, "output": []}
        item = self._item(action, mark)
        yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        if isinstance(action, Say):
            about = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            yield {"type": "response.output_text.delta", **about, "delta": action.text}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        usage = {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens + 5,
        }
        done = {**response, "status": "completed", "output": [item], "usage": usage}
        yield {"type": "response.completed", "response": done}

    def _item(self, action: Action, mark: str) -> dict[str, Any]:
        if isinstance(action, Say):
            content = [{"type": "output_text", "text": action.text, "annotations": []}]
            return {
                "type": "message",
                "id": f"msg_{mark}",
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        space, _, name = action.tool.rpartition("/")
        said = {"id": f"call_item_{mark}", "call_id": f"call_{mark}", "name": name, "status": "completed"}
        if space:
            said["namespace"] = space
        if isinstance(action.arguments, str):
            return {"type": "custom_tool_call", **said, "input": action.arguments}
        return {"type": "function_call", **said, "arguments": json.dumps(action.arguments)}

    def whole(self, events: Sequence[dict[str, Any]]) -> object:
        return events[-1]["response"]


class Chat:
    """Chat Completions, as opencode and Qwen Code speak it."""

    end = "data: [DONE]\n\n"

    def turn(self, body: dict[str, Any]) -> Turn:
        messages = []
        for message in body["messages"]:
            role = {"assistant": "model", "developer": "system"}.get(message["role"], message["role"])
            called = json.dumps(message["tool_calls"], ensure_ascii=False) if message.get("tool_calls") else ""
            messages.append(Message(role, _flat(message.get("content")) + called))
        return Turn(messages, [tool["function"]["name"] for tool in body.get("tools") or []])

    def answer(self, action: Action, tokens: int, mark: str) -> Iterator[dict[str, Any]]:
        delta: dict[str, Any] = {"role": "assistant"}
        if isinstance(action, Say):
            delta["content"] = action.text
        else:
            function = {"name": action.tool, "arguments": json.dumps(action.arguments)}
            delta["tool_calls"] = [{"index": 0, "id": f"call_{mark}", "type": "function", "function": function}]
        chunk = {"id": f"chat_{mark}", "object": "chat.completion.chunk", "created": 0, "model": MODEL}
        why = "stop" if isinstance(action, Say) else "tool_calls"
        usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
        yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]}
        yield {**chunk, "choices": [], "usage": usage}

    def whole(self, events: Sequence[dict[str, Any]]) -> object:
        said, ended, usage = events
        choice = {"index": 0, "message": said["choices"][0]["delta"], **ended["choices"][0]}
        return {**usage, "object": "chat.completion", "choices": [choice]}


class Generate:
    """generateContent and its stream, as Gemini CLI speaks it."""

    end = ""

    def turn(self, body: dict[str, Any]) -> Turn:
        messages = [Message("system", _flat((body.get("systemInstruction") or {}).get("parts")))]
        for content in body.get("contents", []):
            for part in content.get("parts", []):
                if "functionResponse" in part:
                    messages.append(Message("tool", _flat(part["functionResponse"]["response"])))
                elif "functionCall" in part:
                    messages.append(Message("model", json.dumps(part["functionCall"], ensure_ascii=False)))
                else:
                    messages.append(Message("model" if content.get("role") == "model" else "user", _flat(part)))
        tools = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations", [])]
        return Turn(messages, [tool["name"] for tool in tools])

    def answer(self, action: Action, tokens: int, mark: str) -> Iterator[dict[str, Any]]:
        part: dict[str, Any]
        if isinstance(action, Say):
            part = {"text": action.text}
        else:
            part = {"functionCall": {"name": action.tool, "args": action.arguments, "id": f"call_{mark}"}}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 5, "totalTokenCount": tokens + 5}
        yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL}

    def whole(self, events: Sequence[dict[str, Any]]) -> object:
        return events[0]
