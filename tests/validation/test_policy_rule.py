"""What the rule on a workflow's policy says of files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.validation.validator import validate_source
from tests.validation.conftest import Load

pytestmark = pytest.mark.req("G-08")
CODE = 'WORKFLOW = Workflow("tea", StepDef("boil", "Boil", next={Outcome.OK: None}), policy="policy.yaml")'


@pytest.mark.parametrize(
    "text, what, line",
    [
        ("tools:\n  edit: {neds: [a]}\n", "the rule of edit has no 'neds'", 2),
        ("tools: [", "", 1),
        ("tools: {a: {needs: ['x =']}}", "", 1),
        ("\xff", "cannot be read", None),
    ],
)
def test_a_file_that_is_no_policy_is_named_with_its_line(
    load: Load, skill: Path, text: str, what: str, line: int | None
) -> None:
    policy = skill / "scripts" / "policy.yaml"
    policy.write_bytes(text.encode("latin-1"))
    workflow, file = load(CODE)
    [found] = [one for one in validate_source(workflow, file) if one.rule == "unusable-policy"]
    assert what in found.what
    if line:
        assert (found.file, found.line) == (str(policy), line)


def test_a_policy_that_is_no_file_is_reported(load: Load, skill: Path) -> None:
    (skill / "scripts" / "policy.yaml").mkdir()
    workflow, file = load(CODE)
    [found] = [one for one in validate_source(workflow, file) if one.rule == "unusable-policy"]
    assert "cannot be read" in found.what


def test_a_name_that_is_no_file_name_is_refused_at_once(load: Load) -> None:
    for name in ("../policy.yaml", "policy.txt", ".yaml", "a/b.yaml", "policy"):
        with pytest.raises(ValueError, match="is not the name of a YAML file beside the script"):
            load(CODE.replace("policy.yaml", name))
