"""``lockstep agent run --open`` opens the pages that a run made, for a person at a terminal alone."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from skills.lib.commands.console.screen import Screen
from skills.lib.commands.session import pages
from tests.agent.sessions import filled, project
from tests.agent.wires.protocols import Said
from tests.agent.wires.servers import Asked, Reply, serving
from tests.fixtures.terminal import at_terminal

PAGE = "page.html"


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which a browser notes what it opens."""
    program, opened = tmp_path / "browser", tmp_path / "opened"
    program.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n', encoding="utf-8")
    program.chmod(0o755)
    opened.touch()
    monkeypatch.setenv("BROWSER", str(program))
    return opened


class Provider:
    """Writes a page, and then reports each step."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, asked: Asked) -> Reply:
        self.count += 1
        name, arguments = "write", {"path": PAGE, "content": "<p>"}
        if self.count > 1:
            tools = [tool["function"] for tool in asked.body["tools"]]
            name, arguments = "report_step", filled(tools, {"thing": "a spoon"}, "ok")
        return Said("", ((f"call-{self.count}", name, json.dumps(arguments)),))


def words(folder: Path, url: str) -> list[str]:
    model = ["--model", "openai:none", "--base-url", url]
    return ["agent", "run", "/plain draw it", "--project", str(folder), *model, "--open"]


@pytest.mark.slow
@pytest.mark.req("A-09.5")
def test_a_page_that_was_made_is_opened_at_the_end_if_that_was_asked_for(tmp_path: Path, browser: Path) -> None:
    folder = project(tmp_path / "project", "plain")
    with serving("openai", Provider()) as wire:
        code, shown = at_terminal(*words(folder, wire.url))
    assert code == 0, shown
    assert "Files: new: page.html (HTML page, 3 bytes)" in shown
    assert shown.endswith("page.html is opened\n")
    assert browser.read_text(encoding="utf-8") == f"{(folder / PAGE).as_uri()}\n"


@pytest.mark.req("A-09.5")
@pytest.mark.parametrize("agents", [{}, {"CLAUDECODE": "1"}, {"LOCKSTEP_AGENT": "1"}])
def test_nothing_is_opened_where_no_person_asks(tmp_path: Path, browser: Path, agents: dict[str, str]) -> None:
    folder = project(tmp_path / "project", "plain")
    with serving("openai", Provider()) as wire:
        command = [sys.executable, "-m", "lockstep", *words(folder, wire.url)]
        environment = {**os.environ, **agents}
        if agents:
            code, shown = at_terminal(*words(folder, wire.url), env=agents)
        else:
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
            code, shown = done.returncode, done.stderr
        assert wire.asked == []
    assert code == 3
    assert ("--open opens a browser for a person" in shown) is ("LOCKSTEP_AGENT" not in agents)
    assert browser.read_text(encoding="utf-8") == ""


def test_only_pages_of_the_project_are_opened_and_few(tmp_path: Path, browser: Path) -> None:
    console = Console(file=io.StringIO(), width=200)
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "secret.html").touch()
    (folder / "link.html").symlink_to(tmp_path / "secret.html")
    names = [f"{number}.html" for number in range(7)]
    for name in names:
        (folder / name).touch()
    screen = Screen(console, console, terminal=False, unicode=True)
    pages.show(screen, str(folder), [{"path": name} for name in ("link.html", "data.json", *names)])
    assert browser.read_text(encoding="utf-8").split() == [(folder / name).as_uri() for name in names[:4]]
    assert isinstance(console.file, io.StringIO)
    assert "link.html cannot be opened" in console.file.getvalue()
