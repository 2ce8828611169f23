"""Serves over standard input and output, or over streamable HTTP, on this machine alone unless hosts are named."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from collections.abc import Sequence

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from skills.lib.errors import EnvironmentProblem, UsageError, tell
from skills.lib.hosts.mcp.server import SkillServer

PATH = "/mcp"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


def serve_stdio(server: SkillServer) -> None:
    """Serve one client until it closes standard input; nothing but the protocol is written to standard output."""

    def leave(number: int, _: object) -> None:
        # The thread that reads standard input cannot be interrupted: an ordinary exit would wait for the next line.
        server.workers.interrupt()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    server.run("stdio")


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
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3)
        anyio.run(lambda: uvicorn.Server(config).serve(sockets=[listener]))


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
