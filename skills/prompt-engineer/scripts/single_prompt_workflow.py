"""The graph of prompt-engineer for a single prompt: understand, plan, verify, ask, change."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import Workflow, register_workflow
from skills.lib.workflow.requirements import Command, Field
from skills.lib.workflow.types import Outcome

steps = load_module(os.path.join(os.path.dirname(__file__), "prompt_steps.py"))
SHARED = steps.PROMPTS
PROMPTS = read_prompts(__file__)

FAULTS = [
    steps.PURPOSE,
    *steps.SHORT_CASES,
    Field("findings", "list", maximum=15, help='each ""passage" | fault, case, what goes wrong"; or []'),
    Field("parts", "list", maximum=15, help='each ""first words" | what it does | who needs it"'),
    steps.KEPT,
    steps.quoted_in_one("findings"),
    *steps.HELD,
    steps.quoted_in_one("parts"),
    Command(["check_prompts.py", "parts", "{findings}", "{parts}"], 60, help="a part for what may be changed"),
    steps.KEPT_IS_THERE,
    steps.NOTED,
]
TASK = ("triage.request", "triage.files", "triage.folder", "triage.reader")
KNOWN = (*TASK, *(f"understand.{name}" for name in ("purpose", "cases", "findings", "parts", "keep")))

WORKFLOW = Workflow(
    "prompt-engineer-single-prompt",
    steps.triage(PROMPTS, "single-prompt", (1, 1), "understand"),
    steps.step(
        PROMPTS,
        "understand",
        "Settle what it is for, and what is wrong with it",
        {
            Outcome.OK: ("plan", "faults were found, each shown by a case; what must stay is settled"),
            Outcome.SKIP: (None, "no case shows a fault: the prompt is left alone"),
        },
        handler=steps.found,
        needs=TASK,
        requires=FAULTS,
    ),
    steps.step(
        PROMPTS,
        "plan",
        "Plan the changes",
        {Outcome.OK: ("refine", "each change cites its passage and its technique")},
        SHARED["plan form"],
        steps.techniques(),
        needs=(*KNOWN, "refine.verdicts", "approve.summary", "approve.reason"),
        requires=[steps.REJECTED, *steps.PLANNED],
        again=(SHARED["plan again"], SHARED["plan form"], steps.techniques()),
    ),
    steps.refine(PROMPTS, "plan", "understand"),
    steps.approve(PROMPTS, "plan"),
    steps.execute("understand"),
    title="Prompt engineer: single prompt",
    unchecked="what a model makes of the prompts: none was run",
    description="Improves one existing prompt, by techniques that are checked and changes that the user approves.",
    closing=steps.CLOSING,
)

register_workflow(WORKFLOW)
