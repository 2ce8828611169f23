"""The graph of deepthink: understand, plan, have perspectives worked out, judge what came, synthesize, refine."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import AgentRole, Confidence, Dispatch, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.workflow.core import Handler
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
# How often the gate is passed before the work goes on with what there is.
ROUNDS = 4
PASSES = 5

SEEN: list[Requirement] = [
    Field("reading", minimum=20, maximum=800, help="the question in short, as it is understood here"),
    Field("use", minimum=10, maximum=400, help="who asks, and what they will do with the answer"),
    Field("facts", "list", minimum=1, maximum=12, help='each "fact | source"'),
    Field("terms", "list", maximum=6, help='each "word | reading taken | reading set aside"; [] where all are plain'),
    Field("bounds", minimum=10, maximum=600, help="what belongs to the question, and what does not"),
]
GENERAL: list[Requirement] = [
    Field("general", minimum=20, maximum=500, help="the question one level up"),
    Field("principles", "list", minimum=2, maximum=6, help='each "principle | what it says here | where it ends"'),
    Field("tension", minimum=10, maximum=500, help="what pulls against what, so that the question is hard"),
]
NATURE: list[Requirement] = [
    Field("kind", choices=("fact", "cause", "choice", "design", "forecast", "meaning"), help="by what would settle it"),
    Field("answer_form", minimum=20, maximum=500, help="what a complete answer contains, and in which form"),
    Field("tests", "list", minimum=2, maximum=5, help='each "T1 | what a good answer passes and a poor one fails"'),
    Field("chosen", choices=("quick", "full"), help="how this run goes on; what --mode says, unless that is auto"),
    Field("why", minimum=20, maximum=400, help="what speaks for that mode"),
    Command(["check_thinking.py", "mode", "{mode}", "{chosen}"], 60, help="chosen agrees with the run's --mode"),
    Command(["check_thinking.py", "tests", "{tests}"], 60, help="T1, T2, … without a gap"),
]
CASES: list[Requirement] = [
    Field(
        "analogies", "list", minimum=2, maximum=5, help='"case | what corresponds | what it suggests | where it breaks"'
    ),
    Field("lesson", minimum=20, maximum=600, help="what the cases say together, and which of them disagrees"),
]
PLANNED: list[Requirement] = [
    Field("parts", "list", minimum=2, maximum=7, help='each "Q1 | sub-question | what would settle it"'),
    Field("decisive", minimum=20, maximum=500, help="the part that the answer turns on, and how it would turn"),
    Field("guess", minimum=10, maximum=500, help="the answer that you would give now, to be tested"),
    Command(["check_thinking.py", "parts", "{parts}"], 60, help="Q1, Q2, … with their three parts"),
]
IN_FORM = '"P1 name | its question | how it works | what it leaves to others"'
DRAWN: list[Requirement] = [
    Field("perspectives", "list", minimum=3, maximum=6, help=f"each {IN_FORM}"),
    Field("coverage", "list", minimum=2, maximum=7, help='every part of the plan: "Q1 | P1, P3"'),
    Command(
        ["check_thinking.py", "design", "{perspectives}", "{plan.parts}", "{coverage}"],
        60,
        help="every perspective has its four parts, and every Q its perspective",
    ),
]
FAULTS: list[Requirement] = [
    Field(
        "faults", "list", minimum=1, maximum=10, help='each "P2 | fault | what would mend it"; "all | …" for the whole'
    ),
    Field("absent", minimum=20, maximum=500, help="whose view is missing, and what it would see"),
]
MENDED: list[Requirement] = [
    Field("perspectives", "list", minimum=3, maximum=6, help=f"the final ones, each {IN_FORM}"),
    Field("settled", "list", minimum=1, maximum=12, help='every fault: "fault | what was done, or why nothing"'),
    Command(["check_thinking.py", "perspectives", "{perspectives}"], 60, help="every perspective has its four parts"),
]
JUDGED: list[Requirement] = [
    Field("checked", "list", maximum=6, help='each answer: "P1 | claim that carries it | what you checked, what came"'),
    Field("weak", "list", maximum=6, help='each "P2 | what is missing"; [] where every answer is sound'),
    Field("design", choices=("holds", "fails"), help="fails where even full answers would not answer the question"),
    Field("because", minimum=20, maximum=600, help="why the design holds or fails"),
    Command(
        ["check_thinking.py", "judged", "{revise.perspectives}", "{dispatch.lost}", "{checked}", "{weak}"],
        60,
        help="every answer is checked, and what is weak names a perspective and what it lacks",
    ),
]
JOINED: list[Requirement] = [
    Field("agreements", "list", maximum=10, help='each "what is agreed | P1, P3 | on separate grounds, or on one"'),
    Field("conflicts", "list", maximum=8, help='each "P1 against P2 | over what | which holds and why, or open"'),
    Field("insights", "list", maximum=8, help='each "P2 | what nobody else saw | what it changes"'),
    Field("gaps", "list", maximum=8, help='each "what nobody answered | how much hangs on it"; [] where nothing'),
    Command(
        ["check_thinking.py", "insights", "{dispatch.heard}", "{insights}"],
        60,
        help="an insight at least, each of a perspective that answered",
    ),
]
THESIS: list[Requirement] = [
    Field("answer", minimum=40, maximum=3000, help="the answer, its first sentence the answer itself"),
    Field("claims", "list", minimum=2, maximum=10, help='each "S1 | claim | rests on | what would refute it"'),
    Field("weakest", minimum=20, maximum=500, help="the claim that you would bet on least, and why"),
    Command(["check_thinking.py", "theses", "{claims}"], 60, help="S1, S2, … with their four parts"),
]
PASS: list[Requirement] = [
    Field("attack", minimum=20, maximum=1200, help="the strongest thing tried against the answer this pass"),
    Field("came", minimum=20, maximum=1200, help="what came of it: what broke, what held, and by what that was seen"),
    Field("answer", minimum=40, maximum=3000, help="the answer as it stands now, whole"),
    Field("claims", "list", minimum=2, maximum=10, help='all as they stand now: "S1 | claim | rests on | refuted by"'),
    Field("open", "list", maximum=8, help='each "what is open | how it could turn the answer"; [] where nothing'),
    Command(["check_thinking.py", "kept", "{claims}"], 60, help="each claim has its S number and four parts"),
]
GIVEN: list[Requirement] = [
    Field("answer", minimum=20, maximum=1000, help="the answer in short, with how sure it is"),
    Field("report", minimum=200, maximum=12000, help="the whole reply, as the user will read it"),
]
PARAMS = [
    Arg("question", minimum=10, maximum=6000, help="the question, with all that was said about it"),
    Arg("mode", choices=("auto", "quick", "full"), default="auto", help="auto leaves the choice to the third step"),
    Arg("confidence", choices=tuple(Confidence), step="refine", help="the highest level whose description is true"),
]

QUESTION = ("question", "clarify.reading")
CLEAR = (*QUESTION, "clarify.use", "clarify.facts", "clarify.terms", "clarify.bounds")
STEPPED_BACK = ("abstract.general", "abstract.principles", "abstract.tension")
STANDARD = ("characterize.answer_form", "characterize.tests")
RECALLED = ("recall.analogies", "recall.lesson")
PLAN = ("plan.parts", "plan.decisive")
SENT_BACK = ("gate.because", "gate.checked", "revise.perspectives")
RETURNED = ("dispatch.answers", "dispatch.lost", "gate.sound", "gate.again")
FOUND = ("aggregate.agreements", "aggregate.conflicts", "aggregate.insights", "aggregate.gaps")


def id_of(line: str) -> str:
    """The id that a line begins with, as P2 in "P2 | nothing about cost"."""
    return line.partition("|")[0].split(None, 1)[0]


def plan(ctx: StepContext) -> Outcome:
    """A quick run goes straight to the first synthesis."""
    return Outcome.SKIP if ctx.run_state["characterize"]["chosen"] == "quick" else Outcome.OK


def asked(ctx: StepContext) -> list[str]:
    """Every perspective; after a partial round the lost, and the weak with what they said and what it lacked."""
    perspectives = ctx.run_state["revise"]["perspectives"]
    gate = ctx.run_state.get("gate", {})
    if gate.get("verdict") != "partial":
        return list(perspectives)
    whole = {id_of(line): line for line in perspectives}
    said = {entry["perspective"]: entry.get("answer", "") for entry in ctx.run_state["dispatch"]["answers"]}
    targets = []
    for line in gate["again"]:
        target, earlier = whole[id_of(line)], said.get(id_of(line), "")
        if earlier:
            missing = line.partition("|")[2].strip()
            target = f"{target}\n\nAsked again. What was missing: {missing}\n\nThe earlier answer: {earlier}"
        targets.append(target)
    return targets


def collect(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Put each new answer in the place of its perspective's earlier one, and name the lost ones; FAIL if all are."""
    again = ctx.run_state.get("gate", {}).get("verdict") == "partial"
    answers = {entry["perspective"]: entry for entry in ctx.step_state.get("answers", ())} if again else {}
    lost = []
    for result in ctx.step_state["results"]:
        perspective = id_of(result["target"])
        if result["status"] == "done":
            answers[perspective] = {"perspective": perspective, **result["values"]}
        else:
            lost.append(f"{perspective} | nobody came back: {result.get('reason') or 'no reason was given'}")
    heard = sorted(answers)
    found = {"answers": [answers[name] for name in heard], "heard": heard, "lost": lost}
    return Outcome.OK if heard else Outcome.FAIL, found


def judge(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Pass, ask the weak and the lost ones again, or design anew; after the last round no answer is asked for again."""
    lines = {id_of(line): line for line in (*ctx.run_state["dispatch"]["lost"], *ctx.step_state["weak"])}
    again = [lines[name] for name in sorted(lines)]
    sound = [line for line in ctx.step_state["checked"] if id_of(line) not in lines]
    if ctx.step_state["design"] == "fails":
        return Outcome.FAIL, {"verdict": "fail", "again": [], "sound": []}
    if again:
        return Outcome.ITERATE, {"verdict": "partial", "again": again, "sound": sound}
    return Outcome.OK, {"verdict": "pass", "again": [], "sound": sound}


def refine(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Attack again until certain; keep every attack with what came of it in one log."""
    state, confidence = ctx.step_state, ctx.workflow_params["confidence"]
    entry = f"Pass {ctx.iteration}, confidence {confidence}. Tried: {state['attack']} Came: {state['came']}"
    outcome = Outcome.OK if confidence == Confidence.CERTAIN else Outcome.ITERATE
    return outcome, {"log": [*state.get("log", ()), entry]}


def step(
    name: str,
    title: str,
    ways: dict[Outcome, tuple[str | None, str]],
    needs: Sequence[str],
    requires: Sequence[Requirement] = (),
    handler: Handler | Dispatch | None = None,
    **more: Any,
) -> StepDef:
    """One step with its ways on, each with the words when it is taken; its prompts stand under its name."""
    return StepDef(
        name,
        title,
        PROMPTS[name],
        {outcome: target for outcome, (target, _) in ways.items()},
        handler,
        needs=needs,
        requires=requires,
        when={outcome: words for outcome, (_, words) in ways.items()},
        forbidden=PROMPTS[f"{name} (forbidden)"].splitlines(),
        **more,
    )


WORKFLOW = Workflow(
    "deepthink",
    step(
        "clarify",
        "Clarify the context",
        {Outcome.OK: ("abstract", "the question has one reading, and each fact its source")},
        ["question"],
        SEEN,
    ),
    step(
        "abstract",
        "Step back to what is general",
        {Outcome.OK: ("characterize", "the general question is as hard as the first, and principles bear on it")},
        CLEAR,
        GENERAL,
    ),
    step(
        "characterize",
        "Say what kind of question it is",
        {Outcome.OK: ("recall", "it is settled what a good answer is, and which mode the question deserves")},
        [*CLEAR, *STEPPED_BACK, "mode"],
        NATURE,
        allow={
            "unread-value:kind": "the tests of a good answer follow from it, and they are recorded beside it",
            "unread-value:why": "the reason for the mode is for whoever reads the run",
        },
    ),
    step(
        "recall",
        "Recall analogies",
        {Outcome.OK: ("plan", "every case says what corresponds and where it breaks")},
        [*CLEAR, *STEPPED_BACK],
        CASES,
    ),
    step(
        "plan",
        "Plan the thinking",
        {
            Outcome.OK: ("design", "a full run: perspectives are designed for the parts"),
            Outcome.SKIP: ("synthesize", "a quick run: the parts are answered in the synthesis itself"),
        },
        [*CLEAR, *STEPPED_BACK, *STANDARD, "characterize.chosen", *RECALLED],
        PLANNED,
        plan,
    ),
    step(
        "design",
        "Design the perspectives",
        {Outcome.OK: ("critique", "three to six perspectives that can disagree, and no part without one")},
        [*CLEAR, "abstract.tension", *PLAN, "recall.lesson", *SENT_BACK],
        DRAWN,
        repeat=[PROMPTS["design (again)"], "", PROMPTS["design"]],
        allow={"loop-without-bound": f"a person decides once gate gave FAIL in {ROUNDS} rounds"},
    ),
    step(
        "critique",
        "Criticise the design",
        {Outcome.OK: ("revise", "each fault names its perspective and what would mend it")},
        [*QUESTION, "clarify.bounds", *PLAN, "plan.guess", "design.perspectives", "design.coverage", "gate.because"],
        FAULTS,
    ),
    step(
        "revise",
        "Revise the design",
        {Outcome.OK: ("dispatch", "every fault is settled, and every line can be understood by a stranger")},
        [
            *(*QUESTION, "clarify.bounds", *PLAN, "design.perspectives", "design.coverage"),
            *("critique.faults", "critique.absent"),
        ],
        MENDED,
        allow={"unread-value:settled": "it has every fault answered; what comes of that is in the perspectives"},
    ),
    step(
        "dispatch",
        "Have the perspectives worked out",
        {
            Outcome.OK: ("gate", "every sub-agent has finished, or is accounted for as lost"),
            Outcome.FAIL: (None, "all are lost, so that nobody was heard: the run ends as failed"),
        },
        [*QUESTION, "revise.perspectives", "gate.again"],
        handler=Dispatch(
            AgentRole.GENERAL_PURPOSE,
            script="perspective.py",
            targets=asked,
            then=collect,
            params={
                "question": "{question}",
                "reading": "{clarify.reading}",
                "facts": "{clarify.facts}",
                "bounds": "{clarify.bounds}",
                "perspective": "{target}",
            },
            cap=6,
        ),
    ),
    step(
        "gate",
        "Judge what came back",
        {
            Outcome.OK: ("aggregate", "every answer is sound; or the last round is done, and what is weak stays named"),
            Outcome.ITERATE: ("dispatch", "partial: an answer is weak or missing, and is asked for again"),
            Outcome.FAIL: (
                "design",
                "the design fails: other perspectives are needed; after the last round a person decides",
            ),
        },
        [*QUESTION, *PLAN, *STANDARD, "revise.perspectives", *RETURNED],
        JUDGED,
        judge,
        max_iterations=ROUNDS,
        outcomes=[Outcome.OK, Outcome.ITERATE, Outcome.FAIL],
    ),
    step(
        "aggregate",
        "Join what was found",
        {Outcome.OK: ("synthesize", "agreements, conflicts, insights and gaps are told apart")},
        [
            *(*QUESTION, *PLAN, "revise.perspectives", "dispatch.answers", "gate.checked"),
            *("gate.verdict", "gate.again", "gate.weak", "gate.because"),
        ],
        JOINED,
    ),
    step(
        "synthesize",
        "Write the first synthesis",
        {Outcome.OK: ("refine", "the answer answers, and every claim says what it rests on")},
        [
            *(*QUESTION, "clarify.facts", "clarify.bounds", "abstract.principles", *STANDARD),
            *("recall.lesson", *PLAN, "plan.guess", "dispatch.answers", *FOUND),
        ],
        THESIS,
        allow=dict.fromkeys(
            [f"read-on-some-paths:{value}" for value in ("dispatch.answers", *FOUND)],
            "a quick run has no perspectives to join, and the text says what to do then",
        ),
    ),
    step(
        "refine",
        "Attack the answer and mend it",
        {
            Outcome.OK: ("output", "certain; or five passes are done"),
            Outcome.ITERATE: ("refine", "anything below certain: another pass, by another attack"),
        },
        [
            *(*QUESTION, "clarify.facts", *STANDARD),
            *("aggregate.gaps", "synthesize.answer", "synthesize.claims", "synthesize.weakest"),
            *("refine.log", "refine.answer", "refine.claims", "refine.open"),
        ],
        PASS,
        refine,
        repeat=[PROMPTS["refine (again)"], "", PROMPTS["refine"]],
        max_iterations=PASSES,
        allow={"read-on-some-paths:aggregate.gaps": "a quick run has no gaps of perspectives, and the text says so"},
    ),
    step(
        "output",
        "Format and give the answer",
        {Outcome.OK: (None, "the reply is written; the run ends, and the user gets it in the same words")},
        [
            *(*QUESTION, "clarify.use", "clarify.terms", "clarify.bounds", *STANDARD, "characterize.chosen"),
            *("refine.answer", "refine.claims", "refine.open", "refine.confidence", "refine.log"),
        ],
        GIVEN,
    ),
    title="Deepthink",
    description="Thinks one hard question through, by several perspectives, to an answer that was attacked.",
    params=PARAMS,
    closing=PROMPTS["closing"],
    unchecked="whether the thinking is sound: nothing outside of its text was looked at",
)

register_workflow(WORKFLOW)
