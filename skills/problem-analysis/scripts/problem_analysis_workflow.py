"""The graph of problem-analysis: gate, hypothesize, investigate until the evidence is strong, formulate, report."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Confidence, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
IDS = ("H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8")

CHECK = "check_analysis.py"
KNOWN = ("{hypothesize.hypotheses}", "{investigate.added}")

FRAME: list[Requirement] = [
    Field("request", help="all that the user said about the problem, word for word"),
    Field("problem", maximum=600, help="under which conditions, what is observed, what was expected instead"),
    Field("test", maximum=600, help="what to run or look at, which result means present and which means gone"),
    Field("facts", "list", minimum=1, maximum=10, help='observations with their source: "F1: … (ran `…`)"'),
    Field(
        "verdict",
        choices=("testable", "ask", "nobody"),
        help="ask: only the user knows; nobody: and no user can be asked",
    ),
    Field("question", help="the one question for the user; the word none if the verdict is testable"),
    Command(
        [CHECK, "frame", "{verdict}", "{question}", "{facts}", "{problem}", "{test}"],
        60,
        help="each fact has a number and a source; nothing is left to a word",
    ),
]
RIVALS: list[Requirement] = [
    Field("hypotheses", "list", minimum=2, maximum=4, help='"H1: cause and mechanism. Predicts: … Refuted by: …"'),
    Field("first_check", help="the cheapest observation on which the hypotheses disagree, and what each predicts"),
    Command(
        [CHECK, "hypotheses", "{hypotheses}", "{first_check}"], 60, help="each has its three parts, no two are one"
    ),
]
FINDINGS: list[Requirement] = [
    Field("evidence", "list", minimum=1, maximum=8, help='this pass only: "E1: ran `…` -> … For H1, against H2: why"'),
    Field("standing", "list", minimum=2, maximum=8, help='every hypothesis: "H1: stands, weakened or refuted by E1"'),
    Field("left", "list", choices=IDS, minimum=1, maximum=8, help="the ids of the hypotheses that nothing refutes"),
    Field("next_check", help="the observation that would now change most; the word none where nothing is in doubt"),
    Command(
        [CHECK, "pass", *KNOWN, "{investigate.log}", "{evidence}", "{standing}", "{left}", "{confidence}"],
        60,
        help="ids exist; what is refuted is so by an entry that says against it; the confidence agrees",
    ),
]
CAUSE: list[Requirement] = [
    Field("chain", "list", minimum=2, maximum=8, help='from cause to symptom: "1. … [E2]", or [assumed]'),
    Field("root_cause", help="the link that, changed, ends the problem; what would then be different"),
    Field("excluded", "list", minimum=1, maximum=8, help='"H2, in words: refuted by E1, because …", or not excluded'),
    Field(
        "gaps",
        help="what is not proven, and which facts the cause does not explain; the word none where there is nothing",
    ),
    Command(
        [
            *(CHECK, "cause", *KNOWN, "{gate.facts}", "{investigate.log}", "{investigate.left}"),
            *("{investigate.confidence}", "{chain}", "{root_cause}", "{excluded}"),
        ],
        60,
        help="each link cites E, F or assumed; every other hypothesis is excluded, or said not to be",
    ),
]
REPORT: list[Requirement] = [
    Field("answer", minimum=20, maximum=400, help="the Answer part of the report, word for word"),
    Field("report", minimum=200, maximum=8000, help="the report as the user will read it"),
    Command([CHECK, "report", "{answer}", "{report}"], 60, help="the report begins with the answer"),
]
CONFIDENCE = Arg(
    "confidence",
    choices=list(Confidence),
    step="investigate",
    help="the highest level whose whole description is true",
)

PROBLEM = ["gate.problem", "gate.test", "gate.facts"]
LOG = [
    *("hypothesize.hypotheses", "investigate.log", "investigate.standing"),
    *("investigate.added", "investigate.left", "investigate.confidence"),
]
FOUND = ["formulate.chain", "formulate.root_cause", "formulate.excluded", "formulate.gaps"]


def gate(ctx: StepContext) -> Outcome:
    """OK for a testable problem; ITERATE to come back with the user's answer; FAIL if no user can be asked."""
    verdict = ctx.step_state["verdict"]
    if verdict == "testable":
        return Outcome.OK
    return Outcome.ITERATE if verdict == "ask" else Outcome.FAIL


def investigate(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """OK if confidence is high and one hypothesis is left, else ITERATE; the log keeps the evidence of every pass."""
    sure = ctx.workflow_params["confidence"] in (Confidence.HIGH, Confidence.CERTAIN)
    settled = sure and len(set(ctx.step_state["left"])) == 1
    log = [*ctx.step_state.get("log", ()), *ctx.step_state["evidence"]]
    added = [*ctx.step_state.get("added", ()), *[row for row in ctx.step_state["standing"] if "Refuted by:" in row]]
    outcome = Outcome.OK if settled else Outcome.ITERATE
    if added:
        return outcome, {"log": log, "added": added}
    return outcome, {"log": log}


def forbidden(step: str) -> list[str]:
    """What the prompts forbid in that step, a rule a line."""
    return PROMPTS[f"{step} (forbidden)"].splitlines()


WORKFLOW = Workflow(
    "problem-analysis",
    StepDef(
        "gate",
        "Frame one testable problem",
        [PROMPTS["gate"], "", PROMPTS["frame"]],
        {Outcome.OK: "hypothesize", Outcome.ITERATE: "gate", Outcome.FAIL: None},
        gate,
        needs=["gate.request", *PROBLEM, "gate.question"],
        requires=FRAME,
        when={
            Outcome.OK: "verdict testable: there is one problem and a test for it",
            Outcome.ITERATE: "verdict ask: the question goes to the user, and this step comes again for the answer",
            Outcome.FAIL: "verdict nobody, or ask for the third time: the run ends; tell the user what is missing",
        },
        repeat=[PROMPTS["gate (again)"], "", PROMPTS["frame"]],
        forbidden=forbidden("gate"),
        max_iterations=3,
        at_limit=Outcome.FAIL,
        outcomes=[Outcome.OK, Outcome.ITERATE, Outcome.FAIL],
        tools=["read", "search", "shell", "web", "write", "ask"],
    ),
    StepDef(
        "hypothesize",
        "Set up rival hypotheses",
        PROMPTS["hypothesize"],
        {Outcome.OK: "investigate"},
        needs=PROBLEM,
        requires=RIVALS,
        when={Outcome.OK: "two to four rivals stand, and no two of them predict the same"},
        forbidden=forbidden("hypothesize"),
        tools=["read", "search", "write"],
    ),
    StepDef(
        "investigate",
        "Gather evidence for and against",
        [PROMPTS["investigate"], "", PROMPTS["observe"]],
        {Outcome.OK: "formulate", Outcome.ITERATE: "investigate"},
        investigate,
        needs=[*PROBLEM, *LOG, "hypothesize.first_check", "investigate.next_check"],
        requires=FINDINGS,
        when={
            Outcome.OK: "confidence high or certain and one hypothesis left; or five passes are done",
            Outcome.ITERATE: "anything less: another pass, with all that was found",
        },
        repeat=[PROMPTS["investigate (again)"], "", PROMPTS["observe"]],
        forbidden=forbidden("investigate"),
        max_iterations=5,
        outcomes=[Outcome.OK, Outcome.ITERATE],
    ),
    StepDef(
        "formulate",
        "Formulate the cause",
        PROMPTS["formulate"],
        {Outcome.OK: "report"},
        needs=[*PROBLEM, *LOG, "investigate.next_check"],
        requires=CAUSE,
        when={Outcome.OK: "the chain has no leap, and nothing in it goes beyond the evidence"},
        forbidden=forbidden("formulate"),
        tools=["read", "search", "write"],
    ),
    StepDef(
        "report",
        "Report to the user",
        PROMPTS["report"],
        {Outcome.OK: None},
        needs=["gate.request", *PROBLEM, *LOG, *FOUND],
        requires=REPORT,
        when={Outcome.OK: "the report is written; the run ends, and the user gets it as your reply"},
        forbidden=forbidden("report"),
        tools=["read", "search", "write"],
    ),
    title="Problem analysis",
    description="Finds the cause of one problem by rival hypotheses and evidence.",
    params=[CONFIDENCE],
    closing=PROMPTS["closing"],
    unchecked="whether a command was run, and showed what the evidence says",
)

register_workflow(WORKFLOW)
