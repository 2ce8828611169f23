"""``lockstep agent run`` at a budget: what a person sees, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from skills.lib.commands.console.app import lockstep
from tests.agent.wires.servers import Wire, serving
from tests.agent.wires.walking import reporting

pytestmark = pytest.mark.req("A-13")
Config = Callable[[str], Path]


@pytest.fixture
def wire() -> Iterator[Wire]:
    with serving("openai", reporting) as wire:
        yield wire


def run(folder: Path, wire: Wire, task: str, model: str = "openai:gpt-5.2") -> Result:
    words = ["agent", "run", "plain", task, "--model", model, "--base-url", wire.url, "--detail", "summary"]
    return CliRunner().invoke(lockstep, [*words, "--project", str(folder)], prog_name="lockstep")


def test_a_spent_budget_stops_the_run_with_exit_7(plain: Path, config: Config, wire: Wire) -> None:
    file = config("[agent.budgets]\ntokens_per_run = 12")  # a call takes 10 of them
    shown = run(plain, wire, "tidy up")
    assert shown.exit_code == 7, shown.output
    assert "The budget tokens_per_run is spent: " in shown.output
    assert f"To go on, raise it in {file}." in shown.output
    assert "The run stays where it is; this goes on with it:" in shown.output


def test_a_warning_stands_among_the_milestones(plain: Path, config: Config, wire: Wire) -> None:
    first = run(plain, wire, "without a budget")
    assert first.exit_code == 0, first.output
    assert len(wire.asked) == 2
    shown = CliRunner().invoke(lockstep, ["agent", "cost", "--json", "--project", str(plain)])
    total = json.loads(shown.output)["total"]
    config(f"[agent.budgets]\ntokens_per_run = {(total['input'] + total['output']) * 10 // 9}")
    second = run(plain, wire, "with one")
    assert second.exit_code == 0, second.output
    assert " % of the budget tokens_per_run are spent: " in second.output


def test_an_unknown_price_and_too_many_runs_are_refused_before_anything_is_asked(
    plain: Path, config: Config, wire: Wire
) -> None:
    config("[agent.budgets]\nusd_per_run = 1")
    shown = run(plain, wire, "tidy up", "openai:our-own")
    assert shown.exit_code == 3
    assert "the price of openai:our-own is not known" in shown.output
    config("[agent.budgets]\nstarts_per_hour = 1")
    assert run(plain, wire, "one").exit_code == 0
    asked = len(wire.asked)
    shown = run(plain, wire, "two")
    assert shown.exit_code == 3
    assert "another one from " in shown.output
    assert len(wire.asked) == asked
