"""The graph of the reviewer of implemented code: read, probe, judge."""

from __future__ import annotations

import os

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

READ: list[Requirement] = [
    Field("changed", "list", minimum=1, maximum=120, help='each "path | milestone, or unplanned | what changed there"'),
]

WORKFLOW = Workflow(
    "planner-implementation-code",
    StepDef(
        "read",
        "Read what was built",
        PROMPTS["read"],
        {Outcome.OK: "probe"},
        needs=["plan"],
        requires=READ,
    ),
    steps.split(PROMPTS, "probe", "Try to break it", "judge", ["read.changed"]),
    steps.judge(PROMPTS, "probe"),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    reverify="judge",
    title="Review of implemented code",
    description="Reviews the code that an executed plan brought: run, held against the plan, and probed.",
    params=[Arg("plan", help="the folder that the plan is kept in")],
)

register_workflow(WORKFLOW)
