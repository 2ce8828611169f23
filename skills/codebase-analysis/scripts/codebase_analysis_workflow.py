"""The graph of codebase-analysis: scope, survey by sub-agents, deepen until confidence is high, synthesize."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import AgentRole, Confidence, Dispatch, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
# How much of an area a check is given: a command line has its limit.
SHORT = 1_000

MAP: list[Requirement] = [
    Field("goal", minimum=20, maximum=600, help="what the user wants to know and what they will do with the answer"),
    Field("orientation", minimum=40, maximum=1500, help="size by folder, languages, entry points with paths, tests"),
    Field("areas", "list", minimum=1, maximum=6, help='each "paths | question | first file to open"'),
    Field("left_out", maximum=600, help="what is not looked at, with the reason; the word none where nothing is"),
]
ROUND: list[Requirement] = [
    Field("targets", "list", minimum=1, maximum=3, help="what was settled this round, each as a question"),
    Field("findings", "list", minimum=1, maximum=12, help='each "path:line | what is so | what it means for the goal"'),
    Field("open", "list", maximum=8, help='each "question | where one would look"; [] where nothing is open'),
    Field("weakest", minimum=20, maximum=600, help="the claim you would bet on least; where its refutation was sought"),
    Command(
        ["check_places.py", "findings", "{findings}", "{survey.unread}", "{deepen.log}", "{confidence}"],
        60,
        help="each finding begins with a place that exists; what nobody has read is read",
    ),
]
REPORT: list[Requirement] = [
    Field("report", maximum=300, help="path of the report's file, relative to the project's root"),
    Field("answer", minimum=40, maximum=1000, help="the report's Answer section, for the user"),
    Artifact("{report}", help="the report as Markdown"),
    Command(
        ["check_places.py", "report", "{report}"],
        60,
        help="all seven headings; every `path:line` exists; at most 1,500 words",
    ),
]
CONFIDENCE = Arg("confidence", choices=tuple(Confidence), step="deepen", help="the level of the weakest claim")


def survey(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """The areas that nobody has read, since their explorers were lost; their paths stand first, and are short."""
    lost = [one["target"] for one in ctx.step_state["results"] if one["status"] != "done"]
    return Outcome.OK, {"unread": [area[:SHORT] for area in lost]}


def settle(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Go another round until confidence is high; keep the findings of every round in one log."""
    confidence, state = ctx.workflow_params["confidence"], ctx.step_state
    head = f"Round {ctx.iteration}, confidence {confidence}. Targets: " + " / ".join(state["targets"])
    log = [*state.get("log", ()), head, *state["findings"]]
    sure = confidence in (Confidence.HIGH, Confidence.CERTAIN)
    return Outcome.OK if sure else Outcome.ITERATE, {"log": log}


WORKFLOW = Workflow(
    "codebase-analysis",
    StepDef(
        "scope",
        "Set the goal, cut the areas",
        PROMPTS["scope"],
        {Outcome.OK: "survey"},
        requires=MAP,
        forbidden=PROMPTS["scope (forbidden)"].splitlines(),
        when={Outcome.OK: "the goal can be answered, and every area passes the four tests"},
        tools=["read", "search", "shell", "write"],
    ),
    StepDef(
        "survey",
        "Survey the areas",
        PROMPTS["survey"],
        {Outcome.OK: "deepen"},
        Dispatch(
            AgentRole.EXPLORE,
            task=PROMPTS["survey (task)"],
            targets="scope.areas",
            context=PROMPTS["survey (context)"],
            cap=6,
            then=survey,
        ),
        needs=["scope.goal", "scope.areas"],
        forbidden=PROMPTS["survey (forbidden)"].splitlines(),
        when={Outcome.OK: "every sub-agent has finished, or is accounted for as lost"},
        tools=["read", "search", "shell", "write", "agent"],
    ),
    StepDef(
        "deepen",
        "Deepen what the answer rests on",
        [PROMPTS["deepen"], "", PROMPTS["levels"]],
        {Outcome.OK: "synthesize", Outcome.ITERATE: "deepen"},
        settle,
        needs=["scope.goal", "survey.results", "deepen.log", "deepen.open", "deepen.weakest"],
        requires=ROUND,
        repeat=[PROMPTS["deepen (again)"], "", PROMPTS["levels"]],
        forbidden=PROMPTS["deepen (forbidden)"].splitlines(),
        max_iterations=4,
        when={
            Outcome.OK: "confidence high or certain, or four rounds are done",
            Outcome.ITERATE: "confidence exploring, low or medium: another round on what is still weak",
        },
        tools=["read", "search", "shell", "web", "write"],
    ),
    StepDef(
        "synthesize",
        "Write the report",
        PROMPTS["synthesize"],
        {Outcome.OK: None},
        needs=[
            *("scope.goal", "scope.orientation", "scope.left_out", "survey.results"),
            *("deepen.log", "deepen.open", "deepen.weakest", "deepen.confidence"),
        ],
        requires=REPORT,
        forbidden=PROMPTS["synthesize (forbidden)"].splitlines(),
        when={Outcome.OK: "the report is written, and its headings and places bear checking"},
        tools=["read", "search", "shell", "write"],
    ),
    title="Codebase analysis",
    description="Finds out how a codebase works, for one goal, with a place for every claim.",
    params=[CONFIDENCE],
    closing=PROMPTS["closing"],
    unchecked="whether the places were understood: they can be opened, no more",
)

register_workflow(WORKFLOW)
