"""The graph of one perspective of solution-design: look where it looks, and propose by its guide."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
PROPOSED: list[Requirement] = [
    Field("proposal", minimum=60, maximum=2500, help="what is changed, and how that solves the problem, step by step"),
    Field("changes", "list", maximum=10, help='each "place | size"; [] where nothing would'),
    Field("gives_up", minimum=20, maximum=600, help="what this costs, and what it no longer allows"),
    Field("poor", maximum=300, required=False, help="why this perspective has nothing good to offer here, if so"),
    Field(
        "corrected", "list", maximum=4, required=False, help='given facts that are wrong: "fact | what is so | place"'
    ),
    Command(["check_design.py", "corrected", "{corrected}"], 60, help="each correction has its three parts"),
]
PARAMS = [
    Arg("perspective", help="from where the problem is looked at: its name, then its guide"),
    Arg("problem", help="the problem to solve"),
    Arg("criteria", "list", help='what any solution must do, each "R1 | … | how one would see it"'),
    Arg("facts", "list", help="what is known, each with its place"),
    Arg("constraints", default="none stated", help="limits that any solution must respect, as the user said them"),
    Arg("limits", "list", default=[], help="further limits"),
]
GIVEN = ("perspective", "problem", "criteria", "facts", "constraints", "limits")


WORKFLOW = Workflow(
    "solution-design-perspective",
    StepDef(
        "propose",
        "Look, and propose by the guide",
        PROMPTS["propose"],
        {Outcome.OK: None},
        needs=GIVEN,
        requires=PROPOSED,
        forbidden=PROMPTS["propose (forbidden)"].splitlines(),
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="One perspective on a solution",
    description="Proposes a solution from one perspective, for the sub-agents of solution-design.",
    params=PARAMS,
)

register_workflow(WORKFLOW)
