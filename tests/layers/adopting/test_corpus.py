"""The corpus is consistent: what `intended.json` says of a text can be found in the text."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.layers.adopting.corpus_cases import CORPUS, Case, cases
from tests.layers.adopting.score import source_lines

CASES = cases()


def test_every_shape_has_eight_cases_and_the_corpus_sixty_six() -> None:
    counted = Counter(case.shape for case in CASES)

    assert {shape for shape, count in counted.items() if count >= 8} == {
        "counted",
        "graphs",
        "headings",
        "hostile",
        "lists",
        "none",
    }
    assert len(CASES) >= 66


@pytest.mark.parametrize("case", [*CASES, *cases(CORPUS / "held_out")], ids=lambda case: f"{case.shape}-{case.name}")
def test_the_intended_graph_fits_its_text(case: Case) -> None:
    lines = source_lines(case.source)
    intended = case.intended
    ids = [step["id"] for step in intended["steps"]]
    ends = [end["id"] for end in intended.get("ends", ())]

    assert len(set(ids + ends)) == len(ids + ends)
    assert set(intended["routes"]) == set(ids) | {end for end in ends if end in intended["routes"]}
    assert {to for ways in intended["routes"].values() for to in ways.values() if to} <= set(ids + ends)
    assert set(intended["persons"]) | set(intended.get("maybe_persons", ())) <= set(ids)
    for step in intended["steps"]:
        for first, last in step["lines"]:
            assert 1 <= first <= last <= len(lines)
            assert lines[first - 1].strip()
            assert lines[last - 1].strip()
    for item in (*intended["forbidden"], *intended["fields"]):
        assert item["text"][:20] in lines[item["line"] - 1].replace("*", "").replace("`", "")
    if intended["result"] == "draft":
        assert len(ids) > 1
    else:
        assert not ids
    if intended["result"] == "ambiguous":
        assert len(intended["rivals"]) == 2
        assert all(any(rival in line and line.startswith("#") for line in lines) for rival in intended["rivals"])
