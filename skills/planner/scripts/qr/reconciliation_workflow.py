"""The graph of the reviewer who finds out whether a milestone is done already: claims, look, run, judge."""

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
STANDINGS = ("SATISFIED", "PARTIAL", "NOT")

CLAIMS: list[Requirement] = [
    Field("claims", "list", minimum=1, maximum=100, help='each "R1 or A1 | what must be so | what would show it"'),
]
LOOKED: list[Requirement] = [
    Field("seen", "list", minimum=1, maximum=100, help='each "R1 | path:line, or absent | what is so there"'),
]
RAN: list[Requirement] = [
    Field("ran", "list", maximum=30, help='each "what was run | how it ended"; [] where there is nothing to run'),
]
JUDGED: list[Requirement] = [
    Field("status", choices=STANDINGS, help="what the verdicts below come to"),
    Field("verdicts", "list", minimum=1, maximum=100, help='each "R1 | met or open | path:line, or what is missing"'),
    Field("missing", "list", maximum=20, help="what a developer still has to do; [] with SATISFIED alone"),
    Command(
        ["reconciliation_check.py", "{plan}", "{milestone}", "{status}", "{verdicts}", "{missing}"],
        60,
        help="each requirement and acceptance has one verdict, each place exists, and the status follows from them",
    ),
]

WORKFLOW = Workflow(
    "planner-reconciliation",
    StepDef(
        "claims",
        "List what must be so",
        PROMPTS["claims"],
        {Outcome.OK: "look"},
        needs=GIVEN,
        requires=CLAIMS,
    ),
    StepDef(
        "look",
        "Look for each in the code",
        PROMPTS["look"],
        {Outcome.OK: "try"},
        needs=[*GIVEN, "claims.claims"],
        requires=LOOKED,
    ),
    StepDef(
        "try",
        "Run what can be run",
        PROMPTS["try"],
        {Outcome.OK: "judge"},
        needs=[*GIVEN, "claims.claims", "look.seen"],
        requires=RAN,
    ),
    StepDef(
        "judge",
        "Judge",
        PROMPTS["judge"],
        {Outcome.OK: None},
        needs=[*GIVEN, "claims.claims", "look.seen", "try.ran"],
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
