"""The server on a port of this machine: what happens is told at once, and many connections are borne."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from skills.lib.web import server
from tests.commands.conftest import Walker
from tests.fixtures import skill
from tests.web.conftest import Install, Served, Walk

FOLLOWERS, IDLE = 200, 1_000
# Followers, idle connections, their other ends in this process, and what a test session has open anyway.
FILES = 2 * (FOLLOWERS + IDLE) + 500


def news(connection: socket.socket, until: float) -> list[dict[str, object]]:
    """The first messages of a stream, read until there is one or that time."""
    text = b""
    while b"data: " not in text and time.monotonic() < until:
        connection.settimeout(max(0.01, until - time.monotonic()))
        try:
            chunk = connection.recv(65_536)
        except TimeoutError:
            break
        if not chunk:
            break
        text += chunk
    return [json.loads(line[6:]) for line in text.decode().splitlines() if line.startswith("data: ")]


def seconds_until_told(served: Served, walk: Walker) -> float:
    """How long it takes until a page that follows the list of runs is told of the second one."""
    walk.start()
    assert served.get("/runs.json").json()["total"] == 1
    with served.socket("/live") as follower:
        assert b"text/event-stream" in follower.recv(65_536)
        opened = walk.start()
        began = time.monotonic()
        [told] = news(follower, began + 10)
        took = time.monotonic() - began
    assert told["run"] == opened.id
    assert served.get("/runs.json").json()["total"] == 2
    print(f"told after {1000 * took:.0f} ms")
    return took


@pytest.mark.slow
@pytest.mark.req("X-01")
def test_an_open_page_is_told_within_a_second(served: Served, installed: Install, walker: Walk) -> None:
    assert seconds_until_told(served, walker(installed("plain"))) < 1.0


@pytest.mark.slow
def test_many_followers_and_idle_connections_are_served_or_refused_and_the_server_lives(
    served: Served, installed: Install, walker: Walk
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        pytest.skip(f"a process may open {hard} files here, and this takes {FILES}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, FILES), hard))
    walk = walker(installed("plain"))
    walk.start()
    served.get("/runs.json")
    with contextlib.ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        followers = [opened.enter_context(served.socket("/live")) for _ in range(FOLLOWERS)]
        heads = [follower.recv(65_536)[:15] for follower in followers]
        assert heads == [b"HTTP/1.1 200 OK"] * FOLLOWERS
        idle = [opened.enter_context(served.socket()) for _ in range(IDLE)]
        refused = 0
        for one in idle:
            one.settimeout(0.01)
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                refused += one.recv(100).startswith(b"HTTP/1.1 503")
        assert refused >= IDLE + FOLLOWERS - server.CONNECTIONS - 10
        run = walk.start()
        until = time.monotonic() + 10
        assert all(news(follower, until)[-1]["run"] == run.id for follower in followers)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with contextlib.suppress(httpx.TransportError):
            if served.get("/runs.json").status_code == 200:
                break
        time.sleep(0.1)
    assert served.get("/runs.json").json()["total"] == 2


@pytest.mark.slow
def test_connections_that_begin_to_ask_and_do_not_go_on_are_closed(
    served: Served, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.5)
    with contextlib.ExitStack() as opened:
        follower = opened.enter_context(served.socket("/live"))
        slow = [opened.enter_context(served.socket(path)) for path in ("", "/nothing", "/skills")]
        for one in slow[1:]:
            assert one.recv(65_536).startswith(b"HTTP/1.1 ")
        for one in slow:
            one.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        form = opened.enter_context(served.socket())
        head = (
            f"POST {served.access.base}/leave HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nCookie: {served.cookie}\r\n"
        )
        form.sendall(f"{head}Origin: {served.root}\r\nContent-Length: 1000\r\n\r\nform_".encode())
        for one in (*slow, form):
            one.settimeout(4)  # a connection that was answered and asks nothing is closed after five seconds
            while one.recv(65_536):
                pass
        assert b"text/event-stream" in follower.recv(65_536)
        follower.settimeout(0.2)
        with pytest.raises(TimeoutError):  # it is open, and nothing happens
            follower.recv(65_536)
    assert served.get("/").status_code == 200
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.slow
def test_the_257th_follower_is_told_to_come_back(served: Served) -> None:
    with contextlib.ExitStack() as opened:
        followers = [opened.enter_context(served.socket("/live")) for _ in range(256)]
        assert all(follower.recv(65_536).startswith(b"HTTP/1.1 200") for follower in followers)
        answer = served.get("/live")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")


def test_without_the_extra_one_line_says_what_to_install(project: Path) -> None:
    hides = "import sys; sys.modules['starlette'] = None; sys.modules['starlette.applications'] = None"
    call = f"{hides}; sys.path.insert(0, {str(skill.ROOT)!r}); from skills.lib.commands import main; main()"
    words = [sys.executable, "-c", call, "web"]
    found = subprocess.run(words, cwd=project, env=os.environ, capture_output=True, text=True, timeout=60)
    assert found.returncode == 4
    assert found.stderr.startswith("lockstep: lockstep web needs the extra [web] (")
    assert found.stderr.endswith("  try:   pip install '/path/to/lockstep[web]'\n")
    assert found.stdout == ""
