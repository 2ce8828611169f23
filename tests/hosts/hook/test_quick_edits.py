"""An edit of which a policy only says what becomes unknown is kept as the library does, before it is loaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.hook.guarded_host import SILENT, Guarded
from tests.hosts.hook.quick_host import POLICY, QUICK, begun, both, facts
from tests.hosts.hook.test_hook_path import imported

pytestmark = [pytest.mark.req("G-03"), pytest.mark.usefixtures("own_project")]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def edit(host: Guarded, path: str = "a.py", call: str = "toolu_9", tool: str = "Edit", **more: Any) -> dict[str, Any]:
    """The event of an edit."""
    given = {"file_path": os.path.join(host.project, path), "old_string": "a", "new_string": "b"}
    return {"tool_name": tool, "tool_input": given, "tool_use_id": call, **more}


def result(host: Guarded, response: Any, **more: Any) -> dict[str, Any]:
    """The event of the result of an edit."""
    return edit(host, hook_event_name="PostToolUse", tool_response=response, **more)


def test_an_edit_and_its_result_import_nothing_of_the_library(tmp_path: Path) -> None:
    host = begun(tmp_path)
    host.session = QUICK
    interpreter = [sys.executable, "-IS", "-X", "importtime"]
    bare = imported([*interpreter, "-c", "import os"])
    for event in (edit(host), result(host, {"filePath": "a.py", "originalFile": "one\n", "userModified": False})):
        text = Guarded.event(host.session, host.project, event)
        command = [*interpreter, *host.starts[2:], "--host", "claude"]
        env = {**os.environ, "LOCKSTEP_STATE": str(host.state)}
        assert imported(command, input=text, env=env, cwd=host.project) - bare == {"fcntl", "_blake2"}


@pytest.mark.parametrize("tool", ["Edit", "Write", "write_file", "apply_patch", "NotebookEdit"])
def test_facts_of_an_edit_are_those_of_the_library(tmp_path: Path, tool: str) -> None:
    policy = POLICY + (
        "  write: {changes: {approval: forget, 'seen[\"a b\"]': forget}}\n  read: {needs: [\"seen['a b']\"]}\n"
    )
    host = begun(tmp_path, policy)
    for _ in range(2):  # the host asks twice if the hook is installed twice
        assert both(host, edit(host, tool=tool)) == SILENT
        assert both(host, result(host, {"ok": True}, tool=tool)) == SILENT
    assert len(facts(host, QUICK)) > 5
    assert "seen" in host.ask("Read", file_path="a.py").reason


@pytest.mark.parametrize(
    "response",
    [
        "false",
        " False\n",
        False,
        None,
        {"content": "False"},
        {"content": [{"type": "text", "text": "\tfalse"}]},
        {"llmContent": "<untrusted_context>\nfalse\n</untrusted_context>"},
        {"output": "\u00a0false"},
        {"error": "no such file"},
        {"isError": True},
        {"structuredContent": {"done": False}},
        "it was false",
        "done",
    ],
)
def test_results_that_say_that_nothing_was_changed(tmp_path: Path, response: Any) -> None:
    host = begun(tmp_path, POLICY.replace("edit: {", "edit: {on_false: {approval: \"'no'\"}, "))
    assert both(host, edit(host)) == SILENT
    assert both(host, result(host, response)) == SILENT


def test_what_an_edit_must_not_change_is_denied(tmp_path: Path) -> None:
    host = begun(tmp_path)
    (host.project / "sub").mkdir()
    (host.project / "sub" / "lockstep.policy.yaml").symlink_to(host.project / "sub" / "plain.txt")
    (host.project / "link").symlink_to(host.policy)
    (host.project / "up").symlink_to(host.project / "sub")
    outside = tmp_path / "other"
    outside.mkdir()
    (outside / "lockstep.policy.yaml").symlink_to(outside / "plain.txt")
    cache = tmp_path / "cache" / "lockstep"
    for path in (
        "lockstep.policy.yaml",
        "lockstep.gateway.yaml",
        "sub/../lockstep.policy.yaml",
        "link",
        "sub/plain.txt",
        "up/plain.txt",
        str(outside / "plain.txt"),
        str(host.state / "facts" / "x"),
        str(cache / "x"),
    ):
        known = facts(host, QUICK)
        expected = 0 if path == "lockstep.gateway.yaml" else 2  # there is none that it could change
        assert both(host, edit(host, path, call=path.replace("/", "_")[-40:])).code == expected, path
        assert len(facts(host, QUICK)) == len(known) + (not expected), path
    transcript = {"transcript_path": str(host.project / "session.jsonl")}
    assert both(host, edit(host, "session.jsonl", call="c1", **transcript)).code == 2
    assert both(host, edit(host, "other.jsonl", call="c2", **transcript)) == SILENT


def test_the_facts_of_another_policy_or_damaged_ones_are_left_to_the_library(tmp_path: Path) -> None:
    host = begun(tmp_path)
    (path,) = (host.state / "facts").glob(f"*-{QUICK}.*")
    data = path.read_bytes()
    host.session = QUICK
    path.write_bytes(data[:-2] + b" \n")
    assert host.tell(edit(host)) == SILENT
    assert path.with_name(path.name + ".damaged").exists()
    path.write_bytes(data)
    host.policy.write_text(POLICY + "  web: {changes: {approval: forget}}\n")
    assert host.call("Read", file_path="a.py") == SILENT
    (path.with_name(path.name + ".damaged")).unlink()
    assert both(host, edit(host, call="c2")) == SILENT
    assert "tests.passed" in host.denied("git push")


def test_a_rule_that_asks_something_of_an_edit_is_asked(tmp_path: Path) -> None:
    for policy in (
        "tools: {edit: {needs: ['false']}}",
        "tools: {Edit: {needs: ['false']}}",
        "tools: {edit: {needs: [\"calls('edit') < 1\"]}, Edit: {needs: ['false']}}",
    ):
        host = Guarded(tmp_path, policy)
        assert host.ask("Read", file_path="a.py") == SILENT
        assert host.tell(edit(host, call="c3")).code == 2, policy
