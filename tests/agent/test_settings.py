"""The settings of a session and its switches."""

from __future__ import annotations

from typing import Any

import pytest

from skills.lib.agent.configuration.settings import Settings, Switches


def test_everything_is_switched_on_at_first() -> None:
    assert all(Switches().fields().values())
    assert Settings().switches == Switches()
    assert (Settings().max_iterations, Settings().early_ends, Settings().tool_failures) == (15, 3, 3)


@pytest.mark.parametrize(
    "name",
    ["filter_tools", "protect_block", "reduce_noise", "remind_last", "reinforce", "protect_in_summaries"],
)
def test_each_switch_goes_off_by_itself(name: str) -> None:
    off = [switch for switch, on in Switches(**{name: False}).fields().items() if not on]
    assert off == [name]


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"max_iterations": 0}, "Settings max_iterations: 0 is not a whole number of 1 or more"),
        ({"early_ends": True}, "Settings early_ends: True is not a whole number of 1 or more"),
        ({"tool_failures": "3"}, "Settings tool_failures: '3' is not a whole number of 1 or more"),
        ({"context_tokens": -5}, "Settings context_tokens: -5 is not a whole number of 1 or more"),
        ({"switches": {"reinforce": False}}, "Settings switches: {'reinforce': False} is not Switches"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        Settings(**wrong)
    assert str(refused.value) == said
