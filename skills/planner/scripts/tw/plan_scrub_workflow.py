"""The graph of the technical writer for one milestone: write, verify."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
GIVEN = ("plan", "milestone")


def _explained(*checked: str) -> Command:
    """The check that only texts differ, and that each reason which the plan needs is stated."""
    return Command(
        ["plan_scrub_check.py", "{plan}", "{milestone}", "explained", *checked],
        60,
        help="the code is as it was handed over; COMMENTS.json has each reason; each place is there",
    )


VERIFIED: list[Requirement] = [
    Field("checked", "list", minimum=1, maximum=80, help='each "path:line | statement | how it was checked"'),
    Field("wanted", "list", maximum=20, help='each "path | what is untrue or missing there"; [] if there is none'),
    Field("open", "list", maximum=10, help="what could not be verified; [] if there is nothing"),
    _explained("{checked}"),
]

WORKFLOW = Workflow(
    "planner-plan-scrub",
    StepDef(
        "write",
        "Write comments, reasons and documents",
        [PROMPTS["write"], "", get_convention("temporal"), "", get_convention("documentation")],
        {Outcome.OK: "verify"},
        needs=GIVEN,
        requires=[_explained()],
    ),
    StepDef(
        "verify",
        "Check the texts against the code, and hand over",
        PROMPTS["verify"],
        {Outcome.OK: None},
        needs=GIVEN,
        requires=VERIFIED,
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    title="Technical writer of a plan",
    description="Makes the comments and documents of one milestone last, in the copies of its files.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("milestone", help='the milestone\'s id; after a review "id | finding; finding"'),
    ],
)

register_workflow(WORKFLOW)
