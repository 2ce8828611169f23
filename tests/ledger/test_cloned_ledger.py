"""What a cloned project may bring in the place of a ledger: ids that are paths, and links that lead out of it."""

from __future__ import annotations

import os
import shlex
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


def test_the_folder_of_the_ledger_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "home").symlink_to("kept")
    Ledger(str(tmp_path / "home")).close()
    assert (tmp_path / "kept" / "runs.db").is_file()
