"""Defects planted in a valid chain, alone and together: all are found, and nothing else is."""

from __future__ import annotations

import random

import pytest

from skills.lib.validation.rule import GRAPH
from skills.lib.validation.rules import rules_of
from skills.lib.validation.validator import validate
from tests.validation.defects import DEFECTS, SPAN, Expected, Plan

SOLO = {"always", "empty-workflow", "malformed-name", "meaning-of-no-end", "no-end", "unknown-start"}


def _found(plan: Plan) -> Expected:
    return {(finding.rule, finding.where) for finding in validate(plan.workflow())}


def test_the_chain_itself_is_valid() -> None:
    assert validate(Plan(60).workflow()) == []


def test_every_graph_rule_that_can_be_combined_is_planted() -> None:
    planted = {rule for plant in DEFECTS.values() for rule, _ in plant(Plan(10), 3)}
    assert planted == {rule.name for rule in rules_of(GRAPH)} - SOLO


@pytest.mark.req("W-02")
@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_alone_is_found_and_nothing_else(name: str) -> None:
    plan = Plan(10)
    expected = DEFECTS[name](plan, 3)
    assert _found(plan) == expected
    messages = [finding.what for finding in validate(plan.workflow())]
    assert all(messages)


@pytest.mark.req("W-02")
@pytest.mark.parametrize("seed", range(60))
def test_defects_together_are_all_found_and_nothing_else(seed: int) -> None:
    chance = random.Random(seed)
    names = chance.sample(sorted(DEFECTS), chance.randint(2, 14))
    plan = Plan(2 + len(names) * (SPAN + 1) + 2)
    expected: Expected = set()
    for number, name in enumerate(names):
        expected |= DEFECTS[name](plan, 2 + number * (SPAN + 1))
    assert _found(plan) == expected, names


def test_all_defects_at_once_are_found() -> None:
    plan = Plan(2 + len(DEFECTS) * (SPAN + 1) + 2)
    expected: Expected = set()
    for number, plant in enumerate(DEFECTS.values()):
        expected |= plant(plan, 2 + number * (SPAN + 1))
    assert _found(plan) == expected
