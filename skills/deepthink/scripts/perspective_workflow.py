"""The graph of one perspective of deepthink: gather, answer, question, verify blind, report."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Confidence, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.workflow.core import Handler
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)

GROUND: list[Requirement] = [
    Field("turns", minimum=20, maximum=600, help="two answers that are both possible, and what would decide"),
    Field("found", "list", minimum=1, maximum=12, help='"F1 | fact | source, or recollection"'),
    Command(["check_thinking.py", "found", "{found}"], 60, help="F1, F2, … each with its source"),
]
DRAFT: list[Requirement] = [
    Field("other_way", minimum=20, maximum=800, help="the best reasoning to the opposite, and where it breaks"),
    Field("claims", "list", minimum=1, maximum=6, help='"A1 | claim | rests on F1, on A2, or assumed"'),
    Command(["check_thinking.py", "claims", "{claims}"], 60, help="A1, A2, … each with what it rests on"),
]
CHECKS: list[Requirement] = [
    Field("questions", "list", minimum=1, maximum=6, help='"neutral question, complete in itself | where to look"'),
    Command(["check_thinking.py", "questions", "{questions}"], 60, help="numbers them: V1, V2, …", records="asked"),
]
CHECKED: list[Requirement] = [
    Field("answers", "list", minimum=1, maximum=6, help='"V1 | observed, known or unknown | answer | basis"'),
    Command(["check_thinking.py", "answers", "{question.asked}", "{answers}"], 60, help="each V has its answer"),
]
REPORT: list[Requirement] = [
    Field("standing", "list", minimum=1, maximum=6, help='"A1 | upheld, changed, refuted or open | V1"'),
    Field("answer", minimum=40, maximum=2500, help="the whole answer; its first sentence is the answer itself"),
    Field("confidence", choices=tuple(Confidence), help="the highest level whose description is true"),
    Command(["check_thinking.py", "standing", "{answer.claims}", "{standing}"], 60, help="each A says how it stands"),
]
PARAMS = [
    Arg("reading", help="the question as it is understood"),
    Arg("facts", "list", help="what is given, each with its source"),
    Arg("bounds", help="what belongs to the question, and what does not"),
    Arg("perspective", help="P1 name | its question | how it works | what it leaves to others"),
]
GIVEN = ("reading", "perspective")


def hand_over(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Add to the answer what earlier steps have: each claim with its sources and how it stands, and the other way."""
    sources = {line.partition(" |")[0]: line.rpartition("|")[2].strip() for line in ctx.run_state["gather"]["found"]}
    answers = {line.partition(" |")[0]: line.partition("|")[2].strip() for line in ctx.run_state["verify"]["answers"]}
    stands = {
        line.partition(" |")[0]: with_answers(line.partition("|")[2].strip(), answers)
        for line in ctx.step_state["standing"]
    }
    claims = []
    for line in ctx.run_state["answer"]["claims"]:
        name, claim, basis = (part.strip() for part in line.split("|", 2))
        words = [(word, word.strip(".,;:()[]")) for word in basis.split()]
        told = " ".join(word.replace(named, sources[named]) if named in sources else word for word, named in words)
        claims.append(f"{name} | {claim} | {told} | {stands[name]}")
    return Outcome.OK, {"claims": claims, "against": ctx.run_state["answer"]["other_way"]}


def with_answers(stands: str, answers: dict[str, str]) -> str:
    """How a claim stands, with what each V that it names was answered."""
    told = [
        f"{name}: {answer}"
        for name, answer in answers.items()
        if name in stands.replace(",", " ").replace(":", " ").split()
    ]
    return "; ".join([stands, *told])


def step(
    name: str,
    title: str,
    after: str | None,
    needs: Sequence[str],
    requires: Sequence[Requirement],
    handler: Handler | None = None,
) -> StepDef:
    """One step of the line, with the next one; its prompts stand under its name."""
    forbidden = PROMPTS[f"{name} (forbidden)"].splitlines() if f"{name} (forbidden)" in PROMPTS else ()
    return StepDef(
        name, title, PROMPTS[name], {Outcome.OK: after}, handler, needs=needs, requires=requires, forbidden=forbidden
    )


WORKFLOW = Workflow(
    "deepthink-perspective",
    step("gather", "Gather what it rests on", "answer", (*GIVEN, "bounds", "facts"), GROUND),
    step("answer", "Reason both ways", "question", (*GIVEN, "gather.turns", "gather.found"), DRAFT),
    step("question", "Ask what would show the claims wrong", "verify", ("answer.claims", "gather.found"), CHECKS),
    step("verify", "Answer the questions", "report", ("question.asked",), CHECKED),
    step(
        "report",
        "Hold the claims against the answers, and report",
        None,
        (*GIVEN, "gather.found", "answer.other_way", "answer.claims", "question.asked", "verify.answers"),
        REPORT,
        hand_over,
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="One perspective",
    description="Works one question out from one perspective, for the sub-agents of deepthink.",
    params=PARAMS,
)

register_workflow(WORKFLOW)
