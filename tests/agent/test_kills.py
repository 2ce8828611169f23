"""A killed session loses nothing and does nothing twice: the same call goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skills.lib import paths
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.ledger import Ledger
from tests.agent.planning import plan_runs
from tests.agent.prose.skills import prose
from tests.agent.sessions import project
from tests.extent import extent

ROOT = Path(__file__).resolve().parents[2]
KILLED = -signal.SIGKILL
Moves = Counter[tuple[str, int, str]]
# What an undisturbed run of each skill has: its events by the sub-agent's number, the turn and the kind.
EACH = ("created", "opened", "finished")
PLAIN: Moves = Counter({("", 1, "opened"): 1, ("", 2, "moved"): 1, ("", 3, "finished"): 1})
BROOD: Moves = Counter(
    {
        ("", 1, "opened"): 1,
        ("", 6, "finished"): 1,
        **{("", turn, "moved"): 1 for turn in range(2, 6)},
        **{(f".{number}", 0, "created"): 1 for number in range(1, 7)},
        **{(f".{number}", 1, "opened"): 1 for number in range(1, 7)},
        **{(f".{number}", 2, "finished"): 1 for number in (1, 2, 5, 6)},
        **{(f".{number}", 2, "moved"): 1 for number in (3, 4)},
        **{(f".{number}", 3, "finished"): 1 for number in (3, 4)},
    }
)
# A review loop with two reviewers.
GATED: Moves = Counter(
    {
        ("", 1, "opened"): 1,
        ("", 5, "finished"): 1,
        **{("", turn, "moved"): 1 for turn in (2, 3, 4)},
        **{(f".{number}", turn, kind): 1 for number in (1, 2) for turn, kind in enumerate(EACH)},
    }
)
# A skill without a graph, and one that a sub-agent does.
PROSE = PLAIN
FORK: Moves = Counter(
    {
        ("", 1, "opened"): 1,
        ("", 2, "finished"): 1,
        (".1", 0, "created"): 1,
        (".1", 1, "opened"): 1,
        (".1", 2, "moved"): 1,
        (".1", 3, "finished"): 1,
    }
)
# The planner and the execution of its plan, in the order in which they began.
PLANNED: Moves = Counter(
    {
        ("0", 1, "opened"): 1,
        ("0", 2, "moved"): 1,
        ("0", 3, "finished"): 1,
        ("1", 1, "opened"): 1,
        ("1", 5, "finished"): 1,
        **{("1", turn, "moved"): 1 for turn in (2, 3, 4)},
    }
)
LINES = {"plain": 2, "brood": 13, "gated": 6, "prose": 1, "fork": 1}


class Killer:
    """The program that kills sessions."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.agent.killing"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, **request: Any) -> list[int]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return list(json.loads(self.process.stdout.readline())["codes"])


@pytest.fixture
def killer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Killer]:
    monkeypatch.delenv("LOCKSTEP_HOME")  # each project has a ledger of its own
    monkeypatch.setenv("LOCKSTEP_DATA", str(tmp_path / "data"))
    found = Killer()
    yield found
    found.process.communicate(timeout=30)


def made(folder: Path, skill: str) -> Path:
    """A project with that skill."""
    if skill == "prose":
        return prose(folder, skill)
    if skill == "fork":
        return prose(folder, skill, head="context: fork\n")
    return project(folder, skill)


def check(folder: Path, skill: str, expected: Moves, kills: int) -> None:
    """Nothing was lost, doubled or done twice, and only what was in flight was asked again."""
    with Ledger(paths.home(str(folder)), create=False) as ledger:
        events = ledger.events_after(0, 10_000)
        root = min((event.run for event in events), key=len)
        moves = Counter((event.run.removeprefix(root), event.turn, event.kind) for event in events)
        runs = [ledger.run(run) for run in {event.run for event in events}]
    assert moves == expected
    assert {run.status for run in runs if run} == {"done"}
    lines = folder / "lines.txt"  # the only line of a run may be one that was in flight
    written = lines.read_text().splitlines() if lines.exists() else []
    assert not [line for line, times in Counter(written).items() if times > 1]
    assert LINES[skill] - kills <= len(written) <= LINES[skill]
    with Activity(path_in(paths.home(str(folder)))) as activity:
        names = [root, *(run.id for run in runs if run and run.id != root)]
        asked = sum(activity.count(name, kind="model") for name in names)
        answered = sum(activity.count(name, kind="usage") for name in names)
        # A sub-agent's call may be in flight beside its parent's, or another sub-agent's.
        assert answered <= asked <= answered + 2 * kills
        begun = [row.data["key"] for name in names for row in activity.rows(name, kind="call")]
        assert len(begun) >= LINES[skill]


def check_plan(folder: Path, kills: int) -> None:
    """The planner's run and the one that executes the plan are done; each went on once at each turn."""
    with Ledger(paths.home(str(folder)), create=False) as ledger:
        events = ledger.events_after(0, 10_000)
        runs = list(dict.fromkeys(event.run for event in events))
        moves = Counter((str(runs.index(event.run)), event.turn, event.kind) for event in events)
        found = [ledger.run(run) for run in runs]
    assert moves == PLANNED
    assert [run.status for run in found if run] == ["done", "done"]
    summary = folder / "SUMMARY.md"
    assert not summary.exists() or summary.read_text(encoding="utf-8") == f"{plan_runs.LINE}\n"
    assert summary.exists() or kills


def swept(killer: Killer, folder: Path, skill: str, expected: Moves, points: range) -> int:
    """Kill at each of these writes; how many there were."""
    met = 0
    for point in points:
        for after in (False, True):
            place = folder / f"{skill}-{point}-{after}"
            place = plan_runs.project(place) if skill == "planned" else made(place, skill)
            codes = killer(project=str(place), skill=skill, point=point, after=after)
            assert codes in ([KILLED, 0], [0]), (point, after)
            if skill == "planned":
                check_plan(place, kills=len(codes) - 1)
            else:
                check(place, skill, expected, kills=len(codes) - 1)
            if codes == [0]:
                return met
        met += 1
    return met


def test_a_session_that_is_killed_at_a_write_goes_on(killer: Killer, tmp_path: Path) -> None:
    assert swept(killer, tmp_path, "plain", PLAIN, range(3, 30, 7)) > 1


@pytest.mark.slow
def test_a_session_that_is_killed_before_or_after_any_write_goes_on(killer: Killer, tmp_path: Path) -> None:
    every = extent(4, 1)
    assert swept(killer, tmp_path, "plain", PLAIN, range(1, 1000, every)) > 20 // every


@pytest.mark.slow
def test_a_skill_without_a_graph_that_is_killed_before_or_after_any_write_goes_on(
    killer: Killer, tmp_path: Path
) -> None:
    every = extent(4, 1)
    assert swept(killer, tmp_path, "prose", PROSE, range(1, 1000, every)) > 20 // every


@pytest.mark.slow
def test_a_plan_that_is_killed_before_or_after_any_write_goes_on(killer: Killer, tmp_path: Path) -> None:
    every = extent(12, 1)
    assert swept(killer, tmp_path, "planned", PLANNED, range(1, 1000, every)) > 50 // every


@pytest.mark.slow
def test_sub_agents_that_are_killed_at_a_write_go_on(killer: Killer, tmp_path: Path) -> None:
    """Sub-agents work side by side, so a number means another write each time: a sample stands for all."""
    every = extent(27, 9)
    assert swept(killer, tmp_path, "brood", BROOD, range(1, 1000, every)) > 60 // every


@pytest.mark.slow
@pytest.mark.parametrize(
    "skill, expected", [("plain", PLAIN), ("brood", BROOD), ("gated", GATED), ("prose", PROSE), ("fork", FORK)]
)
def test_kills_at_any_moment_lose_and_double_nothing(
    killer: Killer, tmp_path: Path, skill: str, expected: Moves
) -> None:
    kills = 0
    for seed in range(extent(3, 25)):
        place = made(tmp_path / f"p{seed}", skill)
        (place / "out.txt").write_text("what is reviewed\n", encoding="utf-8")
        codes = killer(project=str(place), skill=skill, kills=6, seed=seed, longest=0.6)
        assert codes[-1] == 0
        assert set(codes) <= {0, KILLED}
        check(place, skill, expected, kills=codes.count(KILLED))
        kills += codes.count(KILLED)
    print(f"{kills} SIGKILLs over {seed + 1} runs of {skill}")  # pytest -rP shows it: docs/benchmarks.md quotes it
    assert kills > 0


@pytest.mark.slow
def test_kills_at_any_moment_of_a_plan_lose_and_double_nothing(killer: Killer, tmp_path: Path) -> None:
    kills = 0
    for seed in range(extent(3, 25)):
        place = plan_runs.project(tmp_path / f"p{seed}")
        codes = killer(project=str(place), skill="planned", kills=6, seed=seed, longest=0.8)
        assert codes[-1] == 0
        assert set(codes) <= {0, KILLED}
        check_plan(place, codes.count(KILLED))
        kills += codes.count(KILLED)
    print(f"{kills} SIGKILLs over {seed + 1} plans")
    assert kills > 0
