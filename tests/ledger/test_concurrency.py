"""Many processes on one ledger: nothing is lost, and of those that race for one transition exactly one wins."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import filled
from skills.lib.testing.follower import InProcess
from tests.fixtures.deviations import recorded_state
from tests.fixtures.kinds import Kind
from tests.fixtures.processes import race

pytestmark = pytest.mark.slow

Factory = Callable[[str], Agent]
PROCESSES = 8
TRANSITIONS = 150


def walk(agent: Agent, topic: str, transitions: int) -> int:
    """Go round the tour's first loop until so many transitions are taken."""
    block = agent.open(topic=topic)
    values = {"begin": {"summary": topic}, "plan": {"mode": "quick"}, "choose": {"outcome": "fail"}}
    for _ in range(transitions):
        assert block.exit_code == 0, block.text + block.errors
        block = agent.follow(block, **values[block.step])
    return 0


def test_eight_processes_on_one_ledger_lose_nothing(agent: Factory, kind: Kind) -> None:
    tour = agent("tour")
    assert race(PROCESSES, lambda at: walk(tour, f"question {at}", TRANSITIONS)) == [0] * PROCESSES
    now = recorded_state(tour)
    assert len(now["runs"]) == PROCESSES
    assert sorted(run["turn"] for run in now["runs"].values()) == [TRANSITIONS + 1] * PROCESSES
    assert [event["seq"] for event in now["events"]] == list(range(1, PROCESSES * (TRANSITIONS + 1) + 1))
    for run in now["runs"]:
        turns = [event["change"]["turn"] for event in now["events"] if event["run"] == run]
        assert turns == list(range(1, TRANSITIONS + 2))


def test_of_eight_that_race_for_one_transition_one_wins(agent: Factory, kind: Kind) -> None:
    tour = agent("tour")
    for number in range(12):
        begun = tour.open(topic=f"question {number}")

        def report(at: int, next_command: str = begun.next) -> int:
            block = tour.run_command(filled(next_command, {"summary": f"report {at}"}))
            assert (block.exit_code, block.code) in ((0, ""), (3, "wrong-turn")), block.errors
            return block.exit_code

        ends = race(PROCESSES, report)
        assert sorted(ends) == [0] + [3] * (PROCESSES - 1)
        run = tour.state(begun.run)
        assert run.turn == 2
        assert run.state["begin"] == {"summary": f"report {ends.index(0)}"}
        refused = [event for event in tour.events(begun.run) if event.kind == "refused"]
        assert len(refused) == PROCESSES - 1
    recorded_state(tour)


def test_children_that_end_at_the_same_moment_are_each_counted(agent: Factory, kind: Kind) -> None:
    brood = agent("brood")
    block = brood.follow(brood.open(), targets=["a", "b", "c", "d"])
    tasks = [brood.run_command(child.command) for child in block.children]
    ends = race(4, lambda at: brood.follow(tasks[at], result=f"found {at}").exit_code)
    assert ends == [0] * 4
    scan = brood.run_command(block.next)
    assert scan.step == "scan"
    assert [f"result: found {at}" in scan.context["explore.results"] for at in range(4)] == [True] * 4


def test_giving_up_and_returning_race_and_one_of_them_counts(agent: Factory, kind: Kind) -> None:
    brood = agent("brood")
    for number in range(8):
        block = brood.follow(brood.open("--new"), targets=[f"a{number}"])
        child = block.children[0]
        task = brood.run_command(child.command)

        def both(at: int, task: object = task, block: object = block, child: object = child) -> int:
            if at:
                return brood.lose(block, child.id).exit_code  # type: ignore[attr-defined, arg-type]
            return brood.follow(task, result="found").exit_code  # type: ignore[arg-type]

        assert sorted(race(2, both)) == [0, 3]
        assert brood.state(child.id).status in ("done", "lost")
    recorded_state(brood)


def test_the_log_of_writes_stays_small(agent: Factory) -> None:
    """Each process leaves without closing, as the step command does, until the log has grown enough to be folded in."""
    tour = agent("tour")
    tour.call = InProcess(leaves=True)
    log = tour.project / ".lockstep" / "runs.db-wal"
    sizes = []
    for number in range(60):
        assert race(1, lambda at, number=number: tour.open(topic=f"question {number}").exit_code) == [0]  # type: ignore[misc]
        sizes.append(log.stat().st_size if log.exists() else 0)
    assert 100_000 < max(sizes) < 400_000
    assert 0 in sizes
    assert len(recorded_state(tour)["runs"]) == 60
