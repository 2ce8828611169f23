"""The graph of the developer who writes one milestone's changes: read, write, prove, report."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
GIVEN = ("plan", "milestone")
THERE = Command(["fill_changes_check.py", "{plan}", "{milestone}", "{files}"], 60, help="each copy is there and parses")

READ: list[Requirement] = [
    Field("work", "list", minimum=1, maximum=60, help='each "path | what it does today | what it does afterwards"'),
    Field("doubts", maximum=1500, help="what the plan leaves open, with the reading taken; or the word none"),
]
WRITTEN: list[Requirement] = [
    Field("files", "list", minimum=1, maximum=60, help="paths in the project of all copies that are now there"),
    THERE,
]
PROVED: list[Requirement] = [
    Field("ran", "list", minimum=1, maximum=20, help='each "command | how it ended"'),
    Field("acceptance", "list", minimum=1, maximum=40, help='each "acceptance | what was done and seen"'),
]
REPORT: list[Requirement] = [
    Field("summary", minimum=20, maximum=1000, help="what the code now does; where it departs from the plan, and why"),
    Field("open", "list", maximum=10, help="what a reviewer should look at first; [] where there is nothing"),
]

WORKFLOW = Workflow(
    "planner-fill-changes",
    StepDef(
        "read",
        "Read the milestone and its files",
        PROMPTS["read"],
        {Outcome.OK: "write"},
        needs=GIVEN,
        requires=READ,
    ),
    StepDef(
        "write",
        "Write the copies",
        PROMPTS["write"],
        {Outcome.OK: "prove"},
        needs=[*GIVEN, "read.work", "read.doubts"],
        requires=WRITTEN,
    ),
    StepDef(
        "prove",
        "Prove that they work",
        PROMPTS["prove"],
        {Outcome.OK: "report"},
        needs=[*GIVEN, "write.files"],
        requires=PROVED,
    ),
    StepDef(
        "report",
        "Hand over",
        PROMPTS["report"],
        {Outcome.OK: None},
        needs=[*GIVEN, "read.doubts", "write.files", "prove.ran", "prove.acceptance"],
        requires=REPORT,
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    title="Developer of a plan",
    description="Writes the code of one milestone as whole copies of its files, apart from the project.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("milestone", help='the milestone\'s id; after a review "id | finding; finding"'),
    ],
)

register_workflow(WORKFLOW)
