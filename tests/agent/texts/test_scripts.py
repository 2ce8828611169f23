"""Scripts of a skill: checked when a run opens, run by ``shell`` as far as it is admitted, ended in bounds."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration.lockstep_toml import Shell
from skills.lib.agent.prose import scripts
from skills.lib.agent.prose.skill import load
from skills.lib.agent.tools import shell
from skills.lib.agent.tools.workspace import Workspace
from tests.agent.prose.skills import prose, reported
from tests.agent.scripted import ScriptedModel, calling, in_turn, report
from tests.agent.tools.conftest import Session, is_alive, session

__all__ = ["session"]
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux holds processes to it")
CHART = """import sys
if len(sys.argv) < 3:
    sys.exit("usage: chart.py INPUT OUTPUT")
with open(sys.argv[2], "w", encoding="utf-8") as page:
    page.write("<p>" + open(sys.argv[1], encoding="utf-8").read())
"""
BODY = "Draw it: `python ${SKILL_DIR}/scripts/chart.py $1 chart.html`\n"
PYTHON = "allowed-tools: Bash(python:*) Read\n"


def with_script(folder: Path, path: str, text: str, head: str = "") -> Path:
    """A project with a skill that has one script; the skill's folder."""
    skill = prose(folder, "draw", BODY, head) / "skills/draw"
    (skill / path).parent.mkdir(exist_ok=True)
    (skill / path).write_text(text, encoding="utf-8")
    return skill


def faults(skill: Path) -> list[str]:
    return scripts.faults(load(skill), str(skill.parent.parent))


@pytest.mark.req("A-09", "A-09.1", "A-09.2", "A-09.3", "A-09.6")
def test_a_session_runs_a_script_of_its_skill_and_tries_again_after_a_failure(tmp_path: Path) -> None:
    skill = with_script(tmp_path / "p", "scripts/chart.py", CHART, PYTHON)
    folder = tmp_path / "p"
    (folder / "data.csv").write_text("1,2\n", encoding="utf-8")
    run = f"python {skill}/scripts/chart.py"
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["chart.html is there"]}),
            calling(("shell", {"command": run})),
            calling(("shell", {"command": f"{run} data.csv chart.html"})),
            report(record=reported("done:chart.html")),
        )
    )
    host = Agent(str(folder), model)
    result = host.advance(host.start("draw", "data.csv"))
    assert result.status == "done"
    assert f"`{run} data.csv chart.html`" in model.calls[0].system
    told = [call.messages[-1].text for call in model.calls[2:]]
    assert "usage: chart.py INPUT OUTPUT" in told[0]
    assert "[exit 1 after " in told[0]
    assert told[1].endswith("[new: chart.html (HTML page, 7 bytes)]\n")
    assert [file["path"] for file in result.outputs] == ["chart.html"]


@pytest.mark.req("A-09.7")
def test_a_script_runs_only_if_allowed_tools_admits_its_program(tmp_path: Path) -> None:
    skill = with_script(tmp_path / "p", "scripts/run.sh", "echo ran > ran.txt\n", PYTHON)
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["one"]}),
            calling(("shell", {"command": f"sh {skill}/scripts/run.sh"})),
            report(record=reported("done:answer")),
        )
    )
    host = Agent(str(tmp_path / "p"), model)
    assert host.advance(host.start("draw", "look")).status == "done"
    assert "this step allows shell only for commands that begin with: python" in model.calls[2].messages[-1].text
    assert not (tmp_path / "p/ran.txt").exists()


@pytest.mark.parametrize(
    "path, text, fault",
    [
        ("scripts/a.py", "def f(:\n", "scripts/a.py: line 1: it is no Python 3."),
        ("scripts/a.py", "x = 1\nprint 'a'\n", "scripts/a.py: line 2: it is no Python 3."),
        ("scripts/a.py", "(" * 5_000, "scripts/a.py: "),
        ("scripts/a.py", "\0", "scripts/a.py: "),
        ("scripts/a.sh", "if true; then\n", "scripts/a.sh: bash -n finds a fault: a.sh: line "),
        ("scripts/a.py", "#" * 1_000_001, "scripts/a.py: it has 1,000,001 bytes, and at most 1,000,000 are checked"),
    ],
)
def test_a_script_that_cannot_run_is_told(tmp_path: Path, path: str, text: str, fault: str) -> None:
    [said] = faults(with_script(tmp_path / "p", path, text))
    assert said.startswith(fault)


def test_scripts_that_are_in_order_have_no_fault_and_none_runs(tmp_path: Path) -> None:
    skill = with_script(tmp_path / "p", "scripts/a.py", "open('ran', 'w')\n")
    (skill / "scripts/b.sh").write_text("touch ran\n", encoding="utf-8")
    (skill / "scripts/c.js").write_text("require('fs').writeFileSync('ran', '')\n", encoding="utf-8")
    assert faults(skill) == []
    assert not list(tmp_path.rglob("ran"))


def test_a_link_out_of_the_skill_is_told(tmp_path: Path) -> None:
    skill = with_script(tmp_path / "p", "scripts/a.py", "")
    (tmp_path / "other.py").write_text("", encoding="utf-8")
    (skill / "scripts/b.py").symlink_to(tmp_path / "other.py")
    assert faults(skill) == ["scripts/b.py: it is a link out of the skill"]


@pytest.mark.parametrize(
    "head, said",
    [
        ("allowed-tools: Read\n", ["allowed-tools admits no program for 1 script .py: Bash(python:*) would"]),
        ("allowed-tools: Bash(git:*)\n", ["allowed-tools admits no program for 1 script .py: Bash(python:*) would"]),
        ("allowed-tools: Bash(python3:*)\n", []),
        (PYTHON, []),
        ("allowed-tools: Bash\n", []),
        ("", []),
    ],
)
def test_a_skill_that_admits_no_program_for_its_scripts_is_warned_of(
    tmp_path: Path, head: str, said: list[str]
) -> None:
    assert faults(with_script(tmp_path / "p", "scripts/a.py", "", head)) == said


def configured(session: Session, line: str, limits: Shell, seconds: int = 20) -> tuple[int | None, str]:
    """The exit code and the errors of a command with limits."""
    files = Workspace(str(session.project))
    result = shell.tool(files, limits).call({"command": line, "timeout": seconds})
    return result.data["exit"], result.data["errors"]


@LINUX
@pytest.mark.req("A-09.8")
def test_memory_and_processor_time_of_a_script_are_bounded(session: Session) -> None:
    (session.project / "grow.py").write_text("kept = 'a' * 400_000_000\n", encoding="utf-8")
    code, errors = configured(session, f"{sys.executable} grow.py", Shell(memory=200_000_000))
    assert (code, "MemoryError" in errors) == (1, True)
    (session.project / "spin.py").write_text("while True: pass\n", encoding="utf-8")
    begin = time.monotonic()
    code, _ = configured(session, f"{sys.executable} spin.py", Shell(cpu=1))
    assert code is not None
    assert code >= 128
    assert time.monotonic() - begin < 15


@LINUX
@pytest.mark.slow
@pytest.mark.req("A-09.8")
def test_a_gigabyte_of_output_a_sleep_and_a_bomb_end_in_bounds(session: Session) -> None:
    (session.project / "loud.py").write_text(
        "import sys\nfor _ in range(1_024): sys.stdout.write('a' * 1_048_576)\n", encoding="utf-8"
    )
    result = session.result("shell", command=f"{sys.executable} loud.py", timeout=60)
    assert len(result.data["output"]) < 21_000
    (session.project / "bomb.py").write_text(
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0: os.setsid()\n"
        "print(os.getpid(), flush=True)\ntime.sleep(600)\n",
        encoding="utf-8",
    )
    begin = time.monotonic()
    result = session.result("shell", command=f"{sys.executable} bomb.py", timeout=4)
    assert result.data["exit"] is None
    assert time.monotonic() - begin < 40
    pids = [int(word) for word in result.data["output"].split()]
    assert len(pids) == 64
    assert [pid for pid in pids if is_alive(pid)] == []


def test_words_of_a_sandbox_stand_before_each_program_of_a_line(session: Session) -> None:
    box = session.project.parent / "box"
    box.write_text(f'#!/bin/sh\necho "$@" >> {box}.log\nexec "$@"\n', encoding="utf-8")
    box.chmod(0o755)
    files = Workspace(str(session.project))
    result = shell.tool(files, Shell(sandbox=(str(box), "env"))).call({"command": "echo a b | cat"})
    assert (result.data["exit"], result.data["output"]) == (0, "a b\n")
    lines = sorted(Path(f"{box}.log").read_text(encoding="utf-8").splitlines())
    assert [[os.path.basename(word) for word in line.split()] for line in lines] == [
        ["env", "cat"],
        ["env", "echo", "a", "b"],
    ]
