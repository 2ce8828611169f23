"""The graph of the review of a plan's code: read, structure and verify."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Outcome

steps = load_module(os.path.join(os.path.dirname(__file__), "plan_review_steps.py"))
PROMPTS = read_prompts(__file__)
GIVEN = ("request", "plan", "part")

WORKFLOW = Workflow(
    "planner-plan-code",
    StepDef(
        "read",
        "Read the plan, then the code",
        [PROMPTS["read"], "", steps.SPLIT],
        {Outcome.OK: "structure"},
        needs=GIVEN,
        requires=[
            Field("map", "list", minimum=1, maximum=60, help='each "scope | path | what the change does"'),
            Field("callers", "list", maximum=30, help='each "path:line | what it relies on"; [] if nothing does'),
            *steps.stated(maximum=40),
        ],
    ),
    steps.split(
        PROMPTS,
        "structure",
        "structure and tests",
        "verify",
        ["plan", "part", "read.map", "read.callers"],
        "structural",
        before=["read"],
        maximum=40,
    ),
    steps.verify(PROMPTS, GIVEN, ["read", "structure"]),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    reverify="verify",
    title="Review of a plan's code",
    description="Reviews the code of a plan's milestones, item by item, before it touches the project.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("request", help="what the user asked for"),
        Arg("part", help="the milestones to review, as their ids; code is all of them"),
    ],
)

register_workflow(WORKFLOW)
