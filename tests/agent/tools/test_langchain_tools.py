"""The tools for LangChain: their names and schemas, what they return and raise, and when the framework is loaded."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from langchain_core.messages import ToolCall
from syrupy.assertion import SnapshotAssertion

from skills.lib.agent import tools
from skills.lib.errors import EnvironmentProblem, UsageError
from tests.agent.tools.conftest import Session, is_alive


def test_names_and_which_of_them_only_read(session: Session) -> None:
    project, home = str(session.project), str(session.project / ".lockstep")
    made = [*tools.of(project, home), *tools.essentials_of(home, "run-1")]
    assert {tool.name: tool.metadata for tool in made} == {
        "read": {"reads": True, "ends": False, "long": False},
        "search": {"reads": True, "ends": False, "long": True},
        "write": {"reads": False, "ends": False, "long": False},
        "edit": {"reads": False, "ends": False, "long": False},
        "shell": {"reads": False, "ends": False, "long": True},
        "abort": {"reads": False, "ends": True, "long": False},
        "todowrite": {"reads": False, "ends": False, "long": False},
        "todoread": {"reads": True, "ends": False, "long": False},
    }
    assert [tool.name for tool in made if tool.return_direct] == ["abort"]


def test_a_call_returns_a_text_and_its_data(session: Session) -> None:
    made = {tool.name: tool for tool in tools.of(str(session.project))}
    assert made["read"].invoke({"path": "README.md"}) == "     1\t# Readme\n"
    message = made["shell"].invoke(ToolCall(name="shell", args={"command": "echo a"}, id="1", type="tool_call"))
    assert (message.content.splitlines()[0], message.artifact) == ("a", {"exit": 0, "output": "a\n", "errors": ""})
    with pytest.raises(UsageError, match="there is no 'nothing'"):
        made["read"].invoke({"path": "nothing"})
    with pytest.raises(UsageError, match="read: call: path is missing"):
        made["read"].invoke({})
    assert asyncio.run(made["read"].ainvoke({"path": "README.md"})) == "     1\t# Readme\n"


JOB = "import os, time\nopen(f'pid-{os.getpid()}', 'w').close()\ntime.sleep(60)\n"


def pid_of_job(project: Path) -> int:
    """The process of the job, once it runs."""
    until = time.monotonic() + 30
    while not list(project.glob("pid-*")) and time.monotonic() < until:
        time.sleep(0.02)
    [file] = project.glob("pid-*")
    return int(file.name.removeprefix("pid-"))


def test_a_command_ends_if_the_task_that_awaits_it_is_cancelled(session: Session) -> None:
    (session.project / "job.py").write_text(JOB, encoding="utf-8")
    [shell] = [tool for tool in tools.of(str(session.project)) if tool.name == "shell"]

    async def cancelled() -> int:
        task = asyncio.create_task(shell.ainvoke({"command": f"{sys.executable} job.py | cat"}))
        pid = await asyncio.to_thread(pid_of_job, session.project)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    begin = time.monotonic()
    assert not is_alive(asyncio.run(cancelled()))
    assert time.monotonic() - begin < 30


def test_a_command_ends_if_its_session_is_stopped_from_another_thread(session: Session) -> None:
    (session.project / "job.py").write_text(JOB, encoding="utf-8")
    stop = threading.Event()
    made = {tool.name: tool for tool in tools.of(str(session.project), stopped=stop.is_set)}
    with ThreadPoolExecutor(1) as pool:
        called = pool.submit(made["shell"].invoke, {"command": f"{sys.executable} job.py"})
        pid = pid_of_job(session.project)
        stop.set()
        with pytest.raises(EnvironmentProblem, match="the session was stopped"):
            called.result(30)
    assert not is_alive(pid)
    assert "stopped: the session was stopped" in made["search"].invoke({"pattern": "x"})


def test_a_model_is_given_the_schema_of_a_tool(session: Session) -> None:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    [edit] = [tool for tool in tools.of(str(session.project)) if tool.name == "edit"]
    told = convert_to_openai_tool(edit)["function"]
    assert told["name"] == "edit"
    assert told["parameters"]["required"] == ["path", "old", "new"]
    assert told["parameters"]["additionalProperties"] is False


def test_the_framework_is_loaded_when_its_tools_are_made(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from skills.lib.agent import tools\n"
        "FRAMEWORKS = ('langchain_core', 'langchain', 'langgraph')\n"
        "def loaded(): return any(name.partition('.')[0] in FRAMEWORKS for name in sys.modules)\n"
        "tools.project_tools('p')\nprint(loaded())\n"
        "tools.of('p')\nprint(loaded())\n"
    )
    (tmp_path / "p").mkdir()
    env = {**os.environ, "PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\nTrue\n"


def test_what_an_agent_is_told_of_the_tools(session: Session, snapshot: SnapshotAssertion) -> None:
    home = str(session.project / ".lockstep")
    made = [*tools.project_tools(str(session.project), home), *tools.essential_tools(home, "run-1")]
    assert len(made) == 8
    told = [f"{tool.name}: {tool.about}\n" + "".join(_told(tool)) for tool in made]
    assert "\n".join(told) == snapshot


def _told(tool: tools.Tool) -> Iterator[str]:
    for name, about in tool.parameters.items():
        yield f"  {name}{'' if name in tool.required else '?'}: {about.get('description', '')}\n"
