"""Most calls of a session under a policy concern none of its rules: they pass before the library is loaded."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib import paths
from skills.lib.guard import shell
from skills.lib.hosts.hook import early, policy_texts, quick
from skills.lib.hosts.hook.policies import Source
from tests.hosts.hook.guarded_host import CODING, SILENT, Guarded
from tests.hosts.hook.hooked import Answer
from tests.hosts.hook.quick_differences import settle
from tests.hosts.hook.test_hook_path import imported

pytestmark = [pytest.mark.req("G-03"), pytest.mark.usefixtures("own_project")]
NAMES = frozenset(("$ git push", "$ make", "$ rm", "$ deploy", "$ python", "$ bash", "$ find"))
RULES = [("git", "push"), ("make", "test"), ("rm",), ("deploy",), ("python",), ("bash",), ("find",)]
OF_COMMANDS = {
    "$ python pytest": ("python", "-m", "pytest"),
    "$ python3 a.py": ("python3", "a.py"),
    "$ b.py": ("b.py",),
    "$ npm run": ("npm", "run", "test"),
    "$ cargo publish": ("cargo", "publish"),
    "$ make test": ("make", "test"),
    "$ find": ("find", "-delete"),
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


PIECES = "ls cat git status push cd sub -la | && ; & || rm a=b ./ls bash echo grep $X `rm` 'rm' > x make test -c deploy"
WORDS = [*PIECES.split(), "env", "find", ".", "\n", "\\", "*", "*.py", "a?", "sort", "rg"]


@given(st.lists(st.sampled_from(WORDS), max_size=7))
def test_a_line_that_passes_at_once_means_no_rule_for_certain(words: list[str]) -> None:
    line = " ".join(words)
    if quick.ruled(line, NAMES) == []:
        found = shell.read(line, "/")
        assert found.is_certain(RULES), line
        assert not any(found.matches(rule) for rule in RULES), line


@given(st.text('\\"nt\n\t/u0\r\xe9 ', max_size=12), st.sampled_from(("it", "\\", '"')), st.booleans())
def test_a_line_is_found_in_an_event_as_json_reads_it(line: str, about: str, is_ascii: bool) -> None:
    event = json.dumps({"command": line, "description": about}, ensure_ascii=is_ascii)
    assert early.line_of(event.encode()) in ("", line)


def test_the_escapes_that_lines_have_are_read() -> None:
    for line in ("ls", 'a "b"', r"a\|b", "a\\", "a\n\tb", r"\n", '\\"'):
        assert early.line_of(json.dumps({"command": line}).encode()) == line
    for event in (
        b'{"command":"a\0b"}',
        b'{"command":"a\1b"}',
        b'{"command":"\\u0061"}',
        b'{"command":"a',
        b'{"command":["a"]}',
    ):
        assert early.line_of(event) == ""


COMMANDS = (
    "python python3 -m pytest a.py b.py B.PY sub/b.py npm run te test cargo publish pub make lint -q -W x find -delete"
)


@given(st.lists(st.sampled_from([*COMMANDS.split(), "&&", "|", "'b.py'", "cd", "sub", "*", "?.py"]), max_size=7))
def test_a_line_that_passes_at_once_has_no_command_that_a_rule_is_on(words: list[str]) -> None:
    line = " ".join(words)
    if quick.ruled(line, frozenset(OF_COMMANDS)) == []:
        found = shell.read(line, "/")
        assert found.is_certain(OF_COMMANDS.values()), line
        assert not any(found.matches(rule) for rule in OF_COMMANDS.values()), line


@pytest.mark.parametrize(
    "line, passes",
    [
        ("python x.py", True),
        ("cd sub && python3 x.py --all", True),
        ("python -m json x.json", True),
        ("make lint", True),
        ("cargo build", True),
        ("python -m pytest -q", False),
        ("python a.py pytest", False),
        ("python3 a.py", False),
        ("python B.py", False),
        ("python sub/x.py", False),
        ("python -c pass", False),
        ("python -m", False),
        ("make lint test", False),
        ("cargo pub", False),
        ("find . -name x", False),
        ("python x.py *.txt", False),
        ("python *.py", False),
        ("python -m *", False),
        ("npm *", False),
        ("grep -n x *.py src/*", True),
    ],
)
def test_lines_of_commands_that_pass_at_once(line: str, passes: bool) -> None:
    assert (quick.ruled(line, frozenset(OF_COMMANDS)) == []) is passes


def test_what_passes_at_once(tmp_path: Path) -> None:
    for line in (
        "ls -la | head",
        "git status && git diff a.py",
        "cd sub; cat x.txt || true",
        "git log -3",
        "ls 'x'",
        'git commit -m "one; git push"',
        'git commit -m "one\n\n- two"',
        r'grep -n "one\|two\.x" a.py | head',
        "pytest -q tests 2>&1 | tail -5",
        "ruff check . > /dev/null",
        "ls *.py",
        "cat 'a b'*.txt | head",
    ):
        assert quick.ruled(line, NAMES) == [], line
    for line in (
        "",
        "git push",
        "ls > x",
        "ls & rm x",
        "ls; rm x",
        "git -C x push",
        "X=1 ls",
        "ls\nrm x",
        'ls "$X"',
        "make lint",
        "git",
        "git status *",
        "sort *",
        "rg x *",
        "* x",
        "l? x",
        "ls [a-z]",
        "ls {a,b}",
        "rm *",
    ):
        assert quick.ruled(line, NAMES) != [], line


def test_a_call_that_no_rule_concerns_imports_nothing_but_the_index(tmp_path: Path) -> None:
    host = Guarded(tmp_path)
    interpreter = [sys.executable, "-IS", "-X", "importtime"]
    bare = imported([*interpreter, "-c", "import os"])
    environment = {**os.environ, "LOCKSTEP_STATE": str(host.state)}

    def of(tool: str, name: str = "PreToolUse", **given: str) -> set[str]:
        about = {"tool_name": tool, "tool_input": given, "hook_event_name": name}
        event = Guarded.event(host.session, host.project, about)
        command = [*interpreter, *host.starts[2:], "--host", "claude"]
        return imported(command, input=event, env=environment, cwd=host.project) - bare

    assert host.shell("make test") == SILENT
    for name in ("PreToolUse", "PostToolUse"):
        assert of("Read", name, file_path="a.py") == set()
        assert of("Bash", name, command='git commit -m "a b" | head') == set()
        assert of("Bash", name, command='cat "a\\|b" \'c\\\' "e\n\tf" 2>&1') == set()
    removed = of("Bash", command="rm ../x")
    assert {"skills.lib", "_json"} <= removed  # modules of the library are loaded without Python's machinery
    for costly in ("yaml", "ast", "re", "json", "enum", "typing", "pathlib", "dataclasses", "sqlite3", "inspect"):
        assert costly not in removed, costly
    assert "subprocess" not in removed  # no rule on rm asks for the content of the worktree
    pushed = of("Bash", command="git push")
    assert "select" in pushed  # by which git is waited for
    assert "subprocess" not in pushed


def test_git_is_started_once_for_a_call_whose_rule_reads_the_tree_and_for_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Guarded(tmp_path)
    log, program = tmp_path / "log", tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho run >> {log}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    def runs_of(told: Answer) -> int:
        assert told == SILENT
        found = len(log.read_text().split()) if log.exists() else 0
        log.unlink(missing_ok=True)
        return found

    assert runs_of(host.ask("Bash", command="make test")) == 0
    assert runs_of(host.tell_result("Bash", {"command": "make test"})) == 1
    assert runs_of(host.ask("Bash", command="git push")) == 1
    assert runs_of(host.ask("Bash", command="rm a.py")) == 0
    assert runs_of(host.ask("Edit", file_path="a.py")) == 0


@pytest.mark.parametrize(
    "rule, free, concerned",
    [
        ("read", ["Grep", "Bash ls"], "Read"),
        ("shell(git)", ["Read", "Bash ls"], "Bash git status"),
        ("shell(git --force)", ["Bash ls"], "Bash git status"),
        ("shell(git push)", ["Bash git status", "Bash git commit -m 'git push'"], "Bash ls; git push -q"),
        ("shell(ls)", ["Read", "Bash git status"], "Bash cd x && ls"),
        ("shell(Deploy.exe)", ["Bash ls"], "Bash deploy"),
        ("shell", ["Read", "TodoWrite"], "Bash ls"),
        ("TodoWrite", ["Read"], "TodoWrite"),
        ("mcp(bank.pay)", ["Read", "Bash git log", "run_shell_command ls"], "mcp__bank__pay"),
    ],
)
def test_what_a_rule_takes_out_of_the_index(tmp_path: Path, rule: str, free: list[str], concerned: str) -> None:
    path = tmp_path / "lockstep.policy.yaml"
    path.write_text(f"tools: {{{rule}: {{needs: ['false']}}}}")
    settle()
    policy_texts.load(Source(str(path), str(tmp_path), "claude-a.7"))
    own, _, names = quick.index(str(path))
    assert own == "7"
    for call in free:
        tool, _, line = call.partition(" ")
        assert quick.is_unconcerned(tool, line, names), call
    tool, _, line = concerned.partition(" ")
    assert not quick.is_unconcerned(tool, line, names)
    assert not names & {"Edit", "Write", "Bash", "apply_patch", "write_file"}


def test_a_policy_that_is_a_link_is_read_for_each_call(tmp_path: Path) -> None:
    target, path = tmp_path / "policy.yaml", tmp_path / "lockstep.policy.yaml"
    path.symlink_to(target)
    for tool in ("edit", "write"):
        target.write_text(f"tools: {{{tool}: {{needs: ['false']}}}}")
        os.utime(target, (0, 0))
        assert policy_texts.load(Source(str(path), str(tmp_path), "claude-a.7")).tools == (tool,)
        assert quick.index(str(path)) == ("", "", frozenset())


def is_free(tool: str, line: str, session: str, policies: list[str], facts: list[str]) -> bool:
    """True if none of these policies says anything of a call, and the session has facts of no other policy."""
    found = [quick.index(path) for path in policies]
    return all(quick.is_unconcerned(tool, line, names) for *_, names in found) and quick.is_known(session, facts, found)


def test_an_index_holds_for_one_state_of_the_file_and_for_its_own_facts_only(tmp_path: Path) -> None:
    path = tmp_path / "lockstep.policy.yaml"
    path.write_text(CODING)
    settle()
    policy_texts.load(Source(str(path), str(tmp_path), "claude-a.7"))
    assert is_free("Read", "", "-a", [str(path)], ["claude-a.7", "claude-b.8"])
    assert not is_free("Read", "", "-a", [str(path)], ["claude-a.7", "claude-a.8"])  # another policy held before
    assert not is_free("Read", "", "-a", [str(path), str(tmp_path / "lockstep.gateway.yaml")], [])
    assert not is_free("Edit", "", "-a", [str(path)], [])
    path.write_text(CODING + "  read: {needs: ['false']}\n")
    assert not is_free("Read", "", "-a", [str(path)], [])
    assert Path(quick.place_of(str(path))).is_relative_to(paths.cache())


def test_a_gateway_file_concerns_editing_tools_alone(tmp_path: Path) -> None:
    host = Guarded(tmp_path)
    gateway = host.project / "lockstep.gateway.yaml"
    gateway.write_text("{}")
    assert host.shell("make test") == SILENT
    facts = [path.name for path in (host.state / "facts").iterdir()]
    both = [str(host.policy), str(gateway)]
    session = facts[0].partition(".")[0].removeprefix("claude")
    assert is_free("Read", "", session, both, facts)
    assert is_free("Bash", "ls", session, both, facts)
    assert not is_free("Bash", "make test", session, both, facts)
    assert not is_free("Edit", "", session, both, facts)
    host.policy.unlink()
    assert is_free("Bash", "make test", "-another", [str(gateway)], facts)
    assert not is_free("Write", "", "-another", [str(gateway)], facts)
