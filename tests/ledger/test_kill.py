"""Killed at any moment, a call has happened or has not; the same command then goes on."""

from __future__ import annotations

import random
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from tests.extent import extent
from tests.fixtures.deviations import recorded_state
from tests.fixtures.kinds import Kind
from tests.fixtures.processes import KILLED, killed_at

pytestmark = pytest.mark.slow

PYTHON = shlex.quote(sys.executable)

Factory = Callable[[str], Agent]
MOST = 120  # writes in one call


def opening(agent: Agent) -> str:
    return f"{PYTHON} {agent.script} --step 1 --topic why --project {agent.project}"


def moving(agent: Agent) -> str:
    return filled(agent.open(topic="why").next, {"summary": "s"})


def refusing(agent: Agent) -> str:
    return filled(agent.open(topic="why").next, {"summary": "FILL_summary"})


def finishing(agent: Agent) -> str:
    asked = agent.follow(agent.follow(agent.follow(agent.open(topic="why"), summary="s"), mode="quick"), outcome="skip")
    return filled(agent.follow(asked, answer="yes").next, {"report": "r"})


def dispatching(agent: Agent) -> str:
    return filled(agent.open().next, {"targets": ["a", "b"]})


def child_beginning(agent: Agent) -> str:
    return agent.run_command(dispatching(agent)).children[0].command


def child_ending(agent: Agent) -> str:
    return filled(agent.run_command(child_beginning(agent)).next, {"result": "found"})


def walking_through_a_gate(agent: Agent) -> str:
    agent.write("out.txt", "one\n")
    review = agent.follow(agent.open())
    return agent.finish(review.children[0].command).next


def losing(agent: Agent) -> str:
    block = agent.run_command(dispatching(agent))
    return filled(block.words("DISPATCH/lost"), {"child": block.children[0].id, "reason": "gone"})


def replacing(agent: Agent) -> str:
    block = agent.run_command(dispatching(agent))
    return filled(block.words("DISPATCH/replace"), {"child": block.children[0].id})


def stable(state: dict[str, Any]) -> dict[str, Any]:
    """What stands, without the time of day, and without the ids of runs that were opened anew."""
    names = {run: f"run {at}" for at, run in enumerate(sorted(state["runs"], key=lambda run: (run.count("."), run)))}
    text = repr([state["runs"], [{**event, "at": 0} for event in state["events"]]])
    for run in sorted(names, key=len, reverse=True):
        text = text.replace(run, names[run])
    return {"runs": len(names), "text": text}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "name, prepare",
    [
        ("tour", opening),
        ("tour", moving),
        ("tour", refusing),
        ("tour", finishing),
        ("brood", dispatching),
        ("brood", child_beginning),
        ("brood", child_ending),
        ("walked", walking_through_a_gate),
        ("brood", losing),
        ("brood", replacing),
    ],
)
def test_killed_at_every_write(
    agent: Factory, kind: Kind, tmp_path: Path, name: str, prepare: Callable[[Agent], str], after: bool
) -> None:
    walker = agent(name)
    command = prepare(walker)
    home, kept = walker.project / ".lockstep", tmp_path / "kept"
    kind.keep(home, kept)
    old = stable(recorded_state(walker)) if kind.has_ledger(home) else {"runs": 0, "text": "[{}, []]"}
    expected = walker.run_command(command)
    new = stable(recorded_state(walker))
    for count in range(1, MOST, extent(3, 1)):
        kind.restore(home, kept)
        end = killed_at(count, lambda: walker.run_command(command), after=after, database=kind.database)
        if end != KILLED:
            assert end == 0
            assert count > (1 if kind.is_shared else 5)  # a refusal is one row
            return
        if kind.has_ledger(home):
            assert stable(recorded_state(walker)) in (old, new)
        again = walker.run_command(command)
        assert (again.exit_code, again.kind, again.step) == (expected.exit_code, expected.kind, expected.step)
        if prepare is not opening:
            assert again.text == expected.text
        assert stable(recorded_state(walker)) == new
    raise AssertionError("the call never came to its end")


def test_killed_at_random_from_outside(agent: Factory, kind: Kind) -> None:
    """Many real processes, each killed at a moment of its own; the same command then goes on."""
    number, longest = (60, 0.3) if kind.is_shared else (200, 0.06)
    tour = agent("tour")
    chance = random.Random(20)
    block = tour.open(topic="why it is slow")
    values = {"begin": {"summary": "s"}, "plan": {"mode": "quick"}, "choose": {"outcome": "fail"}}
    killed = late = 0
    for at in range(1, number + 1):
        command = filled(block.next, values[block.step])
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(chance.uniform(0.0, longest))
        process.kill()
        killed += process.wait() == KILLED
        turn = tour.state(block.run).turn
        assert turn in (at, at + 1)
        late += turn == at + 1
        block = tour.run_command(command)
        assert (block.exit_code, block.turn) == (0, at + 1), block.text + block.errors
    assert killed >= number // 10
    now = recorded_state(tour)
    assert [event["turn"] for event in now["events"]] == [1, *range(2, number + 2)]
    assert len(now["runs"]) == 1


def test_a_ledger_that_was_only_half_made_is_made(agent: Factory) -> None:
    tour = agent("tour")
    home = tour.project / ".lockstep"
    (home / "runs.db").touch()
    assert tour.open(topic="why").exit_code == 0
    assert (home / "LEDGER").is_file()


def test_a_held_lock_is_waited_for_and_then_reported(agent: Factory, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    from skills.lib.ledger import database

    tour = agent("tour")
    begun: PrintedBlock = tour.open(topic="why")
    monkeypatch.setattr(database, "LOCK_TIMEOUT", 0.2)
    holder = sqlite3.connect(tour.project / ".lockstep" / "runs.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    block = tour.follow(begun, summary="s")
    assert (block.exit_code, block.text) == (4, "")
    assert "has been locked by another process" in block.errors
    assert "run the same command again" in block.errors
    holder.execute("ROLLBACK")
    assert tour.follow(begun, summary="s").step == "plan"
    holder.close()
