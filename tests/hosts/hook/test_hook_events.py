"""What the hook answers to the events that the four open clients sent, recorded from their sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hosts.hook.hooked import Answer, Host, recorded

pytestmark = [pytest.mark.req("H-02"), pytest.mark.usefixtures("own_project")]
SILENT = Answer(0, "", "")

# Each recorded event at the step look, which allows to read and to search: nothing (0), a denial (2), or its block.
ANSWERS: dict[str, dict[str, int | str]] = {
    "codex": {
        "session_start_startup": "look",
        "session_start_resume": "look",
        "session_start_compact": "look",
        "user_prompt_submit": "look",
        "user_prompt_submit_in_subagent": 0,
        "pre_tool_use_bash": 2,
        "pre_tool_use_apply_patch": 2,
        "pre_tool_use_spawn_agent": 2,
        "pre_tool_use_wait_agent": 2,
        "pre_tool_use_in_subagent": 2,
        "pre_compact": 0,
        "stop": 2,
        "stop_again": 2,
        "subagent_stop": 0,
        "session_end": 0,
        "post_tool_use_apply_patch": 0,
        "post_tool_use_bash_fails": 0,
        "post_tool_use_bash_finds_nothing": 0,
        "post_tool_use_bash_succeeds": 0,
    },
    "opencode": {
        "session_start_resume": "look",
        "session_start_compact": "look",
        "pre_tool_use_skill": 0,
        "pre_tool_use_bash": 2,
        "pre_tool_use_write": 2,
        "pre_tool_use_task": 2,
        "pre_tool_use_in_subagent": 2,
        "stop": 2,
        "stop_again": 2,
        "subagent_stop": 0,
        "post_tool_use_bash_fails": 0,
        "post_tool_use_bash_succeeds": 0,
        "post_tool_use_bash_times_out": 0,
        "post_tool_use_failure_edit_fails": 0,
        "post_tool_use_write": 0,
    },
    "qwen": {
        "session_start_startup": 0,
        "session_start_resume": 0,
        "session_start_compact": 0,
        "user_prompt_submit": "look",
        "user_prompt_submit_between": 0,
        "pre_tool_use_skill": 0,
        "pre_tool_use_run_shell_command": 2,
        "pre_tool_use_write_file": 2,
        "pre_tool_use_agent": 2,
        "pre_tool_use_in_subagent": 2,
        "pre_compact": 0,
        "stop": 2,
        "stop_again": 2,
        "stop_while_subagents_work": 0,
        "subagent_stop": 0,
        "post_tool_use_failure_edit_fails": 0,
        "post_tool_use_failure_shell_fails": 0,
        "post_tool_use_failure_shell_is_killed": 0,
        "post_tool_use_read_file": 0,
        "post_tool_use_shell_finds_nothing": 0,
        "post_tool_use_shell_in_background": 0,
        "post_tool_use_shell_succeeds": 0,
        "post_tool_use_write_file": 0,
    },
    "gemini": {
        "session_start_startup": 0,
        "session_start_resume": 0,
        "before_agent": "look",
        "before_tool_activate_skill": 0,
        "before_tool_run_shell_command": 2,
        "before_tool_write_file": 2,
        "before_tool_invoke_agent": 2,
        "before_tool_complete_task": 0,
        "pre_compress": 0,
        "after_agent": 2,
        "after_agent_again": 2,
        "session_end": 0,
        "after_tool_read_file": 0,
        "after_tool_replace_fails": 0,
        "after_tool_shell_fails": 0,
        "after_tool_shell_finds_nothing": 0,
        "after_tool_shell_in_background": 0,
        "after_tool_shell_is_killed": 0,
        "after_tool_shell_succeeds": 0,
        "after_tool_write_file": 0,
    },
}
# The shell tool of each host, for the commands that open a run.
SHELLS = {"codex": "Bash", "opencode": "bash", "qwen": "run_shell_command", "gemini": "run_shell_command"}


class Client(Host):
    """One of the four clients, with a session on the guarded skill."""

    def send(self, event: str, command: str = "ls -la | head") -> Answer:
        """Tell a recorded event, as of this project and with that command."""
        text = recorded(self.name)[event]
        return self.tell(text.replace("PROJECT", str(self.project)).replace("COMMAND", command))

    def run(self, command: str, agent: str = "") -> Answer:
        return self.use(SHELLS[self.name], agent=agent, command=command)


@pytest.mark.parametrize("name, event", [(name, event) for name, events in ANSWERS.items() for event in events])
def test_the_events_of_the_open_clients(tmp_path: Path, name: str, event: str) -> None:
    client = Client(tmp_path, name)
    assert client.send(event) == SILENT
    client.at("look")
    answer, expected = client.send(event), ANSWERS[name][event]
    if isinstance(expected, str):
        assert f'id="{expected}"' in answer.context
    else:
        assert (answer.code, answer.said) == (expected, "")
        assert bool(answer.reason) == (expected == 2)


@pytest.mark.parametrize("name", ANSWERS)
def test_every_recorded_event_is_looked_at(name: str) -> None:
    assert sorted(recorded(name)) == sorted(ANSWERS[name])


@pytest.mark.parametrize("command", ["cat notes.md", "sed -n 1,40p notes.md", "rg -n todo .", "ls -la"])
def test_codex_reads_and_searches_by_its_shell(tmp_path: Path, command: str) -> None:
    client = Client(tmp_path, "codex")
    client.at("look")
    assert client.send("pre_tool_use_bash", command) == SILENT


def test_between_two_turns_qwen_gets_only_what_a_compaction_took(tmp_path: Path) -> None:
    client = Client(tmp_path, "qwen")
    client.at("look")
    assert client.send("user_prompt_submit_between") == SILENT
    assert client.send("pre_compact") == SILENT
    assert client.send("session_start_compact") == SILENT
    assert 'id="look"' in client.send("user_prompt_submit_between").context
    assert client.send("user_prompt_submit_between") == SILENT
    assert client.send("user_prompt_submit") == SILENT


def test_gemini_gets_the_step_at_every_turn_for_none_tells_of_a_compaction(tmp_path: Path) -> None:
    client = Client(tmp_path, "gemini")
    client.at("look")
    assert 'id="look"' in client.send("before_agent").context
    assert 'id="look"' in client.send("before_agent").context


def test_without_names_of_sub_agents_the_parent_is_held_again_when_they_have_ended(tmp_path: Path) -> None:
    client = Client(tmp_path, "gemini")
    block = client.at("hand-out")
    for child in block.children:
        client.finish(child.command, "")
    stopped = client.send("after_agent")
    assert stopped.code == 2
    assert "it is at the step 'Hand out'" in stopped.reason


@pytest.mark.parametrize("name", ["codex", "opencode", "qwen"])
def test_a_sub_agents_stop_is_refused_while_its_own_run_is_open(tmp_path: Path, name: str) -> None:
    client = Client(tmp_path, name)
    agent = json.loads(recorded(name)["subagent_stop"])["agent_id"]
    child = client.at("hand-out").children[0]
    assert client.run(child.command, agent) == SILENT
    client.agent.run_command(child.command)
    stopped = client.send("subagent_stop")
    assert stopped.code == 2
    assert "of part is not at its end: it is at the step 'First'" in stopped.reason
