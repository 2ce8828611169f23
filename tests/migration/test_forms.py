"""The forms of a legacy skill that can be told from its source, and what becomes of each."""

from __future__ import annotations

import pytest

from skills.lib.errors import UsageError
from skills.lib.migration import migrate
from skills.lib.workflow.core import StepContext, StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Gate, Outcome
from tests.migration.conftest import END, HEAD, Migrated, source

pytestmark = pytest.mark.req("W-14")


def routes(workflow: Workflow) -> dict[str, dict[str, str | None]]:
    return {step.id: {outcome.value: end for outcome, end in step.next.items()} for step in workflow.steps}


def decided(step: StepDef, **params: object) -> Outcome:
    assert callable(step.handler)
    found = step.handler(StepContext(params, params))
    assert isinstance(found, Outcome)
    return found


def test_a_line_whose_parameters_decide_nothing(migrated: Migrated) -> None:
    workflow = migrated(source())
    assert routes(workflow) == {"look": {"ok": "work"}, "work": {"ok": "tell"}, "tell": {"ok": None}}
    assert [(arg.name, arg.type, arg.required, arg.default) for arg in workflow.params] == [
        ("mode", "text", True, None),
        ("level", "text", False, None),
        ("target", "text", False, None),
        ("count", "int", False, 1),
    ]
    assert workflow.steps[0].needs == ("mode", "level", "target", "count")


def test_a_required_choice_is_a_parameter_of_the_run(migrated: Migrated) -> None:
    workflow = migrated(source("if step == 1 and args.mode == 'quick': onward = 3"))
    assert routes(workflow)["look"] == {"ok": "work", "skip": "tell"}
    assert decided(workflow.steps[0], mode="quick") is Outcome.SKIP
    assert decided(workflow.steps[0], mode="full") is Outcome.OK
    assert workflow.params[0] == Arg("mode", choices=("quick", "full"))
    assert workflow.steps[0].when == {"ok": "mode is full", "skip": "mode is quick"}


def test_a_loop_is_decided_on_leaving_its_step(migrated: Migrated) -> None:
    text = source("if step == 2 and args.level != 'high': onward = 2")
    workflow = migrated(text, bounds={"work": 4})
    assert routes(workflow)["work"] == {"ok": "tell", "iterate": "work"}
    assert workflow.steps[1].max_iterations == 4
    assert workflow.params[-1] == Arg("level", choices=("low", "high"), step="work", help="how sure")


def test_two_loops_by_one_parameter_record_it_each(migrated: Migrated) -> None:
    text = source("if step in (1, 2) and args.level == 'low': onward = step")
    workflow = migrated(text, bounds={"1": 2, "2": 3})
    assert workflow.steps[0].requires == (Field("level", choices=("low", "high"), help="how sure"),)
    assert decided(workflow.steps[1], level="low") is Outcome.ITERATE
    assert [step.max_iterations for step in workflow.steps] == [2, 3, None]


def test_a_count_alone_repeats_a_step(migrated: Migrated) -> None:
    end = END.replace(
        "str(onward)]", "str(onward), f'--count={args.count + 1}'] if step == 2 else ['--step', str(onward)]"
    )
    workflow = migrated(source("if step == 2 and args.count < 3: onward = 2", end=end))
    assert routes(workflow)["work"] == {"ok": "tell", "iterate": "work"}
    assert workflow.steps[1].max_iterations == 3
    assert decided(workflow.steps[1]) is Outcome.ITERATE
    assert "count" not in [arg.name for arg in workflow.params]


def test_a_loop_over_two_steps_and_another_way_at_its_limit(migrated: Migrated) -> None:
    body = "if step == 2: onward = 1 if args.level == 'low' else 3\nif step == 2 and args.mode == 'quick': onward = 4"
    workflow = migrated(source(body), bounds={"2": 5})
    assert routes(workflow)["work"] == {"ok": "tell", "iterate": "look", "skip": None}
    assert decided(workflow.steps[1], level="low", mode="quick") is Outcome.SKIP
    assert decided(workflow.steps[1], level="low", mode="full") is Outcome.ITERATE


def test_an_error_for_a_missing_parameter_makes_it_required(migrated: Migrated) -> None:
    missing = "if step == 1 and not args.level: parser.error('--level is needed')\n"
    workflow = migrated(source(missing + "if step == 1 and args.level == 'low': onward = 3"))
    assert workflow.params[-1] == Arg("level", choices=("low", "high"), step="look", help="how sure")


def test_helpers_tables_and_comprehensions_are_followed(migrated: Migrated) -> None:
    module = '''
from textwrap import dedent

INTRO = dedent("""
    Read this.
      Twice.
""").strip()
NEXT = {1: 3, 2: 3}


def said(step, *, loud=False):
    lines = [INTRO, ""] + [f"{n}. {line.upper() if loud else line}" for n, line in enumerate(["a", "b"], 1) if line]
    return {"actions": lines, "title": "%s (%d)" % (STEPS[step]["title"], step)}
'''
    workflow = migrated(source("info = said(step, loud=step == 2)\nonward = {2: 3}.get(step, step + 1)", module=module))
    assert [step.title for step in workflow.steps] == ["Look (1)", "Work (2)", "Tell (3)"]
    assert [step.id for step in workflow.steps] == ["look-1", "work-2", "tell-3"]
    assert workflow.steps[1].actions == ("Read this.\n  Twice.\n\n1. A\n2. B",)


def test_blocks_among_the_actions_and_what_is_forbidden_are_kept(migrated: Migrated) -> None:
    module = "STOP = format_forbidden(['Do not guess.'])\n"
    end = END.replace("next_command=command", "next_command=command, forbidden=STOP if step == 1 else None")
    workflow = migrated(source("if step == 2: info['actions'] += ['', STOP, get_convention('severity')]", module, end))
    assert workflow.steps[0].forbidden == ("Do not guess.",)
    text, blank, block, convention = workflow.steps[1].actions
    assert (text, blank) == ("Work on it.", "")
    assert block == "<FORBIDDEN>\n  <rule>Do not guess.</rule>\n</FORBIDDEN>"
    assert "MUST" in convention


def test_guidance_with_a_branch_is_a_verdict_of_the_agent(migrated: Migrated) -> None:
    end = """
    onward = FlatCommand(f"python3 {sys.argv[0]} --step {onward}") if step < 3 else None
    if step == 2:
        onward = BranchCommand("x.py --step 3", ["x.py", "--step=1"])
    print(format_guidance(GuidanceResult(info["title"], info["actions"], onward), step, total_steps))
"""
    workflow = migrated(source(end=end), bounds={"2": 3})
    assert routes(workflow)["work"] == {"ok": "tell", "iterate": "look"}
    assert workflow.steps[1].handler is None
    assert workflow.steps[1].when[Outcome.ITERATE] == "a finding that blocks is open"


def test_a_dispatch_of_a_step_is_its_handler(migrated: Migrated) -> None:
    text = """
from skills.lib.workflow import formatters
from skills.lib.workflow.types import AgentRole, Dispatch, Step

STEPS = {
    1: Step("Survey", "Have it surveyed.", dispatch=Dispatch(AgentRole.EXPLORE, task="List the entry points.")),
    2: Step("Report", ["Tell."]),
}


def main():
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, required=True)
    args = parser.parse_args()
    step = STEPS[args.step]
    print(formatters.format_step_output(args.step, 2, script=__file__, **step.fields()))
"""
    workflow = migrated(text)
    assert workflow.steps[0].handler == Dispatch(AgentRole.EXPLORE, task="List the entry points.")
    assert workflow.name == "legacy"


def test_the_founding_gate_is_a_gate_that_reads_the_ledger(migrated: Migrated) -> None:
    from tests.fixtures.legacy.tree import HERE

    workflow = migrated((HERE / "reviewed.py").read_text(encoding="utf-8"), name="reviewed")
    review, gate = workflow.steps[1:3]
    assert isinstance(review.handler, Dispatch)
    assert review.handler.agent is AgentRole.QUALITY_REVIEWER
    assert review.handler.task == "Check that the code does what was asked.\nCheck that a test fails without it."
    assert review.checkpoint == "implementation-review"
    assert gate.handler == Gate("implementation-review")
    assert routes(workflow)[gate.id] == {"ok": "report", "fail": "implementation"}


def test_a_simple_skill_of_the_founding_document_prints_plain_text(migrated: Migrated) -> None:
    from tests.workflow.formatters.test_founding_examples import SIMPLE

    workflow = migrated(SIMPLE)
    assert workflow.output == "text"
    assert [step.title for step in workflow.steps] == ["Analyze Problem", "Propose Solution"]
    assert workflow.steps[0].actions == ("Initial analysis\n\nRead codebase\nIdentify issues",)


@pytest.mark.parametrize(
    "title, step_id",
    [
        ("Done", "done-1"),
        ("1st look", "step1"),
        ("???", "step1"),
        ("A " * 40, "-".join("a" * 20)),
        ("Work", "work"),
    ],
)
def test_an_id_is_made_of_the_title(migrated: Migrated, title: str, step_id: str) -> None:
    workflow = migrated(source().replace('"Look"', repr(title)))
    assert workflow.steps[0].id == step_id
    assert len({step.id for step in workflow.steps}) == 3


def test_a_name_is_taken_from_the_option_or_refused(migrated: Migrated) -> None:
    assert migrated(source(), name="other-name").name == "other-name"
    with pytest.raises(UsageError, match="'Bad_Name' is not a name for a workflow"):
        migrate(source().replace('"legacy"', '"Bad_Name"'), "legacy")


def test_line_ends_and_encodings_of_the_source_are_read() -> None:
    from skills.lib.migration.reading import decoded

    text = decoded(b"# coding: latin-1\r\n" + HEAD.replace("Look around.", "Seh dich für um.").encode("latin-1"))
    assert "Seh dich für um." in text
