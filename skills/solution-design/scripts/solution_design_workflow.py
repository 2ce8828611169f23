"""The graph of solution-design: find the real problem, have perspectives propose, join, challenge, select, write."""

from __future__ import annotations

from skills.lib.prompts import read_prompts, read_resource
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.workflow.core import Handler
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
PERSPECTIVES = ("minimal", "removal", "upstream", "structural", "domain", "stateless", "first-principles")
# The guides, read here so that a run keeps them.
GUIDES = {
    "minimal": read_resource(__file__, "minimal.md"),
    "removal": read_resource(__file__, "removal.md"),
    "upstream": read_resource(__file__, "upstream.md"),
    "structural": read_resource(__file__, "structural.md"),
    "domain": read_resource(__file__, "domain.md"),
    "stateless": read_resource(__file__, "stateless.md"),
    "first-principles": read_resource(__file__, "first-principles.md"),
}
# How many of them, from the left, an effort takes.
BY_EFFORT = {"small": 3, "medium": 5, "large": 7}

SITUATION: list[Requirement] = [
    Field("facts", "list", minimum=2, maximum=14, help='each "fact | place or source"'),
    Field(
        "limits",
        "list",
        maximum=8,
        required=False,
        help='others than constraints: "C1 | limit | hard or soft, by whom"',
    ),
    Field("stakes", minimum=20, maximum=500, help="how far a wrong design reaches, and what undoing it costs"),
    Field("effort", choices=tuple(BY_EFFORT), help="small asks three perspectives, medium five, large all seven"),
    Field(
        "also",
        "list",
        choices=PERSPECTIVES,
        maximum=4,
        required=False,
        help="perspectives that this problem calls for besides",
    ),
    Command(["check_design.py", "limits", "{limits}"], 60, help="C1, C2, … with their three parts"),
]
REAL: list[Requirement] = [
    Field(
        "real_problem",
        minimum=20,
        maximum=600,
        help="the problem to solve, without a solution",
    ),
    Field(
        "behind",
        "list",
        minimum=1,
        maximum=5,
        help='each "because … | seen where, or assumed", from the wish downwards',
    ),
    Field(
        "assumed",
        "list",
        maximum=6,
        required=False,
        help='each "what the request takes for granted | true, false or untested"',
    ),
    Field(
        "criteria", "list", minimum=2, maximum=6, help='each "R1 | what any solution must do | how one would see it"'
    ),
    Command(["check_design.py", "criteria", "{criteria}"], 60, help="R1, R2, … with their three parts"),
]
CANDIDATES: list[Requirement] = [
    Field("ideas", "list", minimum=2, maximum=10, help='each "I1 | idea"'),
    Field(
        "disputes", "list", maximum=6, required=False, help='each "who against whom | over what | what would settle it"'
    ),
    Field(
        "learned",
        "list",
        maximum=8,
        required=False,
        help='each "fact that nobody knew before | place | what it changes"',
    ),
    Field("built", "list", minimum=2, maximum=4, help='each "K1 name | I1, I3 | gives up | what it does besides"'),
    Command(["check_design.py", "ideas", "{ideas}"], 60, help="I1, I2, … with their two parts"),
    Command(["check_design.py", "built", "{ideas}", "{built}"], 60, help="K1, K2, … of these ideas"),
]
ATTACKS: list[Requirement] = [
    Field(
        "attacks", "list", minimum=2, maximum=12, help='each "K1 | what happens, step by step | holds, bends or breaks"'
    ),
    Field(
        "met", "list", minimum=1, maximum=4, help='every candidate: "K1 | R1 yes: by what; R2 no: why", "K2, K3 | …"'
    ),
    Command(
        ["check_design.py", "attacks", "{synthesize.candidates}", "{reflect.criteria}", "{attacks}", "{met}"],
        60,
        help="every candidate is attacked and held against the criteria",
    ),
]
CHOICE: list[Requirement] = [
    Field("choice", choices=("K1", "K2", "K3", "K4"), help="the candidate that is taken"),
    Field("why", minimum=40, maximum=1000, help="what decides it, by criteria and attacks"),
    Field("against", minimum=20, maximum=600, help="the best argument against the choice, and why it does not prevail"),
    Field(
        "rejected",
        "list",
        minimum=1,
        maximum=3,
        help='every other one: "K2 | R2, or why not | what would make it right"',
    ),
    Command(
        [
            *("check_design.py", "choice", "{synthesize.candidates}", "{reflect.criteria}", "{challenge.attacks}"),
            *("{challenge.met}", "{choice}", "{rejected}"),
        ],
        60,
        help="the choice is a candidate that no attack broke, and every other one is rejected with a reason",
    ),
]
WRITTEN: list[Requirement] = [
    Field("design", minimum=60, maximum=5000, help="what is changed where, and one real case from end to end"),
    Field("steps", "list", minimum=1, maximum=12, help='each "what is done | how it is checked, and taken back"'),
    Field("unheard", maximum=600, required=False, help="what it may have cost that a perspective was lost"),
    Field("path", maximum=300, required=False, help="where the document goes, if the user named a place"),
    Command(
        [
            *(
                "make_design.py",
                "{path}",
                "{design}",
                "{steps}",
                "{unheard}",
                "{problem}",
                "{constraints}",
                "{context.limits}",
            ),
            *(
                "{reflect.real_problem}",
                "{reflect.behind}",
                "{reflect.criteria}",
                "{synthesize.candidates}",
                "{challenge.attacks}",
            ),
            *("{select.choice}", "{select.why}", "{select.against}", "{select.rejected}"),
            *("{context.perspectives}", "{context.left_out}", "{explore.lost}"),
        ],
        60,
        help="writes the document",
        records="document",
    ),
]
PARAMS = [
    Arg("problem", minimum=10, maximum=6000, help="the problem, with all that was said about it"),
    Arg("constraints", maximum=3000, default="none stated", help="limits that any solution must respect"),
]

ASKED = ("problem", "constraints")
KNOWN = ("context.facts", "constraints", "context.limits")
GOAL = ("reflect.real_problem", "reflect.criteria")
UNHEARD = ("context.left_out", "explore.lost")


def calibrate(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Take the perspectives of the effort and those asked for besides; keep which are left out."""
    wanted = {*PERSPECTIVES[: BY_EFFORT[ctx.step_state["effort"]]], *ctx.step_state.get("also", ())}
    taken = [name for name in PERSPECTIVES if name in wanted]
    return Outcome.OK, {"perspectives": taken, "left_out": [name for name in PERSPECTIVES if name not in wanted]}


def guided(ctx: StepContext) -> list[str]:
    """The perspectives that are asked, each with its guide."""
    names = ctx.run_state["context"]["perspectives"]
    return [f"{name}: {GUIDES[name].partition(chr(10))[2].strip()}" for name in names]


def build(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Make each candidate of the ideas that it uses, and of what it does besides."""
    import re  # no other step needs it

    ideas = {name: text.replace(" | ", "; ") for name, text in (parts_of(row, 2) for row in ctx.step_state["ideas"])}
    made = []
    for row in ctx.step_state["built"]:
        name, used, gives_up, besides = [*parts_of(row, 4), ""][:4]
        how = [text for idea, text in ideas.items() if idea in re.findall(r"I\d+", used)]
        made.append(" | ".join([name, "; ".join([*how, *filter(None, [besides])]), used, gives_up]))
    return Outcome.OK, {"candidates": made}


def parts_of(row: str, count: int = 0) -> list[str]:
    """What stands between the bars of a row; the last of ``count`` parts may hold further bars."""
    return [part.strip() for part in row.split("|", count - 1)]


def collect(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """The proposals under their perspectives, and the perspectives that nobody came back from; FAIL if all are lost."""
    results = ctx.step_state["results"]
    named = [(one["target"].partition(":")[0], one) for one in results]
    proposals = [{"perspective": name, **one["values"]} for name, one in named if one["status"] == "done"]
    lost = [f"{name} | {one.get('reason') or 'no reason'}" for name, one in named if one["status"] != "done"]
    return Outcome.OK if proposals else Outcome.FAIL, {"proposals": proposals, "lost": lost}


def step(
    name: str,
    title: str,
    way: tuple[str | None, str],
    needs: Sequence[str],
    requires: Sequence[Requirement] = (),
    handler: Handler | Dispatch | None = None,
    fails: str = "",
) -> StepDef:
    """One step of the line: where it leads and when, and when it ends the run as failed; its prompts have its name."""
    forbidden = PROMPTS[f"{name} (forbidden)"].splitlines()
    ways = {Outcome.OK: way, **({Outcome.FAIL: (None, fails)} if fails else {})}
    after = {outcome: target for outcome, (target, _) in ways.items()}
    when = {outcome: words for outcome, (_, words) in ways.items()}
    return StepDef(
        name, title, PROMPTS[name], after, handler, needs=needs, requires=requires, forbidden=forbidden, when=when
    )


WORKFLOW = Workflow(
    "solution-design",
    step(
        "context",
        "Collect the context, and size the effort",
        ("reflect", "each fact has its place, and the effort fits what a wrong design would cost"),
        ASKED,
        SITUATION,
        calibrate,
    ),
    step(
        "reflect",
        "Reflect on the real problem",
        ("explore", "the problem holds no solution, and no criterion fits one solution alone"),
        ("problem", *KNOWN),
        REAL,
    ),
    step(
        "explore",
        "Have the perspectives propose",
        ("synthesize", "every sub-agent has finished, or is accounted for as lost"),
        (),
        handler=Dispatch(
            AgentRole.ARCHITECT,
            script="perspective.py",
            targets=guided,
            then=collect,
            params={
                "perspective": "{target}",
                "problem": "{reflect.real_problem}",
                "criteria": "{reflect.criteria}",
                "facts": "{context.facts}",
                "constraints": "{constraints}",
                "limits": "{context.limits}",
            },
            cap=len(PERSPECTIVES),
        ),
        fails="all are lost, so that nobody proposed anything: the run ends as failed",
    ),
    step(
        "synthesize",
        "Join the proposals, and build candidates",
        ("challenge", "two to four candidates that differ in what they give up"),
        (*GOAL, *KNOWN, "reflect.assumed", "explore.proposals", *UNHEARD),
        CANDIDATES,
        build,
    ),
    step(
        "challenge",
        "Challenge each candidate",
        ("select", "every candidate was attacked where it is weakest, and held against every criterion"),
        (*GOAL, *KNOWN, "synthesize.learned", "synthesize.disputes", "synthesize.candidates"),
        ATTACKS,
    ),
    step(
        "select",
        "Select one",
        ("output", "one is chosen for reasons that the attacks and criteria bear, and each other one is answered"),
        (
            *(*GOAL, "problem", "context.stakes", "constraints", "context.limits", "synthesize.candidates"),
            *("challenge.attacks", "challenge.met"),
        ),
        CHOICE,
    ),
    step(
        "output",
        "Write the design",
        (None, "somebody who was not here could build it"),
        (
            *(
                *GOAL,
                "constraints",
                "context.limits",
                "explore.proposals",
                "synthesize.candidates",
                "challenge.attacks",
            ),
            *("select.choice", "select.why", *UNHEARD),
        ),
        WRITTEN,
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    title="Solution design",
    description="Designs the solution of one problem from several perspectives, and selects one candidate by attack.",
    params=PARAMS,
    closing=PROMPTS["closing"],
    unchecked="what the proposals would do: they are words",
)

register_workflow(WORKFLOW)
