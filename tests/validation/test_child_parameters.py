"""What a step gives its sub-agents is held against the workflow that they walk."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.validation import output
from skills.lib.validation.rule import TREE
from skills.lib.validation.rules import rules_of
from skills.lib.validation.validator import validate_tree
from skills.lib.workflow.core import Registered
from tests.validation.conftest import Load, example

FRONT = "---\nname: tea-time\ndescription: Makes tea. Use when somebody is thirsty.\n---\nRun `scripts/tea.py`.\n"
EXAMPLES = {rule.name: rule for rule in rules_of(TREE)}
SURVEY = """
WORKFLOW = Workflow(
    "tea-time",
    StepDef("scope", "Scope", next={{Outcome.OK: "explore"}}, requires=[{fields}]),
    StepDef(
        "explore", "Explore", next={{Outcome.OK: None}}, handler=Dispatch(AgentRole.EXPLORE, {dispatch}, {params})
    ),
    params=[
        Arg("topic", maximum=40),
        Arg("mode", choices=("quick", "full")),
        Arg("count", "int", minimum=1, maximum=9),
        Arg("note", required=False),
    ],
)
"""
EXPLORE = """
WORKFLOW = Workflow(
    "tea-time-explore",
    StepDef("search", "Search", next={{Outcome.OK: None}}, needs=[{needs}]),
    params=[{args}],
)
"""
Find = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def find(load: Load, skill: Path) -> Find:
    """The findings about a dispatch of explore.py with these parameters, to a workflow that takes these."""
    (skill / "SKILL.md").write_text(FRONT)

    def find(
        given: str, args: str, fields: str = 'Field("areas", "list")', dispatch: str = 'script="explore.py"'
    ) -> list[tuple[str, str]]:
        names = ", ".join(f'"{name}"' for name in re.findall(r'Arg\("(\w+)"(?!.*step=)', args))
        head = Registered(
            *load(SURVEY.format(fields=fields, dispatch=dispatch, params=f"params={given}"), "survey_workflow")
        )
        child = Registered(*load(EXPLORE.format(args=args, needs=names), "explore_workflow"))
        found = validate_tree(str(skill), [head, child])
        assert all(one.where == "tea-time:explore" for one in found)
        return [(one.rule, one.what) for one in found]

    return find


@pytest.mark.req("W-21")
@pytest.mark.parametrize("name", ["child-parameter", "uncertain-child-parameter"])
def test_a_rule_about_two_workflows_finds_its_bad_example_and_not_its_good_one(
    name: str, load: Load, skill: Path, snapshot: SnapshotAssertion
) -> None:
    rule = EXAMPLES[name]
    (skill / "SKILL.md").write_text(FRONT)

    def registered(text: str) -> list[Registered]:
        parts = re.split(r"^# (\w+)\.py$", text, flags=re.MULTILINE)[1:]
        return [Registered(*load(code, name)) for name, code in zip(parts[::2], parts[1::2], strict=True)]

    others = {"unrelated-name"}
    assert {one.rule for one in validate_tree(str(skill.parent), registered(example(rule, "Use instead")))} == others
    (found,) = [one for one in validate_tree(str(skill.parent), registered(example(rule))) if one.rule not in others]
    assert (found.rule, found.where, found.severity) == (name, "survey:explore", rule.severity)
    assert "\n".join(output.lines([found], str(skill.parent))) == snapshot


@pytest.mark.req("S-04")
@pytest.mark.parametrize(
    "given, args, what",
    [
        ('{"arae": "x"}', 'Arg("area", required=False)', "has no such parameter of the run; did you mean area?"),
        ('{"zz": "x"}', "", "tea-time-explore has no such parameter of the run"),
        ('{"sure": "x"}', 'Arg("sure", step="search")', "it is reported on leaving search"),
        ("{}", 'Arg("area")', "explore does not give its sub-agents area, which tea-time-explore requires"),
        ('{"mode": "fast"}', 'Arg("mode", choices=("quick", "full"))', "'fast' is not one of quick, full"),
        ('{"cups": "two"}', 'Arg("cups", "int")', "'two' is not a whole number"),
        ('{"cups": "12"}', 'Arg("cups", "int", maximum=9)', "12 is out of range"),
        ('{"area": "FILL_area"}', 'Arg("area")', "still stands as FILL_area"),
        ('{"area": "abc"}', 'Arg("area", minimum=10)', "3 characters is out of range"),
        ('{"mode": "{mode}"}', 'Arg("mode", choices=("slow", "fast"))', "'quick' is not one of slow, fast"),
        ('{"cups": "{scope.areas}"}', 'Arg("cups", "int")', "areas is a list, and cups is a whole number"),
        ('{"cups": "{count}"}', 'Arg("cups", "int", minimum=20)', "count is a whole number from 1 to 9, and cups is"),
        ('{"area": "{topic}"}', 'Arg("area", minimum=100)', "topic is a text of at most 40 characters, and area is"),
        ('{"cups": "M-{count}"}', 'Arg("cups", "int")', "'M-' is no part of a whole number"),
        ('{"mode": "very-{mode}"}', 'Arg("mode", choices=("quick", "full"))', "none of quick, full has that form"),
        ('{"area": "{topic} of the whole"}', 'Arg("area", maximum=5)', "what is written out has 13 characters"),
    ],
)
def test_a_parameter_that_does_not_fit_is_found(given: str, args: str, what: str, find: Find) -> None:
    ((rule, told),) = find(given, args)
    assert rule == "child-parameter"
    assert what in told


@pytest.mark.parametrize(
    "given, args",
    [
        ('{"area": "{topic}"}', 'Arg("area")'),
        ('{"area": "{topic}"}', 'Arg("area", minimum=40)'),
        ('{"mode": "{mode}"}', 'Arg("mode", choices=("full", "slow", "quick"))'),
        ('{"cups": "{count}"}', 'Arg("cups", "float", minimum=0, maximum=9)'),
        ('{"mode": "very-{mode}"}', 'Arg("mode", choices=("very-quick", "full"))'),
        ('{"cups": "{count}0"}', 'Arg("cups", "int")'),
        ('{"cups": " 3 "}', 'Arg("cups", "int", maximum=9)'),
        ('{"areas": "{scope.areas}"}', 'Arg("areas", "list")'),
        ('{"areas": "one"}', 'Arg("areas", "list", choices=("one", "two"))'),
        ('{"note": "{note}"}', 'Arg("note", required=False)'),
        ('{"note": "{note}"}', 'Arg("note", default="none")'),
        ('{"note": "The user says: {note}"}', 'Arg("note")'),
        ("{}", 'Arg("area", default="all")'),
    ],
)
def test_a_parameter_that_may_fit_is_not_reported(given: str, args: str, find: Find) -> None:
    assert find(given, args) == []


def test_each_target_that_is_written_out_is_held_against_the_parameter(find: Find) -> None:
    dispatch, given = 'script="explore.py", targets=["quick", "fulll"]', '{"mode": "{target}"}'
    ((rule, told),) = find(given, 'Arg("mode", choices=("quick", "full"))', dispatch=dispatch)
    assert (rule, "'fulll' is not one of quick, full" in told) == ("child-parameter", True)
    assert find(given, 'Arg("mode", choices=("quick", "fulll"))', dispatch=dispatch) == []


def test_targets_of_a_recorded_list_are_held_against_the_parameter(find: Find) -> None:
    dispatch, given = 'script="explore.py", targets="scope.areas"', '{"cups": "{target}"}'
    ((rule, told),) = find(given, 'Arg("cups", "int", minimum=3)', dispatch=dispatch)
    assert rule == "uncertain-child-parameter"
    assert "it is any text, and cups takes a whole number of 3 or more" in told
    assert find(given, 'Arg("cups")', dispatch=dispatch) == []
    words = 'Field("areas", "list", choices=("3", "4"))'
    assert find(given, 'Arg("cups", "int", minimum=3)', fields=words, dispatch=dispatch) == []


def test_parameters_without_a_script_are_found(find: Find) -> None:
    ((rule, told),) = find('{"area": "x"}', "", dispatch='task="Look."')
    assert rule == "child-parameter"
    assert told == "explore gives its sub-agents area, and names no script that takes parameters"


@pytest.mark.parametrize("given", ['{"area": "{note}"}', '{"area": "{scope.area}"}', '{"area": " {scope.area} "}'])
def test_a_required_parameter_of_a_value_that_may_be_missing_is_reported(given: str, find: Find) -> None:
    ((rule, told),) = find(given, 'Arg("area")', fields='Field("area", required=False)')
    assert rule == "uncertain-child-parameter"
    assert "tea-time-explore may refuse it: it may be missing, and is required" in told


@pytest.mark.parametrize(
    "given, args, why",
    [
        ('{"cups": "{topic}"}', 'Arg("cups", "int")', "it is any text, and cups takes a whole number"),
        (
            '{"mode": "{topic}"}',
            'Arg("mode", choices=("quick", "full"))',
            "it is any text, and mode takes one of quick",
        ),
        ('{"mode": "{mode}"}', 'Arg("mode", choices=("full", "slow"))', "'quick' is not one of full, slow"),
        ('{"cups": "{count}"}', 'Arg("cups", "int", maximum=5)', "it is a whole number from 1 to 9, and cups takes"),
    ],
)
def test_a_parameter_that_some_values_do_not_fit_is_reported(given: str, args: str, why: str, find: Find) -> None:
    ((rule, told),) = find(given, args)
    assert rule == "uncertain-child-parameter"
    assert why in told


def test_a_script_that_the_tree_does_not_have_is_not_looked_at(load: Load, skill: Path) -> None:
    (skill / "SKILL.md").write_text(FRONT)
    code = SURVEY.format(fields="", dispatch='script="explore.py"', params='params={"zz": "x"}')
    assert validate_tree(str(skill), [Registered(*load(code, "survey_workflow"))]) == []
