"""What a hostile project or an interrupted upgrade leaves of a ledger, and what is kept of its runs."""

from __future__ import annotations

import gzip
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.compact_json import digest
from skills.lib.engine.decision import Move
from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger, contents, removal, verification
from skills.lib.testing.agent import Agent
from tests.fixtures.ledgers import build

Factory = Callable[[str], Agent]
LEDGERS = Path(build.__file__).parent
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c"
FILES = {"src/a.py": "1" * 40, "src/b\udcff.py": "2" * 40}


@pytest.fixture
def home(agent: Factory) -> Path:
    """The folder of a ledger with one run that was handed FILES, and heard of OTHERS."""
    plain = agent("plain")
    block = plain.open()
    home = plain.project / ".lockstep"
    ledger = Ledger(str(home))
    [run] = ledger.runs([block.run])
    name, other = contents.digest(FILES), contents.digest({})
    review = {"status": "FAIL", "content": name, "heard": {"content": other}, "items": [], "covers": ["src"]}
    after = run.changed(handed={"d": name}, reviews={"d": review})
    ledger.commit(run, Move(after, "moved", {}, contents={name: FILES, other: {}}), "agent")
    verification.verify(ledger)
    ledger.close()
    return home


def older(folder: Path, version: str) -> Path:
    """The folder of a ledger of an older format."""
    home = folder / ".lockstep"
    home.mkdir()
    (home / "runs.db").write_bytes(gzip.decompress((LEDGERS / version / "runs.db.gz").read_bytes()))
    return home


def change(home: Path, *statements: str) -> None:
    connection = sqlite3.connect(home / "runs.db")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_an_upgrade_that_finds_the_table_of_contents_goes_on(tmp_path: Path) -> None:
    home = older(tmp_path, "v1")
    table = "CREATE TABLE contents(digest TEXT PRIMARY KEY, data TEXT NOT NULL, sum TEXT NOT NULL) WITHOUT ROWID"
    change(home, table, f"INSERT INTO contents VALUES('{contents.digest({})}', '{{}}', '{digest('{}')}')")
    with Ledger(str(home), create=False) as ledger:
        verification.verify(ledger)
        assert ledger.contents(contents.digest({})) == {}


@pytest.mark.parametrize("edit", ["sum=''", "data='{}'", "data=replace(data, 'tea', 'pea')", "status='done'"])
def test_an_older_ledger_with_a_damaged_run_is_not_upgraded(tmp_path: Path, edit: str) -> None:
    home = older(tmp_path, "v2")
    change(
        home, f"UPDATE runs SET {edit} WHERE id=(SELECT min(id) FROM runs WHERE data LIKE '%tea%' AND status='open')"
    )
    for _ in range(2):
        with pytest.raises(LedgerError, match="is damaged: NOT NULL constraint failed"):
            Ledger(str(home), create=False)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_an_older_ledger_without_a_write_ahead_log_is_upgraded_and_gets_one(tmp_path: Path, version: str) -> None:
    home = older(tmp_path, version)
    change(home, "PRAGMA journal_mode=DELETE")
    with Ledger(str(home), create=False) as ledger:
        verification.verify(ledger)
        assert ledger.database.rows("PRAGMA journal_mode") == [("wal",)]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM events; END",
        "CREATE TABLE old_events(a)",
        "DROP INDEX events_of_run",
        f"ALTER TABLE runs RENAME TO r; CREATE VIEW runs AS SELECT * FROM ({ENDLESS})",
    ],
)
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_an_older_ledger_with_other_tables_than_its_own_is_refused_and_left_alone(
    tmp_path: Path, version: str, statement: str
) -> None:
    home = older(tmp_path, version)
    change(home, *statement.split("; CREATE ")[:1], *["CREATE " + part for part in statement.split("; CREATE ")[1:]])
    before = (home / "runs.db").read_bytes()
    with pytest.raises(LedgerError, match="its tables are not those of a ledger"):
        Ledger(str(home), create=False)
    assert (home / "runs.db").read_bytes() == before


@pytest.mark.parametrize(
    "statement, says",
    [
        ("DROP TABLE contents", "its tables are not those"),
        ("DELETE FROM contents", "has lost the files of a review of run"),
        ("UPDATE contents SET data='{}' WHERE data<>'{}'", "wrong checksum"),
        ("UPDATE contents SET sum='0'", "wrong checksum"),
        ("UPDATE contents SET digest='00' || substr(digest, 3)", "have another digest"),
    ],
)
def test_damage_to_the_files_of_a_review_is_found_when_the_ledger_is_verified(
    home: Path, statement: str, says: str
) -> None:
    change(home, statement)
    with pytest.raises(LedgerError, match=f"is damaged: .*{says}"), Ledger(str(home), create=False) as ledger:
        verification.verify(ledger)


def test_files_that_a_person_was_shown_are_kept_when_other_runs_are_deleted(home: Path) -> None:
    ledger = Ledger(str(home), create=False)
    removal.remove(ledger, [])
    assert ledger.contents(contents.digest({})) == {}
    assert ledger.contents(contents.digest(FILES)) == FILES
    ledger.close()


@pytest.mark.parametrize("name", ["runs.db", "runs.db-wal", "runs.db-shm", "runs.db-journal", "LEDGER", ".gitignore"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_ordinary_file_is_refused_with_its_remedy(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    home = tmp_path / ".lockstep"
    home.mkdir()
    make(home / name)
    with pytest.raises(LedgerError, match=f"{name} is not an ordinary file") as caught:
        Ledger(str(home))
    assert caught.value.remedy.startswith(f"remove {home / name},")
