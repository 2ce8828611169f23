"""The graph of prompt-engineer for one failure: diagnose, understand what rests on it, target the cure, verify, ask."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import Workflow, register_workflow
from skills.lib.workflow.requirements import Artifact, Command, Field
from skills.lib.workflow.types import Outcome

steps = load_module(os.path.join(os.path.dirname(__file__), "prompt_steps.py"))
SHARED = steps.PROMPTS
PROMPTS = read_prompts(__file__)

CAUSED = [
    Field("transcript", maximum=300, help="path of the failing exchange, in the project"),
    Field("failure", minimum=20, maximum=800, help="what came, what should have come, and why it is wrong"),
    Field("cause", minimum=20, maximum=1200, help="what is left, what bears it out, why the others fall away"),
    Field("findings", "list", maximum=10, help='each "file | "passage" | how it leads to the failure"; or []'),
    steps.CASES,
    Artifact("{transcript}", help="input and output, word for word"),
    steps.CASES_ARE_CASES,
    steps.quoted("findings"),
    steps.NOTED,
    Command(["check_prompts.py", "elsewhere", "{findings}", "{cause}"], 60, help="a cause elsewhere names its place"),
]
CHAIN = [
    steps.PURPOSE,
    Field("mechanism", "list", minimum=2, maximum=6, help="from the input to the wrong output, a step an entry"),
    Field("dependents", "list", minimum=1, maximum=10, help='each "file | "passage" | which inputs need it as it is"'),
    steps.KEPT,
    steps.quoted("dependents"),
    steps.KEPT_IS_THERE,
]
TASK = ("triage.request", "triage.files", "triage.folder", "triage.reader")
FAILED = ("diagnose.transcript", "diagnose.failure", "diagnose.cause", "diagnose.findings", "diagnose.cases")
CHAINED = ("understand.purpose", "understand.mechanism", "understand.dependents", "understand.keep")

WORKFLOW = Workflow(
    "prompt-engineer-problem",
    steps.triage(PROMPTS, "problem", (1, 6), "diagnose"),
    steps.step(
        PROMPTS,
        "diagnose",
        "Find the words that led to it",
        {
            Outcome.OK: ("understand", "the passages that led to the failure are found"),
            Outcome.SKIP: (None, "the cause lies outside the prompts: nothing is changed"),
        },
        SHARED["cases"],
        handler=steps.found,
        needs=TASK,
        requires=CAUSED,
    ),
    steps.step(
        PROMPTS,
        "understand",
        "Settle what a cure must not spoil",
        {Outcome.OK: ("target", "the way from input to failure is told in words that acted")},
        needs=(*TASK, *FAILED),
        requires=CHAIN,
    ),
    steps.step(
        PROMPTS,
        "target",
        "Target the cure",
        {Outcome.OK: ("refine", "the cure breaks one step of the mechanism, and cites its passage and technique")},
        SHARED["plan form"],
        steps.techniques(),
        needs=(*TASK, *FAILED, *CHAINED, "refine.verdicts", "approve.summary", "approve.reason"),
        requires=[steps.REJECTED, *steps.PLANNED],
        again=(SHARED["plan again"], SHARED["plan form"], steps.techniques()),
    ),
    steps.refine(PROMPTS, "target", "diagnose"),
    steps.approve(PROMPTS, "target"),
    steps.execute("diagnose"),
    title="Prompt engineer: problem",
    unchecked="what a model makes of the prompts: none was run",
    description="Removes one failure of a prompt: finds the words behind it, and makes the least change that cures it.",
    closing=steps.CLOSING,
)

register_workflow(WORKFLOW)
