"""Random review graphs: an adversary ends none as done past a gate, and honest work ends each from every state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.gates.figures import look
from skills.lib.engine import fixes, gates, reviewers, verdicts
from skills.lib.engine.decision import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills.lib.model.run import Run

pytestmark = pytest.mark.slow

SEED = 11
FEATURES = {
    "a bounded FAIL",
    "a bounded FAIL with a route at its limit",
    "a command that judges",
    "a free-form reviewer",
    "a loop in a loop",
    "a person",
    "a person at a terminal",
    "a person who is asked once the step's work is done",
    "a review that is its own gate",
    "a reviewer that verifies again from another step",
    "a reviewer with a script",
    "a route for a fallen verdict",
    "a sub-workflow",
    "a sub-workflow with a review",
    "checks that reviewers must make",
    "covered files",
    "covered files that are recorded",
    "properties under always",
    "reviewers of recorded targets, perhaps none",
    "several checkpoints",
    "several gates of a checkpoint",
    "several reviewers",
}


@pytest.mark.req("S-01")
def test_no_random_graph_is_ended_as_done_past_a_gate_and_each_can_be_ended_honestly_from_every_state() -> None:
    found = look(60, SEED)
    assert found.wrong == []
    assert found.stuck == []
    assert (found.graphs, found.walks) == (60, 120)
    assert found.valid > 10
    assert found.states == sum(found.ends.values()) > 400
    assert set(found.features) == FEATURES
    assert {feature for feature, count in found.admitted.items() if count} == FEATURES


def _unspent(verdict: Callable[[Run, Any], Any]) -> Callable[[Run, Any], Any]:
    def careless(run: Run, gate: Any) -> Any:
        reviews = {
            name: {key: part for key, part in review.items() if key != "passed"} for name, review in run.reviews.items()
        }
        return verdict(run.changed(reviews=reviews), gate)

    return careless


def _without_failed(unjudged: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda items: unjudged([item for item in items if item["status"] != "FAIL"])


def _stops(*_: Any) -> None:
    raise Refused("bound", "Nobody is asked.")


@pytest.mark.parametrize(
    "module, name, wrong, words",
    [
        (verdicts, "may_end_done", lambda _: lambda run: True, "done with a failed review"),
        (verdicts, "first_fallen", lambda _: lambda run, proof: None, "was changed since"),
        (verdicts, "changed", lambda _: lambda run, checkpoint, proof: [], "was changed since"),
        (gates, "verdict", _unspent, "used already"),
        (reviewers, "_unjudged", _without_failed, "MUST open"),
        (verdicts, "_SHOULD_BLOCKS", lambda _: 1, "SHOULD open"),
        (fixes, "_change", lambda _: lambda *arguments: "", "unanswered-finding"),
        (gates, "ask_at_bound", lambda _: _stops, "Nobody is asked"),
    ],
)
def test_an_engine_that_does_not_hold_or_does_not_let_go_is_found_out(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, wrong: Callable[[Any], Any], words: str
) -> None:
    monkeypatch.setattr(module, name, wrong(getattr(module, name)))
    found = look(120, SEED, until=words)
    assert any(words in told for told in (*found.wrong, *found.stuck))
