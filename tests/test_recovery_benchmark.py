"""The benchmark of recovery: what three temperaments of a model reach if tools, files or the provider fail."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.recovery.cases import Case
from benchmarks.recovery.figures import TEMPERAMENTS, Seen, run
from benchmarks.recovery.tasks import CASES
from tests.extent import extent

LEARNS, REPEATS, QUITS = TEMPERAMENTS.values()
_BY_NAME = {case.name: case for case in CASES}


def _all_of(policy: object, cases: Sequence[Case]) -> list[Seen]:
    return [run(case, policy) for case in cases]  # type: ignore[arg-type]


@pytest.mark.req("A-02.1", "A-02.4")
def test_the_text_of_an_error_leads_to_another_way() -> None:
    seen = run(_BY_NAME["near-name"], LEARNS)
    assert (seen.status, seen.is_made, seen.failed) == ("done", True, 1)


@pytest.mark.req("A-02.3")
def test_another_encoding_is_another_way() -> None:
    seen = run(_BY_NAME["latin"], LEARNS)
    assert (seen.status, seen.is_made, seen.failed) == ("done", True, 1)


@pytest.mark.req("A-02.2")
def test_a_model_that_repeats_itself_is_stopped_from_it() -> None:
    seen = run(_BY_NAME["password"], REPEATS)
    assert (seen.status, seen.failed, seen.in_order) == ("stopped", 3, True)


@pytest.mark.req("A-02.5")
def test_a_model_that_gives_up_brings_what_it_reached() -> None:
    seen = run(_BY_NAME["password"], QUITS)
    assert (seen.status, seen.has_part, seen.is_told) == ("stopped", True, True)


@pytest.mark.slow
@pytest.mark.req("A-02", "A-02.6", "A-16")
def test_a_model_that_learns_recovers_from_most_failures() -> None:
    seen = _all_of(LEARNS, CASES)
    faults = [one for one in seen if one.case.solvable and one.case.kind != "no fault"]
    assert len(faults) >= 60
    assert sum(one.is_recovered for one in faults) >= 0.8 * len(faults)
    assert sum(one.is_recovered for one in seen) >= 0.85 * len(seen)
    assert all(one.in_order for one in seen)
    simple = [one.calls for one in seen if one.case.kind == "no fault"]
    assert (min(simple), max(simple)) == (3, 5)


@pytest.mark.slow
@pytest.mark.req("A-16")
@pytest.mark.parametrize("policy", [REPEATS, QUITS])
def test_no_model_goes_on_for_ever_and_parts_are_brought(policy: object) -> None:
    solvable = [case for case in CASES if case.solvable]
    seen = _all_of(policy, [*solvable[:: extent(4, 1)], *[case for case in CASES if not case.solvable]])
    assert all(one.in_order for one in seen)
    hopeless = [one for one in seen if not one.case.solvable]
    assert len(hopeless) >= 10
    assert sum(one.has_part and one.is_told for one in hopeless) >= 0.6 * len(hopeless)
