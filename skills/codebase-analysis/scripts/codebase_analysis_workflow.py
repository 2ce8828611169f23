"""The graph of codebase-analysis: scope, survey by sub-agents, deepen until confidence is high, synthesize."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.rows import with_paths
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import AgentRole, Confidence, Dispatch, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
CHECK = "check_places.py"
# How much of an area a check is given: a command line has its limit.
SHORT = 1_000

MAP: list[Requirement] = [
    Field("goal", minimum=20, maximum=600, help="the question, and what the answer is for"),
    Field("areas", "list", minimum=1, maximum=6, help='"paths | question | first file to open"'),
    Field(
        "left_out",
        maximum=600,
        required=False,
        help="what is not looked at, and why: generated, vendored, another question",
    ),
]
ROUND: list[Requirement] = [
    Field("findings", "list", minimum=1, maximum=12, help='"path:line | what is so | what it means for the goal"'),
    Field("open", "list", maximum=8, required=False, help='still open for the goal: "question | where one would look"'),
    Field("weakest", minimum=20, maximum=600, help="with where its refutation was sought"),
    Command(
        [CHECK, "findings", "{findings}", "{scope.unread}", "{survey.unread}", "{deepen.log}", "{confidence}"],
        60,
        help="each place exists; unread areas are read",
    ),
]
GIVEN = ("{scope.goal}", "{scope.areas}", "{scope.left_out}")
FOUND = ("{survey.found}", "{survey.open}", "{deepen.log}", "{deepen.questions}", "{deepen.weakest}")
REPORT: list[Requirement] = [
    Field("answer", minimum=40, maximum=5000, help="the goal, answered, with places in backquotes"),
    Field(
        "across",
        "list",
        maximum=12,
        required=False,
        help='"patterns | text with `path:line` or F3"; also structure, flows …',
    ),
    Field("strike", "list", maximum=40, required=False, help='"F3": findings that were corrected, or miss the goal'),
    Field("path", maximum=300, required=False, help="where the report goes, if the user named a place"),
    Command(
        ["make_report.py", "{path}", "{answer}", "{across}", "{strike}", *GIVEN, *FOUND, "{deepen.confidence}"],
        60,
        help="writes the report",
        records="report",
    ),
]
CONFIDENCE = Arg("confidence", choices=tuple(Confidence), step="deepen", help="of the weakest claim")


def spread(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Several areas are surveyed by sub-agents; a lone one is read in the rounds, and is unread till then."""
    areas = ctx.step_state["areas"]
    alone = len(areas) == 1
    return Outcome.SKIP if alone else Outcome.OK, {"unread": [area[:SHORT] for area in areas if alone]}


def survey(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """The findings with an id each, what is open, and the areas of lost explorers, which nobody has read."""
    found: list[str] = []
    open_: list[str] = []
    lost = []
    for one in ctx.step_state["results"]:
        if one["status"] != "done":
            lost.append(one["target"][:SHORT])
            open_.append(f"nobody explored {one['target'].partition('|')[0].strip()}: {one.get('reason', '')}")
            continue
        values = one["values"]
        found += [f"F{at} | {row}" for at, row in enumerate(with_paths(values["findings"]), len(found) + 1)]
        open_ += [*values["unsure"], *[f"not opened: {row}" for row in values.get("unread", ())]]
    return Outcome.OK, {"found": found, "open": open_, "unread": lost}


def settle(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Go another round until confidence is high; keep the findings of every round in one log, and what is open."""
    confidence, state = ctx.workflow_params["confidence"], ctx.step_state
    log = [*state.get("log", ()), f"Round {ctx.iteration}, confidence {confidence}.", *with_paths(state["findings"])]
    sure = confidence in (Confidence.HIGH, Confidence.CERTAIN)
    questions = state.get("open", state.get("questions", []))
    return Outcome.OK if sure else Outcome.ITERATE, {"log": log, "questions": questions}


ALONE = "where there is a lone area nobody surveys it, and the step says to read what is unread"
SURVEYED = ("survey.found", "survey.open", "survey.unread")

WORKFLOW = Workflow(
    "codebase-analysis",
    StepDef(
        "scope",
        "Set the goal, cut the areas",
        PROMPTS["scope"],
        {Outcome.OK: "survey", Outcome.SKIP: "deepen"},
        spread,
        requires=MAP,
        forbidden=["Draw no conclusions about the code yet: they would steer every explorer."],
        when={Outcome.OK: "two areas or more", Outcome.SKIP: "one area: you read it yourself"},
    ),
    StepDef(
        "survey",
        "Survey the areas",
        PROMPTS["survey"],
        {Outcome.OK: "deepen"},
        Dispatch(
            AgentRole.EXPLORE,
            script="explore.py",
            targets="scope.areas",
            params={"area": "{target}", "goal": "{scope.goal}"},
            cap=6,
            then=survey,
        ),
        forbidden=["Do not explore the areas yourself while sub-agents do."],
        tools=["read", "search", "shell", "write", "agent"],
    ),
    StepDef(
        "deepen",
        "Deepen what the answer rests on",
        [PROMPTS["deepen"], "", PROMPTS["levels"]],
        {Outcome.OK: "synthesize", Outcome.ITERATE: "deepen"},
        settle,
        needs=["scope.goal", "scope.unread", *SURVEYED, "deepen.log", "deepen.questions", "deepen.weakest"],
        requires=ROUND,
        repeat=[PROMPTS["deepen (again)"], "", PROMPTS["levels"]],
        max_iterations=4,
        when={
            Outcome.OK: "confidence high or certain, or four rounds are done",
            Outcome.ITERATE: "confidence exploring, low or medium",
        },
        tools=["read", "search", "shell", "web", "write"],
        allow=dict.fromkeys([f"read-on-some-paths:{value}" for value in SURVEYED], ALONE),
    ),
    StepDef(
        "synthesize",
        "Answer, and have the report made",
        PROMPTS["synthesize"],
        {Outcome.OK: None},
        needs=[
            *("scope.goal", "survey.found", "survey.open"),
            *("deepen.log", "deepen.questions", "deepen.weakest", "deepen.confidence"),
        ],
        requires=REPORT,
        allow=dict.fromkeys([f"read-on-some-paths:{value}" for value in SURVEYED], ALONE),
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "shell", "write"],
    title="Codebase analysis",
    description="Finds out how a codebase works, for one goal, with a place for every claim.",
    params=[CONFIDENCE],
    closing=PROMPTS["closing"],
    unchecked="whether the places were understood: they can be opened, no more",
)

register_workflow(WORKFLOW)
