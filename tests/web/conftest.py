"""An explorer of a project with runs, asked without a network, and a browser's cookie for each role."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from skills.lib.model.run import Run
from skills.lib.web import app
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


@pytest.fixture
def asking(installed: Install, walker: Walk, project: Path) -> Run:
    """A run of tour that was refused once, proved two things, and asks a person."""
    walk = walker(installed("tour"))
    (project / "proof.txt").write_text("x\n", encoding="utf-8")
    run = walk.go(walk.start(topic="a topic"), records={"summary": "seen"})
    run = walk.go(walk.go(run, params={"mode": "quick"}), outcome="ok")
    walk.go(run, records={"file": "nothing.txt"})
    return walk.go(run, records={"file": "proof.txt"})
