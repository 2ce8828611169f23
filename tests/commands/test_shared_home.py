"""Two projects with one ledger, by LOCKSTEP_HOME: no command goes on with a run of the other one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.model.run import Run
from tests.commands.conftest import Command, Walker
from tests.fixtures.terminal import at_terminal
from tests.hosts.mcp.talking import in_process, talk


@pytest.fixture
def other(project: Path, installed: Callable[..., Path]) -> tuple[Path, Run]:
    """Another project than the one of the commands, and an open run in it."""
    folder = project.parent / "other"
    (folder / ".git").mkdir(parents=True)
    return folder, Walker(installed("tour"), folder).start(topic="tea")


@pytest.mark.parametrize("words", [["resume"], ["abandon", "--reason", "gone"]], ids=lambda words: words[0])
def test_a_run_of_another_project_is_refused_and_stays(cli: Command, other: tuple[Path, Run], words: list[str]) -> None:
    folder, run = other
    shown = cli(words[0], run.id, *words[1:])
    assert shown.code == 3
    assert f"un {run.id} belongs to the project {folder}, not to {folder.parent / 'project'}" in shown.out + shown.err
    assert " open " in cli("runs", "--project", str(folder)).out


@pytest.mark.parametrize("command", ["pause", "unpause"])
def test_a_run_of_another_project_is_neither_paused_nor_unpaused(
    other: tuple[Path, Run], project: Path, command: str
) -> None:
    folder, run = other
    code, shown = at_terminal(command, run.id, "--project", str(project))
    assert (code, shown) == (
        3,
        f"lockstep: run {run.id} belongs to the project {folder}, not to {project}\n  try:   give --project {folder}\n",
    )


def test_what_waits_in_another_project_is_not_answered(
    cli: Command, other: tuple[Path, Run], project: Path, installed: Callable[..., Path]
) -> None:
    folder, _ = other
    walker = Walker(installed("tour"), folder)
    run = walker.go(walker.go(walker.start(topic="coffee"), records={"summary": "s"}), params={"mode": "quick"})
    run = walker.go(run, outcome="skip")
    assert run.status == "waiting"
    code, shown = at_terminal("answer", run.id, "yes", "--project", str(project))
    assert (code, f"Run {run.id} belongs to the project {folder}, not to {project}" in shown) == (3, True)
    assert walker.runner.ledger.runs([run.id]) == [run]


def test_the_record_of_another_project_says_whose_it_is(cli: Command, other: tuple[Path, Run]) -> None:
    folder, run = other
    shown = cli("trace", run.id)
    assert (shown.code, shown.err) == (0, f"Run {run.id} belongs to the project {folder}.\n")
    assert cli("trace", run.id, "--project", str(folder)).err == ""


def test_without_a_run_those_of_another_project_are_not_meant(
    cli: Command, other: tuple[Path, Run], project: Path
) -> None:
    folder, run = other
    assert cli("resume").err.startswith(f"No run is open in {project}. Runs of another project: ")
    assert talk(in_process, project, lambda to: to.call("run_state")).data == {"runs": []}
    assert cli("abandon", run.id, "--reason", "gone", "--project", str(folder)).code == 0
    assert "Nothing to remove" in cli("prune", "--older", "0").err
    assert cli("prune", "--older", "0", "--project", str(folder)).err == "1 record removed.\n"
