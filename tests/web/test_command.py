"""``lockstep web`` at a terminal: it prints the links, serves, and ends on ^C."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

from skills.lib.model.run import Run
from tests.fixtures.terminal import ROOT


def read_until(terminal: int, pattern: str, text: str = "") -> str:
    """What the command printed, until it holds the pattern."""
    until = time.monotonic() + 60
    os.set_blocking(terminal, False)
    while not re.search(pattern, text) and time.monotonic() < until:
        try:
            text += os.read(terminal, 65_536).decode()
        except BlockingIOError:
            time.sleep(0.05)
        except OSError:
            break
    assert re.search(pattern, text), text
    return text


def test_a_person_at_a_terminal_gets_links_that_lead_in(asking: Run, project: Path) -> None:
    terminal, other = pty.openpty()
    words = [sys.executable, str(ROOT / "skills" / "__main__.py"), "web", "--port", "0"]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "200", "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(words, stdin=other, stdout=other, stderr=other, env=env, start_new_session=True)
    try:
        os.close(other)
        shown = read_until(terminal, r"ADMIN +http://127\.0\.0\.1:\d+/[\w-]+/enter/[\w-]+")
        assert set(re.findall(r"(\w+) +http://", shown)) == {"END_USER", "DEVELOPER", "ADMIN"}
        [link] = re.findall(r"DEVELOPER +(http\S+)", shown)
        with httpx.Client(follow_redirects=True) as browser:
            page = browser.get(link)
            assert page.status_code == 200
            assert "Is it good?" in page.text
            assert browser.get(link).status_code == 403
        read_until(terminal, r"The link for DEVELOPER was used; the next one:\s+DEVELOPER +http")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (0, 130)
    finally:
        process.kill()
        process.wait(30)
        os.close(terminal)
