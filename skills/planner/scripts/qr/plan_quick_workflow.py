"""The graph of the review of a quick plan and its copies: read and verify."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg
from skills.lib.workflow.types import Outcome

steps = load_module(os.path.join(os.path.dirname(__file__), "plan_review_steps.py"))
PROMPTS = read_prompts(__file__)
GIVEN = ("request", "answers", "plan")

WORKFLOW = Workflow(
    "planner-plan-quick",
    StepDef(
        "read",
        "Read the request, the plan and the copies",
        [PROMPTS["read"], "", steps.SPLIT],
        {Outcome.OK: "verify"},
        needs=[*GIVEN, "ran"],
        requires=steps.stated(maximum=40),
    ),
    steps.verify(PROMPTS, GIVEN, ["read"]),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    reverify="verify",
    title="Review of a quick plan",
    description="Reviews a small plan with its whole change, item by item, before it touches the project.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("request", help="what the user asked for"),
        Arg("answers", help="what the user answered when asked"),
        Arg("ran", help="what the author says that they ran over the copies"),
    ],
)

register_workflow(WORKFLOW)
