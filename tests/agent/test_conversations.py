"""Conversations that somebody else wrote: a cloned project may bring the file of the checkpoints."""

from __future__ import annotations

import os
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import ormsgpack
import pytest

from skills.lib import paths
from skills.lib.agent.agent import Agent
from skills.lib.errors import LedgerError
from tests.agent.scripted import ScriptedModel, in_turn, report
from tests.agent.sessions import agent, honest, project

EXTENSIONS = range(6)


class Payload:
    """Removes a file as it is unpickled."""

    def __init__(self, victim: str) -> None:
        self.victim = victim

    def __reduce__(self) -> Any:
        return os.remove, (self.victim,)


def begun(folder: Path) -> tuple[Agent, str, Path]:
    """A session that stopped at the first step, and the file of its conversation."""
    model = ScriptedModel(answer=in_turn(report(record={}), report(record={})))
    host = agent(project(folder, "plain"), model, max_iterations=2)
    run = host.start("plain")
    assert host.advance(run).status == "stopped"
    model.answer = honest(outcome="ok")
    return host, run, Path(paths.home(str(folder))) / "agent" / "checkpoints.db"


def planted(file: Path, value: Any) -> None:
    """Put a value into each checkpoint, and in place of each pending write."""
    with sqlite3.connect(file) as database:
        for row, checkpoint in database.execute("SELECT rowid, checkpoint FROM checkpoints").fetchall():
            state = ormsgpack.unpackb(checkpoint, ext_hook=ormsgpack.Ext, option=ormsgpack.OPT_NON_STR_KEYS)
            state["channel_values"]["planted"] = value
            database.execute("UPDATE checkpoints SET checkpoint=? WHERE rowid=?", (ormsgpack.packb(state), row))
        database.execute("UPDATE writes SET value=?", (ormsgpack.packb(value),))
    database.close()


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_no_code_of_a_planted_conversation_runs(tmp_path: Path, extension: int) -> None:
    host, run, file = begun(tmp_path / "p")
    victim = tmp_path / "victim"
    victim.touch()
    argument: Any = {1: [str(victim)], 2: {"path": str(victim)}, 4: {"path": str(victim)}, 5: {"path": str(victim)}}
    call = ("os", "remove", argument.get(extension, str(victim)), "__call__")
    planted(file, ormsgpack.Ext(extension, ormsgpack.packb(call)))
    assert host.advance(run).status == "done"
    assert victim.exists()


@pytest.mark.parametrize("kind", ["pickle", "json", "bytes", "nonsense"])
def test_a_conversation_of_another_form_is_told_with_what_to_do(tmp_path: Path, kind: str) -> None:
    host, run, file = begun(tmp_path / "p")
    victim = tmp_path / "victim"
    victim.touch()
    values = {"pickle": pickle.dumps(Payload(str(victim))), "json": b'{"lc": 2, "type": "constructor", "id": ["os"]}'}
    with sqlite3.connect(file) as database:
        database.execute("UPDATE checkpoints SET type=?, checkpoint=?", (kind, values.get(kind, b"\0\1")))
    database.close()
    with pytest.raises(LedgerError, match=r"checkpoints\.db cannot be used") as raised:
        host.advance(run)
    assert "move it away" in raised.value.remedy
    assert victim.exists()
    file.unlink()
    assert host.advance(run).status == "done"


def test_a_conversation_of_something_else_than_messages_is_told(tmp_path: Path) -> None:
    host, run, file = begun(tmp_path / "p")
    with sqlite3.connect(file) as database:
        [(checkpoint,)] = database.execute("SELECT checkpoint FROM checkpoints ORDER BY rowid DESC LIMIT 1")
        state = ormsgpack.unpackb(checkpoint, ext_hook=ormsgpack.Ext, option=ormsgpack.OPT_NON_STR_KEYS)
        state["channel_values"]["messages"] = ["no message"]
        database.execute("UPDATE checkpoints SET checkpoint=?", (ormsgpack.packb(state),))
    database.close()
    with pytest.raises(LedgerError, match="something else than messages"):
        host.advance(run)


def test_conversations_with_a_trigger_are_refused(tmp_path: Path) -> None:
    host, run, file = begun(tmp_path / "p")
    with sqlite3.connect(file) as database:
        database.execute("CREATE TRIGGER eat AFTER INSERT ON checkpoints BEGIN DELETE FROM writes; END")
    database.close()
    with pytest.raises(LedgerError, match="trigger or view 'eat'"):
        host.advance(run)


@pytest.mark.skipif(os.name == "nt", reason="needs the right to make links")
@pytest.mark.parametrize("name", ["checkpoints.db", "checkpoints.db-wal", "checkpoints.db-journal", "activity.db"])
def test_nothing_is_written_through_a_planted_link(tmp_path: Path, name: str) -> None:
    host, run, file = begun(tmp_path / "p")
    victim = tmp_path / "victim"
    victim.write_text("as it was", encoding="utf-8")
    link = file.with_name(name)
    link.unlink(missing_ok=True)
    link.symlink_to(victim)
    with pytest.raises(LedgerError, match="is not an ordinary file"):
        host.advance(run)
    assert victim.read_text(encoding="utf-8") == "as it was"


def test_a_disk_that_is_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver

    host, run, _ = begun(tmp_path / "p")

    def full(*given: Any, **named: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as changed:
        changed.setattr(SqliteSaver, "put", full)
        with pytest.raises(LedgerError, match="disk is full") as raised:
            host.advance(run)
    assert "make room on its disk" in raised.value.remedy
    assert host.advance(run).status == "done"
