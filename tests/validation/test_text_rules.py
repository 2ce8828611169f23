"""Findings about texts: sections that nobody reads, CONTEXT that is not there, tags, targets that may be none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skills.lib.validation.rules import prompts
from skills.lib.validation.validator import validate, validate_source
from tests.validation.conftest import HEAD_LINES, Load

ROOT = Path(__file__).parents[2]
PROMPTS = """# The prompts of tea

## boil

Boil water in {place}.
Wait for it.

## steep

```
## no section
```
Let it steep.

## steep (forbidden)

Do not stir.
Do not squeeze.
"""
GRAPH = """

WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", BOIL, next={Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", STEEP, next={Outcome.OK: None}, forbidden=RULES),
)
"""
LITERAL = """
PROMPTS = read_prompts(__file__)
BOIL, STEEP = PROMPTS["boil"].replace("{place}", "the kettle"), PROMPTS["steep"]
RULES = PROMPTS["steep (forbidden)"].splitlines()
"""


def _found(load: Load, skill: Path, code: str, prompts: str = PROMPTS) -> list[tuple[str, str, int]]:
    (skill / "scripts" / "tea_prompts.md").write_text(prompts)
    workflow, file = load(code + GRAPH)
    assert validate(workflow, file) == []
    return [(found.rule, Path(found.file).name, found.line) for found in validate_source(workflow, file)]


USED = {
    "by their titles": LITERAL,
    "by get": LITERAL.replace('PROMPTS["steep"]', 'PROMPTS.get("steep", "")'),
    "without a name": LITERAL.replace('STEEP = PROMPTS["boil"]', 'STEEP = read_prompts(__file__)["boil"]'),
    "by a computed title": """
PROMPTS = read_prompts(__file__)
BOIL, STEEP = (PROMPTS[name].format(place="the pot") for name in ("boil", "steep"))
RULES = [f"- {rule}" for rule in PROMPTS["steep" + " (forbidden)"].splitlines()]
""",
    "by a function that has them all": """
def rules(prompts, name):
    return prompts[f"{name} (forbidden)"].splitlines()


PROMPTS = read_prompts(__file__)
BOIL, STEEP, RULES = PROMPTS["boil"], PROMPTS["steep"], rules(PROMPTS, "steep")
""",
    "all of them at once": """
BOIL, STEEP, RULES = read_prompts(__file__).values()
""",
}


@pytest.mark.req("W-02")
@pytest.mark.parametrize("name", USED)
def test_sections_that_are_used_are_not_reported(name: str, load: Load, skill: Path) -> None:
    assert _found(load, skill, USED[name]) == []


@pytest.mark.req("W-02")
@pytest.mark.parametrize("name", sorted(set(USED) - {"all of them at once"}))
def test_a_section_that_is_left_over_is_reported_with_its_line(name: str, load: Load, skill: Path) -> None:
    left_over = PROMPTS.replace("## steep\n", "## draw\n\nDraw it.\n\n## steep\n")
    assert _found(load, skill, USED[name], left_over) == [("unused-section", "tea_prompts.md", 8)]


def test_half_a_rename_is_reported_although_a_step_still_has_the_name(load: Load, skill: Path) -> None:
    renamed = PROMPTS + "\n## steep it\n\nLet it steep well.\n"
    code = LITERAL.replace('PROMPTS["steep"]', 'PROMPTS["steep it"]')
    assert _found(load, skill, code, renamed) == [("unused-section", "tea_prompts.md", 8)]


def test_a_section_whose_text_stands_in_the_graph_is_used(load: Load, skill: Path) -> None:
    same = PROMPTS + "\n## again\n\nDo not stir.\n"
    assert _found(load, skill, LITERAL, same) == []


def test_a_finding_about_a_prompt_stands_at_its_line_in_the_prompts_file(load: Load, skill: Path) -> None:
    spoken = PROMPTS.replace("Let it steep.", "Let it steep.\nThe minutes stand in CONTEXT; see <NEXT>.")
    assert _found(load, skill, LITERAL, spoken) == [
        ("absent-context", "tea_prompts.md", 14),
        ("protocol-tag", "tea_prompts.md", 14),
    ]


CONTEXT = """
WORKFLOW = Workflow(
    "w",
    StepDef("work", "Work", ["Mend the findings in CONTEXT."], next={{Outcome.OK: "code-review"}}, {}),
    *review_loop("code", work="{}", passed=None),
    StepDef("more", "More", next={{Outcome.OK: "code-review"}}, allow={{"unreachable-step": "for the test"}}),
)
"""


@pytest.mark.req("W-02")
@pytest.mark.parametrize(
    "work, extra, told",
    [
        ("more", "", True),
        ("work", "", False),
        ("more", 'needs=["code-gate.reason"]', False),
        ("more", 'requires=[Field("items", "items")]', False),
    ],
)
def test_context_is_missing_if_neither_needs_nor_a_review_brings_any(
    work: str, extra: str, told: bool, load: Load
) -> None:
    workflow, file = load(CONTEXT.format(extra, work))
    found = [(finding.where, finding.line - HEAD_LINES) for finding in validate_source(workflow, file)]
    assert found == ([("w:work", 4)] if told else [])


def test_context_in_small_letters_and_in_longer_words_is_another_thing(load: Load) -> None:
    workflow, file = load(
        """
WORKFLOW = Workflow(
    "w", StepDef("one", "One", ["Mind the context and the CONTEXTS."], next={Outcome.OK: None})
)
"""
    )
    assert validate_source(workflow, file) == []


@pytest.mark.req("W-02")
@pytest.mark.parametrize(
    "step",
    [
        '["Do it.", "Look at <STATE>."]',
        '"Do it.", repeat="Look at <FORBIDDEN >."',
        '"Do it.", forbidden=["</DO>"]',
        '"Do it.", when={Outcome.OK: "what <RECORD> says"}',
        '"Do it.", requires=[Field("x", help="as <CONTEXT> has it")]',
        '"Do it.", handler=Dispatch(AgentRole.EXPLORE, task="See <DISPATCH agent=\'x\'>.")',
        '"Do it.", handler=Person("Is <RESULT> good?", {"yes": Outcome.OK})',
    ],
)
def test_a_tag_of_the_protocol_is_reported_wherever_a_step_says_it(step: str, load: Load) -> None:
    workflow, file = load(f'WORKFLOW = Workflow("w", StepDef("one", "One", {step}, next={{Outcome.OK: None}}))\n')
    assert [(found.rule, found.where) for found in validate_source(workflow, file)] == [("protocol-tag", "w:one")]


def test_other_words_in_angle_brackets_are_left_alone(load: Load) -> None:
    workflow, file = load(
        """
TEXTS = ["Write <triage.md>, <file> and <do>.", "DO < NEXT > DO", "List<DOC>", Rendered("<DO>made by a formatter</DO>")]
WORKFLOW = Workflow("w", StepDef("one", "One", TEXTS, next={Outcome.OK: None}))
"""
    )
    assert validate_source(workflow, file) == []


def test_the_tags_are_those_of_the_grammar_in_capitals() -> None:
    grammar = (ROOT / "skills" / "lib" / "blocks" / "lockstep.rng").read_text()
    assert set(re.findall(r'<element name="([A-Z_]+)"', grammar)) == prompts.TAGS


TARGETS = """
def wanted(ctx):
{}


WORKFLOW = Workflow(
    "w",
    StepDef("first", "First", next={{Outcome.OK: "second"}}, requires=[Field("parts", "list")]),
    StepDef(
        "second",
        "Second",
        next={{Outcome.OK: None, {}}},
        handler=Dispatch(AgentRole.EXPLORE, task="Look.", targets=wanted, then=judge),
    ),
)
"""
JUDGE = "def judge(ctx):\n    return Outcome(ctx.step_id)\n"
PARTS = 'ctx.run_state["first"]["parts"]'
MAY_BE_NONE = [
    f"if ctx.iteration < 3:\n        return {PARTS}\n    return []",
    f"if ctx.iteration < 3:\n        return {PARTS}\n    return ()",
    f"return {PARTS} if ctx.iteration < 3 else []",
    f"return {PARTS} or []",
    f"return [part for part in {PARTS} if part]",
    f"return sorted(part for part in {PARTS} if part)",
    f"due = [part for part in {PARTS} if part]\n    return due",
]
HAS_ONE = [
    f"return {PARTS}",
    f"return [part for part in {PARTS} if part] or ['all']",
    f"return [part.strip() for part in {PARTS}]",
    f"due = [part for part in {PARTS} if part]\n    if not due:\n        due = ['all']\n    return due",
    f"due = [part for part in {PARTS} if part]\n    return due if due else ['all']",
    f"due = []\n    for part in {PARTS}:\n        due.append(part)\n    return due",
]


def _targets(load: Load, body: str, routes: str = "") -> list[tuple[str, str, int]]:
    workflow, file = load(JUDGE + TARGETS.format("    " + body, routes))
    assert [found for found in validate(workflow, file) if found.severity == "error"] == []
    return [(found.rule, found.where, found.line - HEAD_LINES) for found in validate_source(workflow, file)]


@pytest.mark.req("W-02")
@pytest.mark.parametrize("body", MAY_BE_NONE)
def test_targets_that_may_be_none_want_a_way_past_the_step(body: str, load: Load) -> None:
    line = 5 + body.count("\n")
    assert _targets(load, body) == [("targets-without-skip", "w:second", line)]
    assert _targets(load, body, "Outcome.DEFAULT: None") == [("targets-without-skip", "w:second", line)]
    assert _targets(load, body, "Outcome.SKIP: None") == []


@pytest.mark.parametrize("body", HAS_ONE)
def test_targets_of_which_there_is_always_one_want_none(body: str, load: Load) -> None:
    assert _targets(load, body) == []
