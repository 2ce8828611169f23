"""The graph of the reviewer who finds out whether a milestone is done already: judge."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)

JUDGED: list[Requirement] = [
    Field("ran", "list", maximum=30, help='each "what was run | how it ended"; [] if there is nothing to run'),
    Field(
        "verdicts", "list", minimum=1, maximum=100, help='each "R1 | met | path:line | …", or "R1 | open | what to do"'
    ),
    Command(
        ["reconciliation_check.py", "{plan}", "{milestone}", "{verdicts}"],
        60,
        help="each requirement and acceptance has one verdict, each place exists; what the verdicts come to",
        records="judged",
    ),
]

WORKFLOW = Workflow(
    "planner-reconciliation",
    StepDef(
        "judge",
        "Look for each promise in the code, and judge it",
        PROMPTS["judge"],
        {Outcome.OK: None},
        needs=["plan", "milestone"],
        requires=JUDGED,
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    title="Reconciliation of a milestone",
    description="Finds out whether one milestone of a plan is done already, in part, or not.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("milestone", help="the milestone's id"),
    ],
)

register_workflow(WORKFLOW)
