"""What the reader makes of the corpus of prose skills: the shares of docs/adopting.md, and every line accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.graphfile.compiling import compile_file
from skills.lib.layers.adopting import drafting, placing, writing
from skills.lib.skillfile import SkillFileError
from skills.lib.validation.validator import validate
from tests.layers.adopting.corpus_cases import cases
from tests.layers.adopting.drafted import drafted, put
from tests.layers.adopting.score import agreement, uncovered

# Of one hundred cases of a shape, so many at least are as intended.
LEAST = {"graphs": 90, "headings": 90, "counted": 90, "lists": 80, "none": 80, "hostile": 80}


def errors(folder: Path) -> list[str]:
    """What validation finds wrong with the draft of a skill, once it is written."""
    made = drafting.draft(folder)
    placing.write(folder, writing.files(made, ""))
    workflow = compile_file(str(folder / "workflow.yaml"), drafts=True).workflow
    return [finding.what for finding in validate(workflow, "") if finding.severity == "error"]


@pytest.mark.req("E-06")
@pytest.mark.parametrize("shape", LEAST)
def test_drafts_of_the_corpus_are_as_intended_and_lose_no_line(shape: str, tmp_path: Path) -> None:
    of_shape = [case for case in cases() if case.shape == shape]
    agreed, refused = 0, []
    for case in of_shape:
        folder = put(case, tmp_path / case.name)
        try:
            data = drafted(folder)
        except SkillFileError:
            refused.append(case.name)
            continue
        assert uncovered(case.source, data) == [], case.name
        agreed += agreement(case.intended, data, case.source).as_intended
        assert data["result"] == "ambiguous" or errors(folder) == [], case.name
    assert 100 * agreed >= LEAST[shape] * len(of_shape)
    assert refused == (["terminal-codes"] if shape == "hostile" else [])
