"""One story on every host, by the events that each sends: a push needs tests that passed on this content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.hook.guarded_host import SILENT, Guarded
from tests.hosts.hook.hooked import Answer
from tests.hosts.hook.reports import command_ended, reported

pytestmark = [pytest.mark.req("G-02"), pytest.mark.usefixtures("own_project")]
SHELLS = {
    "claude": "Bash",
    "codex": "Bash",
    "opencode": "bash",
    "qwen": "run_shell_command",
    "gemini": "run_shell_command",
}


class Reporting(Guarded):
    """A host that sends its own events for a command and its result."""

    def asked(self, line: str) -> Answer:
        self.calls += 1
        return self.tell(self.event_of(line))

    def ended(self, line: str, code: int) -> Answer:
        """Report that the last command ended so; Codex says the exit code in its session file."""
        event = {**self.event_of(line), **reported(self.name, "out", code)}
        if self.name == "codex":
            path = self.project.parent / "rollout.jsonl"
            with path.open("a") as file:
                file.write(json.dumps(command_ended(f"call_{self.calls}", code, "out")) + "\n")
            event |= {"hook_event_name": "PostToolUse", "tool_response": "out", "transcript_path": str(path)}
        return self.tell(event)

    def event_of(self, line: str) -> dict[str, Any]:
        event: dict[str, Any] = {"tool_name": SHELLS[self.name], "tool_input": {"command": line}}
        if self.name == "gemini":  # which gives a call no id
            return {**event, "hook_event_name": "BeforeTool", "timestamp": f"2026-11-23T08:00:{self.calls:02}.000Z"}
        return {**event, "tool_use_id": f"call_{self.calls}"}


@pytest.fixture(params=SHELLS)
def host(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reporting:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Reporting(tmp_path, name=request.param)


def test_a_push_needs_tests_that_passed_on_this_content(host: Reporting) -> None:
    assert host.asked("git push").reason.startswith("look first: tests.passed and tests.at are not known yet")
    assert host.asked("make test") == SILENT
    assert host.ended("make test", 2) == SILENT
    assert host.asked("git push").reason.startswith("denied, because tests.passed is FALSE")
    assert host.asked("make test") == SILENT
    assert host.ended("make test", 0) == SILENT
    assert host.asked("git push") == SILENT
    (host.project / "a.py").write_text("another\n")
    assert host.asked("git push").reason.startswith("denied, because tests.at == $tree is FALSE")


def test_a_second_deploy_is_denied_and_one_that_failed_is_taken_off(host: Reporting) -> None:
    assert host.asked("deploy") == SILENT
    assert host.ended("deploy", 1) == SILENT
    assert host.asked("deploy") == SILENT
    assert host.ended("deploy", 0) == SILENT
    assert host.asked("deploy").reason.startswith("denied, because calls('shell(deploy)') < 1 is FALSE")


def test_gemini_ends_the_first_of_two_calls_that_look_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    policy = "tools: {shell(deploy): {needs: [\"calls('shell(deploy)') < 2\"]}}"
    host = Reporting(tmp_path, policy, "gemini")
    assert [host.asked("deploy").code for _ in range(3)] == [0, 0, 2]
    assert host.ended("deploy", 1) == SILENT
    assert [host.asked("deploy").code for _ in range(2)] == [0, 2]
    assert host.ended("deploy", 0) == SILENT
    assert host.asked("deploy").code == 2


def test_a_hook_that_is_installed_twice_counts_once(host: Reporting) -> None:
    host.policy.write_text("tools: {shell(deploy): {needs: [\"calls('shell(deploy)') < 2\"]}}")
    call = host.event_of("deploy")
    assert [host.tell(call), host.tell(call)] == [SILENT, SILENT]
    ended = {**call, **reported(host.name, "out", 0)}
    if host.name == "gemini":
        ended["timestamp"] = "2026-11-23T09:00:00.000Z"
    assert [host.tell(ended), host.tell(ended)] == [SILENT, SILENT]
    host.calls += 1
    assert host.asked("deploy") == SILENT
    assert host.asked("deploy").code == 2


def test_a_host_that_gives_no_id_and_no_time_has_each_call_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    host = Reporting(tmp_path, name="another")
    call = {"tool_name": "bash", "tool_input": {"command": "deploy"}}
    assert host.tell(call) == SILENT
    assert host.tell(call).code == 2
    ended = {"hook_event_name": "PostToolUseFailure", "error": "no such program"}
    assert host.tell({**call, **ended}) == SILENT
    assert host.tell(call).code == 2  # this host does not say that it ended with another code than 0
