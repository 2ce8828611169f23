"""The graph of the reviewer of comments and documents: gather, style, judge."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import Workflow, register_workflow
from skills.lib.workflow.requirements import Arg

steps = load_module(os.path.join(os.path.dirname(__file__), "implementation_review_steps.py"))
PROMPTS = read_prompts(__file__)

WORKFLOW = Workflow(
    "planner-implementation-docs",
    steps.split(PROMPTS, "gather", "Gather what is stated", "style", []),
    steps.split(PROMPTS, "style", "Read it as its readers will", "judge", [], "temporal", before=["gather"]),
    steps.judge(PROMPTS, "gather", "style"),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    reverify="judge",
    title="Review of comments and documents",
    description="Reviews the comments and documents of an executed plan: true to the code, complete, timeless.",
    params=[Arg("plan", help="the folder that the plan is kept in")],
)

register_workflow(WORKFLOW)
