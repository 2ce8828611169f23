"""What a cloned project may bring in the place of a ledger: ids that are paths, and links that lead out of it."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.blocks.command_line import CommandLine
from skills.lib.engine.decision import Move
from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger
from skills.lib.runtime import Runner
from skills.lib.testing.agent import Agent
from skills.lib.testing.follower import Shell

Factory = Callable[[str], Agent]


def planted(agent: Agent, run: str) -> None:
    """Bring a ledger with a run of that id, which is whole otherwise: anybody can compute its sums."""
    block = agent.open()
    ledger = Ledger(str(agent.project / ".lockstep"))
    kept = ledger.run(block.run)
    assert kept is not None
    ledger.database.execute("DELETE FROM runs")
    ledger.database.execute("DELETE FROM events")
    ledger.commit(None, Move(kept.changed(id=run, version=0), "opened", {}), "agent", agent.workflow.to_data())
    ledger.close()


@pytest.mark.parametrize("id_is", ["../../../victim/f", "{}/victim/f", "{}/victim/f.1"])
def test_a_run_whose_id_is_a_path_is_damage_and_touches_no_file(agent: Factory, tmp_path: Path, id_is: str) -> None:
    waves, victim = agent("waves"), tmp_path / "victim"
    run = id_is.format(tmp_path)
    planted(waves, run)
    victim.mkdir()
    for name in ("f", "f.1"):
        (victim / name).write_text("precious")
    script, project = shlex.quote(waves.script), shlex.quote(str(waves.project))
    start = f"{shlex.quote(sys.executable)} {script} --project {project}"
    for words in (f"--step current --run {run}", "--step 1", f"--step next --run {run} --turn 1"):
        assert waves.run_command(f"{start} {words}").exit_code == 4, words
    runner = Runner(CommandLine("python", waves.script, str(waves.project)))
    with pytest.raises(LedgerError, match=r"is damaged: .* is no run's id"):
        runner.abandon(run, "not wanted")
    runner.close()
    assert {path.name: path.read_text() for path in victim.iterdir()} == {"f": "precious", "f.1": "precious"}


@pytest.mark.parametrize("name", ["runs.db", "runs.db-wal", "runs.db-shm", "runs.db-journal", "LEDGER", ".gitignore"])
@pytest.mark.parametrize("target", ["new", "empty", "full"])
def test_a_link_in_the_place_of_a_file_of_the_ledger_is_not_followed(tmp_path: Path, name: str, target: str) -> None:
    outside, home = tmp_path / "outside", tmp_path / "project" / ".lockstep"
    outside.mkdir()
    (outside / "empty").write_bytes(b"")
    (outside / "full").write_bytes(b"precious" * 100)
    home.mkdir(parents=True)
    (home / name).symlink_to(outside / target)
    with pytest.raises(LedgerError, match=f"{name} is a link"):
        Ledger(str(home))
    assert sorted(os.listdir(outside)) == ["empty", "full"]
    assert ((outside / "empty").read_bytes(), (outside / "full").read_bytes()) == (b"", b"precious" * 100)


def test_a_folder_that_the_user_names_for_the_ledger_may_be_a_link(
    agent: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "home").symlink_to("kept")
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    block = agent("plain").open()
    assert sorted(os.listdir(tmp_path / "kept")) == [".gitignore", "LEDGER", "open", "runs.db"]
    assert os.listdir(tmp_path / "kept" / "open") == [block.run]


def commands_of(agent: Agent, run: str) -> list[str]:
    """The commands that open, show and move a run."""
    script, project = shlex.quote(agent.script), shlex.quote(str(agent.project))
    start = f"{shlex.quote(sys.executable)} {script} --project {project}"
    words = ("--step 1 --new", "--step current --run {}", "--step next --run {} --turn 1 --record thing=x")
    return [f"{start} {one.format(run)}" for one in words]


@pytest.mark.parametrize("name", ["", "open", "context", "seals"])
@pytest.mark.parametrize("begun", [False, True])
def test_a_link_in_the_place_of_a_folder_of_the_ledger_is_refused(
    agent: Factory, tmp_path: Path, name: str, begun: bool
) -> None:
    plain, outside = agent("plain"), tmp_path / "outside"
    run = plain.open().run
    home = plain.project / ".lockstep"
    if not begun:
        shutil.rmtree(home)
        home.mkdir()
    if (home / name).is_dir():
        (home / name).rename(outside)
    else:
        outside.mkdir()
    (home / name).symlink_to(outside)
    before = content(outside)
    for command in commands_of(plain, run)[: None if begun else 1]:
        block = plain.call(command)
        assert (block.exit_code, block.text) == (4, ""), command
        assert f"{home / name} is a link".replace("/ is", " is") in block.errors
        assert "LOCKSTEP_HOME" in block.errors
    assert content(outside) == before


@pytest.mark.parametrize("name", ["context/{}", "open/{}"])
def test_nothing_is_written_through_a_link_in_the_folders_of_a_run(agent: Factory, tmp_path: Path, name: str) -> None:
    tour, outside = agent("tour"), tmp_path / "outside"
    block = tour.open(topic="t" * 12_000)
    home = tour.project / ".lockstep"
    outside.mkdir()
    (outside / "victim").write_text("precious")
    place = home / name.format(block.run)
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside if name.startswith("context") else outside / "victim")
    shown = tour.call(commands_of(tour, block.run)[1])
    assert shown.exit_code == (4 if name.startswith("context") else 0)
    if shown.exit_code:
        assert f"{place} is a link" in shown.errors
        assert "LOCKSTEP_HOME" in shown.errors
    assert content(outside) == {"victim": b"precious"}


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def output_of_git(project: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=project, check=True, capture_output=True, timeout=60, text=True)
    return done.stdout


@pytest.mark.parametrize(
    "text", ["!*\n", "*\n!runs.db\n", f"*\n#{10_000 * ' '}\n!*\n", "# nothing\n", "", "*.tmp\n", None]
)
def test_the_ledger_of_a_clone_is_hidden_from_git(agent: Factory, repository: Path, text: str | None) -> None:
    plain = agent("plain")
    plain.open()
    ignore = repository / ".lockstep" / ".gitignore"
    ignore.unlink()
    if text is not None:
        ignore.write_text(text)
    plain.open("--new")
    assert ignore.read_text() == "*\n"
    assert output_of_git(repository, "status", "--porcelain") == ""


@pytest.mark.parametrize("text", ["*\n", "# hidden\n*\n", "!x\n*\n"])
def test_a_gitignore_that_hides_the_ledger_stays_as_it_is(agent: Factory, repository: Path, text: str) -> None:
    plain = agent("plain")
    (repository / ".lockstep").mkdir(exist_ok=True)
    (repository / ".lockstep" / ".gitignore").write_text(text)
    plain.open()
    assert (repository / ".lockstep" / ".gitignore").read_text() == text
    assert output_of_git(repository, "status", "--porcelain") == ""


def test_a_ledger_that_git_tracks_is_reported_with_the_command_that_ends_it(agent: Factory, repository: Path) -> None:
    plain = agent("plain")
    first = plain.call(commands_of(plain, "")[0])
    assert first.errors == ""
    output_of_git(repository, "add", "-f", ".lockstep")
    told = plain.call(commands_of(plain, "")[0])
    assert told.exit_code == 0
    assert f"git tracks the ledger {repository / '.lockstep' / 'runs.db'}" in told.errors
    command = told.errors.partition("try:")[2].strip()
    assert Shell("/")(command).exit_code == 0
    assert output_of_git(repository, "ls-files", ".lockstep") == ""
    assert plain.call(commands_of(plain, "")[0]).errors == ""


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c"
PLANTED = {
    "trigger": "CREATE TRIGGER t BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'no'); END",
    "view": "CREATE VIEW v AS SELECT 1",
    "table": "CREATE TABLE more(a)",
    "index": "CREATE INDEX more ON runs(status)",
    "endless view": f"ALTER TABLE runs RENAME TO r; CREATE VIEW runs AS SELECT x AS id FROM ({ENDLESS})",
    "large view": "ALTER TABLE runs RENAME TO r; CREATE VIEW runs AS SELECT id, workflow, parent, status, version,"
    " hex(zeroblob(700000000)) AS data, sum FROM r",
    "column": "ALTER TABLE runs ADD COLUMN more",
    "many views": "PRAGMA writable_schema=ON; WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 90000)"
    " INSERT INTO sqlite_master SELECT 'view', 'v' || x, 'v' || x, 0, 'CREATE VIEW v' || x || ' AS SELECT 1' FROM c",
    "long definition": f"CREATE VIEW v AS SELECT '{'x' * 5_000_000}'",
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_ledger_with_more_than_its_tables_is_refused_at_once(agent: Factory, planted: str) -> None:
    plain = agent("plain")
    run = plain.open().run
    connection = sqlite3.connect(plain.project / ".lockstep" / "runs.db")
    connection.executescript(f"BEGIN; {PLANTED[planted]}; COMMIT")
    connection.close()
    with_limits = Shell(plain.project)
    for command in commands_of(plain, run):
        in_bounds = f"ulimit -v 600000; timeout 20 {command}"  # what may take for ever, in a process of its own
        block = with_limits(in_bounds) if "view" in planted else plain.call(command)
        assert (block.exit_code, block.text) == (4, ""), command
        assert "is damaged" in block.errors
        assert "Traceback" not in block.errors
    runner = Runner(CommandLine("python", plain.script, str(plain.project)))
    with pytest.raises(LedgerError, match="is damaged"):
        runner.abandon(run, "not wanted")
