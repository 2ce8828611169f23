"""An explorer of a project with runs, asked without a network or on a port, and a browser's cookie for each role."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from starlette.testclient import TestClient

from skills.lib.model.run import Run
from skills.lib.web import app, server
from skills.lib.web.access import Access
from tests.commands.conftest import Walker, cli, counted_ids, installed, project, walker

__all__ = ["cli", "counted_ids", "installed", "project", "walker"]
Install = Callable[..., Path]
Walk = Callable[[Path], Walker]
PORT = 8710
ORIGIN = f"http://127.0.0.1:{PORT}"


class Browser:
    """A browser that came by a link for a role; it adds what a browser adds to the forms of the server's pages."""

    def __init__(self, client: TestClient, access: Access, role: str) -> None:
        self.client, self.access, self.role = client, access, role
        self.cookie = ""
        if role:
            entered = client.get(access.link(role), follow_redirects=False)
            assert entered.status_code == 303
            self.cookie = entered.headers["set-cookie"].partition(";")[0]
        client.cookies.clear()

    def get(self, path: str, **headers: str) -> Any:
        """What the server answers to a page's address below its base."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"cookie": self.cookie, **named}
        return self.client.get(self.access.base + path, headers=sent, follow_redirects=False)

    def json(self, path: str) -> Any:
        """A page as JSON."""
        answer = self.get(path, accept="application/json")
        assert answer.headers["content-type"] == "application/json", answer.text
        return answer.json()

    def token(self) -> str:
        """The token that the forms of this session carry."""
        found = re.search(r'name="form_token" value="([^"]+)"', self.get("/skills").text)
        assert found is not None
        return found[1]

    def post(self, path: str, headers: dict[str, str] | None = None, /, **fields: str) -> Any:
        """What the server answers to a form that was sent from one of its pages."""
        fields = {"form_token": self.token(), "name": "Ada", **fields}
        sent = {"cookie": self.cookie, "origin": ORIGIN, **(headers or {})}
        return self.client.post(self.access.base + path, data=fields, headers=sent, follow_redirects=False)


Enter = Callable[..., Browser]


@pytest.fixture
def enter(project: Path) -> Iterator[Enter]:
    """Enter the explorer of the project in a role."""
    access = Access("")
    with TestClient(app.create(str(project), access, PORT), base_url=ORIGIN) as client:
        yield lambda role="ADMIN": Browser(client, access, role)


class Served:
    """A server that runs, and a cookie of an administrator."""

    def __init__(self, access: Access, port: int) -> None:
        self.access, self.port = access, port
        self.root = f"http://127.0.0.1:{port}"
        entered = httpx.get(self.root + access.link("ADMIN"))
        self.cookie = entered.headers["set-cookie"].partition(";")[0]
        self.headers = {"cookie": self.cookie}

    def get(self, path: str) -> httpx.Response:
        """A page."""
        return httpx.get(f"{self.root}{self.access.base}{path}", headers=self.headers, timeout=30)

    def socket(self, path: str = "") -> socket.socket:
        """A connection, which asks for a page if a path is given."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        if path:
            head = (
                f"GET {self.access.base}{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {self.cookie}\r\n\r\n"
            )
            made.sendall(head.encode())
        return made


@pytest.fixture
def served(project: Path) -> Iterator[Served]:
    """The explorer of the project, served by a thread of this process."""
    access = Access("")
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        port = listener.getsockname()[1]
        running = server.prepared(app.create(str(project), access, port))
        thread = threading.Thread(target=lambda: anyio.run(lambda: running.serve(sockets=[listener])))
        thread.start()
        try:
            until = time.monotonic() + 30
            while not running.started and time.monotonic() < until:
                time.sleep(0.02)
            yield Served(access, port)
        finally:
            running.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


@pytest.fixture
def asking(installed: Install, walker: Walk, project: Path) -> Run:
    """A run of tour that was refused once, proved two things, and asks a person."""
    walk = walker(installed("tour"))
    (project / "proof.txt").write_text("x\n", encoding="utf-8")
    run = walk.go(walk.start(topic="a topic"), records={"summary": "seen"})
    run = walk.go(walk.go(run, params={"mode": "quick"}), outcome="ok")
    walk.go(run, records={"file": "nothing.txt"})
    return walk.go(run, records={"file": "proof.txt"})
