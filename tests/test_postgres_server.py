"""The PostgreSQL server that tests start: unprivileged, on loopback, behind a password, and no test sees another's."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.fixtures.postgres import database_url, lacking, postgres

if TYPE_CHECKING:
    from tests.fixtures.postgres import Server

__all__ = ["database_url", "postgres"]


def query(url: str, sql: Any) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(url, connect_timeout=5) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def test_what_was_committed_is_there_after_the_server_crashed(postgres: Server, database_url: str) -> None:
    query(database_url, "CREATE TABLE t AS SELECT 7 AS a")
    postgres.stop(signal.SIGQUIT)
    postgres.start()
    assert query(database_url, "SELECT a FROM t") == [(7,)]


@pytest.mark.parametrize("name", ["first", "second"])
def test_each_test_has_an_empty_database(database_url: str, name: str) -> None:
    assert query(database_url, "SELECT count(*) FROM pg_tables WHERE schemaname='public'") == [(0,)]
    query(database_url, "CREATE TABLE t(a int)")


def test_the_server_is_no_root_and_wants_the_password(postgres: Server, database_url: str) -> None:
    import psycopg

    assert (postgres.folder / "data").stat().st_uid != 0
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        query(database_url.replace(postgres.password, "guessed"), "SELECT 1")


def test_without_its_programs_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fixtures.postgres._DEBIAN", os.devnull)
    monkeypatch.setenv("PATH", "")
    assert lacking() == "no PostgreSQL server on this machine (on Debian: apt-get install postgresql)"
