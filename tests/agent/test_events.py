"""A follower has every event once and in order, from any cursor, while others write; what a person reads of a run."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from lockstep import LedgerError, UsageError
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.agent.watching.events import Event, follow, place_of
from skills.lib.ledger import Ledger, removal
from skills.lib.model.run import Request
from tests.fixtures.processes import ended, forked
from tests.fixtures.survey import SURVEY, Session, last_of, runner_of


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    one = Session(tmp_path / "project")
    yield one
    one.close()


def shown(events: Iterator[Event], run: str) -> str:
    lines = [f"{one.progress:3}% {one.step:6}{one.number}/{one.of} {one.kind:10} {one.text}" for one in events]
    return "\n".join(lines).replace(run, "RUN")


def test_a_summary_has_plain_words_and_counts(session: Session, snapshot: SnapshotAssertion) -> None:
    session.walk()
    assert shown(session.follow(), session.run) == snapshot
    texts = " ".join(event.text for event in session.follow())
    assert "Look around is not done yet: 2 model calls, 1 tool call (1 without success), 1 not allowed." in texts
    assert "KeyError" not in texts + str([event.data for event in session.follow()])


def test_full_has_every_thought_call_and_result(session: Session, snapshot: SnapshotAssertion) -> None:
    session.walk()
    assert shown(session.follow(level="FULL"), session.run) == snapshot
    thought = next(event for event in session.follow(level="FULL") if event.kind == "thought")
    assert thought.text == thought.data["text"] == "I look at the files first."
    assert [event for event in session.follow(level="FULL") if event.visibility == "SUMMARY"] != []


def test_progress_never_goes_back_and_is_100_only_at_the_end(session: Session) -> None:
    session.walk()
    events = list(session.follow(level="FULL"))
    progress = [event.progress for event in events]
    assert progress == sorted(progress)
    assert [event.kind for event in events if event.progress == 100] == ["finished"]
    back = next(event for event in events if "Back to step" in event.text)
    assert (back.step, back.number, back.of, back.progress) == ("look", 1, 4, 50)


def test_the_types_of_events_are_of_the_run_that_is_followed(session: Session) -> None:
    session.walk()
    events = list(session.follow())
    assert [event.kind for event in events if event.type == "status"] == ["opened"]
    assert [event.kind for event in events if event.type == "error"] == ["stopped"]
    assert [event.run for event in events if event.type == "done"] == [session.run]
    child = f"{session.run}.1"
    assert [event.type for event in follow(session.ledger, session.activity, child)] == ["status", "done"]


def test_a_replay_from_any_cursor_is_the_rest(session: Session) -> None:
    session.walk()
    for level in ("SUMMARY", "FULL"):
        events = list(session.follow(level=level))
        places = [place_of(event.cursor) for event in events]
        assert places == sorted(set(places))
        for at, event in enumerate(events):
            assert list(session.follow(event.cursor, level)) == events[at + 1 :]


def test_a_run_is_followed_with_its_sub_agents_and_no_other(session: Session, tmp_path: Path) -> None:
    other = session.runner.start(SURVEY, {}, key="other").run
    assert other is not None
    session.activity.note(other.id, 1, 2, "model", {})
    session.walk()
    runs = {event.run for event in session.follow(level="FULL")}
    assert runs == {session.run, *(f"{session.run}.{number}" for number in range(1, 5))}
    both = list(follow(session.ledger, session.activity, [session.run, other.id], level="FULL"))
    assert {event.run for event in both} == runs | {other.id}
    assert len(both) == len(list(session.follow(level="FULL"))) + 2


def test_a_cursor_stays_valid_if_other_runs_are_removed(session: Session) -> None:
    gone = session.runner.start(SURVEY, {}, key="gone").run
    assert gone is not None
    session.activity.note(gone.id, 1, 2, "model", {})
    session.report(records={"summary": "s"}, outcome="iterate")
    cursor = list(session.follow())[-1].cursor
    session.runner.abandon(gone.id, "nobody needs it")
    removal.remove(session.ledger, [gone.id])
    session.activity.remove([gone.id])
    session.note("sent-back", {"text": "t", "times": 1})
    assert [event.kind for event in session.follow(cursor)] == ["sent-back"]


CURSOR = st.from_regex(r"\A[0-9]{1,20}\.[0-9]{1,20}\Z") | st.text() | st.integers().map(str)


@given(cursor=CURSOR)
def test_a_cursor_is_two_numbers_or_is_refused(cursor: str) -> None:
    first, dot, second = cursor.partition(".")
    is_one = dot and all(part.isascii() and part.isdecimal() and len(part) < 20 for part in (first, second))
    if is_one and max(int(first), int(second)) < 2**63:
        assert place_of(cursor) == (int(first), int(second))
    else:
        with pytest.raises(UsageError, match="is no cursor"):
            place_of(cursor)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=st.lists(st.sampled_from(["move", "model", "late", "child", "look"]), max_size=25),
    cursors=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=4),
)
def test_whatever_is_written_and_read_in_turn_a_cursor_divides_the_events(
    tmp_path: Path, acts: list[str], cursors: list[tuple[int, int]]
) -> None:
    one = Session(tmp_path / os.urandom(4).hex())
    read: list[Event] = []
    for at, act in enumerate(acts):
        if act == "move":
            one.report(records={"summary": f"act {at}"}, outcome="iterate")
        elif act == "look":
            read += one.follow(read[-1].cursor if read else "0.0", "FULL")
        elif act == "late":  # noted by one that has read the ledger long ago
            one.activity.note(one.run, 1, 0, "model", {})
        elif act == "child":
            one.activity.note(f"{one.run}.1", 1, 0, "model", {})
        else:
            one.note("model", {})
    read += one.follow(read[-1].cursor if read else "0.0", "FULL")
    whole = list(one.follow(level="FULL"))
    assert read == whole
    for place in cursors:
        rest = list(one.follow(f"{place[0]}.{place[1]}", "FULL"))
        assert rest == [event for event in whole if place_of(event.cursor) > place]
    one.close()


@pytest.mark.parametrize(
    "given_, said",
    [({"after": "1"}, "'1' is no cursor"), ({"level": "ALL"}, "'ALL' is no level"), ({"runs": "nobody"}, "has no run")],
)
def test_what_cannot_be_followed_is_refused_at_once(session: Session, given_: dict[str, str], said: str) -> None:
    asked: dict[str, Any] = {"runs": session.run, **given_}
    with pytest.raises(UsageError, match=said):
        follow(session.ledger, session.activity, **asked)


def test_a_waiting_follower_gets_what_comes_and_ends_with_the_run(session: Session) -> None:
    walker = threading.Thread(target=session.walk)
    walker.start()
    events = list(session.follow(wait=True))
    walker.join(10)
    assert events[-1].kind == "finished"
    assert events == list(session.follow())


def test_damage_is_told(session: Session) -> None:
    session.walk()
    with session.ledger.database:
        session.ledger.database.execute("UPDATE events SET detail='{}' WHERE seq=3")
    with pytest.raises(LedgerError, match="event 3"):
        list(session.follow())


def write(project: Path, runs: list[str]) -> None:
    """Move runs and note for them from several threads, as sub-agents do that work at once, until told to stop."""
    runner = runner_of(project)
    activity = Activity(path_in(str(project / ".lockstep")))
    end = time.monotonic() + 60

    def work(at: int) -> None:
        chance = random.Random(at)
        while time.monotonic() < end and not (project / "stop").exists():
            run = runner.peek(runs[at]).run
            last = last_of(runner.ledger)
            for _ in range(chance.randrange(4)):  # others move meanwhile: last is of the past by then
                activity.note(run.id, run.turn, last, "model", {"at": at})
            report = Request("next", turn=run.turn, records={"summary": f"at {run.turn}"}, outcome="iterate")
            runner.advance(SURVEY, run.id, report)
            time.sleep(chance.random() / 5)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(runs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runner.close()
    activity.close()


@pytest.mark.slow
def test_a_follower_that_is_cut_200_times_loses_doubles_and_reorders_nothing(session: Session, tmp_path: Path) -> None:
    runs = [session.run]
    for number in range(3):
        run = session.runner.start(SURVEY, {}, key=str(number)).run
        assert run is not None
        runs.append(run.id)
    session.close()
    project = tmp_path / "project"
    writers = [forked(lambda half=half: write(project, half)) for half in (runs[:2], runs[2:])]  # type: ignore[misc]
    begun, chance = time.monotonic(), random.Random(12)
    had: list[Event] = []
    for _ in range(200):
        with Ledger(str(project / ".lockstep")) as ledger, Activity(path_in(str(project / ".lockstep"))) as activity:
            stream = follow(ledger, activity, runs, had[-1].cursor if had else "0.0", "FULL")
            for _ in range(chance.randrange(1, 40)):
                event = next(stream, None)
                if event is None:
                    break
                had.append(event)
        time.sleep(0.02)
    with Ledger(str(project / ".lockstep")) as ledger:  # a busy machine writes slowly
        while len(ledger.events_after(0, 100_000)) <= 200 and time.monotonic() < begun + 60:
            time.sleep(0.05)
    (project / "stop").touch()
    assert [ended(writer) for writer in writers] == [0, 0]
    with Ledger(str(project / ".lockstep")) as ledger, Activity(path_in(str(project / ".lockstep"))) as activity:
        had += follow(ledger, activity, runs, had[-1].cursor, "FULL")
        whole = list(follow(ledger, activity, runs, level="FULL"))
        noted = sum(activity.count(run) for run in runs)
        moved = len(ledger.events_after(0, 100_000))
    assert [event.cursor for event in had] == [event.cursor for event in whole]
    assert had == whole
    assert len(whole) == noted + moved
    assert noted > 200
    assert moved > 200
