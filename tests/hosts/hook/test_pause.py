"""A person pauses a run: its agent may do other work, and the record says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib import terminal
from skills.lib.ledger import Ledger, verification
from skills.lib.testing.agent import Agent
from tests.fixtures.skill import install, source_of
from tests.fixtures.terminal import at_terminal
from tests.hosts.conftest import Command
from tests.hosts.hook.hooked import GUARDED, Answer, Host
from tests.hosts.hook.test_hook_trust import ASKING, PROMPT

pytestmark = [pytest.mark.req("H-02"), pytest.mark.usefixtures("own_project")]
SILENT = Answer(0, "", "")


def persons(command: str, run: str, host: Host, *words: str, **env: str) -> tuple[int, str]:
    """Call a subcommand about a run at a terminal."""
    return at_terminal(command, run, *words, "--project", str(host.project), env=env)


def kinds(host: Host, run: str) -> list[tuple[str, str]]:
    """What the record says of a run: what happened, and who said it."""
    with Ledger(str(host.project / ".lockstep"), create=False) as ledger:
        verification.verify(ledger)
        return [(event.kind, event.actor) for event in ledger.events(run)]


def test_a_paused_run_neither_denies_tools_nor_refuses_a_stop(host: Host) -> None:
    block = host.at("look")
    assert f" pause {block.run} --project {host.project}\n" in host.run("git status").reason
    assert host.stop().code == 2
    code, shown = persons("pause", block.run, host, "--reason", "a hotfix")
    assert (code, shown) == (
        0,
        f"Run {block.run} is paused at look: its agent may do other work until the run goes on.\n",
    )
    assert persons("pause", block.run, host) == (0, f"Run {block.run} is paused already.\n")
    assert (host.run("git status"), host.use("Write", file_path="x"), host.stop()) == (SILENT,) * 3
    assert host.tell(PROMPT) == SILENT
    host.status_file(block.run).unlink()
    assert host.run("date") == SILENT
    assert kinds(host, block.run)[-1] == ("paused", "person (terminal)")
    code, shown = persons("unpause", block.run, host)
    assert (code, shown) == (0, f"Run {block.run} is not paused any more: its agent is held to look again.\n")
    assert (host.run("git status").code, host.stop().code) == (2, 2)
    assert persons("unpause", block.run, host) == (0, f"Run {block.run} is not paused.\n")
    assert kinds(host, block.run)[-2:] == [("paused", "person (terminal)"), ("unpaused", "person (terminal)")]


def test_the_next_move_of_a_paused_run_ends_the_pause_and_a_look_does_not(host: Host) -> None:
    block = host.at("look")
    persons("pause", block.run, host)
    host.agent.run_command(f"python3 {host.agent.script} --step current --run {block.run} --project {host.project}")
    assert host.run("git status") == SILENT
    host.go(block)
    assert host.run("git status").code == 2


def test_only_the_paused_one_of_two_runs_lets_go(host: Host) -> None:
    first = host.at("look")
    second = host.go(host.go(host.agent.open("--new")))
    persons("pause", first.run, host)
    assert (host.use("Edit", file_path="x").code, host.use("Grep").code) == (0, 2)
    assert f"The run {second.run}" in host.use("Grep").reason


@pytest.mark.parametrize(
    "command, name",
    [*(("answer", name) for name in (*terminal.AGENTS, "")), ("pause", "CODEX_THREAD_ID"), ("unpause", "X")],
)
def test_a_persons_command_is_refused_where_an_agents_host_runs_it(tmp_path: Path, command: str, name: str) -> None:
    host = Host(tmp_path)
    host.agent = Agent(install(tmp_path, "asking", source_of("asking", ASKING)), host.project)
    run = host.agent.open().run
    before = kinds(host, run)
    words = ["yes"] if command == "answer" else []
    code, shown = persons(command, run, host, *words, **({name: "1"} if name else {}))
    is_agents = name in terminal.AGENTS
    assert (code, f"({name} is set)" in " ".join(shown.split())) == ((3, True) if is_agents else (0, False)), shown
    if is_agents:
        assert kinds(host, run) == before


def test_pausing_takes_a_terminal_and_a_run_that_is_open(host: Host, cli: Command) -> None:
    block = host.at("look")
    refused = cli("pause", block.run, "--project", str(host.project))
    assert (refused.code, "standard input is not a terminal" in refused.err) == (3, True)
    assert persons("pause", "another", host)[0] == 2
    assert cli("abandon", block.run, "--reason", "unwanted", "--project", str(host.project)).code == 0
    assert persons("pause", block.run, host)[0] == 3


def test_an_agent_does_not_pause_its_run(host: Host) -> None:
    block = host.at("look")
    for command in ("pause", "unpause"):
        denied = host.run(f"lockstep {command} {block.run}")
        assert (denied.code, denied.reason[:30]) == (2, "lockstep answer is for a perso")


@pytest.mark.parametrize("name", list(terminal.AGENTS))
def test_what_an_agents_host_runs_at_a_terminal_is_recorded_as_the_agents(tmp_path: Path, name: str) -> None:
    host = Host(tmp_path)
    host.agent = Agent(install(tmp_path, "guarded", GUARDED), host.project)
    run = host.agent.open().run
    code, _ = persons("abandon", run, host, "--reason", "unwanted", "--yes", **{name: "1"})
    expected = (3, ("opened", "agent")) if name == "LOCKSTEP_AGENT" else (0, ("abandoned", "agent"))
    assert (code, kinds(host, run)[-1]) == expected
