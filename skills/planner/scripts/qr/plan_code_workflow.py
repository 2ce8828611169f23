"""The graph of the review of a plan's code: read, intent, correctness, structure, tests and verify."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Outcome

steps = load_module(os.path.join(os.path.dirname(__file__), "plan_review_steps.py"))
PROMPTS = read_prompts(__file__)
GIVEN = ("request", "plan")

WORKFLOW = Workflow(
    "planner-plan-code",
    StepDef(
        "read",
        "Read the plan, then the code",
        PROMPTS["read"],
        {Outcome.OK: "intent"},
        needs=GIVEN,
        requires=[
            Field("map", "list", minimum=1, maximum=60, help='each "scope | path | what the change does"'),
            Field("callers", "list", maximum=30, help='each "path:line | what it relies on"; [] where nothing does'),
        ],
    ),
    steps.split(PROMPTS, "intent", "does what the plan says", "correctness", [*GIVEN, "read.map"]),
    steps.split(
        PROMPTS,
        "correctness",
        "what could go wrong",
        "structure",
        ["plan", "read.map", "read.callers"],
        before=["intent"],
    ),
    steps.split(
        PROMPTS, "structure", "structure", "tests", ["plan", "read.map"], "structural", before=["intent", "correctness"]
    ),
    steps.split(
        PROMPTS, "tests", "tests", "verify", ["plan", "read.map"], before=["intent", "correctness", "structure"]
    ),
    steps.verify(PROMPTS, GIVEN, ["intent", "correctness", "structure", "tests"]),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    reverify="verify",
    title="Review of a plan's code",
    description="Reviews the code of a plan's milestones, item by item, before it touches the project.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("request", help="what the user asked for"),
    ],
)

register_workflow(WORKFLOW)
