"""The activities of a run outlive the process, keep their order and their ids, and are their owner's alone."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep import LedgerError, UsageError
from skills.lib.agent.watching.activity import Activity, path_in
from tests.fixtures.processes import ended, forked, race

# A process that notes without end, and prints the id of each note once it is committed.
WRITER = """
import sys
from skills.lib.agent.watching.activity import Activity
activity = Activity(sys.argv[1])
while True:
    print(activity.note("one", 1, 0, "thought", {"text": "t" * 3000}), flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return path_in(str(tmp_path / ".lockstep"))


def test_what_was_noted_is_read_in_order_by_turn_kind_and_id(path: str) -> None:
    with Activity(path) as activity:
        first = activity.note("one", 1, 3, "model", {"step": "read", "entry": 1})
        activity.note("two", 1, 3, "model", {})
        activity.note("one", 1, 3, "call", {"tool": "read", "arguments": {"z": 1, "a": "\ud800 ü"}})
        last = activity.note("one", 2, 5, "model", {}, "summary")
    with Activity(path) as activity:
        rows = activity.rows("one")
        assert [(row.turn, row.after, row.kind, row.visibility) for row in rows] == [
            (1, 3, "model", "full"),
            (1, 3, "call", "full"),
            (2, 5, "model", "summary"),
        ]
        assert list(rows[1].data["arguments"].items()) == [("z", 1), ("a", "\ud800 ü")]
        assert [row.id for row in activity.rows("one", kind="model")] == [first, last]
        assert [row.id for row in activity.rows("one", turn=2)] == [last]
        assert [row.kind for row in activity.rows("one", after=first)] == ["call", "model"]
        assert activity.count("one", turn=1, kind="model") == 1
        assert activity.count("one", kind="model") == 2
        assert activity.count("one", kind="model", until=first) == 1
        assert activity.count("nobody") == 0
        assert abs(rows[0].at - time.time()) < 60


def test_a_row_never_comes_before_one_that_was_written_or_an_event_that_was_given_to_a_reader(path: str) -> None:
    with Activity(path) as activity:
        activity.note("one", 1, 7, "model", {})
        activity.note("one", 1, 5, "model", {})
        activity.settled(["one"], (0, 0), 9, 10)
        activity.note("one", 1, 8, "model", {})
        assert [row.after for row in activity.rows("one")] == [7, 7, 9]


def test_rows_up_to_an_event_are_of_the_runs_and_their_sub_agents(path: str) -> None:
    with Activity(path) as activity:
        for run, after in (("one", 1), ("one.1", 1), ("onea", 2), ("one.1.2", 2), ("two", 3), ("one", 4)):
            activity.note(run, 1, after, "model", {})
        assert [row.run for row in activity.settled(["one"], (0, 0), 3, 10)] == ["one", "one.1", "one.1.2"]
        assert [row.run for row in activity.settled(["one"], (1, 1), 4, 10)] == ["one.1", "one.1.2", "one"]
        assert [row.run for row in activity.settled(["one", "two"], (2, 4), 4, 1)] == ["two"]
        assert activity.settled([], (0, 0), 9, 10) == []


def test_the_ids_of_a_removed_run_are_never_given_again(path: str) -> None:
    with Activity(path) as activity:
        activity.note("kept", 1, 1, "model", {})
        gone = [activity.note(run, 1, 1, "model", {}) for run in ("gone", "gone.1", "goner")]
        activity.remove(["gone", "goner"])
        assert [activity.rows(run) for run in ("gone", "gone.1", "goner")] == [[], [], []]
    with Activity(path) as activity:
        assert activity.note("new", 1, 1, "model", {}) == gone[-1] + 1
        assert activity.count("kept") == 1


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_only_the_owner_can_read_the_file(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    old = os.umask(0)
    try:
        activity = Activity(path)
        activity.note("one", 1, 0, "model", {})
        folder = Path(path).parent
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
        assert modes == {"activity.db": 0o600, "activity.db-wal": 0o600, "activity.db-shm": 0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        activity.close()
        os.chmod(path, 0o644)
        Activity(path).close()
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert "from now on its owner alone can" in capsys.readouterr().err
    finally:
        os.umask(old)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.dictionaries(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5)),
)
def test_any_json_comes_back_as_it_was(tmp_path: Path, data: dict[str, object]) -> None:
    with Activity(str(tmp_path / "any" / "activity.db")) as activity:
        number = activity.note("one", 1, 0, "result", data)
        [row] = activity.rows("one", after=number - 1)
        assert row.data == data
        assert list(row.data) == list(data)


@pytest.mark.parametrize("data", [{"a": {1, 2}}, {"a": float("nan")}])
def test_what_json_cannot_hold_is_refused_and_nothing_is_written(path: str, data: dict[str, object]) -> None:
    with Activity(path) as activity:
        with pytest.raises(UsageError, match="'result' cannot be kept"):
            activity.note("one", 1, 0, "result", data)
        with pytest.raises(UsageError, match="after is -1"):
            activity.note("one", 1, -1, "result", {})
        with pytest.raises(UsageError, match="turn is True"):
            activity.note("one", True, 0, "result", {})
        assert activity.rows("one") == []


@pytest.mark.slow
def test_what_was_noted_outlives_kill_9_at_any_moment(path: str) -> None:
    chance = random.Random(12)
    said: list[int] = []
    for _ in range(20):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        said.append(int(writer.stdout.readline()))
        time.sleep(chance.random() / 20)
        writer.send_signal(signal.SIGKILL)
        said += [int(line) for line in writer.stdout.read().splitlines()]
        writer.stdout.close()
        assert writer.wait(10) == -signal.SIGKILL
    with Activity(path) as activity:
        kept = [row.id for row in activity.rows("one")]
    assert kept == sorted(set(kept))
    assert said == sorted(set(said))
    assert set(said) <= set(kept)
    assert len(kept) - len(said) <= 20  # at most one a kill was committed and not said


def killed_before(count: int, path: str) -> int:
    """Note twice in a process that is killed before its ``count``-th statement; its end."""

    def work() -> None:
        real, left = Activity.execute, [count]

        def watched(self: Activity, sql: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(self, sql, values)

        Activity.execute = watched  # type: ignore[method-assign,assignment]
        activity = Activity(path)
        activity.note("one", 1, 4, "call", {"key": "1.0"})
        activity.note("one", 1, 4, "result", {"key": "1.0"})

    return ended(forked(work))


def test_killed_before_any_statement_the_file_is_whole_and_a_call_stands_before_its_result(tmp_path: Path) -> None:
    kept = []
    for count in range(1, 60):
        path = str(tmp_path / str(count) / "activity.db")
        end = killed_before(count, path)
        with Activity(path) as activity:
            kinds = [row.kind for row in activity.rows("one")]
            assert kinds in ([], ["call"], ["call", "result"])
            activity.note("one", 1, 4, "model", {})
        kept.append(kinds)
        if end == 0:
            break
    assert end == 0
    assert [kinds for at, kinds in enumerate(kept) if at == 0 or kept[at - 1] != kinds] == [
        [],
        ["call"],
        ["call", "result"],
    ]


def test_two_processes_note_at_once_and_nothing_is_lost(path: str) -> None:
    def work(at: int) -> None:
        with Activity(path) as activity:
            for number in range(100):
                activity.note(f"run{at}", 1, number, "model", {"number": number})

    assert race(4, work) == [0, 0, 0, 0]
    with Activity(path) as activity:
        for at in range(4):
            assert [row.data["number"] for row in activity.rows(f"run{at}")] == list(range(100))
        together = activity.settled([f"run{at}" for at in range(4)], (0, 0), 99, 1000)
        assert [(row.after, row.id) for row in together] == sorted((row.after, row.id) for row in together)
        assert [row.id for row in together] == list(range(1, 401))


def use(path: str) -> None:
    with Activity(path) as activity:
        activity.rows("one")
        activity.rows("other")
        activity.note("one", 1, 0, "model", {})


def edited(path: str, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "edit, said",
    [
        ('UPDATE activity SET data=\'{"key":"1.1"}\' WHERE id=2', "row 2 has a wrong checksum or field"),
        ("UPDATE activity SET run='other' WHERE id=2", "row 2 has a wrong checksum or field"),
        ("DELETE FROM reached", "does not say which event it has reached"),
        ("CREATE TRIGGER t AFTER INSERT ON activity BEGIN DELETE FROM activity; END", "its tables are others"),
        ("DROP TABLE reached", "its tables are others"),
        ("PRAGMA application_id=1", "its tables are others"),
        ("PRAGMA user_version=2", "were written by a newer Lockstep"),
    ],
)
def test_a_changed_file_is_told(path: str, edit: str, said: str) -> None:
    with Activity(path) as activity:
        activity.note("one", 1, 0, "model", {})
        activity.note("one", 1, 0, "call", {"key": "1.0"})
    edited(path, edit)
    with pytest.raises(LedgerError) as told:
        use(path)
    assert said in str(told.value)
    assert path in str(told.value)
    assert told.value.remedy


@pytest.mark.parametrize("content", [b"", b"no database", b"no database\n" * 1000])
def test_a_file_that_is_no_database_is_told_with_what_to_do_and_is_left_as_it_is(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(content)
    if not content:  # as a killed process leaves it
        Activity(path).close()
        return
    with pytest.raises(LedgerError, match="are damaged: file is not a database") as told:
        Activity(path)
    assert f"move {path} aside and run the same command again" in told.value.remedy
    assert Path(path).read_bytes() == content


@pytest.mark.slow
def test_damage_at_any_place_is_told_or_shows_what_was_once_written(tmp_path: Path, path: str) -> None:
    with Activity(path) as activity:
        for number in range(200):
            activity.note("one", 1, number, "thought", {"text": f"{number} " * 20})
        written = [row.fields() for row in activity.rows("one")]
    content = Path(path).read_bytes()
    chance, told = random.Random(12), []
    damaged = str(tmp_path / "damaged" / "activity.db")
    os.makedirs(os.path.dirname(damaged))
    for _ in range(300):
        changed = bytearray(content)
        at = chance.randrange(len(content))
        changed[at] ^= 1 << chance.randrange(8)
        Path(damaged).write_bytes(changed)
        try:
            with Activity(damaged) as activity:
                found = [row.fields() for row in activity.rows("one")]
                activity.note("one", 1, 0, "model", {})
        except LedgerError as error:
            told.append(str(error))
        else:
            assert all(row in written for row in found)
    assert len(told) > 100
    assert all(damaged in text for text in told)


@pytest.mark.parametrize("name", ["activity.db", "activity.db-wal"])
def test_a_link_in_the_place_of_the_file_is_refused(path: str, tmp_path: Path, name: str) -> None:
    Activity(path).close()
    link = Path(path).with_name(name)
    link.unlink(missing_ok=True)
    (tmp_path / "elsewhere").write_text("mine")
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="is not an ordinary file"):
        Activity(path)
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_after_close_a_call_says_so(path: str) -> None:
    activity = Activity(path)
    activity.close()
    activity.close()
    with pytest.raises(LedgerError, match="were closed meanwhile"):
        activity.note("one", 1, 0, "model", {})


def test_threads_share_one_connection(path: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with Activity(path) as activity, ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda at: activity.note("one", 1, at, "model", {}), range(200)))
        assert sorted(ids) == list(range(1, 201))
        assert activity.count("one") == 200
