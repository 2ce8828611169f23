"""Rules over a folder of skills."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.validation import output
from skills.lib.validation.rule import TREE, Finding
from skills.lib.validation.rules import rules_of
from skills.lib.validation.validator import validate_tree
from skills.lib.workflow.core import Registered
from tests.validation.conftest import Load, example

EXAMPLES = {rule.name: rule for rule in rules_of(TREE)}
TEA = """
WORKFLOW = Workflow(
    "tea-time",
    StepDef("boil", "Boil water", next={Outcome.OK: None}, needs=["leaves", "cups"]),
    params=[Arg("leaves", choices=("green", "black"), default="green"), Arg("cups", "int", required=False)],
)
"""
# Found in examples that belong to a skill of another name than that of the test.
OTHER = "unrelated-name"
FRONT = "---\nname: tea-time\ndescription: Makes tea. Use when somebody is thirsty.\n---\nRun `scripts/tea.py`.\n"


@pytest.fixture
def tea(load: Load, skill: Path) -> Registered:
    workflow, file = load(TEA)
    (skill / "scripts" / "tea.py").write_text("from skills.bootstrap import main\n\nmain(__file__)\n")
    return Registered(workflow, file)


def _commands(skill: Path, *commands: str) -> None:
    (skill / "SKILL.md").write_text(FRONT + "```bash\n" + "\n".join(commands) + "\n```\n")


@pytest.mark.req("W-21")
@pytest.mark.parametrize("name", ["skill-specification", "skill-command", "skill-without-command"])
def test_a_tree_rule_finds_its_bad_example_and_not_its_good_one(
    name: str, tea: Registered, skill: Path, snapshot: SnapshotAssertion
) -> None:
    (skill / "SKILL.md").write_text(example(EXAMPLES[name], "Use instead"))
    assert validate_tree(str(skill.parent), [tea]) == []
    (skill / "SKILL.md").write_text(example(EXAMPLES[name]))
    found = validate_tree(str(skill.parent), [tea])
    assert {finding.rule for finding in found} == {name}
    assert "\n".join(output.lines(found, str(skill.parent))) == snapshot


def test_a_skill_without_a_command_is_shown_at_the_first_line_of_its_text(tea: Registered, skill: Path) -> None:
    front = "---\nname: tea-time\ndescription: Makes tea. Use when somebody is thirsty.\n---\n"
    (skill / "SKILL.md").write_text(front + "\n\nMake tea.\n")
    (found,) = validate_tree(str(skill.parent), [tea])
    assert (found.rule, found.line) == ("skill-without-command", 7)
    assert found.do == 'say at the top to run it: python3 "SKILL_DIR/scripts/tea.py" --step 1'


def test_dispatch_from_a_sub_agent_is_found(load: Load, skill: Path, snapshot: SnapshotAssertion) -> None:
    rule = EXAMPLES["dispatch-from-sub-agent"]
    (skill / "SKILL.md").write_text(FRONT)

    def registered(text: str) -> list[Registered]:
        parts = re.split(r"^# (\w+)\.py$", text, flags=re.MULTILINE)[1:]
        return [Registered(*load(code, name)) for name, code in zip(parts[::2], parts[1::2], strict=True)]

    assert {finding.rule for finding in validate_tree(str(skill.parent), registered(example(rule, "Use instead")))} == {
        OTHER
    }
    found = [one for one in validate_tree(str(skill.parent), registered(example(rule))) if one.rule != OTHER]
    assert [finding.where for finding in found] == ["explore:search"]
    assert "\n".join(output.lines(found, str(skill.parent))) == snapshot


def test_dispatch_from_a_sub_agent_is_found_by_the_graph_beside_its_script(load: Load, skill: Path) -> None:
    (skill / "SKILL.md").write_text(FRONT)
    (skill / "scripts" / "explore.py").write_text("main(__file__)\n")
    head = Registered(
        *load(
            """
WORKFLOW = Workflow(
    "tea-time-head",
    StepDef("go", "Go", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="explore.py")),
)
""",
            "head_workflow",
        )
    )
    allowed = 'allow={"dispatch-from-sub-agent": "the host bounds it"}'
    code = """
WORKFLOW = Workflow(
    "tea-time-other",
    StepDef("dig", "Dig", next={{Outcome.OK: None}}, handler=Dispatch(AgentRole.EXPLORE, task="Dig."), {}),
)
"""
    other = Registered(*load(code.format(""), "explore_workflow"))
    assert [finding.where for finding in validate_tree(str(skill), [head, other])] == ["tea-time-other:dig"]
    other = Registered(*load(code.format(allowed), "explore_workflow"))
    assert validate_tree(str(skill), [head, other]) == []


def _reviewed_by(load: Load, *steps: str, more: str = "") -> list[Registered]:
    """A workflow that is reviewed by a script of these steps."""
    by = """
WORKFLOW = Workflow(
    "tea-time",
    StepDef("brew", "Brew", next={Outcome.OK: "tea-review"}),
    *review_loop(
        "tea", work="brew", passed=None, reviewer=Dispatch(AgentRole.QUALITY_REVIEWER, script="judge.py")
    ),
)
"""
    judge = f'WORKFLOW = Workflow("tea-time-judge", {", ".join(steps)}, {more})\n'
    return [Registered(*load(by, "brew_workflow")), Registered(*load(judge, "judge_workflow"))]


TELL = 'StepDef("tell", "Tell", next={Outcome.OK: None})'
JUDGE = 'StepDef("judge", "Judge", next={{Outcome.OK: {to}}}, requires=[Field("items", "{type}"{more})])'


@pytest.mark.req("W-21")
def test_a_reviewer_without_items_is_found(load: Load, skill: Path, snapshot: SnapshotAssertion) -> None:
    rule = EXAMPLES["reviewer-without-items"]
    (skill / "SKILL.md").write_text(FRONT)

    def found(text: str) -> list[Finding]:
        parts = re.split(r"^# (\w+)\.py$", text, flags=re.MULTILINE)[1:]
        entries = [Registered(*load(code, name)) for name, code in zip(parts[::2], parts[1::2], strict=True)]
        return [one for one in validate_tree(str(skill.parent), entries) if one.rule != OTHER]

    assert found(example(rule, "Use instead")) == []
    (finding,) = found(example(rule))
    assert (finding.rule, finding.where, finding.severity) == (rule.name, "judge:tell", "error")
    assert "\n".join(output.lines([finding], str(skill.parent))) == snapshot


@pytest.mark.parametrize(
    "steps",
    [
        [JUDGE.format(to=None, type="items", more="")],
        [JUDGE.format(to='"tell"', type="items", more=""), TELL],
    ],
    ids=["last", "before the last"],
)
def test_a_reviewer_may_record_its_items_at_any_step(steps: list[str], load: Load, skill: Path) -> None:
    (skill / "SKILL.md").write_text(FRONT)
    assert validate_tree(str(skill), _reviewed_by(load, *steps)) == []


@pytest.mark.parametrize(
    "steps, more, where, what",
    [
        ([TELL], "", "tell", "a path leads to its end without a required Field of type answers, or items"),
        (
            [
                'StepDef("look", "Look", next={Outcome.OK: "judge", Outcome.SKIP: None})',
                JUDGE.format(to=None, type="items", more=""),
            ],
            "",
            "look",
            "a path leads to its end without a required Field of type answers, or items: look -skip-> end",
        ),
        (
            [JUDGE.format(to=None, type="items", more=", required=False")],
            "",
            "judge",
            "a path leads to its end without a required Field of type answers, or items",
        ),
        ([JUDGE.format(to=None, type="list", more="")], "", "judge", "its Field items at judge is of type list"),
        (
            [TELL],
            'params=[Arg("items", "items", step="tell")]',
            "tell",
            "its items are a parameter of leaving tell, which is not held to the items of the first review",
        ),
        (
            [
                'StepDef("split", "Split", next={Outcome.OK: "judge"}, requires=[Field("said", "statements")])',
                JUDGE.format(to=None, type="items", more=""),
            ],
            "",
            "split",
            "no step records answers to the statements of split",
        ),
        (
            [
                'StepDef("run", "Run", next={Outcome.OK: "judge"},'
                ' requires=[Command(["make", "test"], severity="MUST")])',
                JUDGE.format(to=None, type="items", more="").replace('"items", "items"', '"told", "answers"'),
            ],
            'reverify="judge"',
            "run",
            "a re-verification passes run by, whose command judges",
        ),
    ],
    ids=["none", "on one path", "optional", "another type", "a parameter", "unanswered", "a command not run again"],
)
def test_a_reviewer_that_may_record_no_items_is_found(
    steps: list[str], more: str, where: str, what: str, load: Load, skill: Path
) -> None:
    (skill / "SKILL.md").write_text(FRONT)
    (finding,) = validate_tree(str(skill), _reviewed_by(load, *steps, more=more))
    assert (finding.rule, finding.where) == ("reviewer-without-items", f"tea-time-judge:{where}")
    assert what in finding.what


def test_a_reviewer_s_finding_is_switched_off_at_its_step(load: Load, skill: Path) -> None:
    (skill / "SKILL.md").write_text(FRONT)
    allowed = TELL.replace("})", '}, allow={"reviewer-without-items": "a lost review is meant"})')
    assert validate_tree(str(skill), _reviewed_by(load, allowed)) == []


def test_another_sub_agent_s_items_may_be_of_any_type(load: Load, skill: Path) -> None:
    (skill / "SKILL.md").write_text(FRONT)
    head = """
WORKFLOW = Workflow(
    "tea-time",
    StepDef("go", "Go", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="judge.py")),
)
"""
    _, judge = _reviewed_by(load, JUDGE.format(to=None, type="list", more=""))
    assert validate_tree(str(skill), [Registered(*load(head, "head_workflow")), judge]) == []


def test_a_workflow_of_another_name_than_its_skill_is_found(
    load: Load, skill: Path, snapshot: SnapshotAssertion
) -> None:
    rule = EXAMPLES[OTHER]
    (skill / "SKILL.md").write_text(FRONT)
    assert validate_tree(str(skill.parent), [Registered(*load(example(rule, "Use instead")))]) == []
    found = validate_tree(str(skill.parent), [Registered(*load(example(rule)))])
    assert [(finding.rule, finding.severity) for finding in found] == [(OTHER, rule.severity)]
    assert "\n".join(output.lines(found, str(skill.parent))) == snapshot


@pytest.mark.parametrize("name", ["tea-time-explore", "tea-time"])
def test_a_workflow_may_be_called_as_its_skill_and_what_it_does(name: str, load: Load, skill: Path) -> None:
    (skill / "SKILL.md").write_text(FRONT)
    entry = Registered(*load(example(EXAMPLES[OTHER], "Use instead").replace("tea-time", name)))
    assert validate_tree(str(skill), [entry]) == []


def test_a_name_that_only_begins_alike_is_another(load: Load, skill: Path) -> None:
    (skill / "SKILL.md").write_text(FRONT)
    entry = Registered(*load(example(EXAMPLES[OTHER], "Use instead").replace('"tea-time"', '"tea-timer"')))
    assert [finding.rule for finding in validate_tree(str(skill), [entry])] == [OTHER]


BROKEN = {
    "python scripts/te.py --step 1": "there is no scripts/te.py",
    "python scripts/tea.py": "--step is missing",
    "python scripts/tea.py --step 4": "tea-time has no step '4'",
    "python scripts/tea.py --step 1 --flavour mint": "--flavour is not a flag of this script",
    "python scripts/tea.py --step 1 --leaves red": "leaves: 'red' is not one of",
    "python scripts/tea.py --step 1 --total-steps 9": "tea-time does not have 9 steps",
    'python scripts/tea.py --step 1 --leaves "green': "it is not a command line",
}


@pytest.mark.parametrize("command", BROKEN)
def test_a_command_that_does_not_run_is_found(command: str, tea: Registered, skill: Path) -> None:
    _commands(skill, "python scripts/tea.py --step 1", command)
    (finding,) = validate_tree(str(skill.parent), [tea])
    assert (finding.rule, finding.line) == ("skill-command", 8)
    assert BROKEN[command].split("'")[0] in finding.what


@pytest.mark.parametrize(
    "name, remedy",
    [
        ("workflow.yml", "rename workflow.yml to workflow.yaml, in {skill}"),
        ("Workflow.yaml", "rename Workflow.yaml to workflow.yaml, in {skill}"),
        ("scripts/workflow.yaml", "rename scripts/workflow.yaml to workflow.yaml, in {skill}"),
        (
            "scripts/tea_time_worklow.py",
            "rename scripts/tea_time_worklow.py to scripts/tea_time_workflow.py, in {skill}",
        ),
        (
            "scripts/pea_time_workflow.py",  # the graph of another script
            "the graph of a script x.py is in x_workflow.py beside it, or in workflow.yaml in its skill's folder",
        ),
    ],
)
def test_a_command_whose_script_has_no_graph_is_found_with_the_file_that_is_meant(
    skill: Path, name: str, remedy: str
) -> None:
    _commands(skill, "python scripts/tea_time.py --step 1")
    entry = "from skills.bootstrap import main\n\nmain(__file__)\n"
    for script in ("tea_time", "pea_time"):
        (skill / "scripts" / f"{script}.py").write_text(entry)
    (skill / name).write_text("")
    (finding,) = validate_tree(str(skill.parent), [])
    assert finding.what == "`python scripts/tea_time.py --step 1` does not run: scripts/tea_time.py has no graph"
    assert (finding.rule, finding.do) == ("skill-command", remedy.format(skill=skill))


def test_commands_that_run_are_not_found(tea: Registered, skill: Path) -> None:
    _commands(
        skill,
        "python scripts/tea.py --step 1",
        "python3 /some/where/tea-time/scripts/tea.py --step boil --leaves black --cups 3",
        'python scripts/tea.py --step 1 --leaves "<which>" --cups …',
        "python scripts/tea.py --help",
        "python scripts/tea.py --step next --run ID --turn 2 | less",
        "cat /etc/hosts",
    )
    assert validate_tree(str(skill.parent), [tea]) == []


def test_a_parameter_that_opening_a_run_takes_must_be_there(load: Load, skill: Path) -> None:
    code = """
WORKFLOW = Workflow("tea-time", StepDef("boil", "Boil", next={Outcome.OK: None}), params=[Arg("leaves")])
"""
    entry = Registered(*load(code))
    (skill / "scripts" / "tea.py").write_text("")
    _commands(skill, "python scripts/tea.py --step 1", "python scripts/tea.py --step 1 --leaves '<the leaves>'")
    (finding,) = validate_tree(str(skill.parent), [entry])
    assert finding.what == "`python scripts/tea.py --step 1` does not run: --leaves is missing"


def test_a_skill_file_that_cannot_be_read_is_found(tea: Registered, skill: Path) -> None:
    (skill / "SKILL.md").write_text("---\nname: [tea\n---\n")
    (finding,) = validate_tree(str(skill.parent), [tea])
    assert (finding.rule, finding.where, finding.severity) == ("skill-specification", "tea-time", "error")
    assert finding.file.endswith("SKILL.md")
    assert finding.line >= 1


def test_a_skill_file_of_another_case_is_found(tea: Registered, skill: Path) -> None:
    (skill / "skill.md").write_text(FRONT)
    (finding,) = validate_tree(str(skill.parent), [tea])
    assert "must be called SKILL.md" in finding.what


def test_an_empty_tree_is_valid(tmp_path: Path, skill: Path) -> None:
    shutil.rmtree(skill)
    assert validate_tree(str(tmp_path)) == []


@pytest.mark.parametrize(
    "command, problem",
    [
        ("--step 1 --pot big", ""),
        ("--step 1 --pot <size>", ""),
        ("--step 1", "--pot is none of big, small"),
        ("--step 1 --pot huge", "--pot is none of big, small"),
        ("--step 4 --pot small", "tea-time has no step '4'"),
    ],
)
@pytest.mark.parametrize("module", ["", "lockstep."])
def test_a_command_of_a_common_entry_is_checked_against_what_it_chooses(
    command: str, problem: str, module: str, tea: Registered, skill: Path
) -> None:
    folder = skill / "scripts"
    (folder / "any.py").write_text("main(__file__)\n", encoding="utf-8")
    (folder / "any_choice.py").write_text(
        f'CHOICE = {module}Choice("pot", {{"big": "tea.py", "small": "tea.py"}})\n', encoding="utf-8"
    )
    command = command.replace("", "")
    _commands(skill, f"python3 SKILL_DIR/scripts/any.py {command}")
    found = [finding.what for finding in validate_tree(str(skill.parent), [tea])]
    assert [problem in what for what in found] == ([True] if problem else [])
