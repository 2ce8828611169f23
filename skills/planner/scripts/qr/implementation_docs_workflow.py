"""The graph of the reviewer of comments and documents: gather, verify, read, judge."""

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
FORBIDDEN = PROMPTS["forbidden"].splitlines()

GATHERED: list[Requirement] = [
    Field("statements", "list", minimum=1, maximum=120, help='each "path:line | what it states or must state"'),
]
VERIFIED: list[Requirement] = [
    Field("verified", "list", minimum=1, maximum=120, help='each "path:line | true, false or missing | what shows it"'),
    Field("ran", "list", minimum=1, maximum=40, help='each "command | how it ended, with numbers"'),
]
FOUND: list[Requirement] = [
    Field("found", "list", maximum=60, help='each "path:line | which rule | the words in question"'),
]
JUDGED: list[Requirement] = [
    Field("items", "items", help="one object per check, each with the milestones that it is about under scope"),
    Command(["implementation_check.py", "{plan}", "items", "{items}"], 60, help="scopes are ids of milestones, or all"),
]

WORKFLOW = Workflow(
    "planner-implementation-docs",
    StepDef(
        "gather",
        "Gather what is stated",
        PROMPTS["gather"],
        {Outcome.OK: "verify"},
        needs=["plan"],
        requires=GATHERED,
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "verify",
        "Verify each against the code",
        PROMPTS["verify"],
        {Outcome.OK: "style"},
        needs=["plan", "gather.statements"],
        requires=VERIFIED,
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "style",
        "Read it as its readers will",
        [PROMPTS["style"], "", get_convention("temporal")],
        {Outcome.OK: "judge"},
        needs=["plan", "gather.statements"],
        requires=FOUND,
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "judge",
        "Judge it",
        [PROMPTS["judge"], "", get_convention("severity")],
        {Outcome.OK: None},
        needs=["plan", "verify.verified", "verify.ran", "style.found"],
        requires=JUDGED,
        forbidden=FORBIDDEN,
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="Review of comments and documents",
    description="Reviews the comments and documents of an executed plan: true to the code, complete, timeless.",
    params=[Arg("plan", help="the folder that the plan is kept in")],
)

register_workflow(WORKFLOW)
