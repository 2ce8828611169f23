"""The reader on cases that it was not made for: the figures of corpus/held_out/README.md as floors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.layers.adopting.corpus_cases import CORPUS, Case, cases
from tests.layers.adopting.drafted import drafted, put
from tests.layers.adopting.score import agreement, uncovered

if TYPE_CHECKING:
    from pathlib import Path

HELD_OUT = cases(CORPUS / "held_out")


@pytest.mark.req("E-06")
@pytest.mark.parametrize("shape, least", [("within", 12), ("beyond", 1)])
def test_drafts_of_held_out_cases_are_as_intended(shape: str, least: int, tmp_path: Path) -> None:
    agreed = [case for case in HELD_OUT if case.shape == shape and _agrees(case, tmp_path)]

    assert len(agreed) >= least


@pytest.mark.parametrize("case", HELD_OUT, ids=lambda case: case.name)
def test_no_line_of_a_held_out_case_is_lost_and_what_no_rule_covers_is_one_step(case: Case, tmp_path: Path) -> None:
    data = drafted(put(case, tmp_path))

    assert uncovered(case.source, data) == []
    assert case.shape == "within" or _agrees(case, tmp_path) or data["result"] == case.intended["fallback"]


def _agrees(case: Case, tmp_path: Path) -> bool:
    return agreement(case.intended, drafted(put(case, tmp_path / "scored" / case.name)), case.source).as_intended
