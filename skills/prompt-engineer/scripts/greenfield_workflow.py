"""The graph of prompt-engineer for a prompt that does not exist yet: requirements, understand, design, verify, ask."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import Workflow, register_workflow
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Outcome

steps = load_module(os.path.join(os.path.dirname(__file__), "prompt_steps.py"))
SHARED = steps.PROMPTS
PROMPTS = read_prompts(__file__)

WANTED = [
    Field("inputs", minimum=20, maximum=1500, help="what it is given: fields, examples, length, who writes it"),
    Field("outputs", minimum=20, maximum=1000, help="what it yields: form, length, who reads it and does what"),
    Field("requirements", "list", minimum=3, maximum=15, help='each "R1 | what can be seen in an output | source"'),
    steps.CASES,
    steps.CASES_ARE_CASES,
]
HARD = [
    steps.PURPOSE,
    Field("difficulties", "list", minimum=2, maximum=8, help='each "what is hard | case | kind"'),
    Field("plain", maximum=600, help="what a capable model does right untold"),
    steps.KEPT,
]
DRAFTED = [
    Field("coverage", "list", minimum=3, maximum=15, help='each "R1 | the words of the draft that meet it"'),
    steps.REJECTED,
    *steps.PLANNED,
]
TASK = ("triage.request", "triage.files", "triage.folder", "triage.reader")
WISHES = ("requirements.inputs", "requirements.outputs", "requirements.requirements", "requirements.cases")
HARDSHIPS = ("understand.purpose", "understand.difficulties", "understand.plain", "understand.keep")

WORKFLOW = Workflow(
    "prompt-engineer-greenfield",
    steps.triage(PROMPTS, "greenfield", (1, 6), "requirements"),
    steps.step(
        PROMPTS,
        "requirements",
        "Gather the requirements",
        {Outcome.OK: ("understand", "each requirement can be seen in an output, and has its source")},
        SHARED["cases"],
        needs=TASK,
        requires=WANTED,
    ),
    steps.step(
        PROMPTS,
        "understand",
        "Find out what is hard about it",
        {Outcome.OK: ("design", "the task was done by hand on two cases, and the hard parts are named")},
        needs=(*TASK, *WISHES),
        requires=HARD,
    ),
    steps.step(
        PROMPTS,
        "design",
        "Draft the prompt",
        {Outcome.OK: ("refine", "the draft stands in the run's folder, and each technique has its difficulty")},
        steps.techniques(),
        needs=(*TASK, *WISHES, *HARDSHIPS, "refine.verdicts", "approve.summary", "approve.reason"),
        requires=DRAFTED,
        again=(PROMPTS["design again"], PROMPTS["design"], steps.techniques()),
    ),
    steps.refine(PROMPTS, "design", "requirements"),
    steps.approve(PROMPTS, "design", "requirements.requirements", "design.coverage"),
    steps.execute("requirements"),
    title="Prompt engineer: greenfield",
    unchecked="what a model makes of the prompts: none was run",
    description="Writes a new prompt from requirements, each technique in it for a difficulty that was found.",
    closing=steps.CLOSING,
)

register_workflow(WORKFLOW)
