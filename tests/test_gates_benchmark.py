"""Random review graphs: an adversary ends none as done past a gate, and honest work ends each from every state."""

from __future__ import annotations

import pytest

from benchmarks.gates.figures import look
from skills.lib.workflow import verdicts

SEED = 11


@pytest.mark.req("S-01")
def test_no_random_graph_is_ended_as_done_past_a_gate_and_each_can_be_ended_honestly() -> None:
    found = look(400, SEED)
    assert found.wrong == []
    assert found.stuck == []
    assert (found.graphs, found.walks) == (400, 800)
    assert found.valid > 100
    assert found.done > 100
    assert found.states > 500


@pytest.mark.parametrize(
    "name, wrong, words",
    [
        ("may_end_done", lambda run: True, "done with a failed review"),
        ("first_fallen", lambda run, proof: None, "was changed since"),
        ("changed", lambda run, checkpoint, proof: [], "was changed since"),
    ],
)
def test_an_engine_that_does_not_hold_is_found_out(
    monkeypatch: pytest.MonkeyPatch, name: str, wrong: object, words: str
) -> None:
    monkeypatch.setattr(verdicts, name, wrong)
    assert any(words in told for told in look(150, SEED).wrong)
