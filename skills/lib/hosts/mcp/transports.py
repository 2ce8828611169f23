"""Serves over standard input and output, or over streamable HTTP, on this machine alone unless hosts are named."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import re
import signal
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol

from skills.lib.errors import EnvironmentProblem, UsageError, tell
from skills.lib.hosts.mcp.server import TOO_LONG, SkillServer

PATH = "/mcp"
# The most bytes of one message on standard input: a call's, with each character escaped.
LINE_LIMIT = 16_000_000
# How much of the beginning and of the end of a message that is too long is searched for its id.
_SEARCHED = 1_000
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[\w.:-]{1,100}")'
# The most connections that are open at a time, and how long one may stay silent before its first request, in seconds.
CONNECTIONS, PATIENCE = 256, 30.0
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


def serve_stdio(server: SkillServer) -> None:
    """Serve one client until it closes standard input; nothing but the protocol is written to standard output."""

    def leave(number: int, _: object) -> None:
        # The thread that reads standard input cannot be interrupted: an ordinary exit would wait for the next line.
        server.workers.interrupt()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    wire = os.dup(0)
    read_from, write_to = os.pipe()
    os.dup2(read_from, 0)
    os.close(read_from)
    threading.Thread(target=_pass_on, args=(wire, write_to), daemon=True).start()
    server.run("stdio")


def _pass_on(wire: int, write_to: int) -> None:
    """Pass on each line; one that is too long is not kept, and a call of TOO_LONG with its id takes its place."""
    with suppress(OSError), os.fdopen(wire, "rb") as source, os.fdopen(write_to, "wb") as sink:
        while line := source.readline(LINE_LIMIT + 1):
            if len(line) > LINE_LIMIT and not line.endswith(b"\n"):
                head = tail = line[:_SEARCHED]
                while not line.endswith(b"\n") and (line := source.readline(1 << 20)):
                    tail = (tail + line)[-_SEARCHED:]
                tell(f"lockstep: a message has more than {LINE_LIMIT:,} bytes and was not read\n")
                found = re.search(_ID, head.partition(b'"params"')[0]) or re.search(_ID + rb"\s*}\s*$", tail)
                call = {"jsonrpc": "2.0", "id": json.loads(found[1]) if found else None, "method": TOO_LONG}
                line = json.dumps(call).encode() + b"\n" if found else b""
            sink.write(line)
            sink.flush()


def serve_http(server: SkillServer, address: str, hosts: Sequence[str] = ()) -> None:
    """Serve until interrupted, at ``[HOST:]PORT``; port 0 is any free one. The URL is printed to standard error.

    A request that names another host than this machine or ``hosts`` is refused, so that no web page can reach the
    server through a name that it lets point here (DNS rebinding). Raises UsageError for an address that others could
    reach if no ``hosts`` are named, EnvironmentProblem if it cannot be listened at.
    """
    host, port = parse_address(address)
    if not hosts and not _is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines, and whoever reaches the server can start runs",
            valid="127.0.0.1, localhost, ::1",
            remedy="leave HOST out; or name the host under which clients reach it with --allow-host",
        )
    with _listening(host, port) as listener:
        port = listener.getsockname()[1]
        app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security(port, hosts))
        shown = f"[{host}]" if ":" in host else host
        tell(f"lockstep: serving MCP at http://{shown}:{port}{PATH}\n")
        most = connection_limit()
        config = uvicorn.Config(
            app,
            http=_Connection,
            limit_concurrency=most,
            backlog=max(4, most // 2),  # so many are accepted before the first of them is counted
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=3,
        )
        anyio.run(lambda: uvicorn.Server(config).serve(sockets=[listener]))


class _Connection(H11Protocol):
    """A connection: one too many is told so (503) and closed, and so is one that never asks anything."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency:
            transport.write(_BUSY)
            transport.close()
        else:
            self.loop.call_later(PATIENCE, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None:
            self.transport.close()


def connection_limit() -> int:
    """How many connections the descriptors of this process allow beside those that its calls need."""
    try:
        import resource  # not on Windows
    except ImportError:
        return CONNECTIONS
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return CONNECTIONS if descriptors == resource.RLIM_INFINITY else max(4, min(CONNECTIONS, descriptors // 4))


def parse_address(address: str) -> tuple[str, int]:
    """The host and the port of ``[HOST:]PORT``; UsageError for anything else."""
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        raise UsageError(f"--http {address!r:.80} is not an address", valid="PORT or HOST:PORT, such as 8808")
    return host, int(port)


def security(port: int, hosts: Sequence[str]) -> TransportSecuritySettings:
    """Which Host and Origin headers are let through: this machine's, and those of the hosts that are named."""
    names = [name if _has_port(name) else f"{name}:{port}" for name in (*_LOCAL, *hosts)]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    return TransportSecuritySettings(allowed_hosts=[*names, *hosts], allowed_origins=origins)


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdigit() and not name.endswith("]")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise EnvironmentProblem(
            f"{host}:{port} cannot be listened at: {os.strerror(error.errno) if error.errno else error}",
            remedy="choose another port; 0 takes a free one",
        ) from error
