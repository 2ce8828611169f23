"""A session follows the run that its own command has opened: tools are held at the first step, too."""

from __future__ import annotations

import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from skills.lib.blocks.command_line import here, lockstep_command
from skills.lib.hosts.mcp.blocks import data_of
from skills.lib.runtime import Runner
from skills.lib.testing.blocks import PrintedBlock
from tests.fixtures.skill import source_of
from tests.hosts.hook.hooked import Host
from tests.hosts.hook.reports import reported
from tests.hosts.hook.test_policy_hosts import SHELLS

pytestmark = pytest.mark.req("E-06", "H-02")
ONE_STEP = source_of("guarded", 'StepDef("work", "Work", "Read.", {Outcome.OK: None}, tools=["read"]),')


BEHIND = source_of(
    "guarded",
    'StepDef("look", "Look", "Look.", {Outcome.OK: "work"}, requires=[Command(["true"])], automatic=True),'
    'StepDef("work", "Work", "Read.", {Outcome.OK: None}, tools=["read"]),',
)

LONGER = source_of(
    "guarded",
    'StepDef("look", "Look", "Look.", {Outcome.OK: "work"}, requires=[Command(["true"])], automatic=True),'
    'StepDef("work", "Work", "Read.", {Outcome.OK: "more"}, tools=["read"]),'
    'StepDef("more", "More", "Read.", {Outcome.OK: None}, tools=["read"]),',
)
# The opening also leaves a step with sub-agents that starts none.
BEYOND = source_of(
    "guarded",
    'StepDef("look", "Look", "Look.", {Outcome.OK: "send"}, requires=[Command(["true"])], automatic=True),'
    'StepDef("send", "Send", "Send.", {Outcome.OK: "work", Outcome.SKIP: "work"},'
    ' Dispatch("explore", targets=none, task="Look at {target}.")),'
    'StepDef("work", "Work", "Read.", {Outcome.OK: None}, tools=["read"]),',
).replace("WORKFLOW = ", "def none(ctx):\n    return []\n\n\nWORKFLOW = ", 1)
# The opening ends in a question: the step fails, and may not be done again.
ASKED = source_of(
    "guarded",
    'StepDef("look", "Look", "Look.", {Outcome.OK: "work", Outcome.FAIL: "look"}, fail, max_iterations=1,'
    ' automatic=True, tools=["read"]),StepDef("work", "Work", "Read.", {Outcome.OK: None}, tools=["read"]),',
).replace("WORKFLOW = ", "def fail(ctx):\n    return Outcome.FAIL\n\n\nWORKFLOW = ", 1)


def opening(host: Host) -> str:
    return shlex.join([sys.executable, str(host.agent.script), "--step", "1", "--project", str(host.project)])


def opened(host: Host, line: str) -> PrintedBlock:
    """Open a run as the host's agent does: the hook is asked, the command runs, its result is told."""
    assert host.use(SHELLS[host.name], command=line).code == 0
    block = host.agent.run_command(line)
    tell_ended(host, line, block)
    return block


def tell_ended(host: Host, line: str, block: PrintedBlock) -> None:
    """Tell the hook that a command has printed a block."""
    ended = reported(host.name, block.text, block.exit_code)
    if host.name == "codex":
        ended["tool_response"] = f"lockstep: a line of its errors\n{block.text}"
    event = {"tool_name": SHELLS[host.name], "tool_input": {"command": line}, **ended}
    assert host.tell(event).code == 0


@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "qwen", "gemini"])
def test_a_run_of_one_step_holds_the_tools_of_the_session_that_opened_it(name: str, tmp_path: Path) -> None:
    host = Host(tmp_path, name, source=ONE_STEP)
    block = opened(host, opening(host))
    denied = host.use(SHELLS[name], command="touch x")
    assert denied.code == 2
    assert "'Work'" in denied.reason
    assert not (host.state / "openings").exists()
    assert host.use(SHELLS[name], command=block.next).code == 0
    assert host.agent.run_command(block.next).kind == "done"
    assert host.use(SHELLS[name], command="touch x").code == 0


@pytest.mark.req("L-01", "L-02")
@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "qwen", "gemini"])
@pytest.mark.parametrize("called", [[], ["env"], ["uv", "run", "--no-sync"]])
def test_a_run_of_a_phase_holds_the_session_that_opened_it(name: str, called: list[str], tmp_path: Path) -> None:
    host = Host(tmp_path, name, project=".", source=ONE_STEP.replace('["read"]', '["read", "shell"]'))
    skills = host.project / "skills"
    (skills / "guarded/SKILL.md").write_text("---\nname: guarded\ndescription: Works. Use it to work.\n---\n")
    (skills / "registry.yaml").write_text(
        "skills: {guarded: adapter}\nphases: {checking: [safe-shell-search, guarded]}\n"
    )
    words = [*lockstep_command(), "phase", "checking", "--start", "--project", str(host.project)]
    line = shlex.join([*called, *words])
    assert host.use(SHELLS[name], command=line).code == 0
    done = subprocess.run(words, capture_output=True, text=True, cwd=host.project, timeout=60, check=True)
    tell_ended(host, line, PrintedBlock(0, done.stdout))
    assert host.use(SHELLS[name], command="git log -n 3").code == 0
    denied = host.use(SHELLS[name], command="grep -rn needle .")
    assert (denied.code, "denied, because" in denied.reason) == (2, True)


def test_a_line_that_only_mentions_a_phase_opens_nothing(tmp_path: Path) -> None:
    host = Host(tmp_path, source=ONE_STEP)
    block = host.agent.open()
    for line in (
        "grep -n 'lockstep phase checking --start' a.md",
        "lockstep list phase --start",
        "lockstep phase checking",
    ):
        host.run(line)
        tell_ended(host, line, block)
        assert host.run("touch x").code == 0


@pytest.mark.parametrize("source", [ONE_STEP, BEHIND], ids=["at the first step", "behind an automatic one"])
def test_the_turn_may_end_where_the_opening_led(source: str, tmp_path: Path) -> None:
    host = Host(tmp_path, source=source)
    opened(host, opening(host))
    assert host.stop().code == 0


def test_a_run_behind_an_automatic_step_holds_who_only_looked_at_it_once_it_has_moved(tmp_path: Path) -> None:
    host = Host(tmp_path, source=LONGER)
    line = opening(host)
    assert host.run(line).code == 0
    block = host.agent.run_command(line)
    assert (block.step, block.turn) == ("work", 2)
    assert host.run("touch x").code == 0
    assert host.go(block).step == "more"
    assert host.run("touch x").code == 2
    assert host.stop().code == 2


@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "qwen", "gemini"])
def test_a_run_is_held_whose_opening_left_an_automatic_step(name: str, tmp_path: Path) -> None:
    host = Host(tmp_path, name, source=BEHIND)
    block = opened(host, opening(host))
    assert (block.step, block.turn) == ("work", 2)
    assert "'Work'" in host.use(SHELLS[name], command="touch x").reason


def test_a_run_is_held_whose_opening_also_skipped_a_step(tmp_path: Path) -> None:
    host = Host(tmp_path, source=BEYOND)
    block = opened(host, opening(host))
    assert (block.step, block.turn) == ("work", 3)
    assert "'Work'" in host.run("touch x").reason


def test_a_run_is_held_whose_opening_came_to_a_question(tmp_path: Path) -> None:
    host = Host(tmp_path, source=ASKED)
    block = opened(host, opening(host))
    assert (block.kind, block.turn) == ("waiting", 2)
    assert host.run("touch x").code == 2


def test_a_run_that_another_session_opened_holds_nobody_else(tmp_path: Path) -> None:
    host = Host(tmp_path, source=ONE_STEP)
    block = opened(host, opening(host))
    host.session = "another"
    assert host.run("touch x").code == 0
    assert host.go(block).kind == "done"


def test_a_run_belongs_to_the_session_that_has_asked_for_it_last(tmp_path: Path) -> None:
    host = Host(tmp_path, source=ONE_STEP)
    first = opened(host, opening(host))
    before, host.session = host.session, "another"
    assert opened(host, opening(host)).run == first.run
    assert host.run("touch x").code == 2
    host.session = before
    assert host.run("touch x").code == 0


def test_a_text_that_looks_like_a_block_opens_nothing(tmp_path: Path) -> None:
    host = Host(tmp_path, source=ONE_STEP)
    block = host.agent.open()
    (host.project / "found.xml").write_text(block.text)
    line = "cat found.xml # --step 1"
    host.run(line)
    host.tell({"tool_name": "Bash", "tool_input": {"command": line}, **reported("claude", block.text, 0)})
    assert host.run("touch x").code == 0
    assert host.sessions() == {}


def test_a_run_of_which_the_result_was_not_told_holds_from_its_first_report_on(tmp_path: Path) -> None:
    host = Host(tmp_path)
    line = opening(host)
    assert host.run(line).code == 0
    block = host.agent.run_command(line)
    assert host.run("touch x").code == 0
    assert host.go(block).step == "look"
    assert host.run("touch x").code == 2


@pytest.mark.parametrize("source", [ONE_STEP, BEHIND], ids=["at the first step", "behind an automatic one"])
def test_a_run_that_an_mcp_tool_opened_is_followed(source: str, tmp_path: Path) -> None:
    host = Host(tmp_path, source=source)
    given = {"skill": "guarded", "project": str(host.project)}
    assert host.use("mcp__lockstep__start_run", **given).code == 0
    block = host.agent.open()
    command_line = here(host.agent.script, str(host.project))
    with closing(Runner(command_line)) as runner:
        data = data_of(runner.state(host.agent.workflow, block.run), command_line)
    said = {"structuredContent": data, "content": [{"type": "text", "text": block.text}]}
    event = {"hook_event_name": "PostToolUse", "tool_name": "mcp__lockstep__start_run", "tool_input": given}
    assert host.tell({**event, "tool_response": said}).code == 0
    assert host.run("touch x").code == 2
