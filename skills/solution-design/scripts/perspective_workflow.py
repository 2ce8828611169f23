"""The graph of one perspective of solution-design: look where it looks, then propose by its guide."""

from __future__ import annotations

from skills.lib.prompts import read_prompts, read_resource
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
RULES = PROMPTS["everywhere (forbidden)"].splitlines()
GUIDES = {
    "minimal": read_resource(__file__, "minimal.md"),
    "removal": read_resource(__file__, "removal.md"),
    "upstream": read_resource(__file__, "upstream.md"),
    "structural": read_resource(__file__, "structural.md"),
    "domain": read_resource(__file__, "domain.md"),
    "stateless": read_resource(__file__, "stateless.md"),
    "first-principles": read_resource(__file__, "first-principles.md"),
}

LOOKED: list[Requirement] = [
    Field("seen", "list", minimum=2, maximum=12, help='each "place | what is there | what it means for the problem"'),
    Field(
        "levers",
        "list",
        minimum=1,
        maximum=5,
        help='each "where something could be changed | what would follow from it"',
    ),
]
PROPOSED: list[Requirement] = [
    Field("proposal", minimum=60, maximum=2500, help="what is changed, and how that solves the problem, step by step"),
    Field("changes", "list", maximum=10, help='each "place | what changes there | size"; [] where nothing would'),
    Field("meets", "list", minimum=1, maximum=6, help='every criterion: "R1 | yes or no | by what"'),
    Field("gives_up", minimum=20, maximum=600, help="what this costs, and what it no longer allows"),
    Field("fails_when", minimum=20, maximum=600, help="the condition under which it is the wrong solution"),
    Field(
        "fit", choices=("strong", "workable", "poor"), help="poor where this perspective has nothing good to offer here"
    ),
    Field("corrected", "list", maximum=4, help='each given fact that is wrong: "fact | what is so | place"; or []'),
    Command(["check_design.py", "meets", "{criteria}", "{meets}"], 60, help="every criterion has its yes or no"),
]
PARAMS = [
    Arg("perspective", choices=tuple(GUIDES), help="from where the problem is looked at"),
    Arg("problem", help="the problem to solve"),
    Arg("criteria", "list", help='what any solution must do, each "R1 | … | how one would see it"'),
    Arg("facts", "list", help="what is known, each with its place"),
    Arg("limits", "list", default=[], help="limits that any solution must respect"),
]
GIVEN = ("perspective", "problem", "criteria", "facts", "limits")


def take_up(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep the guide of this run's perspective, for the next step to show."""
    return Outcome.OK, {"guide": GUIDES[ctx.workflow_params["perspective"]].strip()}


WORKFLOW = Workflow(
    "solution-design-perspective",
    StepDef(
        "look",
        "Look where the perspective looks",
        PROMPTS["look"],
        {Outcome.OK: "propose"},
        take_up,
        needs=GIVEN,
        requires=LOOKED,
        forbidden=[*PROMPTS["look (forbidden)"].splitlines(), *RULES],
        when={Outcome.OK: "what the problem touches was seen, and the places where it could be changed are named"},
    ),
    StepDef(
        "propose",
        "Propose by the guide",
        PROMPTS["propose"],
        {Outcome.OK: None},
        needs=[*GIVEN, "look.seen", "look.levers", "look.guide"],
        requires=PROPOSED,
        forbidden=[*PROMPTS["propose (forbidden)"].splitlines(), *RULES],
        when={Outcome.OK: "the proposal can be judged by somebody who sees nothing else of this run"},
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="One perspective on a solution",
    description="Proposes a solution from one perspective, for the sub-agents of solution-design.",
    params=PARAMS,
)

register_workflow(WORKFLOW)
