"""What a hostile project or an interrupted upgrade leaves of a ledger, and what is kept of its runs."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.engine.decision import Move
from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger, contents
from skills.lib.testing.agent import Agent

Factory = Callable[[str], Agent]
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
    ledger.verify()
    ledger.close()
    return home


def change(home: Path, *statements: str) -> None:
    connection = sqlite3.connect(home / "runs.db")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_an_upgrade_that_finds_the_table_of_contents_goes_on(home: Path) -> None:
    change(home, "PRAGMA user_version=1")
    ledger = Ledger(str(home), create=False)
    ledger.verify()
    assert ledger.contents(contents.digest(FILES)) == FILES
    ledger.close()


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
        ledger.verify()


def test_files_that_a_person_was_shown_are_kept_when_other_runs_are_deleted(home: Path) -> None:
    ledger = Ledger(str(home), create=False)
    ledger.delete([])
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
