"""The graph of the review of a plan's code: read, intent, correctness, structure, tests, verify, report."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts, read_resource
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Outcome

PROMPTS = read_prompts(__file__)
FORBIDDEN = PROMPTS["forbidden"].splitlines()
SPLIT = read_resource(__file__, "review-split.md").strip()
STATEMENTS = Field("statements", "list", maximum=30, help='each "scope | statement"; [] on a re-verification')
GIVEN = ("request", "plan")
SPLIT_OFF = [f"{step}.statements" for step in ("intent", "correctness", "structure", "tests")]

WORKFLOW = Workflow(
    "planner-plan-code",
    StepDef(
        "read",
        "Read the plan, then the code",
        PROMPTS["read"],
        {Outcome.OK: "intent"},
        needs=GIVEN,
        requires=[
            Field("map", "list", minimum=1, maximum=60, help='each "scope | path | what the change does"'),
            Field("callers", "list", maximum=30, help='each "path:line | what it relies on"; [] where nothing does'),
        ],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "intent",
        "Split off: does what the plan says",
        [PROMPTS["intent"], "", SPLIT],
        {Outcome.OK: "correctness"},
        needs=[*GIVEN, "read.map"],
        requires=[STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "correctness",
        "Split off: what could go wrong",
        [PROMPTS["correctness"], "", SPLIT],
        {Outcome.OK: "structure"},
        needs=["plan", "read.map", "read.callers"],
        requires=[STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "structure",
        "Split off: structure",
        [PROMPTS["structure"], "", SPLIT, "", get_convention("structural")],
        {Outcome.OK: "tests"},
        needs=["plan", "read.map"],
        requires=[STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "tests",
        "Split off: tests",
        [PROMPTS["tests"], "", SPLIT],
        {Outcome.OK: "verify"},
        needs=["plan", "read.map"],
        requires=[STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "verify",
        "Answer each for itself",
        [PROMPTS["verify"], "", read_resource(__file__, "review-verify.md").strip()],
        {Outcome.OK: "report"},
        needs=[*GIVEN, *SPLIT_OFF],
        requires=[
            Field("answers", "list", minimum=1, maximum=60, help='each "scope | statement | status | what is there"')
        ],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "report",
        "Report the items",
        [PROMPTS["report"], "", read_resource(__file__, "review-report.md").strip(), "", get_convention("severity")],
        {Outcome.OK: None},
        needs=["plan", "verify.answers"],
        requires=[Field("items", "items", help="one object per answer; on a re-verification exactly the items given")],
        forbidden=FORBIDDEN,
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="Review of a plan's code",
    description="Reviews the code of a plan's milestones, item by item, before it touches the project.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("request", help="what the user asked for"),
    ],
)

register_workflow(WORKFLOW)
