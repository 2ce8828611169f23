"""The graph of the review of a plan's completeness: read, milestones and verify."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Outcome

steps = load_module(os.path.join(os.path.dirname(__file__), "plan_review_steps.py"))
PROMPTS = read_prompts(__file__)
GIVEN = ("request", "answers", "plan")

WORKFLOW = Workflow(
    "planner-plan-completeness",
    StepDef(
        "read",
        "Read the request, then the plan",
        [PROMPTS["read"], "", steps.SPLIT],
        {Outcome.OK: "milestones"},
        needs=GIVEN,
        requires=[
            Field("asked", "list", minimum=1, maximum=30, help='each "request or answers | demand"'),
            *steps.stated(maximum=40),
        ],
    ),
    steps.split(
        PROMPTS,
        "milestones",
        "milestones, risks and knowledge",
        "verify",
        ["request", "plan", "read.asked"],
        before=["read"],
        maximum=40,
    ),
    steps.verify(PROMPTS, GIVEN, ["read", "milestones"]),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    reverify="verify",
    title="Review of a plan's completeness",
    description="Reviews whether a plan is complete and can be carried out, item by item, before code is written.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("request", help="what the user asked for"),
        Arg("answers", help="what the user answered when asked"),
    ],
)

register_workflow(WORKFLOW)
