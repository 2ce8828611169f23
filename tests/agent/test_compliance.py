"""A model that deviates in every way does nothing that the skill does not allow; an honest one is undisturbed."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks import compliance

NOTHING = dict.fromkeys(compliance.WRONG, 0)


def wrong(counts: Counter[str]) -> dict[str, int]:
    return {kind: counts[kind] for kind in compliance.WRONG}


def test_an_honest_model_is_undisturbed() -> None:
    counts = compliance.session(0, 0.0)
    assert (counts["done"], counts["calls"], wrong(counts)) == (1, 3, NOTHING)


@pytest.mark.req("F-01")
def test_a_model_that_deviates_at_every_second_call_is_held_to_the_skill() -> None:
    counts: Counter[str] = Counter()
    for seed in range(4):
        counts += compliance.session(seed, 0.5)
    assert (counts["done"], wrong(counts)) == (4, NOTHING)
    assert counts["deviations"] > 5


@pytest.mark.slow
def test_every_kind_of_deviation_is_met_and_refused() -> None:
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for seed in range(100, 140):
        counts += compliance.session(seed, 0.6, kinds)
    assert (counts["done"], wrong(counts)) == (40, NOTHING)
    assert len(kinds) == 15


@pytest.mark.slow
def test_a_model_that_only_deviates_ends_no_run() -> None:
    counts = compliance.session(1, 1.0)
    assert (counts["done"], wrong(counts)) == (0, NOTHING)
