"""The graph of the reviewer of implemented code: read, run, compare, probe, judge."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

steps = load_module(os.path.join(os.path.dirname(__file__), "implementation_review_steps.py"))
PROMPTS = read_prompts(__file__)

READ: list[Requirement] = [
    Field("changed", "list", minimum=1, maximum=120, help='each "path | milestone, or unplanned | what changed there"'),
]
RAN: list[Requirement] = [
    Field("ran", "list", minimum=1, maximum=40, help='each "command | how it ended, with numbers"'),
]
COMPARED: list[Requirement] = [
    Field("compared", "list", minimum=1, maximum=200, help='each "M-001 R1 | met or not | path:line | what is so"'),
    Command(["implementation_check.py", "{plan}", "compared", "{compared}"], 60, help="no promise of code is left out"),
]
PROBED: list[Requirement] = [
    Field("found", "list", maximum=40, help='each "SEVERITY | M-001 | path:line | what is wrong | what follows"'),
]

WORKFLOW = Workflow(
    "planner-implementation-code",
    StepDef(
        "read",
        "Read what was built",
        PROMPTS["read"],
        {Outcome.OK: "run"},
        needs=["plan"],
        requires=READ,
    ),
    StepDef(
        "run",
        "Run it",
        PROMPTS["run"],
        {Outcome.OK: "compare"},
        needs=["plan", "read.changed"],
        requires=RAN,
    ),
    StepDef(
        "compare",
        "Hold it against the plan",
        PROMPTS["compare"],
        {Outcome.OK: "probe"},
        needs=["plan", "read.changed", "run.ran"],
        requires=COMPARED,
    ),
    StepDef(
        "probe",
        "Try to break it",
        PROMPTS["probe"],
        {Outcome.OK: "judge"},
        needs=["plan", "read.changed", "compare.compared"],
        requires=PROBED,
    ),
    steps.judge(PROMPTS, "run.ran", "compare.compared", "probe.found"),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    title="Review of implemented code",
    description="Reviews the code that an executed plan brought: run, held against the plan, and probed.",
    params=[Arg("plan", help="the folder that the plan is kept in")],
)

register_workflow(WORKFLOW)
