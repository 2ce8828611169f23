"""What sessions left of a run goes with the run, and nothing else does."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from lockstep import LedgerError
from skills.lib.agent.kept.removal import forget
from skills.lib.agent.watching.activity import Activity, path_in


def conversations(home: Path) -> SqliteSaver:
    connection = sqlite3.connect(home / "agent" / "checkpoints.db")
    saver = SqliteSaver(connection)
    saver.setup()
    return saver


def left_by_sessions(home: Path, runs: tuple[str, ...]) -> None:
    with Activity(path_in(str(home))) as activity:
        for run in runs:
            activity.note(run, 1, 0, "model", {})
    saver = conversations(home)
    for run in runs:
        for table, columns in (("checkpoints", 7), ("writes", 9)):
            values = ",".join(["?"] * columns)
            saver.conn.execute(f"INSERT INTO {table} VALUES({values})", (run, "", *"123456789"[: columns - 2]))
        for name in ("todos/{}.json", "leases/{}.lock"):
            file = home / "agent" / name.format(run)
            file.parent.mkdir(exist_ok=True)
            file.write_text("")
    saver.conn.commit()
    saver.conn.close()


def kept(home: Path) -> dict[str, list[str]]:
    connection = sqlite3.connect(home / "agent" / "checkpoints.db")
    found = {
        table: [run for (run,) in connection.execute(f"SELECT thread_id FROM {table} ORDER BY 1")]
        for table in ("checkpoints", "writes")
    }
    connection.close()
    with Activity(path_in(str(home))) as activity:
        found["activity"] = [run for run in ("gone", "gone.1", "kept") if activity.count(run)]
    for name in ("todos", "leases"):
        found[name] = sorted(file.stem for file in (home / "agent" / name).iterdir())
    return found


def test_all_that_is_of_a_run_and_its_sub_agents_is_removed(tmp_path: Path) -> None:
    left_by_sessions(tmp_path, ("gone", "gone.1", "kept"))
    assert kept(tmp_path)["writes"] == ["gone", "gone.1", "kept"]
    forget(str(tmp_path), ["gone", "gone.1"])
    assert kept(tmp_path) == {name: ["kept"] for name in ("checkpoints", "writes", "activity", "todos", "leases")}


def test_a_home_without_sessions_stays_as_it_is(tmp_path: Path) -> None:
    forget(str(tmp_path), ["gone"])
    assert list(tmp_path.iterdir()) == []


def test_conversations_that_a_session_is_about_to_make_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "checkpoints.db").touch()
    forget(str(tmp_path), ["abc"])
    assert (tmp_path / "agent" / "checkpoints.db").read_bytes() == b""


def test_conversations_that_cannot_be_read_are_told_and_the_rest_is_removed(tmp_path: Path) -> None:
    left_by_sessions(tmp_path, ("gone", "kept"))
    os.truncate(tmp_path / "agent" / "checkpoints.db", 0)
    (tmp_path / "agent" / "checkpoints.db").write_bytes(b"no database" * 100)
    with pytest.raises(LedgerError, match=r"checkpoints\.db cannot be used: file is not a database"):
        forget(str(tmp_path), ["gone"])
    with Activity(path_in(str(tmp_path))) as activity:
        assert (activity.count("gone"), activity.count("kept")) == (0, 1)


def test_nothing_is_removed_through_a_link(tmp_path: Path) -> None:
    left_by_sessions(tmp_path / "elsewhere", ("gone",))
    home = tmp_path / "home"
    (home / "agent").mkdir(parents=True)
    for name in ("todos", "leases", "checkpoints.db"):
        (home / "agent" / name).symlink_to(tmp_path / "elsewhere" / "agent" / name)
    forget(str(home), ["gone"])
    assert kept(tmp_path / "elsewhere") == {
        name: ["gone"] for name in ("checkpoints", "writes", "activity", "todos", "leases")
    }
