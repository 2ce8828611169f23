"""What a call means in the names that steps use, and which lines are one simple command."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skills.lib import shell_words
from skills.lib.hosts.hook import shell_commands, tools
from skills.lib.workflow.core import StepDef
from skills.lib.workflow.types import Outcome

pytestmark = pytest.mark.req("H-02")
# Few letters, none of them a command, and everything that a shell reads otherwise than it stands. No comma and no dot:
# braces with them are expanded by bash.
LINES = st.text(alphabet="ab '\"\\;|&<>()`$\n\t#!{}=", max_size=14)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, min_size=8, max_size=8))
@example(["a\\\nb", "'a\nb' c", '"a\\$b"', '"a\\b"', "''", "a#b #c", "a!b", "a{b}"])
def test_a_simple_command_is_one_command_with_the_same_words_to_a_shell(tmp_path: Path, many: list[str]) -> None:
    found = {line: shell_words.simple_command(line) for line in many}
    simple = {line: words for line, words in found.items() if words and "$" not in line}
    printed = [f"printf '%s\\0' {line.strip()}\nprintf '\\n\\0'" for line in simple]
    for shell in ("sh", "bash"):
        done = subprocess.run(
            [f"/bin/{shell}", "-c", "\n".join(printed)], cwd=tmp_path, capture_output=True, timeout=20, check=False
        )
        assert done.stderr == b""
        expected = "".join("".join(word + "\0" for word in words) + "\n\0" for words in simple.values())
        assert done.stdout.decode() == expected
    assert list(tmp_path.iterdir()) == []
    for line, words in simple.items():
        if "\\" not in line:
            assert shlex.split(line) == words


@given(st.lists(st.text(max_size=6), min_size=1, max_size=4))
def test_quoted_words_come_back(words: list[str]) -> None:
    plain = [word.replace("\0", "") for word in words]
    assert shell_words.simple_command(shlex.join(plain)) == ([] if shell_words.sets_variable(plain) else plain)
    assert shell_words.commands_in(shlex.join(plain))[0] == plain


@given(LINES)
def test_anything_can_be_looked_into(line: str) -> None:
    assert all(isinstance(word, str) for words in shell_words.commands_in(line) for word in words)
    shell_commands.acts_for_a_person(f"answer {line} -c {line}")
    if shell_words.simple_command(line):
        assert shell_words.commands_in(line.strip(" \t\n")) == [shell_words.simple_command(line)]


@pytest.mark.parametrize(
    "line",
    [
        *("a;b", "a\nb", "a & b", "a|b", "a > b", "a < b", "(a)", "$(a)", "`a`", "$a", "! a", "{ a; }", "a # b"),
        *("A=/b c", "A= b", "_a+=b c", "a {b,c}", "a{1..2}", "a ''{b,c}", "a b{c,d}/../e", 'a "b"{c",",d}'),
        *('"$(a)"', '"`a`"', '"${a:=$(b)}"', '"$[a]"', "'a", '"a', "a\\", "a \\\nb", "a\0b", "'a\0'", "a\rb", "", " "),
        "a" * 300_000,
    ],
)
def test_what_is_no_simple_command(line: str) -> None:
    assert shell_words.simple_command(line) == []


@pytest.mark.parametrize(
    "line, commands",
    [
        ("cd '/a b' && x --run r > out 2>&1", [["cd", "/a b"], ["x", "--run", "r"], ["out", "2"], ["1"]]),
        ("a 'b", [["a", "b"]]),
        ('x="$(a b)"', [["x=$(a b)"]]),
        ("a\\", [["a"]]),
    ],
)
def test_a_line_that_is_not_simple_can_be_looked_into(line: str, commands: list[list[str]]) -> None:
    assert shell_words.commands_in(line)[: len(commands)] == commands


ADD, UPDATE = "*** Begin Patch\n*** Add File: a\n+a\n", "*** Update File: b\n@@\n-a\n+b\n"


@pytest.mark.parametrize(
    "host, tool, given, meant",
    [
        ("claude", "Read", {}, "read"),
        ("claude", "LSP", {}, "search"),
        ("claude", "PowerShell", {}, "shell"),
        ("claude", "Task", {}, "agent"),
        ("codex", "Bash", {}, "shell"),
        ("codex", "apply_patch", {"command": ADD}, "write"),
        ("codex", "apply_patch", {"command": UPDATE}, "edit"),
        ("codex", "apply_patch", {"input": ADD + UPDATE}, "edit write"),
        ("codex", "apply_patch", {"input": ADD + "+*** Update File: b\n + *** Delete File: b\n"}, "write"),
        ("codex", "apply_patch", {"input": UPDATE + " *** Add File: a\n-*** Add File: a\n"}, "edit"),
        ("codex", "apply_patch", {"input": ADD + " *** Update File: b\n"}, "edit write"),
        ("codex", "apply_patch", {"input": "*** Delete File: a\n *** Add File: a\n+a\n"}, "edit write"),
        ("codex", "apply_patch", {"input": "say *** Add File: a"}, "edit write"),
        ("codex", "apply_patch", {}, "edit write"),
        ("codex", "apply_patch", {"command": ["apply_patch", UPDATE]}, "edit"),
        ("opencode", "grep", {}, "search"),
        ("qwen", "run_shell_command", {}, "shell"),
        ("gemini", "replace", {}, "edit"),
        ("gemini", "Bash", {}, "shell"),
        ("elsewhere", "Bash", {}, "shell"),
        ("claude", "mcp__x__read", {}, ""),
        ("claude", "", {}, ""),
        ("claude", "bash ", {}, ""),
    ],
)
def test_what_a_call_means(host: str, tool: str, given: dict[str, Any], meant: str) -> None:
    assert tools.meanings(host, tool, given) == frozenset(meant.split())


@pytest.mark.parametrize(
    "host, tool",
    [
        ("claude", "mcp__my_server__get_it"),
        ("codex", "mcp__my_server__get_it"),
        ("opencode", "my_server_get_it"),
        ("qwen", "mcp__my_server__get_it"),
        ("gemini", "mcp_my_server_get:it"),
        ("elsewhere", "my_server_get_it"),
    ],
)
def test_what_each_host_calls_a_tool_of_an_mcp_server(host: str, tool: str) -> None:
    assert tools.is_mcp_call("mcp(my server.get:it)", host, tool) is False  # a name with a blank is none
    assert tools.is_mcp_call("mcp(my_server.get:it)", host, tool)
    assert not tools.is_mcp_call("mcp(my_server.get)", host, tool)
    assert not tools.is_mcp_call("shell(my_server)", host, tool)


def test_gemini_cuts_the_middle_of_a_long_name() -> None:
    long = f"mcp(server.{'a' * 40}{'b' * 40})"
    assert tools.is_mcp_call(long, "gemini", f"mcp_server_{'a' * 19}...{'b' * 30}")
    assert tools.is_mcp_call(long, "claude", f"mcp__server__{'a' * 40}{'b' * 40}")


@pytest.mark.parametrize(
    "tool", ["shell(git push)", "shell(git)", "mcp(github.get_issue)", "mcp(a-b.c/d)", "tool(look-up.2)"]
)
def test_a_step_and_the_hook_know_the_same_names(tool: str) -> None:
    assert StepDef("a", "A", next={Outcome.OK: None}, tools=[tool]).tools == (tool,)
    assert tools.is_name(tool)


@pytest.mark.parametrize(
    "tool",
    [
        "shell()",
        "shell( git)",
        "shell(git  push)",
        "shell(git;ls)",
        "shell(a\tb)",
        "mcp(github)",
        "mcp(.x)",
        "mcp(x.)",
        "mcp(a b.c)",
        "mcp(a.b",
        "mcp(a.b;c)",
        "mcp()",
        "git push",
        "lookup",
        "tool()",
        "tool(a b)",
        "tool(2a)",
        "tool(a",
    ],
)
def test_a_name_of_no_tool_is_refused(tool: str) -> None:
    with pytest.raises(ValueError, match=r"is not a tool: use one of .*mcp\(SERVER.TOOL\)"):
        StepDef("a", "A", next={Outcome.OK: None}, tools=[tool])
    assert not tools.is_name(tool)


def test_a_tool_that_every_host_has_is_named_by_itself() -> None:
    with pytest.raises(ValueError, match=r"'tool\(shell\)' is a tool that every host has: write 'shell'"):
        StepDef("a", "A", next={Outcome.OK: None}, tools=["tool(shell)"])


def test_a_step_allows_a_tool_of_another_program_by_its_exact_name() -> None:
    allowed = ["read", "tool(lookup)"]
    assert tools.allows(allowed, "opencode", "lookup", {})
    assert not tools.allows(allowed, "opencode", "lookup2", {})
    assert not tools.allows(["tool(run_shell_command)"], "gemini", "run_shell_command", {"command": "ls"})


def test_the_table_has_every_canonical_name_on_every_host() -> None:
    names = set(tools.TABLE)
    StepDef("all", "All", next={Outcome.OK: None}, tools=sorted(names))
    assert len(names) == 8
    assert all(set(hosts) == set(tools.HOSTS) and all(hosts.values()) for hosts in tools.TABLE.values())
    assert set(tools.ALSO.values()) <= names
    listed = {own for hosts in tools.TABLE.values() for many in hosts.values() for own in many}
    assert not listed & tools.FREE


@pytest.mark.parametrize(
    "allowed, tool, given, answer",
    [
        ([], "mcp__x__y", {}, True),
        (["read"], "mcp__x__y", {}, False),
        (["read"], "mcp__lockstep__run_state", {}, True),
        (["read"], "TodoWrite", {}, True),
        (["write"], "apply_patch", {"command": ADD}, True),
        (["write"], "apply_patch", {"command": UPDATE}, False),
        (["write", "edit"], "apply_patch", {"command": ADD + UPDATE}, True),
        (["shell(git)"], "Bash", {"command": "git log"}, True),
        (["shell(git)"], "Bash", {"command": "/usr/bin/git 'log'"}, True),
        (["shell(git)"], "shell", {"command": ["git", "log", ";"]}, True),
        (["shell(git)"], "shell", {"command": ["bash", "-lc", "git log; rm x"]}, False),
        (["shell(git)"], "shell", {"command": ["bash", "-lc", "git log"]}, True),
        (["shell(git)"], "exec_command", {"cmd": "git log"}, True),
        (["shell(git)"], "Bash", {"command": "git log | head"}, False),
        (["shell(git)"], "Bash", {"command": "shutdown git"}, False),
        (["shell(git)"], "Bash", {"command": "git; ls"}, False),
        (["shell(git)"], "Bash", {"command": 7}, False),
        (["shell(git)"], "Bash", {"command": ["git", 7]}, False),
        (["shell(git)"], "Bash", {}, False),
        (["shell(check.py)"], "Bash", {"command": "python3.12 x/check.py"}, True),
        (["shell(check.py)"], "Bash", {"command": "python3.x check.py"}, False),
        (["shell"], "Bash", {"command": "a; b"}, True),
        (["shell(git push)"], "Bash", {"command": "git push origin"}, True),
        (["shell(git push)"], "Bash", {"command": "/usr/bin/git 'push'"}, True),
        (["shell(git push)"], "Bash", {"command": "git status"}, False),
        (["shell(git push)"], "Bash", {"command": "git"}, False),
        (["shell(git push)"], "Bash", {"command": "git -c alias.push=x push"}, False),
        (["shell(git push)"], "Bash", {"command": "git push && rm x"}, False),
        (["shell(check.py all)"], "Bash", {"command": "python3 x/check.py all --now"}, True),
        (["shell(check.py all)"], "Bash", {"command": "python3 x/check.py --now all"}, False),
        (["mcp(github.get_issue)"], "mcp__github__get_issue", {}, True),
        (["mcp(github.get_issue)"], "mcp__github__get_issues", {}, False),
        (["mcp(github.get_issue)"], "mcp__other__get_issue", {}, False),
        (["mcp(github.get_issue)"], "Bash", {"command": "ls"}, False),
        (["read", "mcp(a.b.c)"], "mcp__a__b_c", {}, True),
        (["shell"], "mcp__github__get_issue", {}, False),
    ],
)
def test_what_a_step_allows(allowed: list[str], tool: str, given: dict[str, Any], answer: bool) -> None:
    assert tools.allows(allowed, "claude", tool, given) is answer


@pytest.mark.parametrize(
    "command, answer",
    [
        *(("cat a", True), ("sed -n '1,20p' a", True), ("rg -n 'x|y' src", True), ("find . -name a", True)),
        *(("sed -i s/a/b/ a", False), ("sed -n '1w b' a", False), ("sed -n 1p -i a", False), ("find . -delete", False)),
        *(("find . -exec rm a", False), ("rg --pre x y", False), ("cat a > b", False), ("rm a", False), ("", False)),
    ],
)
def test_codex_reads_and_searches_by_its_shell(command: str, answer: bool) -> None:
    assert tools.allows(["read", "search"], "codex", "Bash", {"command": command}) is answer
    assert not tools.allows(["read", "search"], "claude", "Bash", {"command": command})
    assert not tools.allows(["write"], "codex", "Bash", {"command": command})


def test_what_is_allowed_is_named_in_the_hosts_words() -> None:
    assert tools.named(["mcp(a.b)"], "gemini") == "mcp(a.b) (mcp_a_b)"
    assert tools.named(["edit", "shell(git)"], "claude") == "edit (Edit, MultiEdit, NotebookEdit), shell(git)"
    assert tools.named(["read"], "elsewhere") == "read"


@pytest.mark.parametrize(
    "command, value",
    [
        ("x --run a", "a"),
        ("x --run=a", "a"),
        ("x --run 'a' --run \"b\"", "b"),
        ("cd y; x --run a;z", "a"),
        ("bash -lc 'x --run a'", "a"),
        ("y=$(x --run a)", "a"),
        ("x --runs a", ""),
        ("x --run", ""),
        ("x '--run a'", ""),
    ],
)
def test_the_value_of_a_flag(command: str, value: str) -> None:
    assert shell_commands.value_of("--run", command) == value


@pytest.mark.parametrize(
    "line",
    [
        *("lockstep ans''wer r yes", 'lockstep "ans"wer r yes', "lockstep a\\nswer r yes", "lockstep\tanswer r yes"),
        *("eval 'lockstep answer r yes'", "bash -ce 'lockstep answer r yes'", "bash -c -- 'lockstep answer r yes'"),
        *('sh -c"lockstep answer r yes"', "env -S 'lockstep answer r y'", "script --c='lockstep answer r y' x"),
        *("lockstep --project . answer r yes", "python3 -mskills answer r yes", "'/a b/lockstep' answer r yes"),
        *("$(which lockstep) answer r yes", "`command -v lockstep` answer r yes", '"$(which lockstep)" answer r yes'),
        *("echo 'lockstep answer r y' | bash", "bash <<< 'lockstep answer r yes'", "sh <<E\nlockstep answer r y\nE"),
        *("lockstep gateway trust", "script -qc 'lockstep gateway trust' /dev/null", "yes | lockstep gateway trust"),
        *("lockstep gateway -- trust", "lockstep gateway \\\n  trust", "bash -c 'lockstep \\\ngateway -- trust'"),
        *("lockstep \\\n  answer r yes", "lockstep \\\nanswer r yes", "lockstep ans\\\nwer r yes"),
        'lockstep "an\\\nswer" r yes',
        *("bash -c \"sh -c 'lockstep answer r yes'\"", "tmux send-keys 'lockstep answer r yes' Enter"),
    ],
)  # fmt: skip
def test_a_line_that_acts_for_a_person(line: str) -> None:
    assert shell_commands.acts_for_a_person(line)


@pytest.mark.parametrize(
    "line",
    [
        "grep -rn 'lockstep answer' docs",
        "echo answer me",
        "lockstep resume answer",
        "lockstep runs | grep answer",
        "lockstep gateway run x",
        "lockstep gateway run trust",
        "lockstep gateway list --json; trust",
        "",
    ],
)
def test_a_line_that_only_speaks_of_answers(line: str) -> None:
    assert not shell_commands.acts_for_a_person(line)
