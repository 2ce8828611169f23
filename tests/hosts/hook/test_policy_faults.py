"""The hook with a policy when something is broken: it denies with the way out, and never lets a call pass unseen."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.errors import EnvironmentProblem
from skills.lib.hosts.hook import facts
from tests.hosts.hook.guarded_host import SILENT, Guarded

pytestmark = [pytest.mark.req("G-02", "G-03"), pytest.mark.usefixtures("own_project")]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def host(tmp_path: Path) -> Guarded:
    return Guarded(tmp_path)


def facts_of(host: Guarded) -> Path:
    [path] = (host.state / "facts").glob("claude-*")
    return path


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python without any package."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    return str(folder / "bin" / "python")


def test_without_a_yaml_library_an_unknown_policy_denies_and_a_known_one_holds(host: Guarded, bare_python: str) -> None:
    good, host.starts = host.starts, [bare_python, *host.starts[1:]]
    told = host.ask("Bash", command="git push")
    assert told.code == 2
    assert told.reason.startswith("denied, because a policy holds here and cannot be used (the policy ")
    assert "PyYAML" in told.reason
    assert "lockstep policy check" in told.reason
    assert host.ask("Read", file_path="a.py") == SILENT
    assert host.ask("Edit", file_path="a.py").code == 2
    host.starts = good
    assert host.denied("git push").startswith("look first: ")
    host.starts = [bare_python, *host.starts[1:]]
    assert host.denied("git push").startswith("look first: ")
    assert host.ask("Edit", file_path="a.py") == SILENT


@pytest.mark.parametrize(
    "text",
    ["tools: [", "tools: {edit: {neds: [a]}}", "- a", "tools: {a: {needs: ['x =']}}", "\0", "a: &b [*b]", "tools: 7"],
)
def test_a_policy_that_is_none_denies_all_but_looking(host: Guarded, text: str) -> None:
    host.policy.write_text(text)
    for tool in ("Bash", "Edit", "mcp__bank__pay"):
        told = host.ask(tool, command="ls").reason
        assert told.startswith("denied, because a policy holds here and cannot be used (the policy "), told
        assert "A person at a terminal" in told
    for tool in ("Read", "Grep", "TodoWrite"):
        assert host.ask(tool, file_path="a.py") == SILENT
    assert host.ask("Bash", command="lockstep runs") == SILENT


def test_a_policy_that_is_no_file_denies_all_but_looking(host: Guarded, tmp_path: Path) -> None:
    def told() -> str:
        return host.denied("git push")

    host.policy.unlink()
    host.policy.mkdir()
    assert "cannot be read" in told()
    host.policy.rmdir()
    os.mkfifo(host.policy)
    assert "cannot be read: it is not a regular file" in told()
    host.policy.unlink()
    host.policy.symlink_to(tmp_path / "none")
    assert "cannot be" in told()
    host.policy.unlink()
    host.policy.write_text("#" * 1_000_001)
    assert "it is larger than 1,000,000 bytes" in told()


def test_facts_that_another_process_holds_are_waited_for_and_then_denied(host: Guarded) -> None:
    assert host.shell("make test") == SILENT
    with facts_of(host).open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        told = host.denied("git push")
        assert "another process has held it for 2 seconds" in told
        assert host.ask("Read", file_path="a.py") == SILENT
        lost = host.tell_result("Bash", {"command": "make test"})
        assert (lost.code, lost.said) == (0, "")  # a result is never answered
    assert host.ask("Bash", command="git push") == SILENT


def test_damaged_facts_are_put_aside_and_nothing_is_known(host: Guarded) -> None:
    assert host.shell("make test") == SILENT
    assert host.shell("deploy") == SILENT
    path = facts_of(host)
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"tests"', b'"rests"', 1))
    assert host.denied("git push").startswith("look first: tests.passed and tests.at are not known yet")
    assert host.denied("deploy").startswith(
        "denied, because how often it was called is not known, because the facts of this policy were damaged"
    )
    assert path.with_name(path.name + ".damaged").exists()
    assert host.shell("make test") == SILENT
    assert host.ask("Bash", command="git push") == SILENT
    assert host.ask("Bash", command="rm a.py") == SILENT


def test_without_file_locks_calls_that_a_rule_names_are_denied(host: Guarded, tmp_path: Path) -> None:
    """As on Windows, whose Python has no fcntl."""
    start = tmp_path / "start.py"
    start.write_text(
        f"import runpy, sys\nsys.modules['fcntl'] = None\nrunpy.run_path({host.starts[2]!r}, run_name='__main__')\n"
    )
    host.starts[2] = str(start)
    for command in ("git push", "make test", "sh push.sh"):
        told = host.denied(command)
        assert told.startswith("denied, because a policy holds here and cannot be used (the facts of a policy cannot")
        assert "this Python has no file locks (fcntl)" in told
        assert "Traceback" not in told
    assert host.denied("git push").count("WSL") == 1
    assert host.ask("Bash", command="git status") == SILENT
    assert host.ask("Read", file_path="a.py") == SILENT
    lost = host.tell_result("Bash", {"command": "make test"})
    assert (lost.code, lost.said) == (0, "")


def test_facts_that_are_no_file_deny(host: Guarded, tmp_path: Path) -> None:
    assert host.shell("make test") == SILENT
    path = facts_of(host)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    assert "cannot be used" in host.denied("git push")
    assert not (tmp_path / "elsewhere").exists()
    path.unlink()
    path.mkdir()
    assert "cannot be used" in host.denied("git push")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_facts_that_cannot_be_written_deny(host: Guarded) -> None:
    assert host.shell("make test") == SILENT
    (host.state / "facts").chmod(0o500)
    facts_of(host).chmod(0o400)
    assert "cannot be used" in host.denied("git push")


def test_a_result_of_ten_megabytes_is_learned_from(host: Guarded) -> None:
    given = {"command": "make test"}
    assert host.ask("Bash", **given) == SILENT
    assert host.tell_result("Bash", given, 0, stdout="tests.passed: false\n" * 500_000) == SILENT
    assert host.ask("Bash", command="git push") == SILENT
    assert facts_of(host).stat().st_size < 5_000


def test_a_result_that_is_no_event_changes_nothing(host: Guarded) -> None:
    assert host.shell("make test") == SILENT
    for text in (
        "{",
        '{"hook_event_name": "PostToolUse"}',
        "[]",
        '{"session_id": "s", "hook_event_name": "PostToolUse"',
    ):
        assert host.tell(text).code == 0
    assert host.tell_result("Bash", {"command": ["make", 7]}).code == 0
    assert host.tell_result("Bash", {}).code == 0
    assert host.ask("Bash", command="git push") == SILENT


def test_two_calls_at_once_count_as_two(host: Guarded) -> None:
    event = {"session_id": host.session, "cwd": str(host.project), "hook_event_name": "PreToolUse", "tool_name": "Bash"}
    assert host.ask("Bash", command="date") == SILENT
    environment = {**os.environ, "LOCKSTEP_STATE": str(host.state)}
    started = [
        subprocess.Popen(
            [*host.starts, "--host", "claude"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        for _ in range(4)
    ]
    for number, process in enumerate(started):
        given = {**event, "tool_input": {"command": "deploy"}, "tool_use_id": f"at-once-{number}"}
        assert process.stdin is not None
        process.stdin.write(json.dumps(given).encode())
        process.stdin.close()
    codes = sorted(process.wait(60) for process in started)
    for process in started:
        assert process.stderr is not None
        process.stderr.close()
    assert codes == [0, 2, 2, 2]


def test_a_hook_that_takes_too_long_denies_while_a_policy_holds(host: Guarded) -> None:
    assert host.shell("make test") == SILENT
    with facts_of(host).open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        event = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
        told = host.tell(event, "--deadline", "0.5")
        assert told.code == 2
        assert "no answer from the disk or the ledger within 0.5 seconds" in told.reason


def test_facts_stay_small_and_keep_what_is_known(host: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    assert host.shell("make test") == SILENT
    assert host.shell("deploy") == SILENT
    path = facts_of(host)
    with facts.Facts(path.name) as opened:
        for number in range(2_000):
            known = [] if number else ["nothing"]
            opened.append([{"kind": "admitted", "call": f"old-{number}", "tools": ["edit"], "forgets": []}])
            ended = {"kind": "ended", "call": f"old-{number}", "event": f"old-{number}", "ok": True}
            opened.append([{**ended, "tools": ["edit"], "known": known}])
    assert path.stat().st_size > facts.LONG
    assert host.shell("make test") == SILENT
    assert path.stat().st_size < 5_000
    assert host.ask("Bash", command="git push") == SILENT
    assert host.denied("deploy").startswith("denied, because calls")


RECORDS: list[dict[str, Any]] = [
    {"kind": "policy", "path": "p", "root": "r", "digest": "d", "run": ""},
    {"tool": "t", "call": "c", "count": 1},
]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    with facts.Facts("claude-a.1") as opened:
        opened.append(RECORDS)
    return Path(opened.path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_byte_of_the_facts_is_noticed(written: Path, data: st.DataObject) -> None:
    with facts.Facts("claude-a.1") as opened:
        opened.rewrite(RECORDS)
    text = bytearray(written.read_bytes())
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] ^= data.draw(st.integers(1, 255))
    written.write_bytes(bytes(text))
    with facts.Facts("claude-a.1") as opened:
        assert opened.records == [facts.LOST]


def test_a_torn_line_is_damage_and_a_missing_file_is_new(written: Path) -> None:
    assert facts.first("claude-a.1")["path"] == "p"
    written.write_bytes(written.read_bytes()[:-5])
    with facts.Facts("claude-a.1") as opened:
        assert opened.records == [facts.LOST]
    assert facts.first("claude-a.1") == {}
    facts.forget("claude-a.1")
    assert not written.parent.exists()  # the hosts' commands for results look for this folder
    with facts.Facts("claude-a.1") as opened:
        assert opened.records == []
    assert written.stat().st_mode & 0o777 == 0o600
    assert written.parent.stat().st_mode & 0o777 == 0o700


def test_a_fact_that_does_not_fit_on_the_disk_is_no_fact(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
import resource, sys
from skills.lib.hosts.hook import facts
from skills.lib.errors import EnvironmentProblem
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with facts.Facts("claude-a.1") as opened:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
    try:
        opened.append([{"kind": "x", "text": "y" * 1000}])
    except EnvironmentProblem as error:
        print(error.what)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert "cannot be used" in done.stdout, done.stderr
    with facts.Facts("claude-a.1") as opened:
        assert opened.records == RECORDS


def test_facts_in_a_state_folder_that_is_a_file_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentProblem, match="cannot be used"), facts.Facts("claude-a.1"):
        pass
    assert facts.names() == []


def test_facts_that_nothing_was_added_to_for_a_month_are_forgotten(host: Guarded) -> None:
    assert host.shell("make test") == SILENT
    path = facts_of(host)
    os.utime(path, (0, 0))
    host.session = "another"
    assert host.shell("make test") == SILENT
    assert not path.exists()
    assert facts_of(host).exists()


def test_a_compiled_policy_of_another_version_is_compiled_again(host: Guarded, tmp_path: Path) -> None:
    assert host.shell("make test") == SILENT
    [path] = (tmp_path / "cache" / "lockstep" / "policies").glob("*.policy")
    kept = path.read_text()
    head, rules = kept.split("\n")
    about = json.loads(head)
    others = [
        {**about, "format": 0},
        {name: about[name] for name in ("format", "source", "tools")},
        {**about, "tools": 7},
    ]
    for changed in [*map(json.dumps, others), "[]", "7", "", head, f"{head[:-1]}, 1}}"]:
        path.write_text(f"{changed}\n{rules}")
        assert host.ask("Bash", command="git push") == SILENT
        assert path.read_text() == kept
    for damaged in (f"{head}\n{rules[:-1]}", f"{head}\n{rules}x", f"{head}\n", head):
        path.write_text(damaged)
        assert host.ask("Bash", command="git push") == SILENT
        assert path.read_text() == kept


def test_a_call_that_cannot_be_read_is_denied_under_a_policy(host: Guarded) -> None:
    event = Guarded.event(host.session, host.project, {"tool_name": "Bash", "tool_input": {"command": "git push"}})
    for text in (event[:-1], event + "}", event.replace('"git push"', "NaN"), event.replace("{", "[", 1)):
        told = host.tell(text)
        assert (told.code, told.said) == (2, ""), text
        assert "could not do its work" in told.reason
    host.policy.unlink()
    assert host.tell(event[:-1]).code == 0
