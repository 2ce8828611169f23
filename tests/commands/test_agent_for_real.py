"""``lockstep agent run`` from outside: a process, a provider on the loopback, a kill, and the same command again."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from skills.lib.ledger import Ledger
from tests.agent.sessions import filled, project
from tests.agent.wires.protocols import Said
from tests.agent.wires.servers import Asked, Reply, serving

pytestmark = pytest.mark.slow


class Provider:
    """Reports each step by the schema that it is given; ``hold`` lets the second answer wait until it is released."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.release = threading.Event()
        self.count = 0

    def __call__(self, asked: Asked) -> Reply:
        self.count += 1
        if self.count == 2:
            self.asked.set()
            self.release.wait(60)
        tools = [tool["function"] for tool in asked.body["tools"]]
        arguments = json.dumps(filled(tools, {"thing": "a spoon"}))
        return Said("I report it.", ((f"call-{self.count}", "report_step", arguments),))


def command(folder: Path, url: str, *more: str) -> list[str]:
    words = ["agent", "run", "/plain what is it?", "--project", str(folder), "--model", "openai:none"]
    return [sys.executable, "-m", "lockstep", *words, "--base-url", url, *more]


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "LOCKSTEP_HOME"}


def test_killed_and_called_again_it_goes_on_to_the_end(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", "plain")
    provider = Provider()
    with serving("openai", provider) as wire:
        killed = subprocess.Popen(command(folder, wire.url), stdout=subprocess.PIPE, text=True, env=environment())
        assert provider.asked.wait(60)
        killed.send_signal(signal.SIGKILL)
        assert killed.communicate(timeout=30)[0] == ""
        provider.release.set()
        again = subprocess.run(
            command(folder, wire.url, "--json"), capture_output=True, text=True, env=environment(), timeout=120
        )
    assert again.returncode == 0, again.stderr
    *events, outcome = [json.loads(line) for line in again.stdout.splitlines()]
    assert (outcome["status"], outcome["exit"]) == ("done", 0)
    with Ledger(str(folder / ".lockstep"), create=False) as ledger:
        [run] = ledger.every_run()
        kinds = [event.kind for event in ledger.events(run.id)]
    assert run.id == outcome["run"]
    assert kinds == ["opened", "moved", "finished"]
    assert [event["kind"] for event in events] == ["finished"]  # what came before, the first call has shown


def test_a_terminal_shows_milestones_and_the_result(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", "plain")
    provider = Provider()
    provider.release.set()
    shown = b""
    with serving("openai", provider) as wire:
        mine, theirs = pty.openpty()
        process = subprocess.Popen(
            command(folder, wire.url),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment(), "NO_COLOR": "1", "TERM": "xterm"},
        )
        os.close(theirs)
        while True:
            try:
                read = os.read(mine, 65536)
            except OSError:  # the other end is closed
                break
            shown += read
        assert process.wait(60) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert re.search(r"\x1b\[[0-9;]*3[0-9]m", shown.decode()) is None
    assert "  0%  ▸ Started. Step 1 of 2" in text
    assert "100%  ✓ " in text
    assert "model call" in text
    assert re.search(r"Run \w+ is done. Its record: lockstep trace \w+", text)
