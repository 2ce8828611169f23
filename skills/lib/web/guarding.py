"""What every request passes first, whatever it asks for: its Host and Origin, and how long it is.

The answer says what the browser may do with a page: run the scripts of this server and no others, and show it in no
frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The most bytes of a form.
BODY_LIMIT = 2_000_000
LOCAL = ("127.0.0.1", "localhost", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class _TooLong(Exception):
    """The body of a request has more bytes than a form may have."""


class Guard:
    """The application behind it, for requests that name this server as their host, and come from its own pages."""

    def __init__(self, app: ASGIApp, port: int, hosts: Sequence[str] = ()) -> None:
        self._app = app
        self._hosts = {name if _has_port(name) else f"{name}:{port}" for name in (*LOCAL, *hosts)}
        self._hosts |= {*LOCAL, *hosts} if port == 80 else {*hosts}  # a server with TLS in front names no port
        self._hosts = {name.lower() for name in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wrong = self._wrong(scope)
        if wrong:
            await PlainTextResponse(f"{wrong[1]}\n", wrong[0], HEADERS)(scope, receive, send)
            return
        began = False

        async def guarded(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            await self._app(scope, _bounded(receive), guarded)
        except ClientDisconnect:  # in the middle of a form: there is nobody to answer
            return
        except _TooLong:
            if not began:
                text = f"A form has at most {BODY_LIMIT:,} bytes.\n"
                await PlainTextResponse(text, 413, HEADERS)(scope, receive, send)

    def _wrong(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the words for a request that is not served."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This server is not called so: open it by the link that was printed at its start."
        origins = headers.getlist("origin")
        if scope["method"] not in ("GET", "HEAD"):
            if origins not in ([f"http://{hosts[0]}"], [f"https://{hosts[0]}"]):
                return 403, "This was not sent from a page of this server: nothing was done."
        elif origins and origins[0] not in (f"http://{hosts[0]}", f"https://{hosts[0]}"):
            return 403, "Another site may not read this server."
        if headers.get("content-length", "0").isdigit() and int(headers.get("content-length", "0")) > BODY_LIMIT:
            return 413, f"A form has at most {BODY_LIMIT:,} bytes."
        return None


def _bounded(receive: Receive) -> Receive:
    """What receives no more of a body than a form may have."""
    received = 0

    async def bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > BODY_LIMIT:
            raise _TooLong
        return message

    return bounded


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdigit() and not name.endswith("]")
