"""The gateway as tools, which a server offers only if it is told to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from mcp import Client

from skills.lib.hosts.hook import tools as hook_tools
from skills.lib.hosts.mcp.server import SkillServer
from skills.lib.skillfile import discover
from tests.hosts.mcp.talking import Talk, in_process, talk

pytestmark = [pytest.mark.req("P-08"), pytest.mark.slow]


@asynccontextmanager
async def with_gateway(project: Path) -> AsyncIterator[Talk]:
    async with Client(SkillServer(str(project), partial(discover, project), gateway=True)) as client:
        yield Talk(client)


async def _names(to: Talk) -> list[str]:
    return [tool.name for tool in (await to.client.list_tools()).tools]


def test_the_tools_are_offered_only_with_the_flag(project: Path) -> None:
    assert "safe_cli_executor" not in talk(in_process, project, _names)
    assert talk(with_gateway, project, _names)[-2:] == ["safe_cli_executor", "safe_py_runner"]


def test_a_named_command_and_a_script_run(project: Path) -> None:
    async def work(to: Talk) -> None:
        args = {"script": "scripts/write_file.py", "args": ["a.md"], "stdin_text": "# $(x)\n"}
        written = await to.call("safe_py_runner", **args)
        assert (written.error, written.data["exit"]) == (False, 0)
        assert written.text.startswith("wrote 7 bytes: ")
        found = await to.call("safe_cli_executor", command="read_file", params={"path": "a.md"})
        assert (found.error, found.data["output"], found.data["is_cut"]) == (False, "# $(x)\n", False)
        assert found.text == "# $(x)\n[exit 0 after 0.0 s]\n"

    talk(with_gateway, project, work)


def test_what_is_refused_and_what_fails_is_an_error(project: Path) -> None:
    async def work(to: Talk) -> None:
        refused = await to.call("safe_cli_executor", command="read_file", params={"path": "../x"})
        assert (refused.error, refused.data["code"]) == (True, "RefusedError")
        assert "outside of" in refused.text
        unknown = await to.call("safe_cli_executor", command="read", params={})
        assert (unknown.error, "read_file" in unknown.text) == (True, True)
        other = await to.call("safe_cli_executor", command="list_files", params={"project": "/etc"})
        assert (other.error, "has no parameter 'project'" in other.text) == (True, True)
        failed = await to.call("safe_py_runner", script="scripts/write_json.py", args=["a.json", "{"])
        assert (failed.error, failed.data["exit"]) == (True, 2)
        odd = await to.call("safe_py_runner", script="scripts/write_json.py", args="a.json")
        assert odd.text.startswith('safe_py_runner: args is a list such as ["text"], not')

    talk(with_gateway, project, work)


def test_a_server_without_the_flag_runs_nothing(project: Path) -> None:
    async def work(to: Talk) -> bool:
        answer = await to.client.call_tool("safe_cli_executor", {"command": "list_files"})
        return bool(answer.is_error)

    assert talk(in_process, project, work)


@pytest.mark.parametrize("name", ["mcp__lockstep__safe_cli_executor", "lockstep_safe_py_runner"])
def test_a_step_that_names_its_tools_does_not_let_these_through(name: str) -> None:
    assert not hook_tools.is_ours(name)
    assert not hook_tools.allows(["read"], "claude", name, {})
