"""The files that say which runs a session follows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skills.lib import run_facts, status_files
from skills.lib.hosts.hook import early, facts, sessions
from skills.lib.hosts.hook.event import name_of

if TYPE_CHECKING:
    from skills.lib.hosts.hook.followed import Followed

pytestmark = pytest.mark.req("H-02")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "sessions"


def followed(run: str, project: str = "/p") -> Followed:
    return {"run": run, "project": project, "script": "/s/scripts/x.py"}


def runs_of(name: str) -> list[str]:
    session = sessions.read(name)
    return [one["run"] for one in session["runs"]] if session else []


@pytest.mark.parametrize(
    "ids, name",
    [
        (("claude", "5f0c-1"), "claude-5f0c-1"),
        (("codex", "a", "b"), "codex-a.-b"),
        (("opencode", "ses_6Ab"), "opencode-ses_6=ab"),
        (("My-agent.2/..", "a"), "myagent2-a"),
        (("claude", "../x"), "claude~" + "0" * 32),
        (("claude", "x" * 81), "claude~" + "0" * 32),
        (("claude", "a.b", "c/d"), "claude~" + "0" * 32 + ".~" + "0" * 32),
        (("claude", ""), "claude~" + "0" * 32),
    ],
)
def test_a_name_is_safe_whatever_the_ids_are(ids: tuple[str, ...], name: str) -> None:
    import re

    found = name_of(*ids)
    assert re.sub("~[0-9a-f]{32}", "~" + "0" * 32, found) == name


def test_names_of_different_ids_differ() -> None:
    ids = ["a", "A", "a.b", "a-b", "a/b", "~", "", "x" * 90, "x" * 91]
    names = {name_of("claude", one, other) for one in ids for other in ids}
    assert len(names) == len(ids) ** 2
    assert len({name.lower() for name in names}) == len(names)


@pytest.mark.parametrize("env", [{"LOCKSTEP_STATE": "S"}, {"XDG_STATE_HOME": "X"}, {"HOME": "H", "XDG_STATE_HOME": ""}])
def test_the_starter_looks_in_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: Any) -> None:
    monkeypatch.delenv("LOCKSTEP_STATE")
    for name, value in env.items():
        monkeypatch.setenv(name, str(tmp_path / value) if value else "")
    sessions.write("claude-a", {"runs": [followed("r")]})
    assert Path(sessions.folder()).is_relative_to(tmp_path)
    with facts.Facts("claude-a.7"):
        pass
    assert early.kept("sessions") == sessions.names() == ["claude-a"]
    assert early.kept("facts") == facts.names() == ["claude-a.7"]
    assert Path(run_facts.folder()).is_relative_to(tmp_path)
    assert Path(sessions.folder()).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "session, raw, answer",
    [
        ("5f0c", b'{"session_id":"5f0c"}', False),
        ("5f0c", b'{"session_id": "5f0d", "x": "5f0c"}', True),
        ("A_b-1", b'{"session_id":"A_b-1"}', False),
        ("A_b-1", b'{"session_id":"a_b-1"}', True),
        ("A.b/c", b'{"session_id":"other"}', True),
        ("A.b/c", b'{"session_id":"A.b/c"}', False),
        ("5f0c", b'{"tool_input":{"session_id":"other"},"session_id":"5f0c"}', False),
        ("5f0c", b'{"session_id":"other","session_id":"5f0c"}', False),
        ("5f0c", b'{"session_id":"5f\\u0030c"}', False),
        ("5f0c", b'{"session_id":"other"', False),
        ("5f0c", b'{"session_id":"' + b"x" * 81 + b'"}', False),
        ("5f0c", b'{"session_id":7}', False),
    ],
)
@pytest.mark.parametrize("host", ["claude", "my-agent"])
def test_an_event_of_another_session_is_seen_at_once(host: str, session: str, raw: bytes, answer: bool) -> None:
    names = ["codex-else", name_of(host, session, "agent")]
    assert early.is_of_others(raw, names) is answer


def test_an_agent_follows_the_run_that_it_named_last_before_the_others() -> None:
    session = sessions.bind("claude-a", None, followed("r1"))
    session = sessions.bind("claude-a", session, followed("r2"))
    assert runs_of("claude-a") == ["r1", "r2"]
    session = sessions.bind("claude-a", session, followed("r1"))
    assert runs_of("claude-a") == ["r2", "r1"]
    for at in range(20):
        session = sessions.bind("claude-a", session, followed(f"x{at}"))
    assert runs_of("claude-a") == [f"x{at}" for at in range(12, 20)]


def test_a_run_is_taken_from_other_sessions_and_not_from_agents_of_the_same() -> None:
    for name in ("claude-a", "claude-a.-1", "claude-b", "codex-a"):
        sessions.write(name, {"runs": [followed("r"), followed("r", "/other")]})
    sessions.write("claude-c", {"runs": [followed("r")]})
    sessions.bind("claude-a", sessions.read("claude-a"), followed("r"))
    assert {name: len(runs_of(name)) for name in sessions.names()} == {
        "claude-a": 2,
        "claude-a.-1": 2,
        "claude-b": 1,
        "codex-a": 1,
    }


def test_what_was_not_heard_of_for_long_goes(state: Path) -> None:
    sessions.write("claude-old", {"runs": [followed("x")]})
    (state / "claude-older.17.part").write_text("{")
    (state / "claude-new").write_text("damaged")
    long_ago = time.time() - sessions.FORGOTTEN - 60
    for name in ("claude-old", "claude-older.17.part"):
        os.utime(state / name, (long_ago, long_ago))
    sessions.bind("claude-a", None, followed("r"))
    assert sorted(os.listdir(state)) == ["claude-a", "claude-new"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"runs": {}}', '{"runs": []}', '{"runs": [7]}', '{"runs": [{"run": "r"}]}', "\xff"]
)
def test_a_damaged_file_is_an_error_that_names_it(state: Path, text: str) -> None:
    state.mkdir(parents=True)
    (state / "claude-a").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"the session file .*/claude-a is damaged"):
        sessions.read("claude-a")


def test_a_missing_folder_has_no_sessions() -> None:
    assert (sessions.names(), sessions.read("claude-a")) == ([], None)
    sessions.forget("claude-a")


def test_many_agents_may_be_bound_at_once(state: Path) -> None:
    code = (
        "import sys\nfrom skills.lib.hosts.hook import facts, sessions\n"
        "for at in range(20): sessions.bind(f'claude-s.-{sys.argv[1]}', None, "
        "{'run': f'r.{sys.argv[1]}', 'project': '/p', 'script': '/x'})"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(at)]) for at in range(6)]
    assert [one.wait(60) for one in started] == [0] * 6
    assert sorted(os.listdir(state)) == [f"claude-s.-{at}" for at in range(6)]


@pytest.mark.parametrize("text", ["k3f9q2mx", "k3f9q2mx.1", "k3f9q2mx.1.12"])
def test_a_runs_id(text: str) -> None:
    assert status_files.is_id(text)


@pytest.mark.parametrize("text", ["", ".", "..", "a/b", "../a", "a..b", ".a", "a.", "A", "ü", "a\n", "a" * 101])
def test_no_runs_id(text: str) -> None:
    assert not status_files.is_id(text)
    assert status_files.read("/", text) is None


def event_of(name: str, session: str, cwd: Path, more: str = "") -> bytes:
    return json.dumps({"session_id": session, "hook_event_name": name, "cwd": str(cwd), "x": more}).encode()


def test_a_result_starts_nothing_unless_facts_are_kept_for_its_session(tmp_path: Path) -> None:
    for name in ("PostToolUse", "PostToolUseFailure", "AfterTool"):
        raw = event_of(name, "a", tmp_path, "python x.py --run r --step 2")
        assert early.is_without_use(raw, [], [])
        assert early.is_without_use(raw, ["claude-a"], [])
        assert early.is_without_use(raw, ["claude-a"], ["claude-b.7"])
        assert early.is_without_use(raw, ["claude-b"], ["run-7"])
        assert not early.is_without_use(raw, [], ["claude-a.7"])
        assert not early.is_without_use(raw, ["claude-a"], ["run-7"])


def test_a_policy_in_a_folder_above_concerns_a_tool_and_nothing_else(tmp_path: Path) -> None:
    below = tmp_path / "project" / "src"
    below.mkdir(parents=True)
    tool = event_of("PreToolUse", "a", below)
    assert early.is_without_use(tool, [], [])
    (tmp_path / "project" / "lockstep.policy.yaml").write_text("tools: {}")
    tool = event_of("PreToolUse", "a", below)  # for one event they are looked for once
    assert not early.is_without_use(tool, [], [])
    assert not early.is_without_use(event_of("BeforeTool", "a", below), [], [])
    assert early.is_without_use(event_of("Stop", "a", below), [], [])
    assert early.is_without_use(event_of("PostToolUse", "a", below), [], [])
    assert early.is_without_use(event_of("PreToolUse", "a", tmp_path), [], [])


@pytest.mark.parametrize(
    "cwd", ['"cwd": "/a", "y": {"cwd": "/b"}', '"cwd": "/\\u0061"', '"cwd": 7', '"cwd": "a"', '"n": 1']
)
def test_a_folder_that_cannot_be_found_at_once_is_looked_for_by_the_library(cwd: str) -> None:
    raw = f'{{"session_id": "a", "hook_event_name": "PreToolUse", {cwd}}}'.encode()
    assert not early.is_without_use(raw, [], [])
