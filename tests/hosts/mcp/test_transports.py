"""Standard input and output, HTTP on this machine alone, and the command's own errors."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
from mcp import Client

from skills.lib.errors import UsageError
from skills.lib.hosts.mcp import transports
from tests.fixtures.skill import ROOT
from tests.hosts.conftest import Command
from tests.hosts.mcp.talking import LOCKSTEP, Listening, Talk, add_skill

pytestmark = [pytest.mark.req("H-06"), pytest.mark.slow]

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture
def url(project: Path) -> Iterator[str]:
    add_skill(project, "tour")
    with Listening([*LOCKSTEP, "mcp", "--project", str(project), "--http", "0"]) as found:
        yield found


def post(url: str, **headers: str) -> tuple[int, str]:
    """The status and the body of an initialize request with these headers besides the usual ones."""
    place = urlsplit(url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=20)
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request("POST", place.path, json.dumps(INITIALIZE), {**usual, **given})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_refuses_a_request_that_names_another_host_or_comes_from_another_page(url: str) -> None:
    port = urlsplit(url).port
    assert post(url)[0] == 200
    assert post(url, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "localhost",
        f"localhost:{port}1",
        f"localhost.evil:{port}",
        "",
    ):
        assert post(url, Host=host) == (421, "Invalid Host header"), host
    for origin in ("http://evil.example", f"http://evil.example:{port}", "http://localhost", "null", "file://"):
        assert post(url, Origin=origin) == (403, "Invalid Origin header"), origin
    modern = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "server/discover"}
    assert post(url, Host="evil.example", **modern)[0] == 421


def test_serves_under_a_name_that_is_allowed(project: Path) -> None:
    command = [*LOCKSTEP, "mcp", "--project", str(project), "--http", "0", "--allow-host", "box.local"]
    with Listening(command) as url:
        port = urlsplit(url).port
        assert post(url, Host=f"box.local:{port}", Origin=f"http://box.local:{port}")[0] == 200
        assert post(url, Host="box.local")[0] == 200
        assert post(url, Host=f"evil.example:{port}")[0] == 421


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:8808", "box.local:0", "2130706433:0"])
def test_listens_on_a_public_address_only_if_asked_to(cli: Command, address: str) -> None:
    shown = cli("mcp", "--http", address)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.endswith(
        "  valid: 127.0.0.1, localhost, ::1\n"
        "  try:   leave HOST out; or name the host under which clients reach it with --allow-host\n"
    )


@pytest.mark.parametrize(
    "address, host, port",
    [("8808", "127.0.0.1", 8808), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65535), ("::1:5", "::1", 5)],
)
def test_reads_an_address(address: str, host: str, port: int) -> None:
    assert transports.parse_address(address) == (host, port)


@pytest.mark.parametrize("address", ["", "port", "localhost:", "localhost:65536", "1.5", "-1", "٣"])
def test_refuses_what_is_no_address(address: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        transports.parse_address(address)


# A process with so many descriptors becomes the server.
FEW = "import os, resource as r, sys; r.setrlimit(r.RLIMIT_NOFILE, (64, 64)); os.execv(sys.argv[1], sys.argv[1:])"


def test_more_connections_than_descriptors_are_turned_away_and_the_server_goes_on(project: Path) -> None:
    add_skill(project, "tour")
    command = [*LOCKSTEP, "mcp", "--project", str(project), "--http", "0"]
    with Listening([sys.executable, "-c", FEW, *command]) as url, ExitStack() as flood:
        place = urlsplit(url)
        opened = [
            flood.enter_context(socket.create_connection((place.hostname or "", place.port or 0), timeout=20))
            for _ in range(200)
        ]
        told = [connection.recv(1_000) for connection in opened[100:]]
        assert {answer.partition(b"\r\n")[0] for answer in told} == {b"HTTP/1.1 503 Service Unavailable"}
        with suppress(ConnectionError):  # the answer may be lost, since the request is not read
            assert post(url)[0] == 503
        for connection in opened:
            connection.close()
        for _ in range(40):
            assert post(url)[0] == 200

        async def opened_run() -> str:
            with anyio.fail_after(60):
                async with Client(url) as client:
                    return (await Talk(client).call("start_run", skill="tour", parameters={"topic": "tea"})).text

        assert "<step " in anyio.run(opened_run)


def test_a_connection_that_asks_nothing_is_closed(project: Path) -> None:
    patched = "from skills.lib.hosts.mcp import transports; transports.PATIENCE = 0.3; "
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {patched}from skills.lib.commands import main; main()"
    command = [sys.executable, "-P", "-c", code, "mcp", "--project", str(project), "--http", "0"]
    with Listening(command) as url:
        place = urlsplit(url)
        with socket.create_connection((place.hostname or "", place.port or 0), timeout=20) as silent:
            silent.sendall(b"POST /mcp HTTP/1.1\r\n")
            assert silent.recv(1) == b""
        assert post(url)[0] == 200


def test_says_when_the_port_is_taken(cli: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = cli("mcp", "--http", str(port))
    assert shown.code == 4
    assert shown.err == (
        f"lockstep: 127.0.0.1:{port} cannot be listened at: Address already in use\n"
        "  try:   choose another port; 0 takes a free one\n"
    )


def test_an_allowed_host_without_http_is_a_mistake(cli: Command) -> None:
    shown = cli("mcp", "--allow-host", "box.local")
    assert (shown.code, shown.err) == (2, "lockstep: --allow-host is about HTTP\n  try:   give --http with it\n")


@pytest.mark.parametrize("found", ["absent", "old"])
def test_says_what_to_install(tmp_path: Path, project: Path, found: str) -> None:
    (tmp_path / "mcp").mkdir()
    source = "raise ModuleNotFoundError('No module named anyio', name='anyio')\n" if found == "absent" else ""
    (tmp_path / "mcp" / "__init__.py").write_text(source)
    # A module on PYTHONPATH comes before an installed one.
    ended = subprocess.run(
        [sys.executable, LOCKSTEP[2], "mcp", "--project", str(project)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (4, "")
    detail = "" if found == "absent" else ": No module named 'mcp.server'"
    assert ended.stderr == (
        "lockstep: lockstep mcp needs the extra [mcp] (the package mcp, version 2.3 or later), which is not installed "
        f"for {sys.executable}{detail}\n  try:   pip install '/path/to/lockstep[mcp]'\n"
    )


def test_its_help_says_what_it_needs() -> None:
    ended = subprocess.run([*LOCKSTEP, "mcp", "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert "It needs the extra: pip install '/path/to/lockstep[mcp]'" in " ".join(ended.stdout.split())


def test_standard_output_carries_the_protocol_alone(project: Path) -> None:
    lines = [json.dumps(INITIALIZE), "not JSON", "[]", json.dumps({"jsonrpc": "2.0", "id": 2, "method": "no/such"})]
    ended = subprocess.run(
        [*LOCKSTEP, "mcp", "--project", str(project)],
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=60,
    )
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ended.returncode == 0
    assert answers
    assert {answer["jsonrpc"] for answer in answers} == {"2.0"}
    assert answers[0]["result"]["serverInfo"]["name"] == "lockstep"
    assert "list_skills" in answers[0]["result"]["instructions"]


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("words", [["--http", "0"], []], ids=["http", "stdio"])
def test_an_interrupt_ends_the_server_at_once(project: Path, words: list[str]) -> None:
    process = subprocess.Popen(
        [*LOCKSTEP, "mcp", "--project", str(project), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    if words:
        process.stderr.readline()
    else:
        process.stdin.write(json.dumps(INITIALIZE) + "\n")
        process.stdin.flush()
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(timeout=40) == 130
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()
