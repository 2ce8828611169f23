"""Most calls of a session under a policy concern none of its rules: they pass before the library is loaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib import paths
from skills.lib.guard import shell
from skills.lib.hosts.hook import policies, quick
from skills.lib.hosts.hook.policies import Source
from tests.hosts.hook.guarded_host import CODING, SILENT, Guarded
from tests.hosts.hook.test_hook_path import imported

pytestmark = [pytest.mark.req("G-03"), pytest.mark.usefixtures("own_project")]
NAMES = frozenset({*(f"$ {name}" for name in quick.LOOKING), *(f"$ git {word}" for word in quick.LOOKING_OF_GIT)})
RULES = [("git", "push"), ("make", "test"), ("rm",), ("deploy",), ("python",), ("bash",), ("find",)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


PIECES = "ls cat git status push cd sub -la | && ; & || rm a=b ./ls bash echo grep $X `rm` 'rm' > x make test -c deploy"
WORDS = [*PIECES.split(), "env", "find", ".", "\n", "\\"]


@given(st.lists(st.sampled_from(WORDS), max_size=7))
def test_a_line_that_passes_at_once_means_no_rule_for_certain(words: list[str]) -> None:
    line = " ".join(words)
    if quick.is_plain(line, NAMES):
        found = shell.read(line, "/")
        assert found.is_certain(RULES), line
        assert not any(found.matches(rule) for rule in RULES), line


def test_what_passes_at_once(tmp_path: Path) -> None:
    for line in ("ls -la | head", "git status && git diff a.py", "cd sub; cat x.txt || true", "git log -3"):
        assert quick.is_plain(line, NAMES), line
    for line in (
        "",
        "git push",
        "ls > x",
        "ls & rm x",
        "ls; rm x",
        "git -C x push",
        "X=1 ls",
        "ls\nrm x",
        "ls 'x'",
        "git",
    ):
        assert not quick.is_plain(line, NAMES), line


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

    index = {
        "__future__",
        "skills",
        "skills.lib",
        "skills.lib.hosts",
        "skills.lib.hosts.hook",
        "skills.lib.hosts.hook.quick",
    }
    assert host.shell("make test") == SILENT
    for name in ("PreToolUse", "PostToolUse"):
        assert of("Read", name, file_path="a.py") == index
        assert of("Bash", name, command="ls -la | head") == index
    removed = of("Bash", command="rm ../x")
    assert {"skills.lib.guard.guard", "skills.lib.hosts.hook.guard_texts"} <= removed
    for costly in ("yaml", "ast", "re", "json", "enum", "typing", "pathlib", "dataclasses", "sqlite3", "inspect"):
        assert costly not in removed, costly
    assert "subprocess" not in removed  # no rule on rm asks for the content of the worktree
    assert "subprocess" in of("Bash", command="git push")


@pytest.mark.parametrize(
    "rule, free",
    [
        ("read", {"Grep", "$ ls", "shell Bash"}),
        ("shell(git)", {"Read", "$ ls", "shell Bash"}),
        ("shell(ls)", {"Read", "$ git status", "shell Bash"}),
        ("shell", {"Read", "TodoWrite"}),
        ("TodoWrite", {"Read"}),
        ("mcp(bank.pay)", {"Read", "$ ls", "$ git log", "shell run_shell_command"}),
    ],
)
def test_what_a_rule_takes_out_of_the_index(tmp_path: Path, rule: str, free: set[str]) -> None:
    path = tmp_path / "lockstep.policy.yaml"
    path.write_text(f"tools: {{{rule}: {{needs: ['false']}}}}")
    policies.load(Source(str(path), str(tmp_path), "claude-a.7"))
    own, names = quick.index(str(path))
    assert own == "7"
    assert free <= names
    taken = {
        "read": "Read",
        "shell(git)": "$ git status",
        "shell(ls)": "$ ls",
        "shell": "shell Bash",
        "TodoWrite": "TodoWrite",
        "mcp(bank.pay)": "mcp__bank__pay",
    }
    assert taken[rule] not in names
    assert not names & {"Edit", "Write", "Bash", "apply_patch", "write_file"}


def test_an_index_holds_for_one_state_of_the_file_and_for_its_own_facts_only(tmp_path: Path) -> None:
    path = tmp_path / "lockstep.policy.yaml"
    path.write_text(CODING)
    policies.load(Source(str(path), str(tmp_path), "claude-a.7"))
    assert quick.is_free("Read", "", "-a", [str(path)], ["claude-a.7", "claude-b.8"])
    assert not quick.is_free("Read", "", "-a", [str(path)], ["claude-a.7", "claude-a.8"])  # another policy held before
    assert not quick.is_free("Read", "", "-a", [str(path), str(tmp_path / "lockstep.gateway.yaml")], [])
    assert not quick.is_free("Edit", "", "-a", [str(path)], [])
    path.write_text(CODING + "  read: {needs: ['false']}\n")
    assert not quick.is_free("Read", "", "-a", [str(path)], [])
    assert Path(quick.place_of(str(path))).is_relative_to(paths.cache())


def test_a_gateway_file_concerns_editing_tools_alone(tmp_path: Path) -> None:
    host = Guarded(tmp_path)
    gateway = host.project / "lockstep.gateway.yaml"
    gateway.write_text("{}")
    assert host.shell("make test") == SILENT
    facts = [path.name for path in (host.state / "facts").iterdir()]
    both = [str(host.policy), str(gateway)]
    session = facts[0].partition(".")[0].removeprefix("claude")
    assert quick.is_free("Read", "", session, both, facts)
    assert quick.is_free("Bash", "ls", session, both, facts)
    assert not quick.is_free("Bash", "make test", session, both, facts)
    assert not quick.is_free("Edit", "", session, both, facts)
    host.policy.unlink()
    assert quick.is_free("Bash", "make test", "-another", [str(gateway)], facts)
    assert not quick.is_free("Write", "", "-another", [str(gateway)], facts)
