"""The graph of the technical writer of implemented work: survey, write, prove."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
GIVEN = ("plan", "assignment")

SURVEYED: list[Requirement] = [
    Field("due", "list", minimum=1, maximum=60, help='each "path | comment, knowledge, document or index | what"'),
]
WRITTEN: list[Requirement] = [
    Field("written", "list", maximum=100, help='each "path:line | what stands there now"; [] if nothing was due'),
    Command(["post_implementation_check.py", "{written}"], 60, help="each begins with a file"),
]
PROVED: list[Requirement] = [
    Field("ran", "list", minimum=1, maximum=20, help='each "command | how it ended, with numbers"'),
    Field("summary", minimum=20, maximum=1200, help="what is documented now and where; what is left, and why"),
]

WORKFLOW = Workflow(
    "planner-post-implementation",
    StepDef(
        "survey",
        "See what is due",
        PROMPTS["survey"],
        {Outcome.OK: "write"},
        needs=GIVEN,
        requires=SURVEYED,
    ),
    StepDef(
        "write",
        "Write comments, knowledge, documents and indexes",
        [PROMPTS["write"], "", get_convention("temporal"), "", get_convention("documentation")],
        {Outcome.OK: "prove"},
        needs=[*GIVEN, "survey.due"],
        requires=WRITTEN,
    ),
    StepDef(
        "prove",
        "Prove it, and hand over",
        PROMPTS["prove"],
        {Outcome.OK: None},
        needs=[*GIVEN, "write.written"],
        requires=PROVED,
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    title="Technical writer of implemented work",
    description="Brings comments, documents and indexes up to what an executed plan has made of the project.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("assignment", help='all; after a review "all | finding; finding"'),
    ],
)

register_workflow(WORKFLOW)
