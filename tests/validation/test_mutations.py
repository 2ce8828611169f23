"""Slips planted in the shipped skills are found at their steps; only rules that say so report what does no harm.

Whether a slip does harm is decided by a simulation that walks every path and knows none of the rules. A few places of
each kind are tried; LOCKSTEP_EXHAUSTIVE=1 tries them all, and -s shows the table.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from skills.lib.runtime import loading
from skills.lib.validation.rules import RULES
from skills.lib.validation.validator import validate, validate_source, validate_tree
from skills.lib.workflow.core import Registered, Workflow
from tests.extent import EXHAUSTIVE
from tests.validation.mutations import KINDS, TREE_KINDS, Mutant, Subject
from tests.validation.simulation import Harm, World, harms

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# Places of each kind that are tried, unless all are.
SAMPLE = 2
BOUND = 0.99
# Rules that may tell of what does no harm, each with the words of its page that say so.
SAY_SO = {
    "unread-value": "the reader was forgotten, or the question can go",
    "fail-without-return": "one whose FAIL route leads to the end",
    "fallen-verdict": "a path leads to the end past it",
}
Place = tuple[str, str, str]


@dataclass
class Tally:
    """How many slips of a kind do harm and are found at a right step, elsewhere or not; and harmless ones found."""

    found: int = 0
    elsewhere: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    harmless: int = 0
    told: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    @property
    def harmful(self) -> int:
        return self.found + len(self.elsewhere) + len(self.missed)


@cache
def _family() -> dict[str, Workflow]:
    """Every shipped workflow by its file."""
    modules = sorted(ROOT.glob("skills/*/scripts/**/*_workflow.[pj]*"))
    return {str(module): loading.load_workflow(str(module)) for module in modules}


@cache
def _subjects() -> list[Subject]:
    return [Subject(workflow, file, _family()) for file, workflow in _family().items()]


def _skill(file: str) -> str:
    return str(next(parent for parent in Path(file).parents if parent.parent.name == "skills"))


def _own(file: str, workflow: Workflow) -> set[Place]:
    found = [*validate(workflow, file), *validate_source(workflow, file)]
    return {(one.rule, ":".join(one.where.split(":")[:2]), one.value) for one in found}


def _tree(file: str, family: dict[str, Workflow]) -> set[Place]:
    skill = _skill(file)
    entries = [Registered(workflow, one) for one, workflow in family.items() if _skill(one) == skill]
    return {(one.rule, ":".join(one.where.split(":")[:2]), one.value) for one in validate_tree(skill, entries)}


@cache
def _own_before(file: str) -> set[Place]:
    return _own(file, _family()[file])


@cache
def _tree_before(skill: str) -> set[Place]:
    return _tree(next(file for file in _family() if _skill(file) == skill), _family())


@cache
def _harm_before(file: str) -> set[Harm]:
    return harms(_family()[file], World(_family()[file], file, _family()))


def _judge(kind: str, subject: Subject, mutant: Mutant, tally: Tally) -> None:
    """Count one slip: what the simulation sees in it, and what the rules newly tell."""
    try:
        changed = dict(mutant.build())
    except (TypeError, ValueError):
        tally.found += 1  # the constructor refuses it, at its line
        return
    family = {**_family(), **changed}
    harm: set[Harm] = set()
    told: set[Place] = set()
    for file, workflow in changed.items():
        harm |= harms(workflow, World(_family()[file], file, family)) - _harm_before(file)
        told |= _own(file, workflow) - _own_before(file)
    if kind in TREE_KINDS:
        told |= _tree(subject.file, family) - _tree_before(_skill(subject.file))
    right = {step for one in harm for step in one.steps}
    if not harm:
        tally.harmless += 1
        for rule, _, _ in told:
            tally.told[rule] += 1
            tally.examples.setdefault(rule, mutant.about)
    elif any(where in right for _, where, _ in told):
        tally.found += 1
    else:
        about = f"{mutant.about} {sorted({one.kind for one in harm})} {sorted(told)}"
        (tally.elsewhere if told else tally.missed).append(about)


def _mutants(kind: str) -> Iterator[tuple[Subject, Mutant]]:
    every = [(subject, mutant) for subject in _subjects() for mutant in KINDS[kind](subject)]
    return iter(every if EXHAUSTIVE else random.Random(kind).sample(every, min(SAMPLE, len(every))))


@cache
def _tallies() -> dict[str, Tally]:
    tallies = {kind: Tally() for kind in KINDS}
    for kind, tally in tallies.items():
        for subject, mutant in _mutants(kind):
            _judge(kind, subject, mutant, tally)
    return tallies


def _table(tallies: dict[str, Tally]) -> Iterator[str]:
    yield f"{'kind':62} harmful found elsewhere missed | harmless told"
    for kind, tally in tallies.items():
        counts = f"{tally.harmful:7} {tally.found:5} {len(tally.elsewhere):9} {len(tally.missed):6}"
        yield f"{kind:62} {counts} | {tally.harmless:8} {dict(tally.told) or ''}"


def test_slips_in_shipped_skills_are_found_at_the_right_step() -> None:
    tallies = _tallies()
    harmful, found = sum(tally.harmful for tally in tallies.values()), sum(tally.found for tally in tallies.values())
    lost = [f"{kind}: {about}" for kind, tally in tallies.items() for about in (*tally.missed, *tally.elsewhere)]
    print("\n".join(["", *_table(tallies), f"{found} of {harmful} found", *lost]))
    assert sum(tally.harmful > 0 for tally in tallies.values()) >= 60
    assert found >= BOUND * harmful, lost


def test_what_does_no_harm_is_reported_only_by_rules_that_say_so() -> None:
    pages = {rule.name: rule.text for rule in RULES.values()}
    assert all(words in " ".join(pages[rule].split()) for rule, words in SAY_SO.items())
    told = {
        f"{rule}: {kind}: {about}"
        for kind, tally in _tallies().items()
        for rule, about in tally.examples.items()
        if rule not in SAY_SO
    }
    assert told == set()
