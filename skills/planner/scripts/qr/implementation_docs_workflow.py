"""The graph of the reviewer of comments and documents: gather, verify, read, judge."""

from __future__ import annotations

import os

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

steps = load_module(os.path.join(os.path.dirname(__file__), "implementation_review_steps.py"))
PROMPTS = read_prompts(__file__)

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

WORKFLOW = Workflow(
    "planner-implementation-docs",
    StepDef(
        "gather",
        "Gather what is stated",
        PROMPTS["gather"],
        {Outcome.OK: "verify"},
        needs=["plan"],
        requires=GATHERED,
    ),
    StepDef(
        "verify",
        "Verify each against the code",
        PROMPTS["verify"],
        {Outcome.OK: "style"},
        needs=["plan", "gather.statements"],
        requires=VERIFIED,
    ),
    StepDef(
        "style",
        "Read it as its readers will",
        [PROMPTS["style"], "", get_convention("temporal")],
        {Outcome.OK: "judge"},
        needs=["plan", "gather.statements"],
        requires=FOUND,
    ),
    steps.judge(PROMPTS, "verify.verified", "verify.ran", "style.found"),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    title="Review of comments and documents",
    description="Reviews the comments and documents of an executed plan: true to the code, complete, timeless.",
    params=[Arg("plan", help="the folder that the plan is kept in")],
)

register_workflow(WORKFLOW)
