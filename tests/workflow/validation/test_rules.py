"""Every rule finds its own bad example, says so well, and is content with its good one."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.validation import output, reference, rules
from skills.lib.validation.finding import Finding
from skills.lib.validation.validator import validate, validate_source
from tests.workflow.validation.conftest import HEAD_LINES, Load

EXAMPLES = reference.describe((*rules.GRAPH_RULES, *rules.SOURCE_RULES))
# These calls fail while the module is loaded, as they would for an agent: the example is validated as text only.
FAILING = {"unresolved-convention": "get_convention", "unresolved-resource": "read_resource"}

PROMPTS = "# The prompts of tea\n\n## boil\n\nBoil water.\n\n## steep\n\nLet it steep.\n"


def _findings(load: Load, folder: Path, code: str, rule: str) -> list[Finding]:
    if "read_prompts(__file__)" in code:
        (folder / "scripts" / "tea_prompts.md").write_text(PROMPTS)
    function = FAILING.get(rule)
    shadow = f"def {function}(*names): return 'text'\n" if function else "\n"
    workflow, file = load(shadow + code)
    return [*validate(workflow, file), *validate_source(workflow, file)]


@pytest.mark.req("W-02")
@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.name)
def test_a_rule_finds_its_bad_example(
    rule: reference.Rule, load: Load, snapshot: SnapshotAssertion, skill: Path
) -> None:
    found = _findings(load, skill, rule.example, rule.name)
    own = [finding for finding in found if finding.rule == rule.name]
    assert len(own) == 1
    assert own[0].severity == rule.severity
    assert own[0].line > (HEAD_LINES if own[0].file.endswith(".py") else 0)
    assert "\n".join(output.lines(own)).replace(str(skill), "SKILL") == snapshot


@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.name)
def test_no_rule_finds_anything_in_the_good_example(rule: reference.Rule, load: Load, skill: Path) -> None:
    assert _findings(load, skill, rule.instead, rule.name) == []


def test_names_are_unique_and_state_the_file() -> None:
    assert len(rules.NAMES) == len(rules.RULES) == 77
    for rule in rules.RULES:
        assert rule.__name__.rpartition(".")[2] == rule.RULE.replace("-", "_")
        assert rule.SEVERITY in ("error", "warning")


def test_every_rule_file_is_registered() -> None:
    folder = Path(str(rules.__file__)).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert files == {rule.__name__.rpartition(".")[2] for rule in rules.RULES}


def test_the_reference_page_is_current() -> None:
    page = Path(__file__).parents[3] / "docs" / "rules.md"
    assert page.read_text() == reference.reference(), "write skills.lib.validation.reference.reference() there"
