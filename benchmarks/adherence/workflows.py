"""Small workflows that hold what the shipped skills do not: a review gate, a person, sub-agents, branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Outcome, person

if TYPE_CHECKING:
    from skills.lib.workflow.core import StepContext


def measure(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Go on at 80 or more, otherwise come back; keep the best score."""
    score = ctx.step_state["score"]
    best = max(score, ctx.step_state.get("best", 0))
    return Outcome.OK if score >= 80 else Outcome.ITERATE, {"best": best}


def plan(ctx: StepContext) -> Outcome:
    """Quick runs leave the design out."""
    return Outcome.SKIP if ctx.workflow_params["mode"] == "quick" else Outcome.OK


REVIEWED = Workflow(
    "reviewed",
    StepDef(
        "write",
        "Write the text",
        "Write it.",
        {Outcome.OK: "text-review"},
        requires=[Artifact("text.md"), Field("summary", minimum=10)],
        repeat="Mend what the review found.",
    ),
    *review_loop("text", work="write", passed="build"),
    StepDef("build", "Build it", "Build it.", {Outcome.OK: "figures-review"}, requires=[Command(["true"])]),
    *review_loop(
        "figures",
        work="build",
        passed="publish",
        reviewer=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review {target}.", targets=["numbers", "units & names"]),
        bound=2,
    ),
    StepDef("publish", "Publish it", "Publish it.", {Outcome.OK: None}, requires=[Field("address")]),
)

ASKED = Workflow(
    "asked",
    StepDef("draft", "Draft an offer", "Draft it.", {Outcome.OK: "price"}, requires=[Field("offer")]),
    StepDef(
        "price",
        "Settle the price",
        "The user settles the price.",
        {Outcome.OK: "sign", Outcome.FAIL: "draft"},
        person("Is this price right?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
        needs=["draft.offer"],
    ),
    StepDef(
        "sign",
        "Have it signed",
        "Somebody with the right to sign it does so.",
        {Outcome.OK: "send", Outcome.FAIL: None},
        person("Is it signed?", {"signed": Outcome.OK, "declined": Outcome.FAIL}, at_terminal=True),
        needs=["draft.offer", "price.answer"],
    ),
    StepDef("send", "Send it", "Send it.", {Outcome.OK: None}, requires=[Field("receipt")]),
)

DISPATCHED = Workflow(
    "dispatched",
    StepDef(
        "list",
        "List the parts",
        "List the parts.",
        {Outcome.OK: "explore"},
        requires=[Field("parts", "list", minimum=1, maximum=3)],
    ),
    StepDef(
        "explore",
        "Explore the parts",
        "Have each part explored.",
        {Outcome.OK: "try"},
        Dispatch(AgentRole.EXPLORE, "scout.py", targets="list.parts", params={"part": "{target}"}),
        needs=["list.parts"],
    ),
    StepDef(
        "try",
        "Try two ways",
        "Have both ways tried.",
        {Outcome.OK: "sum-up", Outcome.FAIL: "list"},
        Dispatch(AgentRole.DEVELOPER, tasks=["Try the short way.", "Try the long way."], context="Parts: {list.parts}"),
        when={Outcome.FAIL: "when one of them failed"},
    ),
    StepDef(
        "sum-up",
        "Sum it up",
        "Sum it up.",
        {Outcome.OK: None},
        needs=["explore.results", "try.results"],
        requires=[Field("summary"), Field("confident", "bool", required=False)],
    ),
)

BRANCHED = Workflow(
    "branched",
    StepDef("plan", "Plan it", "Plan it.", {Outcome.OK: "design", Outcome.SKIP: "measure"}, plan),
    StepDef("design", "Design it", "Design it.", {Outcome.OK: "measure"}, requires=[Field("design", minimum=20)]),
    StepDef(
        "measure",
        "Measure it",
        "Measure it.",
        {Outcome.OK: "choose", Outcome.ITERATE: "measure"},
        measure,
        requires=[Field("score", "int", minimum=0, maximum=100)],
        max_iterations=3,
    ),
    StepDef(
        "choose",
        "Choose how to go on",
        "Choose.",
        {Outcome.OK: "release", Outcome.FAIL: "plan", Outcome.SKIP: None},
        needs=["measure.best"],
        when={Outcome.OK: "it is good", Outcome.FAIL: "it needs another plan", Outcome.SKIP: "nobody wants it"},
    ),
    StepDef(
        "release",
        "Release it",
        "Release it.",
        {Outcome.OK: None},
        requires=[Artifact("{notes}"), Field("notes"), Field("version", choices=("major", "minor"))],
    ),
    params=[Arg("mode", choices=("quick", "full")), Arg("team", default="core"), Arg("effort", "int", step="plan")],
)

SCOUT = Workflow(
    "scout",
    StepDef(
        "look", "Look at the part", "Look.", {Outcome.OK: "tell"}, needs=["part"], requires=[Field("seen", "list")]
    ),
    StepDef("tell", "Tell what it is", "Tell.", {Outcome.OK: None}, needs=["look.seen"], requires=[Field("finding")]),
    params=[Arg("part")],
)

# By the folder of the skill and the name of the entry script.
WORKFLOWS = {
    ("reviewed", "reviewed"): REVIEWED,
    ("asked", "asked"): ASKED,
    ("dispatched", "dispatched"): DISPATCHED,
    ("dispatched", "scout"): SCOUT,
    ("branched", "branched"): BRANCHED,
}
