"""The graph of decision-critic: seven steps in a row; the fourth sees the questions and nothing else."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)

DECISION = Arg("decision", help="the decision to test, in the user's own words, with the reasons given for it")
CHECK = "check_decision.py"
GIVEN_POINTS = ("{extract.claims}", "{extract.assumptions}", "{extract.constraints}")

PARTS: list[Requirement] = [
    Field(
        "purpose", maximum=800, help="what it is to achieve, for whom, and what would show by when that it was right"
    ),
    Field("claims", "list", minimum=1, maximum=8, help='"C1: …": what it says or plainly implies to be so'),
    Field("assumptions", "list", minimum=1, maximum=8, help='"A1: …": what is not said and must hold for it to work'),
    Field("constraints", "list", minimum=1, maximum=6, help='"K1: … (stated)" or "(inferred)": what limits any choice'),
    Command([CHECK, "parts", "{claims}", "{assumptions}", "{constraints}"], 60, help="C1, A1, K1, …; no two are one"),
]
KINDS: list[Requirement] = [
    Field("classified", "list", minimum=3, maximum=22, help='every id with its kind: "C1: verifiable - …"'),
    Field("load_bearing", "list", minimum=1, maximum=5, help='heaviest first: "A1: if false, …"'),
    Command([CHECK, "kinds", *GIVEN_POINTS, "{classified}", "{load_bearing}"], 60, help="every id has its kind, once"),
]
QUESTIONS: list[Requirement] = [
    Field("questions", "list", minimum=3, maximum=8, help='"Q1: … Look in: …"; neutral, and complete in itself'),
    Field("key", "list", minimum=3, maximum=8, help='"Q1 tests A1: upheld if …; refuted if …"; hidden from answers'),
    Command(
        [CHECK, "questions", *GIVEN_POINTS, "{classify.load_bearing}", "{questions}", "{key}"],
        60,
        help="each question has its key and names no id; each load-bearing id has a question",
    ),
]
ANSWERS: list[Requirement] = [
    Field("answers", "list", minimum=3, maximum=8, help='one for each question: "Q1 [observed]: … Basis: …"'),
    Command([CHECK, "answers", "{question.questions}", "{answers}"], 60, help="each question has its answer"),
]
CASE: list[Requirement] = [
    Field("standing", "list", minimum=1, maximum=22, help='every tested id: "A1: upheld, refuted or open by Q1: …"'),
    Field(
        "case_against", minimum=200, maximum=5000, help="the strongest case against the decision, resting on named ids"
    ),
    Field(
        "reply", maximum=2000, help="the best defender's reply, and what must be true for it to hold; or the word none"
    ),
    Command(
        [
            *(CHECK, "case", *GIVEN_POINTS, "{classify.load_bearing}", "{question.key}", "{answer.answers}"),
            *("{standing}", "{case_against}"),
        ],
        60,
        help="each tested id has its standing, by an answer to its question",
    ),
]
FRAMES: list[Requirement] = [
    Field("frame", maximum=300, help="the question that the decision answers, as it was put"),
    Field("reframed", maximum=300, help="another question that serves the same purpose"),
    Field("options", "list", minimum=2, maximum=4, help='"O1: … Gains: … Costs: … Rests on: A1"'),
    Field("comparison", maximum=1500, help="the decision beside the best option, by the purpose and the constraints"),
    Field("effect", choices=("better-option", "same-answer", "unclear"), help="what that comparison comes to"),
    Command(
        [CHECK, "frames", "{challenge.standing}", "{options}", "{comparison}", "{effect}"],
        60,
        help="O1, O2, …; an unclear effect hangs on an id that is open",
    ),
]
VERDICT: list[Requirement] = [
    Field("verdict", choices=("STAND", "REVISE", "ESCALATE"), help="the first of the three that applies"),
    Field("carried_by", "list", minimum=1, maximum=6, help='the ids that carry it: "A1: refuted by Q2: …"'),
    Field(
        "action", maximum=600, help="STAND: what would reopen it; REVISE: the new decision; ESCALATE: who decides what"
    ),
    Field("report", minimum=200, maximum=5000, help="the report as the user will read it"),
    Command(
        [
            *(CHECK, "verdict", *GIVEN_POINTS, "{classify.load_bearing}", "{challenge.standing}", "{reframe.options}"),
            *("{reframe.effect}", "{verdict}", "{carried_by}", "{report}"),
        ],
        60,
        help="the ids exist and stand so; no STAND over a load-bearing id that is refuted",
    ),
]

POINTS = ["extract.claims", "extract.assumptions", "extract.constraints"]
OPPOSED = ["challenge.standing", "challenge.case_against", "challenge.reply"]
REFRAMED = [
    *("reframe.frame", "reframe.reframed", "reframe.options"),
    *("reframe.comparison", "reframe.effect"),
]


def forbidden(step: str) -> list[str]:
    """What the prompts forbid in that step, a rule a line."""
    return PROMPTS[f"{step} (forbidden)"].splitlines()


WORKFLOW = Workflow(
    "decision-critic",
    StepDef(
        "extract",
        "Take the decision apart",
        PROMPTS["extract"],
        {Outcome.OK: "classify"},
        needs=["decision"],
        requires=PARTS,
        when={Outcome.OK: "every part of the decision has an id and a neutral wording"},
        forbidden=forbidden("extract"),
        tools=["read", "search", "web", "write", "ask"],
    ),
    StepDef(
        "classify",
        "Classify each point",
        PROMPTS["classify"],
        {Outcome.OK: "question"},
        needs=["decision", "extract.purpose", *POINTS],
        requires=KINDS,
        when={Outcome.OK: "every id has a kind, and the load-bearing ones are named"},
        forbidden=forbidden("classify"),
        tools=["read", "search", "web", "write", "ask"],
    ),
    StepDef(
        "question",
        "Write verification questions",
        PROMPTS["question"],
        {Outcome.OK: "answer"},
        needs=[*POINTS, "classify.classified", "classify.load_bearing"],
        requires=QUESTIONS,
        when={Outcome.OK: "each load-bearing id has a question that could refute it"},
        forbidden=forbidden("question"),
        tools=["read", "search", "web", "write", "ask"],
    ),
    StepDef(
        "answer",
        "Answer the questions",
        PROMPTS["answer"],
        {Outcome.OK: "challenge"},
        needs=["question.questions"],
        requires=ANSWERS,
        when={Outcome.OK: "each question has an answer with its basis, or is marked unknown"},
        forbidden=forbidden("answer"),
        tools=["read", "search", "shell", "web", "write"],
    ),
    StepDef(
        "challenge",
        "Build the strongest case against",
        PROMPTS["challenge"],
        {Outcome.OK: "reframe"},
        needs=[
            *("decision", "extract.purpose", *POINTS, "classify.load_bearing"),
            *("question.questions", "question.key", "answer.answers"),
        ],
        requires=CASE,
        when={Outcome.OK: "the answers are read by the key, and the case rests on named ids"},
        forbidden=forbidden("challenge"),
        tools=["read", "search", "web", "write"],
    ),
    StepDef(
        "reframe",
        "Try another framing",
        PROMPTS["reframe"],
        {Outcome.OK: "verdict"},
        needs=["decision", "extract.purpose", *POINTS, "challenge.standing", "challenge.case_against"],
        requires=FRAMES,
        when={Outcome.OK: "the new question admits an option that the old one shut out"},
        forbidden=forbidden("reframe"),
        tools=["read", "search", "web", "write"],
    ),
    StepDef(
        "verdict",
        "Give the verdict",
        PROMPTS["verdict"],
        {Outcome.OK: None},
        needs=[
            *("decision", "extract.purpose", *POINTS, "classify.load_bearing"),
            *("answer.answers", *OPPOSED, *REFRAMED),
        ],
        requires=VERDICT,
        when={
            Outcome.OK: "the verdict is carried by named ids; the run ends, and the user gets the report as your reply"
        },
        forbidden=forbidden("verdict"),
    ),
    title="Decision critic",
    description="Tests one decision and ends in STAND, REVISE or ESCALATE.",
    params=[DECISION],
    closing=PROMPTS["closing"],
    unchecked="whether somebody looked where an answer says so",
)

register_workflow(WORKFLOW)
