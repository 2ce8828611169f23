"""A skill in prose, adopted and accepted by a person, is followed in two real clients: its steps hold."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from tests.fixtures.terminal import at_terminal
from tests.hosts.clients.clients import Codex, OpenCode, common_environment
from tests.hosts.clients.conftest import lockstep
from tests.hosts.clients.model import Say
from tests.hosts.clients.plays import begin, follow, printed

if TYPE_CHECKING:
    from pathlib import Path

    from skills.lib.testing.blocks import PrintedBlock
    from tests.hosts.clients.clients import Room
    from tests.hosts.clients.model import Turn
    from tests.hosts.clients.plays import Going, Part
    from tests.hosts.clients.stage import Stage

pytestmark = pytest.mark.slow
PROSE = """---
name: tidy-shed
description: Tidies one shelf of the shed. Use when somebody wants the shed tidied.
allowed-tools: Read
---

# Tidy the shed

## Step 1: Choose a shelf

The lowest one that nobody has tidied yet.

## Step 2: Look at the shelf

Read `shelf.txt` in the project.

- [ ] every thing on the shelf is named

## Step 3: Ask the user to approve the list

Show what would go and what would stay. Wait for a yes.

## Step 4: Report

Say in one line what goes.

Never let a key go.
"""
LOOK, ASK, REPORT = "look-at-the-shelf", "ask-the-user-to-approve-the-list", "report"
NAMED = {"every_thing_on_the_shelf_is": "yes"}


@pytest.mark.req("E-06", "H-07")
@pytest.mark.parametrize("stage", [Codex(), OpenCode()], indirect=True, ids=["codex", "opencode"])
def test_the_steps_of_an_adopted_skill_hold_in_a_client(stage: Stage) -> None:
    client = stage.client
    adopted(stage.room, stage.skill("tidy-shed"))
    refused, told, runs = {}, [], []

    def tidying(turn: Turn) -> Going:
        block = yield from begin(client, stage.skill("tidy-shed"))
        runs.append(block.run)
        block = yield from follow(client, block, {})
        assert block.step == LOOK
        refused["skip"] = yield from printed(client, to(block, REPORT))
        refused["end"] = yield from printed(client, to(block, "done"))
        yield client.shell(f"echo gone > {stage.project / 'gone.txt'}")
        turn = yield Say("The shed is tidy.")
        told.append(turn.told)
        block = yield from follow(client, block, NAMED)
        assert block.kind == "waiting"
        refused["unapproved"] = yield from printed(client, to(block, REPORT))
        yield Say("May the broken lamp go?")

    ended = stage.play(tidying, prompt="Tidy the shed.")
    assert ended.code == 0, ended.errors
    assert {name: (block.kind, block.code) for name, block in refused.items()} == {
        "skip": ("refused", "skipped-step"),
        "end": ("refused", "skipped-step"),
        "unapproved": ("refused", "person-needed"),
    }
    assert "is not at its end: it is at the step 'Look at the shelf'" in told[0]
    assert not (stage.project / "gone.txt").exists()
    assert stage.runs() == [("tidy-shed", ASK, "waiting")]
    own, steps = [], []

    def unheard(turn: Turn) -> Going:
        block = yield from shown(stage, runs[0])
        own.append((yield from follow(client, block, {"answer": "yes"})).code)
        yield Say("Please run the command in ANSWER.")

    ended = stage.play(unheard, prompt="Yes, it may.", again=True)
    assert ended.code == 0, ended.errors
    assert own == ["person-needed"]  # a session without a person says nothing that counts
    home = {"LOCKSTEP_HOME": str(stage.project / ".lockstep"), "LOCKSTEP_STATE": ""}
    own_environment = {**common_environment(stage.room), **home}
    code, said = at_terminal("answer", runs[0], "yes", "--project", str(stage.project), env=own_environment)
    assert code == 0, said

    def approved(turn: Turn) -> Going:
        block = yield from shown(stage, runs[0])
        steps.append(block.step)
        yield from follow(client, block, {})

    ended = stage.play(approved, prompt="I have answered.", again=True)
    assert ended.code == 0, ended.errors
    assert steps == [REPORT]
    assert stage.runs() == [("tidy-shed", None, "done")]


def adopted(room: Room, folder: Path) -> None:
    """Adopt the prose skill as its author does: make the draft, accept it, and have SKILL.md begin the run."""
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(PROSE, encoding="utf-8")
    lockstep(room, "adopt", str(folder))
    code, said = at_terminal("adopt", str(folder), "--accept", keys=b"y\n")
    assert code == 0, said
    begins = '\npython3 "SKILL_DIR/scripts/tidy_shed.py" --step 1 --request tidy\n'
    (folder / "SKILL.md").write_text(PROSE + begins, encoding="utf-8")


def to(block: PrintedBlock, step: str) -> str:
    """A block's NEXT command with another step in it, and nothing reported."""
    launcher, run, turn, *_ = shlex.split(block.next.partition("<<")[0])
    return shlex.join([launcher, run, turn, step])


def shown(stage: Stage, run: str) -> Part:
    """The block at which a run stands."""
    script = stage.skill("tidy-shed") / "scripts" / "tidy_shed.py"
    command = [sys.executable, str(script), "--step", "current", "--run", run, "--project", str(stage.project)]
    return (yield from printed(stage.client, shlex.join(command)))
