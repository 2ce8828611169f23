"""A command that a step checks ends with it: also if the step is killed, the run abandoned, or the call cancelled."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from skills.lib import paths
from skills.lib.blocks.command_line import CommandLine
from skills.lib.commands.console.app import lockstep
from skills.lib.errors import EnvironmentProblem
from skills.lib.ledger import Ledger, command, processes
from skills.lib.model.run import Request
from skills.lib.runtime import Runner, loading
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from tests.fixtures.agents import Skill

# While the file slow is there, the check does not end within a test, nor does the program that it starts.
SUITE = "#!/bin/sh\nsleep 90 &\necho $$ $! >>pids\n[ -e slow ] || { kill $!; exit 0; }\nwait\n"
STEPS = 'StepDef("one", "One", "Do.", {Outcome.OK: None}, requires=[Command(["./suite"], 80)])'


@pytest.fixture
def checking(skill: Skill, project: Path) -> Iterator[tuple[Agent, PrintedBlock]]:
    """An agent at a step that checks a slow suite; whatever still runs of it is killed after the test."""
    (project / "suite").write_text(SUITE, encoding="utf-8")
    (project / "suite").chmod(0o755)
    (project / "slow").touch()
    (project / "pids").touch()
    agent = skill(STEPS)
    yield agent, agent.open()
    for pid in started(project):
        if is_running(pid):
            os.kill(pid, signal.SIGKILL)


def started(project: Path) -> list[int]:
    return [int(word) for word in (project / "pids").read_text(encoding="utf-8").split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(holds: object, *arguments: object) -> None:
    assert callable(holds)
    deadline = time.monotonic() + 20
    while not holds(*arguments):
        assert time.monotonic() < deadline, (holds, arguments)
        time.sleep(0.02)


def step(agent: Agent, block: PrintedBlock) -> subprocess.Popen[str]:
    """The process of the step, once its command runs."""
    before = len(started(agent.project))
    process = subprocess.Popen(shlex.split(block.next), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: len(started(agent.project)) == before + 2)
    until(lambda: any(f'"pid":{started(agent.project)[before]},' in note.read_text() for note in notes()))
    return process


def killed(agent: Agent, block: PrintedBlock) -> list[int]:
    """Kill the step while it checks; the processes that it leaves."""
    process = step(agent, block)
    process.kill()
    process.communicate(timeout=20)
    left = started(agent.project)[-2:]
    assert all(map(is_running, left))
    return left


def notes() -> list[Path]:
    return list((Path(paths.state()) / processes.FOLDER).glob("*"))


def test_the_command_of_a_killed_step_is_ended_before_it_is_run_again(checking: tuple[Agent, PrintedBlock]) -> None:
    agent, block = checking
    left = killed(agent, block)
    (agent.project / "slow").unlink()
    again = subprocess.run(shlex.split(block.next), capture_output=True, text=True, timeout=60)
    assert (again.returncode, "<done" in again.stdout) == (0, True)
    assert "lockstep: ended what a killed step of this run had left running\n" in again.stderr
    until(lambda: not any(map(is_running, left)))
    assert notes() == []


@pytest.mark.usefixtures("interruptible")
def test_a_command_for_which_another_step_waits_is_left_alone(checking: tuple[Agent, PrintedBlock]) -> None:
    agent, block = checking
    first = step(agent, block)
    left = started(agent.project)
    second = step(agent, block)
    assert all(map(is_running, left))
    for process in (first, second):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    until(lambda: not any(map(is_running, started(agent.project))))


def test_abandon_ends_the_command_of_a_killed_step(checking: tuple[Agent, PrintedBlock]) -> None:
    agent, block = checking
    left = killed(agent, block)
    done = CliRunner().invoke(lockstep, ["abandon", block.run, "--reason", "gone", "--project", str(agent.project)])
    assert done.exit_code == 0, done.output
    until(lambda: not any(map(is_running, left)))


def test_a_call_that_is_cancelled_from_another_thread_leaves_the_run_where_it_stood(
    checking: tuple[Agent, PrintedBlock],
) -> None:
    agent, block = checking
    raised: list[EnvironmentProblem] = []

    def check() -> None:
        runner = Runner(CommandLine(sys.executable, str(agent.script), str(agent.project)))
        workflow = loading.workflow_of_script(str(agent.script))
        with pytest.raises(EnvironmentProblem) as caught:
            runner.advance(workflow, block.run, Request("next", run=block.run, turn=1))
        raised.append(caught.value)
        runner.close()

    thread = threading.Thread(target=check)
    thread.start()
    until(lambda: len(started(agent.project)) == 2 and notes())
    runner = Runner(CommandLine(sys.executable, str(agent.script), str(agent.project)))
    assert runner.cancel(block.run) == 1
    thread.join(20)
    assert raised[0].what == "./suite was ended by another process, so it shows nothing"
    assert runner.cancel(block.run) == 0
    with Ledger(paths.home(str(agent.project)), create=False) as ledger:
        [run] = ledger.runs([block.run])
        assert (run.turn, [event.kind for event in ledger.events(run.id)]) == (1, ["opened"])


def test_neither_another_process_of_the_same_id_nor_one_that_a_project_names_is_ended(
    checking: tuple[Agent, PrintedBlock],
) -> None:
    agent, block = checking
    with subprocess.Popen(["sleep", "90"], start_new_session=True) as bystander:
        try:
            path = Path(processes.note(str(agent.project), block.run, bystander.pid))
            about = json.loads(path.read_text("utf-8"))
            gone = {"step": 2**22 + 1}  # no process has this id
            planted = agent.project / ".lockstep" / processes.FOLDER / path.name
            planted.parent.mkdir()
            planted.write_text(json.dumps({**about, **gone}))
            path.write_text(json.dumps({**about, **gone, "is": about["is"] + "0"}))
            (agent.project / "slow").unlink()
            assert agent.follow(block).kind == "done"
            assert (is_running(bystander.pid), path.exists()) == (True, False)
        finally:
            bystander.kill()


@pytest.mark.parametrize("tells", ["at once", "not, it is forbidden", "not, this Python cannot ask"])
def test_a_long_command_is_said_to_run_still(
    checking: tuple[Agent, PrintedBlock], monkeypatch: pytest.MonkeyPatch, tells: str
) -> None:
    """Also where the system does not tell of the end of a process."""
    agent, block = checking
    monkeypatch.setattr(command, "HEARTBEAT", 0.2)
    if "forbidden" in tells:
        monkeypatch.setattr(os, "pidfd_open", Mock(side_effect=PermissionError), raising=False)
    elif "cannot" in tells:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    threading.Timer(1.0, lambda: os.killpg(started(agent.project)[0], signal.SIGTERM)).start()
    refused = agent.follow(block)
    assert refused.code == "missing-evidence"
    told = [line for line in refused.errors.splitlines() if "still runs" in line]
    assert told[0] == "lockstep: ./suite still runs after 0 s"
    assert len(told) >= 3


def test_a_note_of_an_ended_command_is_left_to_the_step_that_waits_for_it(tmp_path: Path) -> None:
    """Between the end of a command and the moment at which its step reads the exit code, another run may check."""
    waiting = subprocess.Popen(["sleep", "90"], start_new_session=True)
    noted = processes.note(str(tmp_path), "one", waiting.pid)
    waiting.kill()
    waiting.wait()
    assert processes.end(str(tmp_path), "two", orphans=True) == 0
    assert processes.end(str(tmp_path), "one", orphans=True) == 0
    assert processes.forget(noted)


def test_a_note_for_which_nobody_waits_any_more_is_removed(tmp_path: Path) -> None:
    note = (
        "import os, subprocess; from skills.lib.ledger import processes; command = subprocess.Popen(['true']);"
        f"print(processes.note({str(tmp_path)!r}, 'one', command.pid)); command.wait()"
    )
    left = subprocess.run([sys.executable, "-c", note], capture_output=True, text=True, timeout=60).stdout.strip()
    assert Path(left).is_file()
    assert processes.end(str(tmp_path), "two", orphans=True) == 0
    assert not Path(left).exists()
