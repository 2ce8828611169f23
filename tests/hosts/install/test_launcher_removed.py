"""The launcher of short commands goes with the last installation, unless a run is open that it serves."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib import launcher, launching
from tests.hosts.conftest import SKILL, Command

pytestmark = pytest.mark.req("E-08")


@pytest.fixture
def state(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state folder, with the launcher and the entry of a run that ended; runtimes are the test's own."""
    monkeypatch.setenv("LOCKSTEP_DATA", str(tmp_path / "own data"))
    monkeypatch.delenv(launcher.SWITCH)
    folder = home / ".local" / "state" / "lockstep"
    launching.enter(str(folder / "step"), "abcd2345", (sys.executable, "/skill/x.py", str(tmp_path / "gone")))
    return folder


@pytest.fixture
def installed(cli: Command, state: Path) -> None:
    assert cli("install", "codex", "--scope", "project", "--skill", SKILL).code == 0


def left(state: Path) -> list[str]:
    return sorted(
        str(path.relative_to(state)) for path in [*state.glob("step"), *state.glob("runs"), *state.glob("runs/*")]
    )


ALL = ["runs", "runs/abcd2345", "step"]


def test_it_goes_with_the_last_installation_and_a_dry_run_says_so(cli: Command, installed: None, state: Path) -> None:
    what = f"The launcher of short commands {state}/step and the entry of 1 run"
    said = what + " {} removed: nothing is installed any more, and no run is open.\n"
    shown = cli("uninstall", "codex", "--dry-run")
    assert said.format("would be") in shown.err
    assert left(state) == ALL
    assert said.format("are") in cli("uninstall", "codex").err
    assert left(state) == []


def test_a_program_is_told_which_launcher_went(cli: Command, installed: None, state: Path) -> None:
    [shown] = json.loads(cli("uninstall", "codex", "--json").out)
    assert shown["launcher"] == f"{state}/step"


def test_it_stays_while_another_host_is_installed(cli: Command, installed: None, state: Path) -> None:
    assert cli("install", "claude", "--scope", "user", "--skill", SKILL).code == 0
    assert "launcher" not in cli("uninstall", "codex").err
    assert left(state) == ALL


def test_it_stays_while_a_run_is_open_and_goes_with_the_runtime(
    cli: Command, installed: None, state: Path, opened: Callable[[], tuple[str, Path]]
) -> None:
    run, _ = opened()
    assert (state / "runs" / run).is_file()
    assert "launcher" not in cli("uninstall", "codex").err
    assert "launcher" not in cli("upgrade", "--prune").err
    assert left(state) == ["runs", *sorted(["runs/abcd2345", f"runs/{run}"]), "step"]
    assert cli("abandon", run, "--reason", "done with").code == 0
    assert "and the entries of 2 runs would be removed" in cli("upgrade", "--prune", "--dry-run").err
    assert "and the entries of 2 runs are removed" in cli("upgrade", "--prune").err
    assert left(state) == []


def test_it_stays_if_a_ledger_cannot_be_read(
    cli: Command, installed: None, state: Path, project: Path, opened: Callable[[], tuple[str, Path]]
) -> None:
    opened()
    (project / ".lockstep" / "runs.db").write_bytes(b"no database" * 1000)
    cli("uninstall", "codex")
    assert "step" in left(state)


def test_what_is_not_an_entry_stays(cli: Command, installed: None, state: Path) -> None:
    (state / "runs" / "Notes.txt").write_text("mine")
    cli("uninstall", "codex")
    assert left(state) == ["runs", "runs/Notes.txt"]
