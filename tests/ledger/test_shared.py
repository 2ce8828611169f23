"""A ledger on PostgreSQL: whose it is, and what is said if it cannot be used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lockstep import Ledger, LedgerError, Run
from skills.lib.engine.decision import Move
from skills.lib.errors import EnvironmentProblem
from skills.lib.ledger import database as sqlite
from skills.lib.ledger import verification
from skills.lib.testing.follower import Shell
from tests.fixtures.agents import git
from tests.fixtures.kinds import PROJECT, URL, Kind
from tests.fixtures.processes import ended, forked
from tests.fixtures.skill import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills.lib.testing.agent import Agent
    from tests.fixtures.postgres import Server

    Factory = Callable[[str], Agent]


pytestmark = pytest.mark.req("X-04", "X-04.2")


@pytest.fixture
def shared(database_url: str, closed_connections: None, monkeypatch: pytest.MonkeyPatch) -> Kind:
    """A ledger on PostgreSQL, by the environment."""
    monkeypatch.setenv(URL, database_url)
    monkeypatch.setenv(PROJECT, "shop")
    return Kind("postgres")


def opened(ledger: Ledger, name: str) -> Run:
    run = Run(id=name, workflow="w", fingerprint="f", project="/p", step="a")
    return ledger.commit(None, Move(run, "opened", {}), "agent", {"name": "w"})


def test_the_format_is_that_of_a_ledger_in_a_file(shared: Kind) -> None:
    from skills.lib.ledger.postgres import tables

    assert tables.FORMAT == sqlite.VERSION


def test_each_project_has_a_ledger_of_its_own_wherever_its_folder_is(
    shared: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger(str(tmp_path / "one" / ".lockstep")) as ledger:
        opened(ledger, "first")
    with Ledger(str(tmp_path / "two" / ".lockstep"), create=False) as ledger:
        assert [run.id for run in ledger.every_run()] == ["first"]
    monkeypatch.setenv(PROJECT, "another shop")
    assert Ledger.existing(str(tmp_path / "one" / ".lockstep")) is None
    with Ledger(str(tmp_path / "one" / ".lockstep")) as ledger:
        assert ledger.every_run() == []
        assert [event.seq for event in ledger.events_after()] == []


@pytest.mark.parametrize(
    "remote, name",
    [
        ("https://github.com/acme/shop.git", "github.com/acme/shop"),
        ("https://user:token@GitHub.com:8443/acme/shop/", "github.com/acme/shop"),
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@github.com:22/acme/shop", "github.com/acme/shop"),
        ("git.example.org:shop", "git.example.org/shop"),
        ("/srv/git/shop.git", ""),
        ("../shop", ""),
        ("file:///srv/git/shop", ""),
        ("shop", ""),
        ("", ""),
    ],
)
def test_a_project_is_named_by_its_repository(shared: Kind, remote: str, name: str) -> None:
    from skills.lib.ledger.postgres.address import named_by

    assert named_by(remote) == name


def test_clones_of_a_repository_have_one_ledger_and_folders_in_it_their_own(
    shared: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PROJECT)
    homes = []
    for clone in ("one", "two"):
        folder = tmp_path / clone
        (folder / "web" / ".lockstep").mkdir(parents=True)
        git(folder, "init", "-q")
        git(folder, "remote", "add", "origin", f"https://{clone}@example.org/acme/shop.git")
        homes += [folder / ".lockstep", folder / "web" / ".lockstep"]
    paths = []
    for home in homes:
        with Ledger(str(home)) as ledger:
            paths.append(ledger.path.partition(" in ")[0])
    assert paths == ["of example.org/acme/shop", "of example.org/acme/shop//web"] * 2


def test_a_project_that_nothing_names_is_told_how_to_be_named(
    shared: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PROJECT)
    with pytest.raises(LedgerError, match="nothing names the project of") as told:
        Ledger(str(tmp_path / ".lockstep"))
    assert told.value.remedy == f"set {PROJECT} to a name, the same on every machine that works on the project"
    monkeypatch.setenv(PROJECT, "two\nlines")
    with pytest.raises(LedgerError, match=r"LOCKSTEP_LEDGER_PROJECT is 'two\\nlines'"):
        Ledger(str(tmp_path / ".lockstep"))


def test_of_two_that_make_the_ledger_at_once_both_have_it(shared: Kind, tmp_path: Path) -> None:
    from tests.fixtures.processes import race

    def make(at: int) -> int:
        with Ledger(str(tmp_path / f"home{at}")) as ledger:
            opened(ledger, f"run{at}")
        return 0

    assert race(6, make) == [0] * 6
    with Ledger(str(tmp_path / "home"), create=False) as ledger:
        verification.verify(ledger)
        assert len(ledger.every_run()) == 6


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///shop.db",
        "postgresql://lockstep:s3cret@pass@127.0.0.1:5432/shop",
        "postgresql://lockstep:s3cret/pass@127.0.0.1:5432/shop",
        "postgresql://lockstep:1/s3cret@127.0.0.1:5432/shop",
        "postgresql://lockstep:s3cret?pass@127.0.0.1:5432/shop",
        "postgresql://lockstep:s3cret@127.0.0.1:s3cret/shop",
        "postgresql://127.0.0.1/shop?s3cret=1",
    ],
)
def test_a_wrong_url_is_told_without_the_password(
    agent: Factory, monkeypatch: pytest.MonkeyPatch, shared: Kind, url: str
) -> None:
    monkeypatch.setenv(URL, url)
    block = agent("tour").open(topic="why")
    assert (block.exit_code, block.text) == (4, "")
    assert block.errors.startswith("lockstep: LOCKSTEP_LEDGER_URL is no URL of a PostgreSQL database\n  valid: ")
    assert "s3cret" not in block.errors


def test_a_database_that_cannot_be_reached_is_told_and_the_same_command_works_later(
    agent: Factory, shared: Kind, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    tour = agent("tour")
    begun = tour.open(topic="why")
    url = os.environ[URL]
    for wrong, says in (
        (url.replace(f":{postgres.port}/", ":1/"), "Connection refused"),
        (url.replace(postgres.password, "s3cret"), "password authentication failed"),
        (url + "x", "does not exist"),
    ):
        monkeypatch.setenv(URL, wrong)
        block = tour.follow(begun, summary="s")
        assert (block.exit_code, block.text) == (4, "")
        assert block.errors.startswith("lockstep: the ledger of shop in postgresql://lockstep@127.0.0.1:")
        assert says in block.errors
        assert "  try:   see that the server runs and that LOCKSTEP_LEDGER_URL is right, then run" in block.errors
        assert "s3cret" not in block.errors
        assert postgres.password not in block.errors
    monkeypatch.setenv(URL, url)
    postgres.stop()
    try:
        block = tour.follow(begun, summary="s")
        assert (block.exit_code, block.text) == (4, "")
        assert "cannot be reached" in block.errors
    finally:
        postgres.start()
    assert tour.follow(begun, summary="s").step == "plan"


@pytest.mark.parametrize("before", [True, False], ids=["before the commit", "after it"])
def test_a_connection_that_is_lost_at_the_commit_is_told_and_the_run_is_at_one_turn_or_the_other(
    agent: Factory, shared: Kind, postgres: Server, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    from skills.lib.ledger.postgres.database import Postgres

    tour = agent("tour")
    begun = tour.open(topic="why")
    execute = Postgres.execute

    def crashing(database: Postgres, sql: str, values: object = ()) -> object:
        if sql != "COMMIT":
            return execute(database, sql, values)  # type: ignore[arg-type]
        if not before:
            execute(database, sql)
        postgres.stop(signal.SIGQUIT)
        try:
            return execute(database, "SELECT 1" if not before else sql)
        finally:
            postgres.start()

    with monkeypatch.context() as patch:
        patch.setattr(Postgres, "execute", crashing)
        block = tour.follow(begun, summary="s")
    assert (block.exit_code, block.text) == (4, "")
    assert "lockstep: the connection to the ledger of shop in postgresql://lockstep@127.0.0.1:" in block.errors
    assert "was lost" in block.errors
    assert "run the same command again: the run is at the turn before it or after it" in block.errors
    assert tour.state(begun.run).turn == (1 if before else 2)
    again = tour.follow(begun, summary="s")
    assert (again.exit_code, again.step, again.turn) == (0, "plan", 2)
    assert [event.kind for event in tour.events(begun.run)] == ["opened", "moved"]


def test_a_program_goes_on_with_a_new_connection_after_the_server_was_started_again(
    shared: Kind, postgres: Server, tmp_path: Path
) -> None:
    with Ledger(str(tmp_path / "home")) as ledger:
        run = opened(ledger, "one")
        for how in (signal.SIGINT, signal.SIGQUIT):
            postgres.stop(how)
            postgres.start()
            assert [event.kind for event in ledger.events_after()] == ["opened"]
        postgres.stop()
        with pytest.raises(LedgerError, match="cannot be reached"):
            ledger.run("one")
        postgres.start()
        moved = ledger.commit(run, Move(run.changed(turn=2), "moved", {}), "agent")
        assert ledger.run("one") == moved


def test_a_newer_format_is_left_alone(agent: Factory, shared: Kind) -> None:
    tour = agent("tour")
    begun = tour.open(topic="why")
    shared.edit(tour.project / ".lockstep", "UPDATE ledger SET format=99")
    block = tour.follow(begun, summary="s")
    assert (block.exit_code, block.text) == (4, "")
    assert "was written by a newer Lockstep (format 99, this one reads 3)" in block.errors
    assert "  try:   upgrade Lockstep\n" in block.errors
    shared.edit(tour.project / ".lockstep", "UPDATE ledger SET format=3")
    assert tour.follow(begun, summary="s").step == "plan"


@pytest.mark.parametrize(
    "statement, says",
    [
        ("DROP TABLE contents", "its tables are not those of a ledger"),
        ("ALTER TABLE events ALTER at TYPE real", "its tables are not those of a ledger"),
        ("CREATE RULE r AS ON DELETE TO runs DO INSTEAD NOTHING", "its tables are not those of a ledger"),
        ("DELETE FROM ledger", "it does not say its format"),
        ("UPDATE ledger SET project='other'", "is that of another project, 'other'"),
        ("UPDATE ledger SET format=2", "has format 2, which no version of Lockstep writes"),
    ],
)
def test_tables_that_are_not_those_of_a_ledger_are_damage(
    shared: Kind, tmp_path: Path, statement: str, says: str
) -> None:
    home = tmp_path / "home"
    with Ledger(str(home)) as ledger:
        opened(ledger, "one")
    shared.edit(home, statement)
    with pytest.raises(LedgerError, match=says) as told, Ledger(str(home), create=False) as ledger:
        verification.verify(ledger)
    assert f"set {PROJECT} to a new name to begin anew" in told.value.remedy


def test_times_are_kept_exactly(shared: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = [0.1, 1e-300, 1784930112.1234567, 2.0**53 + 2]
    given = iter(times)
    with Ledger(str(tmp_path / "home")) as ledger:
        run = opened(ledger, "one")
        monkeypatch.setattr("skills.lib.ledger.ledger.time.time", lambda: next(given))
        for _ in times:
            ledger.note(run.id, 1, "refused", "agent", {})
        assert [event.at for event in ledger.events()[1:]] == times


def test_a_stopped_process_in_the_middle_of_a_transition_holds_nobody_up(
    agent: Factory, shared: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skills.lib.ledger.postgres import database

    monkeypatch.setattr(database, "LOCK_TIMEOUT", 2.0)
    tour = agent("tour")
    begun = tour.open(topic="why")

    def stopping() -> int:
        execute = database.Postgres.execute

        def stopped(own: database.Postgres, sql: str, values: object = ()) -> object:
            if sql == "COMMIT":
                os.kill(os.getpid(), signal.SIGSTOP)
            return execute(own, sql, values)  # type: ignore[arg-type]

        database.Postgres.execute = stopped  # type: ignore[method-assign, assignment]
        return tour.follow(begun, summary="of the stopped").exit_code

    process = forked(stopping)
    os.waitpid(process, os.WUNTRACED)
    try:
        moved = tour.follow(begun, summary="of the other")
        assert (moved.exit_code, moved.step) == (0, "plan")
    finally:
        os.kill(process, signal.SIGCONT)
        assert ended(process) == 4
    assert tour.state(begun.run).state["begin"] == {"summary": "of the other"}


def test_a_held_lock_is_waited_for_and_then_reported(
    agent: Factory, shared: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skills.lib.ledger.postgres import database
    from skills.lib.ledger.postgres.address import of_home

    tour = agent("tour")
    begun = tour.open(topic="why")
    monkeypatch.setattr(database, "LOCK_TIMEOUT", 0.2)
    home = tour.project / ".lockstep"
    with closing(shared.connection(home)) as holder:
        holder.execute(f"SELECT pg_advisory_lock({of_home(str(home)).lock})")
        block = tour.follow(begun, summary="s")
        assert (block.exit_code, block.text) == (4, "")
        assert "has been locked by another process for 0.2 s" in block.errors
    assert tour.follow(begun, summary="s").step == "plan"


def test_threads_of_a_program_share_a_connection(shared: Kind, tmp_path: Path) -> None:
    with Ledger(str(tmp_path / "home")) as ledger:
        runs = [opened(ledger, f"run{at}") for at in range(4)]

        def move(run: Run) -> None:
            for _ in range(10):
                run = ledger.commit(run, Move(run.changed(turn=run.turn + 1), "moved", {}), "agent")
                assert ledger.events_after()

        threads = [threading.Thread(target=move, args=(run,)) for run in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        verification.verify(ledger)
        assert [run.turn for run in ledger.every_run()] == [11] * 4


def test_runs_are_read_one_by_one_while_others_write(shared: Kind, tmp_path: Path) -> None:
    with Ledger(str(tmp_path / "home")) as ledger:
        for at in range(250):
            opened(ledger, f"run{at:03}")
        found = []
        for run in ledger.each_run():
            found.append(run.id)
            if len(found) == 120:
                ledger.commit(run, Move(run.changed(turn=2), "moved", {}), "agent")
        assert sorted(found) == [f"run{at:03}" for at in range(250)]


def test_without_psycopg_the_way_to_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "psycopg.py").write_text("raise ImportError('No module named psycopg')", encoding="utf-8")
    code = "from lockstep import Ledger; Ledger('home')"
    environment = {**os.environ, URL: "postgresql://h/d", PROJECT: "p", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert f"EnvironmentProblem: {URL} is set, and {sys.executable} has no psycopg" in done.stderr
    assert issubclass(LedgerError, EnvironmentProblem)


def test_a_hook_whose_python_begins_without_its_packages_reads_the_ledger(shared: Kind, tmp_path: Path) -> None:
    with Ledger(str(tmp_path / "home")) as ledger:
        opened(ledger, "one")
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom skills.lib.ledger import Ledger\n"
    code += f"with Ledger({str(tmp_path / 'home')!r}, create=False) as ledger: print(ledger.run('one').turn)"
    done = subprocess.run([sys.executable, "-IS", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_a_step_without_the_url_imports_nothing_of_it(agent: Factory) -> None:
    tour = agent("tour")
    tour.call = Shell(tour.project, {"PYTHONPROFILEIMPORTTIME": "1", "PYTHONDONTWRITEBYTECODE": ""})
    block = tour.open(topic="why")
    assert block.exit_code == 0
    assert "skills.lib.ledger.database" in block.errors
    assert "ledger.postgres" not in block.errors
    assert "psycopg" not in block.errors


def test_a_role_that_may_only_read_is_told_what_it_lacks(shared: Kind, postgres: Server, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Ledger(str(home)) as ledger:
        run = opened(ledger, "one")
        shared.edit(home, "CREATE ROLE reader LOGIN PASSWORD 'r3ader'")
        try:
            os.environ[URL] = os.environ[URL].replace(f"lockstep:{postgres.password}", "reader:r3ader")
            with pytest.raises(LedgerError, match="may not be used: permission denied") as told:
                Ledger(str(home))
            assert "docs/postgres.md says" in told.value.remedy
            schema = ledger.database.address.schema  # type: ignore[attr-defined]
            ledger.database.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader")
            ledger.database.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader")
            with Ledger(str(home), create=False) as reader:
                assert reader.run("one") == run
                with pytest.raises(LedgerError, match="may not be used: permission denied for table"):
                    reader.note("one", 1, "refused", "agent", {})
        finally:
            ledger.database.execute("DROP OWNED BY reader")
            ledger.database.execute("DROP ROLE reader")


def test_time_passes_for_a_server_that_says_nothing(shared: Kind, tmp_path: Path) -> None:
    """A host that takes the connection and never answers."""
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        os.environ[URL] = f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/d?connect_timeout=2"
        began = time.monotonic()
        with pytest.raises(LedgerError, match="cannot be reached"):
            Ledger(str(tmp_path / "home"))
        assert time.monotonic() - began < 15
