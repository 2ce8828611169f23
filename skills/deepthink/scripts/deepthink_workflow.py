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
    Field("reading", minimum=20, maximum=800, help="the question as a stranger could take it up"),
    Field("use", minimum=10, maximum=400, help="who asks, and what they will do with the answer"),
    Field("facts", "list", minimum=1, maximum=12, help='"fact | source"'),
    Field("bounds", minimum=10, maximum=600, help="what belongs to the question, and what does not"),
]
GENERAL: list[Requirement] = [
    Field("general", minimum=20, maximum=500, help="the question one level up"),
    Field("principles", "list", minimum=2, maximum=3, help='"principle | what it says here | where it ends"'),
    Field(
        "analogies", "list", minimum=2, maximum=3, help='"case | what corresponds | what it suggests | where it breaks"'
    ),
]
PLANNED: list[Requirement] = [
    Field("form", minimum=20, maximum=500, help="what a complete answer contains, and in which form"),
    Field("tests", "list", minimum=2, maximum=5, help="what a good answer passes and a poor one fails"),
    Field("chosen", choices=("quick", "full"), help="the mode; what --mode says, unless that is auto"),
    Field("parts", "list", minimum=2, maximum=7, help='"Q1 | sub-question | what would settle it"; the decisive first'),
    Field("guess", minimum=10, maximum=500, help="the answer that you would give now"),
    Command(["check_thinking.py", "mode", "{mode}", "{chosen}"], 60, help="chosen agrees with the run's --mode"),
    Command(["check_thinking.py", "parts", "{parts}"], 60, help="Q1, Q2, … with their three parts"),
]
IN_FORM = '"P1 name | its question | how it works | what it leaves to others | Q1, Q2"'
DRAWN: list[Requirement] = [
    Field("perspectives", "list", minimum=3, maximum=6, help=f"{IN_FORM}; the Qs are the parts of the plan it answers"),
    Command(
        ["check_thinking.py", "design", "{perspectives}", "{plan.parts}"],
        60,
        help="every perspective has its five parts, and every Q its perspective",
    ),
]
REVISED: list[Requirement] = [
    Field("faults", "list", minimum=1, maximum=10, help='"P2 | fault", or "all | whose view is missing"'),
    Field(
        "lines",
        "list",
        maximum=10,
        help='only changed or new ones, = for a part that stays: "P2 | = | how it works"; "P3 | dropped: why"',
    ),
    Field(
        "declined",
        "list",
        maximum=10,
        required=False,
        help='only for a fault whose line stays as it is: "P2 | why the fault is none"',
    ),
    Command(
        [
            *("check_thinking.py", "revised", "{design.perspectives}", "{plan.parts}", "{faults}", "{lines}"),
            "{declined}",
        ],
        60,
        help="a line with a fault was changed, or the fault declined",
        records="perspectives",
    ),
]
JUDGED: list[Requirement] = [
    Field("checked", "list", maximum=6, help='"P1 | A1 | what you checked, and what came of it"'),
    Field("weak", "list", maximum=6, help='"P2 | what is missing"; [] if every answer is sound'),
    Field("design", minimum=5, maximum=600, help='"holds"; or "fails: why even full answers leave the question open"'),
    Command(
        [
            *("check_thinking.py", "judged", "{revise.perspectives}", "{dispatch.lost}", "{dispatch.claimed}"),
            *("{checked}", "{weak}", "{design}"),
        ],
        60,
        help="every answer is checked, and what is weak names a perspective and what it lacks",
    ),
]
JOINED: list[Requirement] = [
    Field("conflicts", "list", maximum=8, help='"P1 against P2 | over what | which holds and why, or open"'),
    Field("insights", "list", maximum=8, help='"P2 | what nobody else saw | what it changes"'),
    Field("gaps", "list", maximum=8, help='"what nobody answered | how much hangs on it"'),
    Command(
        ["check_thinking.py", "insights", "{dispatch.heard}", "{insights}"],
        60,
        help="an insight at least, each of a perspective that answered",
    ),
]
THESIS: list[Requirement] = [
    Field("answer", minimum=40, maximum=3000, help="its first sentence is the answer itself"),
    Field("claims", "list", minimum=2, maximum=10, help='"S1 | claim | rests on | what would refute it"'),
    Command(["check_thinking.py", "theses", "{claims}"], 60, help="S1, S2, … with their four parts"),
]
PASS: list[Requirement] = [
    Field("attack", minimum=20, maximum=1200, help="the strongest thing tried against the answer in this pass"),
    Field("came", minimum=20, maximum=1200, help="what broke, what held, and how that was seen"),
    Field(
        "edits", "list", maximum=8, required=False, help='only if the answer changed: \'"old words" -> "new words"\''
    ),
    Field(
        "claims",
        "list",
        maximum=10,
        required=False,
        help='only changed or new ones, = for a part that stays: "S2 | = | P1 and a count"; "S3 | dropped: why"',
    ),
    Field(
        "open",
        "list",
        maximum=8,
        required=False,
        help='all that is open, if it is not as CONTEXT has it: "what is open | how it could turn the answer"',
    ),
    Command(
        ["check_thinking.py", "kept", "{synthesize.claims}", "{refine.standing}", "{claims}"],
        60,
        help="each claim has its S number and four parts",
        records="standing",
    ),
    Command(
        ["check_thinking.py", "edits", "{synthesize.answer}", "{refine.current}", "{edits}"],
        60,
        help="the old words of each edit stand in the answer",
        records="current",
    ),
]
GIVEN: list[Requirement] = [
    Command(
        [
            *("check_thinking.py", "report", "{refine.current}", "{refine.standing}", "{refine.left}"),
            *("{refine.log}", "{refine.confidence}", "{revise.perspectives}"),
        ],
        60,
        help="writes the report",
        records="report",
    ),
]
PARAMS = [
    Arg("question", minimum=10, maximum=6000, help="the question, with all that was said about it"),
    Arg("mode", choices=("auto", "quick", "full"), default="auto", help="auto leaves the choice to the third step"),
    Arg("confidence", choices=tuple(Confidence), step="refine", help="the highest level whose description is true"),
]


def id_of(line: str) -> str:
    """The id that a line begins with, as P2 in "P2 | nothing about cost"."""
    return line.partition("|")[0].split(None, 1)[0]


def plan(ctx: StepContext) -> Outcome:
    """A quick run goes straight to the first synthesis."""
    return Outcome.SKIP if ctx.step_state["chosen"] == "quick" else Outcome.OK


def asked(ctx: StepContext) -> list[str]:
    """Every perspective; after a partial round the lost, and the weak with what they said and what it lacked."""
    # The last part of a line is which parts of the plan it answers: a sub-agent does not know them.
    perspectives = [line.rpartition("|")[0].strip() for line in ctx.run_state["revise"]["perspectives"]]
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
            # Each claim says how it stands.
            values = {name: value for name, value in result["values"].items() if name != "standing"}
            answers[perspective] = {"perspective": perspective, **values}
        else:
            lost.append(f"{perspective} | nobody came back: {result.get('reason') or 'no reason was given'}")
    heard = sorted(answers)
    claimed = [f"{name} | {', '.join(map(id_of, answers[name].get('claims', ())))}" for name in heard]
    found = {"answers": [answers[name] for name in heard], "heard": heard, "lost": lost, "claimed": claimed}
    return Outcome.OK if heard else Outcome.FAIL, found


def judge(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Pass, ask the weak and the lost ones again, or design anew; after the last round no answer is asked for again."""
    lines = {id_of(line): line for line in (*ctx.run_state["dispatch"]["lost"], *ctx.step_state["weak"])}
    again = [lines[name] for name in sorted(lines)]
    sound = [line for line in ctx.step_state["checked"] if id_of(line) not in lines]
    if ctx.step_state["design"].startswith("fails"):
        return Outcome.FAIL, {"verdict": "fail", "again": [], "sound": []}
    if again:
        return Outcome.ITERATE, {"verdict": "partial", "again": again, "sound": sound}
    return Outcome.OK, {"verdict": "pass", "again": [], "sound": sound}


def refine(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Attack again until certain; keep what is open as it is now, and every attack in one log."""
    state, confidence = ctx.step_state, ctx.workflow_params["confidence"]
    entry = f"Pass {ctx.iteration}, confidence {confidence}. Tried: {state['attack']} Came: {state['came']}"
    found = {
        "log": [*state.get("log", ()), entry],
        "left": state.get("open", ctx.run_state.get("aggregate", {}).get("gaps", [])),
    }
    return Outcome.OK if confidence == Confidence.CERTAIN else Outcome.ITERATE, found


def step(
    name: str,
    title: str,
    ways: str | dict[Outcome, tuple[str | None, str]] | None,
    needs: Sequence[str],
    requires: Sequence[Requirement] = (),
    handler: Handler | Dispatch | None = None,
    **more: Any,
) -> StepDef:
    """One step with the step after it, or its ways on with the words when each is taken; the prompts have its name."""
    routes = ways if isinstance(ways, dict) else {Outcome.OK: (ways, "")}
    return StepDef(
        name,
        title,
        PROMPTS[name],
        {outcome: target for outcome, (target, _) in routes.items()},
        handler,
        needs=needs,
        requires=requires,
        when={outcome: words for outcome, (_, words) in routes.items() if words},
        forbidden=PROMPTS[f"{name} (forbidden)"].splitlines() if f"{name} (forbidden)" in PROMPTS else (),
        **more,
    )


WORKFLOW = Workflow(
    "deepthink",
    step("clarify", "Clarify the context", "abstract", ["question"], SEEN),
    step("abstract", "Step back to what is general", "plan", ["clarify.reading", "clarify.facts"], GENERAL),
    step(
        "plan",
        "Say what a good answer is, and plan the thinking",
        {
            Outcome.OK: ("design", "a full run: perspectives are designed for the parts"),
            Outcome.SKIP: ("synthesize", "a quick run: the parts are answered in the synthesis itself"),
        },
        [
            *("clarify.reading", "clarify.use", "clarify.facts", "clarify.bounds"),
            *("abstract.general", "abstract.principles", "abstract.analogies", "mode"),
        ],
        PLANNED,
        plan,
    ),
    step(
        "design",
        "Design the perspectives",
        "revise",
        ["clarify.reading", "clarify.facts", "plan.parts", "gate.design", "gate.checked", "revise.perspectives"],
        DRAWN,
        repeat=[PROMPTS["design (again)"], "", PROMPTS["design"]],
        allow={"loop-without-bound": f"a person decides once gate gave FAIL in {ROUNDS} rounds"},
    ),
    step(
        "revise",
        "Criticise and revise the design",
        "dispatch",
        ["clarify.reading", "plan.parts", "plan.guess", "design.perspectives", "gate.design"],
        REVISED,
        allow={"unread-value:declined": "the check counts a fault that is declined as answered"},
    ),
    step(
        "dispatch",
        "Have the perspectives worked out",
        {
            Outcome.OK: ("gate", "every sub-agent has finished, or is accounted for as lost"),
            Outcome.FAIL: (None, "all are lost, so that nobody was heard: the run ends as failed"),
        },
        ["clarify.reading", "gate.again"],
        handler=Dispatch(
            AgentRole.GENERAL_PURPOSE,
            script="perspective.py",
            targets=asked,
            then=collect,
            params={
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
            Outcome.FAIL: ("design", "the design fails: others are needed; after the last round a person decides"),
        },
        ["clarify.reading", "plan.parts", "dispatch.answers", "dispatch.lost", "gate.sound", "gate.again"],
        JUDGED,
        judge,
        max_iterations=ROUNDS,
        outcomes=[Outcome.OK, Outcome.ITERATE, Outcome.FAIL],
    ),
    step(
        "aggregate",
        "Join what was found",
        "synthesize",
        [
            *("clarify.reading", "plan.parts", "dispatch.answers", "gate.checked", "gate.verdict"),
            *("gate.again", "gate.design"),
        ],
        JOINED,
    ),
    step(
        "synthesize",
        "Write the first synthesis",
        "refine",
        [
            *("clarify.reading", "clarify.facts", "plan.form", "plan.tests"),
            *("plan.parts", "plan.guess", "dispatch.answers"),
            *("aggregate.conflicts", "aggregate.insights", "aggregate.gaps"),
        ],
        THESIS,
        allow=dict.fromkeys(
            (
                "read-on-some-paths:dispatch.answers",
                "read-on-some-paths:aggregate.conflicts",
                "read-on-some-paths:aggregate.insights",
                "read-on-some-paths:aggregate.gaps",
            ),
            "a quick run has no perspectives to join, and the text says what to do then",
        ),
    ),
    step(
        "refine",
        "Attack the answer and repair it",
        {
            Outcome.OK: ("output", "certain; or five passes are done"),
            Outcome.ITERATE: ("refine", "anything below certain: another pass, by another attack"),
        },
        [
            *("clarify.reading", "plan.tests", "aggregate.gaps", "synthesize.answer", "synthesize.claims"),
            *("refine.log", "refine.current", "refine.standing", "refine.left"),
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
        None,
        [
            *("clarify.reading", "clarify.use", "clarify.bounds", "plan.form"),
            *("refine.current", "refine.left", "refine.confidence"),
        ],
        GIVEN,
        allow={"read-on-some-paths:revise.perspectives": "a quick run has none, and its report names none"},
    ),
    title="Deepthink",
    description="Thinks one hard question through, by several perspectives, to an answer that was attacked.",
    params=PARAMS,
    closing=PROMPTS["closing"],
    unchecked="whether the thinking is sound: nothing outside of its text was looked at",
)

register_workflow(WORKFLOW)
