"""The programs of docs/embedding.md run as they stand on the page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from skills.lib.ledger import Ledger, verification

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8")
SECONDS = 60


def program(heading: str) -> tuple[str, str]:
    """The program of a section, and what the page says that it prints."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    [code] = re.findall(r"^```python\n(.*?)^```\n", section, re.DOTALL | re.MULTILINE)
    printed = re.findall(r"^```text\n(.*?)^```\n", section, re.DOTALL | re.MULTILINE)
    return code, "".join(printed)


def command(folder: Path, code: str, *words: str) -> dict[str, Any]:
    (folder / "program.py").write_text(code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return {"args": [sys.executable, str(folder / "program.py"), *words], "cwd": folder, "env": environment}


@pytest.mark.parametrize("heading", ["A server", "A thread pool", "asyncio", "Sub-agents"])
def test_a_program_has_under_forty_lines(heading: str) -> None:
    assert len(program(heading)[0].splitlines()) < 40


@pytest.mark.parametrize("heading, runs", [("A thread pool", 20), ("asyncio", 20), ("Sub-agents", 3)])
def test_a_program_prints_what_the_page_says_also_if_it_runs_again(
    heading: str, runs: int, tmp_path: Path, own_ledger: Path
) -> None:
    code, printed = program(heading)
    for _ in range(2):
        done = subprocess.run(**command(tmp_path, code), capture_output=True, text=True, timeout=SECONDS, check=False)
        assert (done.stdout, done.stderr) == (printed, "")
    with Ledger(str(own_ledger), create=False) as ledger:
        verification.verify(ledger)
        assert len(ledger.every_run()) == runs


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of the server of the page, while it runs."""
    code, _ = program("A server")
    process = subprocess.Popen(
        **command(folder, code, "0"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def ask(address: str, given: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    body = None if given is None else json.dumps(given).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body), timeout=SECONDS) as reply:
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() if error.code == 409 else "{}")


def test_the_server_serves_runs_and_goes_on_after_a_kill(tmp_path: Path, own_ledger: Path) -> None:
    opening = {"parameters": {"ticket": "the printer is on fire"}, "key": "7", "by": "Ada"}
    with serving(tmp_path) as runs:
        code, opened = ask(runs, opening)
        assert (code, opened["step"], opened["turn"]) == (200, "read", 1)
        assert ask(runs, opening) == (200, opened)
        one = f"{runs}/{opened['run']}"
        assert ask(one) == (200, opened)
        assert ask(f"{runs}/unknown") == (404, {})
        refused = ask(one, {"turn": 1, "records": {}, "by": "Ada"})
        assert (refused[0], refused[1]["refused"]) == (409, "missing-evidence")
        for wrong in ({"turn": 1, "by": "Ada"}, {"turn": 1, "records": {}, "by": "A\nda"}, {}):
            assert ask(one, wrong) == (400, {})
        moved = ask(one, {"turn": 1, "records": {"summary": "a fire"}, "by": "Ada"})
        assert (moved[0], moved[1]["step"]) == (200, "sort")
    with serving(tmp_path) as runs:
        one = f"{runs}/{opened['run']}"
        assert ask(runs, opening) == moved
        ended = ask(one, {"turn": 2, "records": {"urgency": "high"}, "by": "Grace"})
        assert (ended[0], ended[1]["status"]) == (200, "done")
        assert ask(one) == ended
    with Ledger(str(own_ledger), create=False) as ledger:
        verification.verify(ledger)
        noted = [(event.kind, event.actor, event.detail["who"]) for event in ledger.events()]
    assert noted == [
        ("opened", "person (web)", "Ada"),
        ("refused", "person (web)", "Ada"),
        ("moved", "person (web)", "Ada"),
        ("finished", "person (web)", "Grace"),
    ]
