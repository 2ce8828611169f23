"""Every rule finds its own bad example, says so well, and is content with its good one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.validation import output
from skills.lib.validation.rule import GRAPH, SOURCE, Finding, Rule
from skills.lib.validation.rules import RULES, THEMES, rules_of
from skills.lib.validation.validator import validate, validate_source
from tests.validation.conftest import HEAD_LINES, Load, example

EXAMPLES: list[Rule[Any]] = [*rules_of(GRAPH), *rules_of(SOURCE)]
# These calls fail while the module is loaded, as they would for an agent: the example is validated as text only.
FAILING = {"unresolved-convention": "get_convention", "unresolved-resource": "read_resource"}

PROMPTS = "# The prompts of tea\n\n## boil\n\nBoil water.\n\n## steep\n\nLet it steep.\n"


def _findings(load: Load, folder: Path, code: str, rule: str) -> list[Finding]:
    if "read_prompts(__file__)" in code:
        (folder / "scripts" / "tea_prompts.md").write_text(PROMPTS)
    if "policy=" in code:
        (folder / "scripts" / "policy.yaml").write_text("tools: {shell(git push): {needs: [tests.passed]}}\n")
    function = FAILING.get(rule)
    shadow = f"def {function}(*names): return 'text'\n" if function else "\n"
    workflow, file = load(shadow + code)
    return [*validate(workflow, file), *validate_source(workflow, file)]


@pytest.mark.req("W-02")
@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.name)
def test_a_rule_finds_its_bad_example(rule: Rule[Any], load: Load, snapshot: SnapshotAssertion, skill: Path) -> None:
    found = _findings(load, skill, example(rule), rule.name)
    own = [finding for finding in found if finding.rule == rule.name]
    assert len(own) == 1
    assert own[0].severity == rule.severity
    assert own[0].line > (HEAD_LINES if own[0].file.endswith(".py") else 0)
    assert "\n".join(output.lines(own)).replace(str(skill), "SKILL") == snapshot


@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.name)
def test_no_rule_finds_anything_in_the_good_example(rule: Rule[Any], load: Load, skill: Path) -> None:
    assert _findings(load, skill, example(rule, "Use instead"), rule.name) == []


def test_there_are_all_rules_each_with_a_page() -> None:
    assert len(RULES) == 84
    for rule in RULES.values():
        assert all((rule.title, *rule.sections.values()))
        assert example(rule) != example(rule, "Use instead")


def test_every_module_of_rules_is_imported() -> None:
    folder = Path(str(output.__file__)).parent / "rules"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(THEMES)


def test_all_rules_of_a_module_look_at_the_same() -> None:
    """A seal is good as long as the modules of the graph rules are unchanged, and no other rule stands there."""
    seen: dict[str, set[str]] = {}
    for rule in RULES.values():
        seen.setdefault(rule.check.__module__, set()).add(rule.scope.title)
    assert all(len(titles) == 1 for titles in seen.values())
