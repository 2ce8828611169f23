"""Serves the explorer until it is interrupted, and prints its links to the terminal."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Sequence

import anyio
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from skills.lib.agent.configuration.configured_keys import ROLES
from skills.lib.errors import EnvironmentProblem, UsageError
from skills.lib.web import app as application
from skills.lib.web.access import Access

# The most connections at a time, and how long one may stay silent before its first request, in seconds.
CONNECTIONS, PATIENCE = 512, 30.0
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 2\r\n\r\n"


def serve(
    project: str, host: str, port: int, hosts: Sequence[str], name: str, say: Callable[[str, dict[str, str]], None]
) -> None:
    """Serve a project's runs; ``say`` is told a sentence and the links that go with it, by role.

    Raises UsageError for an address that other machines reach if no ``hosts`` are named, EnvironmentProblem if it
    cannot be listened at.
    """
    if not hosts and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines, and the connection is not encrypted",
            valid="127.0.0.1, localhost, ::1",
            remedy="leave --host out; or name the host under which browsers reach it with --allow-host",
        )
    with _listening(host, port) as listener:
        port = listener.getsockname()[1]
        access = Access(name)
        shown = hosts[0] if hosts else f"[{host}]" if ":" in host else host
        root = f"http://{shown}" if hosts and ":" in shown else f"http://{shown}:{port}"
        say("Each link works once, in one browser:", {role: root + access.link(role) for role in ROLES})

        def entered(role: str) -> None:
            say(f"The link for {role} was used; the next one:", {role: root + access.link(role)})

        server = prepared(application.create(project, access, port, hosts, entered))
        anyio.run(lambda: server.serve(sockets=[listener]))


def prepared(app: Starlette) -> uvicorn.Server:
    """A server for the application, which refuses the connections that are too many."""
    config = uvicorn.Config(
        app,
        http=_Connection,
        limit_concurrency=_connection_limit(),
        backlog=256,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return _Server(config, app.state.live.close)


class _Server(uvicorn.Server):
    """A server that lets the pages which follow go before it waits for the open connections."""

    def __init__(self, config: uvicorn.Config, closing: Callable[[], None]) -> None:
        super().__init__(config)
        self._closing = closing

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._closing()
        await super().shutdown(sockets)


class _Connection(H11Protocol):
    """A connection: one too many is told so (503) and closed, and so is one that never asks anything."""

    def connection_made(self, transport: object) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency:
            self.transport.write(_BUSY)
            self.transport.close()
        else:
            self.loop.call_later(PATIENCE, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None:
            self.transport.close()


def is_loopback(host: str) -> bool:
    """True if only this machine reaches that host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _connection_limit() -> int:
    """How many connections the descriptors of this process allow beside those that its pages need."""
    try:
        import resource  # not on Windows
    except ImportError:
        return CONNECTIONS
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return CONNECTIONS if descriptors == resource.RLIM_INFINITY else max(16, min(CONNECTIONS, descriptors // 2))


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise EnvironmentProblem(
            f"{host}:{port} cannot be listened at: {os.strerror(error.errno) if error.errno else error}",
            remedy="choose another port; --port 0 takes a free one",
        ) from error
