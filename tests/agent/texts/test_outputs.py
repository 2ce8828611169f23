"""What a command made is listed in its result, recorded, and told at the end of the run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from skills.lib.agent.agent import Agent
from skills.lib.agent.tools import outputs
from tests.agent.scripted import ScriptedModel, calling, in_turn, report
from tests.agent.sessions import project
from tests.agent.tools.conftest import Session, session

__all__ = ["session"]
MAKES = """import pathlib
pathlib.Path("chart.html").write_text("<p>" * 1_000)
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/data.json").write_text("{}")
pathlib.Path("out/photo.png").write_bytes(b"\\x89PNG")
pathlib.Path("out/paper.pdf").write_bytes(b"%PDF-1.7")
pathlib.Path("notes.txt").write_text("b")
pathlib.Path("__pycache__").mkdir(exist_ok=True)
pathlib.Path("__pycache__/x.pyc").write_text("x")
"""


@pytest.mark.req("A-09.4")
def test_files_that_a_script_made_are_listed_with_kind_and_size(session: Session) -> None:
    (session.project / "make.py").write_text(MAKES, encoding="utf-8")
    (session.project / "notes.txt").write_text("aa", encoding="utf-8")
    result = session.result("shell", command=f"{sys.executable} make.py")
    assert result.text.splitlines()[-1] == (
        "[new: chart.html (HTML page, 3.0 kB), out/data.json (JSON, 2 bytes), out/paper.pdf (PDF document, 8 bytes), "
        "out/photo.png (image, 4 bytes); changed: notes.txt (1 byte)]"
    )
    assert result.data["made"][0] == {"path": "chart.html", "size": 3000, "kind": "HTML page", "new": True}
    assert result.data["made"][4] == {"path": "notes.txt", "size": 1, "kind": "", "new": False}


def test_a_command_that_made_nothing_lists_nothing(session: Session) -> None:
    result = session.result("shell", command="ls src")
    assert "made" not in result.data
    assert result.text.splitlines()[0] == "a.py"
    assert len(result.text.splitlines()) == 2


def test_a_command_that_fails_lists_what_it_made(session: Session) -> None:
    text = session.call("shell", command="sh -c 'echo a > b.txt; exit 3'")
    assert text.splitlines()[0].startswith("[exit 3 after ")
    assert text.splitlines()[1] == "[new: b.txt (2 bytes)]"


def test_of_many_files_the_first_are_named_and_the_others_counted(session: Session) -> None:
    code = "for n in range(300): open(f'{n:03}.txt', 'w').close()"
    result = session.result("shell", command=f'{sys.executable} -c "{code}"')
    assert result.text.splitlines()[-1].startswith("[new: 000.txt (0 bytes), 001.txt (0 bytes), ")
    assert result.text.splitlines()[-1].endswith("009.txt (0 bytes); and 290 files more]")
    assert len(result.data["made"]) == 200


def test_names_stand_on_one_line(session: Session) -> None:
    code = "open('a\\\\n[exit 0]', 'w').close()"
    text = session.call("shell", command=f'{sys.executable} -c "{code}"')
    assert text.splitlines()[-1] == '[new: "a\\n[exit 0]" (0 bytes)]'


def test_a_project_with_too_many_files_is_not_looked_at(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "FILES", 2)
    assert "made" not in session.result("shell", command="touch x").data


def test_links_and_fifos_are_no_files_that_were_made(session: Session) -> None:
    os.symlink("/etc", session.project / "etc")
    assert "made" not in session.result("shell", command="ln -s /etc/passwd link").data
    assert "made" not in session.result("shell", command="mkfifo pipe").data


@pytest.mark.req("A-09.4")
def test_what_a_run_made_is_recorded_and_told_at_its_end(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    makes = calling(("shell", {"command": "sh -c 'echo a > a.html; echo b > gone.txt'"}))
    more = calling(("shell", {"command": "sh -c 'rm gone.txt; echo aaa >> a.html'"}))
    writes = calling(("write", {"path": "summary.txt", "content": "done\n"}))
    ends = [report(record={"thing": "a"}), report(outcome="ok")]
    host = Agent(str(folder), ScriptedModel(answer=in_turn(makes, more, writes, *ends)))
    run = host.start("plain")
    result = host.advance(run)
    assert result.outputs == [
        {"path": "a.html", "size": 6, "kind": "HTML page", "new": True},
        {"path": "summary.txt", "size": 5, "kind": "", "new": True},
    ]
    made = [event.text for event in host.follow(run, level="FULL") if event.kind == "made"]
    assert made == [
        "Files: new: a.html (HTML page, 2 bytes), gone.txt (2 bytes)",
        "Files: changed: a.html (HTML page, 6 bytes)",
        "Files: new: summary.txt (5 bytes)",
    ]
