"""Serves the explorer until it is interrupted, and prints its links to the terminal."""

from __future__ import annotations

import ipaddress
import os
import re
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

# The most connections at a time, and how often it is seen whether one has brought a whole request since, in seconds.
CONNECTIONS, PATIENCE = 512, 30.0
_NAME = re.compile(r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
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
    for one in hosts:
        if not _NAME.fullmatch(one):
            raise UsageError(f"--allow-host {one!r:.80} is no name of a host", valid="build.example.org, or with :PORT")
    with _listening(host, port) as listener:
        port = listener.getsockname()[1]
        access = Access(name)
        shown = hosts[0] if hosts else f"[{host}]" if ":" in host else host
        root = f"http://{shown}" if hosts and ":" in shown else f"http://{shown}:{port}"
        say(
            f"The runs of {project}. ^C ends the server.\nEach link works once, in one browser:",
            {role: root + access.link(role) for role in ROLES},
        )

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
        log_level="error",  # a line for each bad request would push the links off the screen
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
    """A connection: one too many is told so (503) and closed, and so is one that begins to ask and does not go on."""

    def connection_made(self, transport: object) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency:
            self.transport.write(_BUSY)
            self.transport.close()
        else:
            self.loop.call_later(PATIENCE, self._close_if_silent, None)

    def _close_if_silent(self, before: object) -> None:
        """Close it if no request has come since the last look, and it waits for one or for the rest of a form."""
        cycle = self.cycle
        if self.transport.is_closing():
            return
        if cycle is before and (cycle is None or cycle.response_complete or cycle.more_body):
            self.transport.close()
        else:
            self.loop.call_later(PATIENCE, self._close_if_silent, cycle)


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
        is_name = error.errno is not None and error.errno < 0  # no number of the system's, but of its resolver
        why = os.strerror(error.errno) if error.errno and not is_name else str(error.strerror).partition(" (")[0]
        raise EnvironmentProblem(
            f"{host}:{port} cannot be listened at: {why}",
            remedy="give an address of this machine" if is_name else "choose another port; --port 0 takes a free one",
        ) from error
