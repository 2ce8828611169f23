"""What the four clients really do with what a person says, and with the permission that a person gave."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from skills.lib.ledger import Ledger
from tests.fixtures import skill
from tests.hosts.clients import clients
from tests.hosts.clients.clients import Codex, Gemini, OpenCode, Qwen
from tests.hosts.clients.conftest import lockstep
from tests.hosts.clients.model import Call, Say
from tests.hosts.clients.plays import DELEGATED, follow, printed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.clients.model import Turn
    from tests.hosts.clients.plays import Going
    from tests.hosts.clients.stage import Stage

pytestmark = pytest.mark.slow
ASKING = """
    StepDef("ask", "Ask", "Ask.", {Outcome.OK: "last", Outcome.FAIL: None},
            Person("Ship it?", {"yes": Outcome.OK, "no": Outcome.FAIL})),
    StepDef("last", "Last", "Do.", {Outcome.OK: None}),
"""
# These clients do not say whether a person is there.
SILENT = ("qwen", "gemini")


@pytest.mark.req("W-24", "H-07")
def test_what_the_user_says_in_a_later_prompt_is_the_persons_word_unless_the_client_says_that_none_is_there(
    stage: Stage,
) -> None:
    script = skill.install(stage.project, "asking", skill.source_of("asking", ASKING))
    opening = shlex.join([sys.executable, str(script), "--step", "1", "--project", str(stage.project)])
    show = shlex.join([sys.executable, str(script), "--project", str(stage.project), "--step", "current", "--run"])
    runs = []

    def asked(turn: Turn) -> Going:
        block = yield from printed(stage.client, opening)
        runs.append(block.run)
        block = yield from printed(stage.client, f"{show} {block.run}")  # from now on the hook knows the run
        assert block.kind == "waiting"
        yield Say("Shall I ship it?")

    ended = stage.play(asked, prompt="Ask me, and not before I said yes")
    assert ended.code == 0, ended.errors

    def told(turn: Turn) -> Going:
        block = yield from printed(stage.client, f"{show} {runs[0]}")
        block = yield from follow(stage.client, block, {"answer": "yes"})
        yield from follow(stage.client, block, {})

    ended = stage.play(told, prompt="Yes, please.", again=True)
    assert ended.code == 0, ended.errors
    assert stage.runs() == [("asking", None, "done")]
    with Ledger(str(stage.project / ".lockstep")) as ledger:
        [answered] = [event for event in ledger.events(runs[0]) if event.detail.get("answer")]
    heard = ("person (prompt)", "Yes, please.") if stage.client.host in SILENT else ("agent", None)
    assert (answered.actor, answered.detail.get("prompt")) == heard


@pytest.mark.req("H-01", "H-07")
@pytest.mark.parametrize("stage", [OpenCode(), Qwen(), Gemini()], indirect=True, ids=["opencode", "qwen", "gemini"])
@pytest.mark.parametrize("allows", [True, False])
def test_step_scripts_that_were_allowed_run_without_a_question_and_nothing_else_does(
    stage: Stage, allows: bool
) -> None:
    client = stage.client
    words = ["--scope", "user", "--skill", "problem-analysis", "--project", str(stage.project)]
    lockstep(stage.room, "install", client.host, *words, "--allow" if allows else "--no-allow")
    script = stage.room.home / ".agents" / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py"
    if client.host == "opencode":  # by itself it asks before no command
        clients.put(stage.project / "opencode.json", {"permission": {"bash": "ask"}})
    opening = shlex.join([sys.executable, str(script), "--step", "1"])
    free = stage.project / "free.txt"

    def play(turn: Turn) -> Going:
        yield client.shell(f"{opening} --project {stage.project}")
        yield client.shell(f"echo free > {free}")
        yield client.shell(f"{sys.executable} {_other(stage.project)} --step 1")

    stage.play(play, prompt="Why is it slow?", careful=True)
    assert (stage.project / ".lockstep" / "runs.db").exists() is allows
    assert not free.exists()
    assert not (stage.project / "ran.txt").exists()


@pytest.mark.req("H-01", "H-07")
@pytest.mark.parametrize("stage", [Gemini()], indirect=True, ids=["gemini"])
def test_gemini_cli_starts_an_installed_role_by_its_name(stage: Stage) -> None:
    lockstep(stage.room, "install", "gemini", "--scope", "user", "--skill", "refactor")
    heard = []

    def play(turn: Turn) -> Going:
        turn = yield Call("invoke_agent", {"agent_name": "quality-reviewer", "prompt": f"{DELEGATED} look."})
        heard.append(turn.output)

    def delegated(turn: Turn) -> Going:
        heard.append(turn.text)
        yield Call("complete_task", {"result": "It was looked at."})

    ended = stage.play(play, delegated)
    assert ended.code == 0, ended.errors
    assert "You review work that somebody else did" in heard[0]
    assert "It was looked at." in heard[1]


@pytest.mark.req("H-01", "H-07")
@pytest.mark.parametrize("stage", [Codex()], indirect=True, ids=["codex"])
def test_codex_itself_says_that_the_rule_allows_the_step_scripts_and_nothing_else(stage: Stage) -> None:
    words = ["--scope", "user", "--skill", "problem-analysis", "--project", str(stage.project)]
    lockstep(stage.room, "install", "codex", *words, "--allow")
    script = str(stage.room.home / ".agents" / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py")
    rules = str(stage.room.home / ".codex" / "rules" / "lockstep.rules")

    def decided(*command: str) -> str | None:
        ended = clients.run(stage.client, stage.room, ["execpolicy", "check", "--rules", rules, "--", *command])
        assert ended.code == 0, ended.errors
        found: str | None = json.loads(ended.out).get("decision")
        return found

    for python in ("python3", sys.executable):
        assert decided(python, script, "--step", "next") == "allow"
    for command in (["python3", "-c", "x", script], ["python3", str(_other(stage.project))], ["cat", script]):
        assert decided(*command) is None


def _other(project: Path) -> Path:
    """A script that was not installed, and that leaves a file."""
    script = project / ".agents" / "skills" / "problem-analysis" / "scripts" / "other.py"
    script.write_text(f"open({str(project / 'ran.txt')!r}, 'w').close()\n", encoding="utf-8")
    return script
