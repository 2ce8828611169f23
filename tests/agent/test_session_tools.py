"""A session with Lockstep's own tools: it reads the skill, and a command ends with its session."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from skills.lib.agent import runs
from skills.lib.agent.agent import Agent
from skills.lib.errors import RefusedError
from tests.agent.scripted import ScriptedModel, calling, in_turn, report
from tests.agent.sessions import project
from tests.agent.tools.conftest import is_alive

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux shows the processes of others")
JOB = "import os, time\nopen(f'pid-{os.getpid()}', 'w').close()\ntime.sleep(60)\n"
WAITS = calling(("shell", {"command": f"{sys.executable} job.py"}))


def pid_of_job(folder: Path) -> int:
    """The process of the job, once it runs."""
    until = time.monotonic() + 60
    while not list(folder.glob("pid-*")) and time.monotonic() < until:
        time.sleep(0.02)
    [file] = folder.glob("pid-*")
    return int(file.name.removeprefix("pid-"))


def test_a_session_reads_its_skill_and_writes_the_project_alone(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    [skill_file] = folder.rglob("SKILL.md")
    model = ScriptedModel(
        answer=in_turn(
            calling(("read", {"path": str(skill_file)})),
            calling(("write", {"path": str(skill_file.parent / "x"), "content": "x"})),
            calling(("write", {"path": "notes.md", "content": "seen\n"})),
            report(record={"thing": "a"}),
            report(outcome="ok"),
        )
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start("plain")).status == "done"
    told = [call.messages[-1].text for call in model.calls]
    assert "name: plain" in told[1]
    assert "does not write" in told[2]
    assert told[3] == "new: notes.md, 1 line\n"
    assert (folder / "notes.md").read_text(encoding="utf-8") == "seen\n"


SOURCE = """from skills.lib.workflow.core import *
from skills.lib.workflow.requirements import *
from skills.lib.workflow.types import *

STEP = StepDef("show", "Show", "Show it.", {Outcome.OK: None}, requires=[Field("seen")], tools=["shell(echo)"])
WORKFLOW = Workflow("plain", STEP)
register_workflow(WORKFLOW)
"""


def test_a_step_that_names_commands_admits_lines_of_them_alone(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain", SOURCE)
    told = {
        "echo a": "a",
        "echo a | echo b": "b",
        "echo a 2>/dev/null": "a",
        "echo a 2>&1": "a",
        "echo a > out.txt": "Refused",
        "echo a | tee out.txt": "Refused",
        "echo a; touch out.txt": "Refused",
        "echo $(touch out.txt)": "Refused",
        "env echo a": "Refused",
        "printf a": "Refused",
    }
    calls = [calling(("shell", {"command": line})) for line in told]
    model = ScriptedModel(answer=in_turn(*calls, report(record={"seen": "a"})))
    host = Agent(str(folder), model)
    assert host.advance(host.start("plain")).status == "done"
    answers = [call.messages[-1].text for call in model.calls[1:]]
    assert [answer.partition("\n")[0].partition(",")[0] for answer in answers] == list(told.values())
    assert not (folder / "out.txt").exists()


def test_the_ledger_s_folder_is_its_owner_s_and_hidden_from_git_from_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME")
    folder = project(tmp_path / "p", "plain")
    host = Agent(str(folder), ScriptedModel(answer=in_turn()))
    with pytest.raises(RefusedError, match="nope"):
        host.start("plain", "tidy up", {"nope": 1})
    assert not (folder / ".lockstep").exists()
    host.start("plain", "tidy up")
    assert stat.S_IMODE((folder / ".lockstep").stat().st_mode) == 0o700
    assert (folder / ".lockstep/.gitignore").read_text(encoding="utf-8") == "*\n"


def test_the_same_task_in_two_projects_is_two_runs_of_one_ledger(tmp_path: Path) -> None:
    hosts = [Agent(str(project(tmp_path / name, "plain")), ScriptedModel(answer=in_turn())) for name in "ab"]
    assert hosts[0].home == hosts[1].home
    first, second = [host.start("plain", "tidy up") for host in hosts]
    assert first != second
    assert hosts[0].start("plain", "tidy up") == first


def test_a_policy_holds_in_its_own_project_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of a program opens a run of the same id in each project."""
    monkeypatch.delenv("LOCKSTEP_HOME")
    told = []
    for name in ("guarded", "free"):
        folder = project(tmp_path / name, "plain")
        if name == "guarded":
            rule = "tools:\n  write: {needs: [\"$path == 'yes.txt'\"]}\n"
            (folder / "lockstep.policy.yaml").write_text(rule, encoding="utf-8")
        write = calling(("write", {"path": "no.txt", "content": "a"}))
        model = ScriptedModel(answer=in_turn(write, calling(("abort", {"reason": "it is enough"}))))
        runner, workflow = runs.opener(str(folder), "plain")
        opened = runner.start(workflow, {}, key="ticket 7").run
        runner.close()
        assert opened is not None
        Agent(str(folder), model).advance(opened.id)
        told.append(model.calls[1].messages[-1].text)
    assert told[0].startswith("Refused, nothing was done: denied")
    assert told[1] == "new: no.txt, 1 line\n"


def test_giving_up_ends_the_session_and_not_the_run(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    todos = [{"content": "look", "status": "pending"}]
    model = ScriptedModel(
        answer=in_turn(
            calling(("todowrite", {"todos": todos})),
            calling(("abort", {"reason": ""})),
            calling(("abort", {"reason": "the build machine is gone"})),
        )
    )
    host = Agent(str(folder), model)
    run = host.start("plain")
    ended = host.advance(run)
    assert (ended.status, ended.step) == ("stopped", "note")
    assert "the build machine is gone" in ended.reason
    model.answer = in_turn(calling(("todoread", {})), report(record={"thing": "a"}), report(outcome="ok"))
    assert host.advance(run).status == "done"
    assert model.calls[-2].messages[-1].text == "[ ] look\n[0 of 1 done]\n"


@LINUX
def test_a_command_ends_if_its_session_is_cancelled(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    (folder / "job.py").write_text(JOB, encoding="utf-8")
    host = Agent(str(folder), ScriptedModel(answer=in_turn(WAITS)))
    run = host.start("plain")
    ended: list[str] = []
    thread = threading.Thread(target=lambda: ended.append(host.advance(run).reason))
    thread.start()
    pid = pid_of_job(folder)
    host.cancel(run)
    thread.join(30)
    assert ended == ["The session was cancelled."]
    assert not is_alive(pid)


PROGRAM = """
import sys
from skills.lib.agent.agent import Agent
from tests.agent.scripted import ScriptedModel
from tests.agent.test_session_tools import WAITS
host = Agent(".", ScriptedModel(answer=lambda messages, tools: WAITS))
try:
    host.advance(host.start("plain"))
except KeyboardInterrupt:
    sys.exit(130)
"""


@LINUX
@pytest.mark.parametrize("sign, code", [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_command_ends_if_its_program_is_interrupted_or_killed(
    tmp_path: Path, sign: signal.Signals, code: int
) -> None:
    folder = project(tmp_path / "p", "plain")
    (folder / "job.py").write_text(JOB, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    program = subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=folder, env=environment, start_new_session=True)
    pid = pid_of_job(folder)
    begin = time.monotonic()
    program.send_signal(sign)
    assert program.wait(40) == code
    assert time.monotonic() - begin < 20
    assert not is_alive(pid)
