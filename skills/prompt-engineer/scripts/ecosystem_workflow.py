"""The graph of prompt-engineer for prompts that work together: as for one, and the understanding is verified."""

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

FAULTS = [
    steps.CASES,
    Field("findings", "list", maximum=25, help='each "file | "passage" | fault, other prompt, case, effect"; or []'),
    steps.CASES_ARE_CASES,
    steps.quoted("findings"),
    *steps.HELD,
    steps.NOTED,
]
PICTURE = [
    steps.PURPOSE,
    Field(
        "handoffs", "list", minimum=2, maximum=30, help='two each: "file | "passage" | H1 gives to …", and takes from'
    ),
    Field("shared", "list", maximum=20, help='each "term | files | same or different, and how"; or []'),
    steps.KEPT,
    steps.quoted("handoffs"),
    steps.KEPT_IS_THERE,
]
ANSWERS = [
    Field("answers", "list", minimum=1, maximum=30, help='each "file | "passage" | H1: answer, agrees or not"'),
    Field("corrections", "list", maximum=20, help='each "H1 | what the record says | what is so"; or []'),
    steps.quoted("answers"),
]
TASK = ("triage.request", "triage.files", "triage.folder", "triage.reader")
SEEN = (*TASK, "assess.cases", "assess.findings")
PICTURED = ("understand.purpose", "understand.handoffs", "understand.shared", "understand.keep")

WORKFLOW = Workflow(
    "prompt-engineer-ecosystem",
    steps.triage(PROMPTS, "ecosystem", (2, 12), "assess"),
    steps.step(
        PROMPTS,
        "assess",
        "Find what goes wrong in and between them",
        {
            Outcome.OK: ("understand", "faults were found, each shown by a case"),
            Outcome.SKIP: (None, "no case shows a fault: the prompts are left alone"),
        },
        SHARED["cases"],
        PROMPTS["assess faults"],
        handler=steps.found,
        needs=TASK,
        requires=FAULTS,
    ),
    steps.step(
        PROMPTS,
        "understand",
        "Draw up how they work together",
        {Outcome.OK: ("verify", "every handover is recorded from both sides")},
        needs=SEEN,
        requires=PICTURE,
    ),
    steps.step(
        PROMPTS,
        "verify",
        "Verify the understanding",
        {Outcome.OK: ("plan", "every handover and shared term was asked about, and answered from the files")},
        needs=("triage.files", "triage.reader", *PICTURED),
        requires=ANSWERS,
    ),
    steps.step(
        PROMPTS,
        "plan",
        "Plan the changes",
        {
            Outcome.OK: (
                "refine",
                "each change cites its passage and its technique; both sides of a seam change together",
            )
        },
        SHARED["plan form"],
        steps.techniques(),
        needs=(
            *(*SEEN, *PICTURED, "verify.corrections", "verify.answers"),
            *("refine.verdicts", "approve.summary", "approve.reason"),
        ),
        requires=[steps.REJECTED, *steps.PLANNED],
        again=(SHARED["plan again"], SHARED["plan form"], steps.techniques()),
    ),
    steps.refine(PROMPTS, "plan", "assess"),
    steps.approve(PROMPTS, "plan"),
    steps.execute("assess"),
    title="Prompt engineer: ecosystem",
    unchecked="what a model makes of the prompts: none was run",
    description="Improves several prompts that hand work to each other, with their handovers changed on both sides.",
    closing=steps.CLOSING,
)

register_workflow(WORKFLOW)
