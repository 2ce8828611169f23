"""``opencode serve``, driven over its HTTP API: the sessions that its TUI and its other clients work in."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.hosts.clients import clients

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.hosts.clients.clients import Client, Room

# A start takes three seconds here, a turn of a few requests one.
START = 60
TURN = 60


@dataclass(frozen=True)
class Server:
    """A running server: its address, and what its API is asked here."""

    address: str

    def begin(self) -> str:
        """Begin a session that asks for no permission, and return its id."""
        allowed = [{"permission": "*", "pattern": "*", "action": "allow"}]
        return str(self._post("/session", {"permission": allowed})["id"])

    def prompt(self, session: str, text: str) -> None:
        """Prompt the session and wait for the answer that ends its loop; a plugin may prompt it again then."""
        self._post(f"/session/{session}/message", {"parts": [{"type": "text", "text": text}]})

    def rest(self, session: str, is_enough: Callable[[], bool]) -> None:
        """Wait until enough has happened and the session is idle."""
        until = time.monotonic() + TURN
        while not (is_enough() and session not in self._ask("/session/status")):
            assert time.monotonic() < until, "the session does not come to rest"
            time.sleep(0.05)

    def interrupt(self, session: str) -> None:
        """Interrupt the session's turn, as Escape does."""
        self._post(f"/session/{session}/abort", {})

    def prompts(self, session: str) -> list[tuple[str, bool]]:
        """What the session was sent in the user's place: each text, and whether it is hidden from the user."""
        messages = self._ask(f"/session/{session}/message")
        told = [one["parts"] for one in messages if one["info"]["role"] == "user"]
        return [(part["text"], part.get("synthetic", False)) for parts in told for part in parts]

    def sub_agents(self, session: str) -> list[str]:
        """The sessions that the session's sub-agents work in."""
        return [str(one["id"]) for one in self._ask(f"/session/{session}/children")]

    def _post(self, path: str, body: object) -> Any:
        return self._ask(path, json.dumps(body).encode())

    def _ask(self, path: str, data: bytes | None = None) -> Any:
        request = urllib.request.Request(self.address + path, data, {"content-type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=TURN) as answer:
            return json.loads(answer.read() or b"null")


@contextlib.contextmanager
def serving(client: Client, room: Room) -> Iterator[Server]:
    """Run the client's server in its room; what is left of it at the end is killed."""
    with tempfile.NamedTemporaryFile("w+") as out:
        process = subprocess.Popen(
            [clients.PROGRAMS / client.program, "serve", "--hostname", "127.0.0.1", "--port", "0"],
            cwd=room.project,
            env={**clients.common_environment(room), **client.environment(room)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            yield Server(_address(process, Path(out.name)))
        finally:
            clients.kill_group(process.pid)
            process.wait()


def _address(process: subprocess.Popen[bytes], out: Path) -> str:
    """The address that the server says it listens on."""
    until = time.monotonic() + START
    while time.monotonic() < until and process.poll() is None:
        said = re.search(r"listening on (http://127\.0\.0\.1:\d+)", out.read_text(encoding="utf-8"))
        if said:
            return said[1]
        time.sleep(0.05)
    raise AssertionError(f"the server does not come up: {out.read_text(encoding='utf-8')}")
