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

FRAME: list[Requirement] = [
    Field("problem", maximum=600, help="conditions, what is observed, what was expected instead"),
    Field("test", maximum=600, help="what to run or look at; which result means present, which gone"),
    Field("facts", "list", minimum=1, maximum=10, help='"F1: what was seen (ran `…`)"'),
    Field("verdict", choices=("testable", "ask", "nobody")),
    Field("question", required=False, help="the one question for the user, unless testable"),
    Command([CHECK, "frame", "{verdict}", "{question}", "{facts}", "{problem}", "{test}"], 60),
]
RIVALS: list[Requirement] = [
    Field("hypotheses", "list", minimum=2, maximum=4, help='"H1: cause and mechanism. Predicts: …"'),
    Command([CHECK, "hypotheses", "{hypotheses}"], 60),
]
FINDINGS: list[Requirement] = [
    Field("evidence", "list", minimum=1, maximum=8, help='"E1: ran `…` -> what it showed. For H1, against H2: why"'),
    Command(
        [
            *(CHECK, "pass", "{hypothesize.hypotheses}", "{investigate.added}", "{investigate.log}"),
            *("{evidence}", "{confidence}"),
        ],
        60,
        help="high and certain need every rival refuted",
        records="standing",
    ),
]
CAUSE: list[Requirement] = [
    Field(
        "chain",
        "list",
        minimum=2,
        maximum=8,
        help='"1. what leads to the next link [E2]", or [assumed]; not the problem itself',
    ),
    Field("root_cause", help='"1: E5" or "1: what is different without link 1"; "Not found: what it is narrowed to"'),
    Field("gaps", help="what is not proven or explained; or none"),
    Command(
        [CHECK, "cause", "{gate.facts}", "{investigate.log}", "{investigate.standing}", "{chain}", "{root_cause}"], 60
    ),
]
REPORT: list[Requirement] = [
    Field("next_step", minimum=20, maximum=400, help="the smallest step that the user could take now"),
    Command(
        [
            *(CHECK, "report", "{gate.problem}", "{gate.test}", "{gate.facts}", "{hypothesize.hypotheses}"),
            *("{investigate.added}", "{investigate.log}", "{investigate.standing}", "{investigate.confidence}"),
            *("{formulate.chain}", "{formulate.root_cause}", "{formulate.gaps}", "{next_step}"),
        ],
        60,
        help="writes the report",
        records="report",
    ),
]
CONFIDENCE = Arg(
    "confidence", choices=list(Confidence), step="investigate", help="the highest level whose whole description is true"
)

RIVAL = ["hypothesize.hypotheses", "investigate.added"]
LOG = ["investigate.log", "investigate.standing", "investigate.confidence"]


def gate(ctx: StepContext) -> Outcome:
    """OK for a testable problem; ITERATE to come back with the user's answer; FAIL if no user can be asked."""
    verdict = ctx.step_state["verdict"]
    if verdict == "testable":
        return Outcome.OK
    return Outcome.ITERATE if verdict == "ask" else Outcome.FAIL


def investigate(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """OK if the confidence is high, which the check allows for one hypothesis, else ITERATE; keep what was recorded."""
    state, rows = ctx.step_state, ctx.step_state["evidence"]
    added = [*state.get("added", ()), *(row for row in rows if row.startswith("H"))]
    log = [*state.get("log", ()), *(row for row in rows if not row.startswith("H"))]
    sure = ctx.workflow_params["confidence"] in (Confidence.HIGH, Confidence.CERTAIN)
    kept = {name: rows for name, rows in (("log", log), ("added", added)) if rows}
    return Outcome.OK if sure else Outcome.ITERATE, kept


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
        needs=["gate.problem", "gate.test", "gate.facts", "gate.question"],
        requires=FRAME,
        when={
            Outcome.OK: "testable",
            Outcome.ITERATE: "ask: put the question to the user; this step comes again for the answer",
            Outcome.FAIL: "nobody, or ask for the third time: the run ends",
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
        needs=["gate.problem", "gate.facts"],
        requires=RIVALS,
        forbidden=forbidden("hypothesize"),
        tools=["read", "search", "write"],
    ),
    StepDef(
        "investigate",
        "Gather evidence for and against",
        [PROMPTS["investigate"], "", PROMPTS["observe"]],
        {Outcome.OK: "formulate", Outcome.ITERATE: "investigate"},
        investigate,
        needs=[
            *("gate.problem", "gate.test", "gate.facts", *RIVAL, "investigate.log", "investigate.standing"),
        ],
        requires=FINDINGS,
        when={
            Outcome.OK: "confidence high or certain, and one hypothesis left",
            Outcome.ITERATE: "anything less: another pass",
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
        needs=["gate.problem", "gate.facts", *RIVAL, *LOG],
        requires=CAUSE,
        forbidden=forbidden("formulate"),
        tools=["read", "search", "write"],
    ),
    StepDef(
        "report",
        "Report to the user",
        PROMPTS["report"],
        {Outcome.OK: None},
        needs=[
            *("gate.problem", "investigate.standing", "investigate.confidence"),
            *("formulate.chain", "formulate.root_cause", "formulate.gaps"),
        ],
        requires=REPORT,
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
