"""The graph of one perspective of deepthink: take it up, gather, reason, answer, verify blind, challenge, report."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Confidence, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
RULES = PROMPTS["everywhere (forbidden)"].splitlines()

TASK: list[Requirement] = [
    Field("task", minimum=20, maximum=600, help="what you will find out, in your own words"),
    Field("turns", minimum=20, maximum=600, help="two answers that are both possible, and what would decide"),
]
GROUND: list[Requirement] = [
    Field(
        "found",
        "list",
        minimum=1,
        maximum=12,
        help='each "F1 | fact | source: place, page, calculation or recollection"',
    ),
    Field("unknown", "list", maximum=6, help='each "what could not be had | how much it matters"; [] where nothing'),
    Command(["check_thinking.py", "found", "{found}"], 60, help="F1, F2, … each with its source"),
]
CHAIN: list[Requirement] = [
    Field("chain", "list", minimum=2, maximum=10, help='each "1 | what follows | from F1, from 2, or assumed"'),
    Field("other_way", minimum=20, maximum=800, help="the best line of reasoning to the opposite, and where it breaks"),
]
DRAFT: list[Requirement] = [
    Field(
        "draft", minimum=40, maximum=2000, help="the answer of this perspective, its first sentence the answer itself"
    ),
    Field("claims", "list", minimum=1, maximum=6, help='each "A1 | claim | rests on"; what carries it first'),
    Command(["check_thinking.py", "claims", "{claims}"], 60, help="A1, A2, … each with what it rests on"),
]
CHECKS: list[Requirement] = [
    Field("questions", "list", minimum=1, maximum=6, help='each "V1 | neutral question, complete in itself | look in"'),
    Command(["check_thinking.py", "questions", "{questions}"], 60, help="V1, V2, … each with where to look"),
]
CHECKED: list[Requirement] = [
    Field("answers", "list", minimum=1, maximum=6, help='each "V1 | observed, known or unknown | answer | basis"'),
    Command(["check_thinking.py", "answers", "{question.questions}", "{answers}"], 60, help="each V has its answer"),
]
STOOD: list[Requirement] = [
    Field("standing", "list", minimum=1, maximum=6, help='each "A1 | upheld, changed, refuted or open | by V1: why"'),
    Field("counter", minimum=20, maximum=800, help="the strongest objection from outside this perspective"),
    Field("limits", minimum=20, maximum=600, help="where this perspective cannot see, or misleads"),
    Command(["check_thinking.py", "standing", "{answer.claims}", "{standing}"], 60, help="each A says how it stands"),
]
REPORT: list[Requirement] = [
    Field("answer", minimum=40, maximum=2500, help="the answer, whole; its first sentence the answer itself"),
    Field("claims", "list", minimum=1, maximum=6, help='each "claim | rests on, with its source | upheld or open"'),
    Field(
        "against",
        minimum=20,
        maximum=800,
        help="the strongest thing that speaks against it, and what it leaves standing",
    ),
    Field("unsure", "list", maximum=6, help='each "what is not settled | what would settle it"; [] where nothing'),
    Field("confidence", choices=tuple(Confidence), help="how well the answer is borne out"),
]
PARAMS = [
    Arg("question", help="the question as it was put"),
    Arg("reading", help="the question as it is understood"),
    Arg("facts", "list", help="what is given, each with its source"),
    Arg("bounds", help="what belongs to the question, and what does not"),
    Arg("perspective", help="P1 name | its question | how it works | what it leaves to others"),
]

GIVEN = ("reading", "bounds", "perspective")
GROUNDS = ("facts", "gather.found", "gather.unknown")


def step(
    name: str, title: str, ways: tuple[str | None, str], needs: Sequence[str], requires: Sequence[Requirement]
) -> StepDef:
    """One step of the line, with the next one and when to go there; its prompts stand under its name."""
    forbidden = [*PROMPTS[f"{name} (forbidden)"].splitlines(), *RULES]
    after, when = {Outcome.OK: ways[0]}, {Outcome.OK: ways[1]}
    return StepDef(name, title, PROMPTS[name], after, needs=needs, requires=requires, forbidden=forbidden, when=when)


WORKFLOW = Workflow(
    "deepthink-perspective",
    step(
        "take-up",
        "Take up the perspective",
        ("gather", "two answers are possible, and it is plain what would decide"),
        ("question", *GIVEN, "facts"),
        TASK,
    ),
    step(
        "gather",
        "Gather what it rests on",
        ("reason", "what can be had is there with its source, and what cannot is named"),
        (*GIVEN, "facts", "take-up.task", "take-up.turns"),
        GROUND,
    ),
    step(
        "reason",
        "Reason from there",
        ("answer", "no step leaps, and the opposite had its chance"),
        (*GIVEN, *GROUNDS, "take-up.task", "take-up.turns"),
        CHAIN,
    ),
    step(
        "answer",
        "Write a first answer",
        ("question", "the answer answers the perspective's question, and its claims are apart"),
        (*GIVEN, *GROUNDS, "take-up.task", "reason.chain", "reason.other_way"),
        DRAFT,
    ),
    step(
        "question",
        "Ask what would show it wrong",
        ("verify", "every claim that carries the answer has its question, and no question tells the wish"),
        ("answer.draft", "answer.claims", "gather.found"),
        CHECKS,
    ),
    step(
        "verify",
        "Answer the questions",
        ("challenge", "each question has its answer with a basis, or an honest unknown"),
        ("question.questions",),
        CHECKED,
    ),
    step(
        "challenge",
        "Hold the answer against them",
        ("report", "every claim says how it stands, and the objection would be owned by an opponent"),
        (*GIVEN, "answer.draft", "answer.claims", "question.questions", "verify.answers"),
        STOOD,
    ),
    step(
        "report",
        "Report",
        (None, "the report can be understood by somebody who knows the question and nothing else"),
        (
            *(*GIVEN, *GROUNDS, "take-up.task", "reason.chain", "answer.draft", "answer.claims"),
            *("question.questions", "verify.answers", "challenge.standing", "challenge.counter", "challenge.limits"),
        ),
        REPORT,
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="One perspective",
    description="Works one question out from one perspective, for the sub-agents of deepthink.",
    params=PARAMS,
)

register_workflow(WORKFLOW)
