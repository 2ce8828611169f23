"""A plain command whose rules read its words and paths alone is decided as the library does, before it is loaded."""

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
RULES = (
    POLICY
    + """
  shell(cargo publish): {needs: ["'--dry-run' in $args"]}
  shell(pytest): {changes: {tests.passed: "result.exit == 0 and len($args) == 0", tests.at: $tree}}
  shell(touch): {needs: ["not any(starts(a, '-') for a in $args)"], changes: {touched: true}}
  shell(mkdir): {needs: ["$missing == 1"]}
  shell(ls): {needs: ["touched"]}
  shell(cat): {needs: ["$description == 'it'"]}
"""
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def command(line: str, call: str = "toolu_9", **more: Any) -> dict[str, Any]:
    """The event of a command."""
    return {"tool_name": "Bash", "tool_input": {"command": line, "description": "it"}, "tool_use_id": call, **more}


def result(line: str, call: str = "toolu_9", **more: Any) -> dict[str, Any]:
    """The event of its result."""
    said = {"stdout": "", "stderr": "", "interrupted": False}
    return command(line, call, hook_event_name="PostToolUse", tool_response=said, **more)


def test_a_command_that_its_words_allow_imports_nothing_of_the_library(tmp_path: Path) -> None:
    host = begun(tmp_path)
    host.session = QUICK
    interpreter = [sys.executable, "-IS", "-X", "importtime"]
    bare = imported([*interpreter, "-c", "import os"])

    def of(event: dict[str, Any]) -> set[str]:
        env = {**os.environ, "LOCKSTEP_STATE": str(host.state)}
        text = Guarded.event(host.session, host.project, event)
        return (
            imported([*interpreter, *host.starts[2:], "--host", "claude"], input=text, env=env, cwd=host.project) - bare
        )

    kept = {"fcntl", "_blake2"}
    assert of(command("rm a.py")) == kept
    assert of(result("rm a.py")) == kept
    assert of(command("make test", "toolu_10")) == kept
    assert of(command("make lint", "toolu_11")) == set()
    assert "skills.lib" in of(command("rm ../x", "toolu_12"))
    assert "skills.lib" in of(result("make test", "toolu_10"))


def test_commands_are_answered_and_kept_as_by_the_library(tmp_path: Path) -> None:
    host = begun(tmp_path, RULES)
    (host.project / "sub").mkdir()
    (host.project / "out").symlink_to(tmp_path)
    for number, (line, code) in enumerate(
        {
            "rm a.py": 0,
            "rm -rf sub/x ./y": 0,
            "rm 'a b'": 0,
            "rm": 2,
            "rm ../x": 2,
            "rm out/x": 2,
            "rm $X": 2,
            "rm *.py": 0,
            "rm ~/x": 2,
            "/bin/rm ../x": 2,
            "rm a.py && rm ../x": 2,
            "make test": 0,
            "make -k test": 0,
            "make lint": 0,
            "make lint test": 0,
            "pytest": 0,
            "pytest -q": 0,
            "cargo publish": 2,
            "cargo publish --dry-run": 0,
            "cargo pub": 2,
            "touch x": 0,
            "touch -a x": 2,
            "mkdir x": 2,
            "ls": 0,
            "cat a.py": 0,
            "git push": 2,
            "deploy": 0,
            "make release": 2,
            "HOME=/ rm a.py": 2,
            "rm LOCKSTEP_x": 0,
        }.items()
    ):
        call = f"toolu_a{number}"
        assert both(host, command(line, call)).code == code, line
        if not code:
            assert both(host, result(line, call)) == SILENT
    assert both(host, command("rm a.py", "toolu_a0")) == SILENT  # the same id again
    assert both(host, result("rm a.py", "toolu_a0")) == SILENT
    assert both(host, result("rm never-asked", "toolu_z")) == SILENT


def test_what_was_learned_counts_for_the_next_call(tmp_path: Path) -> None:
    host = begun(tmp_path, RULES)
    assert both(host, command("git push", "c1")) == SILENT
    assert both(host, command("pytest -q", "c2")) == SILENT
    assert "tests.passed" in both(host, command("git push", "c3")).reason
    assert both(host, result("pytest -q", "c2")) == SILENT
    assert both(host, command("git push", "c4")).code == 2
    failed = {"hook_event_name": "PostToolUseFailure", "error": "Exit code 1\nno", "is_interrupt": False}
    assert both(host, command("rm a.py", "c5")) == SILENT
    assert both(host, command("rm a.py", "c5", **failed)) == SILENT
    assert len(facts(host, QUICK)) > 6


@pytest.mark.parametrize(
    "more", [{"workdir": "/"}, {"args": ["x"]}, {"paths": ["/x"]}, {"cmd": "rm /x"}, {"chars": "x"}]
)
def test_arguments_beside_the_line_are_read_by_the_library(tmp_path: Path, more: dict[str, Any]) -> None:
    host = begun(tmp_path)
    event = command("rm a.py")
    both(host, {**event, "tool_input": {**event["tool_input"], **more}})


def test_rules_that_are_gone_or_of_another_form_are_read_by_the_library(tmp_path: Path) -> None:
    host = begun(tmp_path)
    (rules,) = (tmp_path / "cache" / "lockstep" / "policies").glob("*.rules")
    rules.write_bytes(rules.read_bytes().replace(b"\x014", b"\x010", 1))
    assert both(host, command("rm a.py", "c0")) == SILENT
    rules.write_bytes(b"not marshalled")
    assert both(host, command("rm a.py", "c1")) == SILENT
    assert both(host, command("rm ../x", "c2")).code == 2
    rules.unlink()
    assert both(host, command("rm a.py", "c3")) == SILENT
    assert both(host, command("rm ../x", "c4")).code == 2
