"""The tools for LangChain: their names and schemas, what they return and raise, and when the framework is loaded."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.messages import ToolCall

from skills.lib.agent import tools
from skills.lib.errors import UsageError
from tests.agent.tools.conftest import Session


def test_names_and_which_of_them_only_read(session: Session) -> None:
    project, home = str(session.project), str(session.project / ".lockstep")
    made = [*tools.of(project, home), *tools.essentials_of(home, "run-1")]
    assert {tool.name: tool.metadata for tool in made} == {
        "read": {"reads": True, "ends": False},
        "search": {"reads": True, "ends": False},
        "write": {"reads": False, "ends": False},
        "edit": {"reads": False, "ends": False},
        "shell": {"reads": False, "ends": False},
        "abort": {"reads": False, "ends": True},
        "todowrite": {"reads": False, "ends": False},
        "todoread": {"reads": True, "ends": False},
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
