"""The benchmark of deviations: each fix that keeps a session on its skill shows in its own figure."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from benchmarks.deviations import session
from skills.lib.agent.configuration.settings import Switches

pytestmark = pytest.mark.req("F-06")


@cache
def seen(summarized: bool = False, **switches: bool) -> dict[str, Any]:
    return session(Switches(**switches), 4, summarized=summarized)._asdict()


def test_a_session_with_all_fixes_is_not_led_astray() -> None:
    found = seen()
    assert {name: found[name] for name in ("calls", "without_block", "hidden_offered", "tried", "ran", "status")} == {
        "calls": 18, "without_block": 0, "hidden_offered": 0.0, "tried": 3, "ran": 0, "status": "done",
    }  # fmt: skip
    assert (found["reminded"], found["later"], found["reinforced"]) == (18, 15, 15)


def test_without_the_filter_the_model_goes_astray() -> None:
    found = seen(filter_tools=False)
    assert (found["tried"], found["ran"], found["without_block"]) == (6, 6, 0)
    assert found["hidden_offered"] > 17


def test_without_its_protection_the_block_is_lost_to_a_large_result() -> None:
    assert seen(protect_block=False)["without_block"] == 3


def test_without_its_protection_the_block_is_lost_to_a_summary() -> None:
    assert seen(summarized=True)["without_block"] == 0
    found = seen(summarized=True, protect_in_summaries=False)
    assert (found["without_block"], found["status"]) == (4, "open")


def test_without_noise_reduction_more_stands_around_the_block_and_after_it() -> None:
    quiet, noisy = seen(), seen(reduce_noise=False)
    assert noisy["around_block"] - quiet["around_block"] > 400
    assert noisy["after_block"] > 5 * quiet["after_block"]


def test_without_reminder_and_reinforcement_neither_is_sent() -> None:
    assert seen(remind_last=False)["reminded"] == 0
    assert seen(reinforce=False)["reinforced"] == 0
