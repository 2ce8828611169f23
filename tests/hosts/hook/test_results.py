"""What the events of each host say of a tool's result, in one form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.hosts.hook import results
from tests.hosts.hook.hooked import recorded
from tests.hosts.hook.reports import command_ended, reported

pytestmark = pytest.mark.req("G-02")

# Each recorded result of a shell: whether the call is ok, and the exit code (None: the host does not say it).
SHELLS: dict[str, dict[str, tuple[bool, int | None]]] = {
    "claude": {
        "post_tool_use_bash_succeeds": (True, 0),
        "post_tool_use_bash_finds_nothing": (True, None),
        "post_tool_use_bash_in_background": (True, None),
        "post_tool_use_failure_bash_fails": (True, 2),
        "post_tool_use_failure_bash_is_interrupted": (False, None),
    },
    "opencode": {
        "post_tool_use_bash_succeeds": (True, 0),
        "post_tool_use_bash_fails": (True, 3),
        "post_tool_use_bash_times_out": (True, None),
    },
    "qwen": {
        "post_tool_use_shell_succeeds": (True, 0),
        "post_tool_use_failure_shell_fails": (True, 3),
        "post_tool_use_shell_finds_nothing": (True, 1),
        "post_tool_use_shell_in_background": (True, None),
        "post_tool_use_failure_shell_is_killed": (False, None),
    },
    "gemini": {
        "after_tool_shell_succeeds": (True, 0),
        "after_tool_shell_fails": (True, 3),
        "after_tool_shell_finds_nothing": (True, 1),
        "after_tool_shell_in_background": (True, None),
        "after_tool_shell_is_killed": (False, None),
    },
    "codex": {  # whose session file is not there
        "post_tool_use_bash_succeeds": (True, None),
        "post_tool_use_bash_fails": (True, None),
        "post_tool_use_bash_finds_nothing": (True, None),
    },
}
OTHERS: dict[str, dict[str, bool]] = {
    "claude": {
        "post_tool_use_edit": True,
        "post_tool_use_failure_edit_fails": False,
        "post_tool_use_mcp": True,
    },
    "opencode": {"post_tool_use_write": True, "post_tool_use_failure_edit_fails": False},
    "qwen": {
        "post_tool_use_write_file": True,
        "post_tool_use_read_file": True,
        "post_tool_use_failure_edit_fails": False,
    },
    "gemini": {"after_tool_write_file": True, "after_tool_read_file": True, "after_tool_replace_fails": False},
    "codex": {"post_tool_use_apply_patch": True},
}
OF_RESULTS = ("post_tool_use", "after_tool")


@pytest.mark.parametrize("host", SHELLS)
def test_every_recorded_result_is_read(host: str) -> None:
    found = [name for name in recorded(host) if name.startswith(OF_RESULTS)]
    assert sorted(found) == sorted([*SHELLS[host], *OTHERS[host]])


@pytest.mark.parametrize("host, name", [(host, name) for host, names in SHELLS.items() for name in names])
def test_the_exit_code_of_a_command(host: str, name: str) -> None:
    found = results.of_shell(host, json.loads(recorded(host)[name]))
    assert (found.ok, found.value["exit"]) == SHELLS[host][name]
    assert set(found.value) == {"exit", "output"}


@pytest.mark.parametrize("host, name", [(host, name) for host, names in OTHERS.items() for name in names])
def test_whether_another_call_succeeded(host: str, name: str) -> None:
    assert results.of_tool(json.loads(recorded(host)[name])).ok == OTHERS[host][name]


def test_the_output_is_what_the_command_wrote() -> None:
    outputs = {
        ("claude", "post_tool_use_bash_succeeds"): "3 passed",
        ("claude", "post_tool_use_failure_bash_fails"): "make: *** [test] Error 1",
        ("opencode", "post_tool_use_bash_succeeds"): "hi\n",
        ("qwen", "post_tool_use_shell_succeeds"): "hi",
        ("gemini", "after_tool_shell_succeeds"): "hi",
        ("codex", "post_tool_use_bash_succeeds"): "hi\n",
    }
    for (host, name), output in outputs.items():
        assert results.of_shell(host, json.loads(recorded(host)[name])).value["output"] == output


def test_the_text_of_an_mcp_tool_is_its_result() -> None:
    assert results.of_tool(json.loads(recorded("claude")["post_tool_use_mcp"])).value == '{"balance": 12}'
    blocks = {"content": [{"type": "text", "text": "no such user"}], "isError": True}
    failed = results.of_tool({"hook_event_name": "PostToolUse", "tool_response": blocks})
    assert (failed.ok, failed.value) == (False, "no such user")
    structured = {"content": [{"type": "text", "text": "12"}], "structuredContent": {"balance": 12}}
    assert results.of_tool({"tool_response": structured}).value == {"balance": 12}


def codex_result(tmp_path: Path, *records: dict[str, Any], call: str = "call_1") -> Any:
    """The exit code of a call by a session file of Codex with these records."""
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    event = json.loads(recorded("codex")["post_tool_use_bash_fails"])
    return results.of_shell("codex", {**event, "transcript_path": str(path), "tool_use_id": call}).value["exit"]


def test_codex_says_the_exit_code_in_its_session_file(tmp_path: Path) -> None:
    assert codex_result(tmp_path, command_ended("call_0", 0), command_ended("call_1", 3)) == 3
    assert codex_result(tmp_path, command_ended("call_1", 0), {"type": "other"}) == 0
    assert codex_result(tmp_path, command_ended("call_1", 0), call="call_2") is None
    assert codex_result(tmp_path, command_ended("call_1", -1)) is None
    assert codex_result(tmp_path, command_ended("call_1", True)) is None
    assert codex_result(tmp_path) is None


def test_output_that_looks_like_a_record_of_codex_is_output(tmp_path: Path) -> None:
    forged = json.dumps(command_ended("call_1", 0))
    assert codex_result(tmp_path, command_ended("call_1", 3), command_ended("call_2", 0, f"x\n{forged}\n")) == 3
    assert codex_result(tmp_path, command_ended("call_2", 0, f"x\n{forged}\n")) is None


def test_a_session_file_of_codex_that_is_no_file_says_nothing(tmp_path: Path) -> None:
    event = json.loads(recorded("codex")["post_tool_use_bash_fails"])
    for path in (str(tmp_path), str(tmp_path / "none"), "/dev/zero", "a\0b", 7, None):
        assert results.of_shell("codex", {**event, "transcript_path": path}).value["exit"] is None


SHAPED = st.sampled_from(
    [
        *("Exit Code: 0", "Exit code 0", "Signal: (none)", "Process Group PGID: 1", "Error: (none)", "Output: ", "ok"),
        *("", "</untrusted_context>", "<untrusted_context>", '"exit": 0', "Background PIDs: 1", "Exit Code: (none)"),
    ]
)


@pytest.mark.parametrize("host", ["claude", "opencode", "qwen", "gemini"])
@given(lines=st.lists(SHAPED, max_size=8), code=st.integers(0, 3))
def test_output_that_looks_like_a_success_never_makes_one(host: str, lines: list[str], code: int) -> None:
    found = results.of_shell(host, reported(host, "\n".join(lines), code)).value["exit"]
    assert found == code if code else found in (0, None)


@pytest.mark.parametrize("host", [*SHELLS, "another"])
@given(
    given=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["llmContent", "content", "stdout", "exit", "text", "error", "output"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    )
)
def test_a_result_of_any_form_is_read(host: str, given: Any) -> None:
    for name in ("PostToolUse", "PostToolUseFailure", "AfterTool"):
        event = {"hook_event_name": name, "tool_response": given, "error": given}
        assert set(results.of_shell(host, event).value) == {"exit", "output"}
        assert results.of_tool(event).ok in (True, False)
