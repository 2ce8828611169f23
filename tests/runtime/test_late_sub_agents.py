"""Sub-agents that come back late, and one whose loss is not recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skills.lib import status_files
from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger
from skills.lib.testing.agent import Agent

Factory = Callable[[str], Agent]


def test_a_sub_agent_of_an_earlier_round_speaks_for_nobody(agent: Factory) -> None:
    waves = agent("waves")
    first = waves.follow(waves.open(), areas=["a", "b", "c"])
    look = [child.command.replace("--step 1", "--step current") for child in first.children]
    ends = [waves.finish(child.command) for child in first.children]
    second = waves.run_command(ends[-1].next)
    late = waves.run_command(look[0])
    assert (late.kind, late.next, late.root.find("ORCHESTRATOR")) == ("done", "", None)
    assert late.notices == ["The step that started this sub-agent was left since: nothing more is wanted of it."]

    ask = waves.run_command(waves.finish(second.children[0].command).next)
    assert ask.step == "ask"
    assert waves.run_command(look[1]).next == ""


def test_the_status_file_of_a_sub_agent_is_kept_until_its_loss_is_recorded(
    agent: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    waves = agent("waves")
    block = waves.follow(waves.open(), areas=["a", "b"])
    child = waves.run_command(block.children[0].command)

    def full(*_: object, **__: object) -> None:
        raise LedgerError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Ledger, "commit", full)
        assert waves.lose(block, child.run).exit_code == 4
    assert status_files.read(str(waves.project), child.run) is not None
    assert waves.lose(block, child.run).exit_code == 0
    assert status_files.read(str(waves.project), child.run) is None
