"""Rows that were changed by hand are noticed by the commands that read them, and no gate passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger, verification
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from tests.fixtures.kinds import Kind

Factory = Callable[[str], Agent]
FAILED_ITEM = {"id": "a", "scope": "", "check": "c", "severity": "MUST", "status": "FAIL", "finding": "f"}


def at_gate(gated: Agent) -> PrintedBlock:
    """A gate that is shut."""
    gated.write("out.txt", "done")
    review = gated.follow(gated.open())
    for child in review.children:
        last = gated.follow(gated.run_command(child.command), items=[FAILED_ITEM])
    return gated.run_command(last.next)


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE runs SET status='done' WHERE id='{run}'",
        "UPDATE runs SET version=version+1 WHERE id='{run}'",
        "UPDATE runs SET data=replace(data, '\"turn\":', '\"turn\":1') WHERE id='{run}'",
        "UPDATE runs SET sum='' WHERE id='{run}'",
        "DELETE FROM runs WHERE id='{run}'",
        "UPDATE runs SET id=id||'x' WHERE id='{run}'",
    ],
)
def test_a_run_that_was_changed_by_hand_neither_moves_nor_passes_its_gate(
    agent: Factory, kind: Kind, edit: str
) -> None:
    tour, gated = agent("tour"), agent("gated")
    begun, gate = tour.open(topic="why"), at_gate(gated)
    home = tour.project / ".lockstep"
    for run, command in ((begun.run, filled(begun.next, {"summary": "s"})), (gate.run, gate.next)):
        assert kind.edit(home, edit.format(run=run)) == [1]
        block = tour.run_command(command)
        assert (block.exit_code, block.text) == (4, "")
        assert f"lockstep: {kind.named(home)}" in block.errors
        assert " is damaged: " in block.errors


def test_a_gate_whose_events_were_changed_by_hand_does_not_pass(agent: Factory, kind: Kind) -> None:
    gated = agent("gated")
    gate = at_gate(gated)
    home = gated.project / ".lockstep"
    kind.edit(home, "UPDATE events SET actor='person' WHERE seq=2")
    block = gated.run_command(gate.next)
    assert (block.exit_code, block.text) == (4, "")
    assert f"{kind.named(home)}" in block.errors
    assert "is damaged: event 2 of run " in block.errors


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE events SET detail='{}' WHERE seq=3",
        "UPDATE events SET kind='finished' WHERE seq=3",
        "UPDATE events SET at=0 WHERE seq=3",
        "DELETE FROM events WHERE seq=3",
        "UPDATE events SET seq=1000 WHERE seq=3",
        "DELETE FROM events WHERE seq=(SELECT max(seq) FROM events WHERE change<>'{}')",
        "UPDATE definitions SET data='{}'",
    ],
)
def test_an_edited_record_is_found_when_it_is_looked_through(agent: Factory, kind: Kind, edit: str) -> None:
    tour = agent("tour")
    block = tour.open(topic="why")
    for values in ({"summary": "s"}, {"mode": "full"}, {"confidence": "low"}):
        block = tour.follow(block, **values)
    home: Path = tour.project / ".lockstep"
    assert kind.edit(home, edit) == [1]
    with Ledger(str(home), create=False) as ledger, pytest.raises(LedgerError, match=r"is damaged|has lost") as told:
        verification.verify(ledger)
    assert told.value.what.startswith(kind.named(home))
