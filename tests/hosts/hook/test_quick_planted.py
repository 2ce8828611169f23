"""What others put where the hook keeps what it knows of policies says nothing, and damage lets no call pass."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skills.lib.errors import EnvironmentProblem
from skills.lib.hosts.hook import facts, quick
from tests.hosts.hook.quick_differences import NAMES, Pair, policy_name

pytestmark = [pytest.mark.req("G-03"), pytest.mark.usefixtures("own_project")]
POLICY = """
tools:
  shell(rm): {needs: ["'a.py' in $args"]}
  shell(deploy): {needs: ["calls('shell(deploy)') < 1"]}
  mcp(web.search): {needs: ["false"]}
  mcp(shell.command): {needs: ["false"]}
"""


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Two sessions below a policy whose index is there."""
    begun = Pair(tmp_path, monkeypatch, POLICY, "opencode")
    assert begun.tell(command("deploy", "b")) == ((0, ""), (0, ""))
    return begun


def command(line: str, call: str = "c1") -> dict[str, Any]:
    """The event of a command."""
    return {"tool_name": "bash", "tool_input": {"command": line}, "tool_use_id": call}


def kept(pair: Pair, ending: str) -> Path:
    """The one file of what is kept of the policy, by its ending."""
    (found,) = (pair.project.parent / "cache" / "lockstep" / "policies").glob("*" + ending)
    return found


def test_a_tool_of_a_server_that_is_named_as_one_of_a_host_is_guarded(pair: Pair) -> None:
    for tool in ("web_search", "shell_command"):
        quickly, slowly = pair.tell({"tool_name": tool, "tool_input": {"command": "ls"}, "tool_use_id": "c1"})
        assert quickly == slowly
        assert quickly[0] == 2, tool
    assert pair.tell({"tool_name": "websearch", "tool_input": {}, "tool_use_id": "c2"})[0] == (0, "")


def test_rules_that_were_changed_are_not_read(pair: Pair) -> None:
    assert pair.tell(command("rm a.py"))[0] == (0, "")
    assert pair.quick == 1
    rules = kept(pair, ".rules")
    rules.write_bytes(rules.read_bytes().replace(b"a.py", b"x.py"))
    for line, code in (("rm x.py", 2), ("rm a.py", 0)):
        quickly, slowly = pair.tell(command(line, line[3]))
        assert (quickly, quickly[0]) == (slowly, code)
    assert pair.quick == 1


@pytest.mark.parametrize("ending", [".names", ".policy"])
def test_what_another_user_put_there_is_not_believed(pair: Pair, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    file = kept(pair, ending)
    if ending == ".names":
        file.write_bytes(file.read_bytes() + b"shell bash\nbash\n")
        assert pair.tell(command("rm x"))[0] == (0, "")  # whoever writes as the user is believed
    else:
        kept(pair, ".names").unlink()
        file.write_bytes(file.read_bytes().replace(b"shell(rm)", b"shell(cp)").replace(b'"rm"', b'"cp"'))
    if os.geteuid():
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    else:
        os.chown(file, 12345, -1)
    assert pair.tell(command("rm x", "c2"))[0][0] == 2


def test_a_policy_that_changes_twice_in_a_tick_of_the_clock_holds_as_it_is_now(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, stat, now = pair.project / policy_name(), os.stat, time.time_ns()

    def stopped(path: Any, **more: Any) -> Any:
        found = stat(path, **more)
        times = {"st_mtime_ns": now, "st_ctime_ns": now} if path == str(policy) else {}
        fields = {name: getattr(found, name) for name in dir(found) if name.startswith("st_")}
        return SimpleNamespace(**{**fields, **times}) if times else found

    policy.write_text(POLICY)
    monkeypatch.setattr(time, "time_ns", lambda: now)
    monkeypatch.setattr(os, "stat", stopped)
    assert pair.tell(command("rm a.py"))[0] == (0, "")
    policy.write_text(POLICY.replace("a.py", "b.py"))
    quickly, slowly = pair.tell(command("rm a.py", "c2"))
    assert quickly == slowly
    assert quickly[0] == 2
    assert pair.quick == 0


def test_an_index_is_kept_of_a_policy_that_has_not_changed_for_two_ticks(pair: Pair) -> None:
    for at, policy in enumerate((POLICY, POLICY.replace("'a.py'", "'-f'"))):
        pair.change(policy)
        for call in ("x", "y"):
            assert pair.tell(command("rm -f a.py" if at else "rm a.py", f"{call}{at}"))[0] == (0, "")
    assert pair.quick == 2  # the first call after a change reads the policy


def test_a_call_is_denied_while_another_process_holds_the_facts(pair: Pair) -> None:
    result = {"hook_event_name": "PostToolUse", "tool_response": {"output": "x", "exit": 0}}
    before = pair.facts("quick")
    with pair.locked():
        quickly, slowly = pair.tell(command("rm a.py"))
        assert quickly == slowly
        assert quickly[0] == 2
        assert "another process has held it" in quickly[1]
        quickly, slowly = pair.tell({**command("rm a.py"), **result})
        assert quickly == slowly
        assert quickly[0] == 0
        assert "another process has held it" in quickly[1]
        assert pair.tell(command("ls", "c2")) == ((0, ""), (0, ""))
    assert pair.facts("quick") == before
    assert pair.tell(command("rm a.py")) == ((0, ""), (0, ""))
    assert pair.quick == 2


def test_a_session_that_follows_a_run_is_answered_for_its_step_too(pair: Pair) -> None:
    pair.follow(NAMES)
    for line, code in (("ls", 2), ("rm a.py", 0), ("rm x", 2)):
        quickly, slowly = pair.tell(command(line, line[-4:]))
        assert quickly == slowly
        assert quickly[0] == code, line
    assert pair.quick == 0
    pair.leave()
    assert pair.tell(command("ls", "c3")) == ((0, ""), (0, ""))
    assert pair.quick == 1


def test_a_cloned_project_brings_no_index(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(pair.project / policy_name())
    assert quick.index(path)[0]
    monkeypatch.setenv("XDG_CACHE_HOME", "../cache")
    monkeypatch.setenv("HOME", str(pair.project / "nobody"))
    monkeypatch.chdir(pair.project)
    assert quick.index(path) == ("", "", frozenset())


def test_no_process_finds_no_facts_while_damaged_ones_are_put_aside(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = (pair.state / "facts").glob("*-long.*")
    path.write_bytes(b"damaged\n")
    monkeypatch.setattr(facts, "PATIENCE", 0)
    tried = []

    def watched(name: str) -> None:
        done = getattr(os, name)

        def do(*given: Any, **more: Any) -> None:
            done(*given, **more)
            with pytest.raises(EnvironmentProblem, match="another process has held it"), facts.Facts(path.name):
                pass
            tried.append(name)

        monkeypatch.setattr(os, name, do)

    for name in ("replace", "link", "unlink"):
        watched(name)
    for number in (1, 2):  # what was put aside before is replaced
        with facts.Facts(path.name) as opened:
            assert opened.records == [facts.LOST]
        assert path.with_name(path.name + facts.DAMAGED).read_bytes() == b"damaged\n"
        assert len(tried) >= 2 * number
        path.write_bytes(b"damaged\n")
    monkeypatch.undo()


def test_calls_are_not_counted_anew_where_facts_cannot_be_linked(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    pair.damage(1, b"")
    quickly, slowly = pair.tell(command("deploy", "c2"))
    assert quickly == slowly
    assert quickly[0] == 2
    assert "how often it was called is not known" in quickly[1]
