"""The graph of the developer who writes one milestone's changes: write, prove."""

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
THERE = Command(["fill_changes_check.py", "{plan}", "{milestone}"], 60, help="each copy is there and parses")

PROVED: list[Requirement] = [
    Field("ran", "list", minimum=1, maximum=20, help='each "command | how it ended"'),
    Field("acceptance", "list", minimum=1, maximum=40, help='each "acceptance | what was done and seen"'),
    Field("open", "list", maximum=10, help="departures, doubts, what was not run; [] if there is nothing"),
    THERE,
]

WORKFLOW = Workflow(
    "planner-fill-changes",
    StepDef(
        "write",
        "Write the copies",
        PROMPTS["write"],
        {Outcome.OK: "prove"},
        needs=GIVEN,
        requires=[THERE],
    ),
    StepDef(
        "prove",
        "Prove that they work, and hand over",
        PROMPTS["prove"],
        {Outcome.OK: None},
        needs=GIVEN,
        requires=PROVED,
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
