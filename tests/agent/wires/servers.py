"""Providers on the loopback: OpenAI's chat completions and responses, and Anthropic's messages, broken as told."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.agent.wires.protocols import Said, complaint, encoded

# No handler lives longer than this.
BOUND = 20.0


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
        protocol = self.wire.protocol
        kind = "text/event-stream" if streams else "application/json"
        match reply:
            case Said():
                self._send(encoded(protocol, reply, streams), kind)
            case Status():
                self._send(_error(reply), "application/json", reply.code, reply.headers)
            case Raw():
                self._send(reply.body, reply.type)
            case Half():
                whole = encoded(protocol, reply.said, streams)
                self._send(whole[: int(len(whole) * reply.part)], kind)
            case Cut():
                whole = encoded(protocol, reply.said, streams)
                self._send(whole, kind, part=reply.part)
            case Erring() if streams:
                begun = encoded(protocol, reply.said, streams)
                self._send(
                    begun[: len(begun) // 2].rpartition(b"\n\n")[0] + b"\n\n" + _event_of_error(protocol, reply),
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


def _error(status: Status) -> bytes:
    """Both protocols write errors alike, but for a word."""
    return json.dumps({"type": "error", "error": {"type": status.type, "message": status.message}}).encode()


def _event_of_error(protocol: str, erring: Erring) -> bytes:
    error: dict[str, Any] = {"type": "error", "error": {"type": erring.type, "message": "Overloaded"}}
    if protocol == "responses":
        error = {"type": "error", "code": erring.type, "message": "Overloaded", "param": None, "sequence_number": 9}
    return f"event: error\ndata: {json.dumps(error)}\n\n".encode()
