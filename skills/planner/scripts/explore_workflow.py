"""The graph of the planner's explorer: find what is so, then look for what would break a plan, and report."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
GIVEN = ("perspective", "request")


def _places(*fields: str) -> Command:
    """The check that each entry of these lists begins with a place that can be opened."""
    return Command(
        ["explore_check.py", *["{" + name + "}" for name in fields]],
        60,
        help="each entry begins with a place; no part is empty",
    )


def _standing(field: str, other: str) -> Command:
    """Hands over the entries of the first step that still hold, so that nobody types them twice."""
    return Command(
        ["explore_check.py", "standing", "{trace." + field + "}", "{fallen}", "{trace." + other + "}"],
        60,
        help=f"the {field} that have not fallen",
        records=field,
    )


TRACED: list[Requirement] = [
    Field("findings", "list", minimum=1, maximum=12, help='each "path:line | what is so | what it means"'),
    Field("patterns", "list", minimum=1, maximum=8, help='each "path:line | what is done so | second place"'),
    _places("findings", "patterns"),
]
LIMITS: list[Requirement] = [
    Field("constraints", "list", maximum=10, help='each "path:line | what must stay so | what breaks otherwise"'),
    Field(
        "fallen",
        "list",
        required=False,
        maximum=10,
        help='each "path:line of a finding or pattern | what holds instead"; left out if none fell',
    ),
    Field("unsure", "list", maximum=8, help='each "question | who or what would settle it"; [] if nothing is open'),
    Field("summary", minimum=40, maximum=1200, help="the answer of your side"),
    _places("constraints"),
    _standing("findings", "patterns"),
    _standing("patterns", "findings"),
]

WORKFLOW = Workflow(
    "planner-explore",
    StepDef(
        "trace",
        "Find what is so, and how it is done here",
        PROMPTS["trace"],
        {Outcome.OK: "limits"},
        needs=GIVEN,
        requires=TRACED,
    ),
    StepDef(
        "limits",
        "Look for what would break a plan, and report",
        PROMPTS["limits"],
        {Outcome.OK: None},
        needs=[*GIVEN, "trace.findings", "trace.patterns"],
        requires=LIMITS,
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    title="Exploration for a plan",
    description="Explores a project from one side, for whoever plans a request.",
    params=[
        Arg("perspective", help="the side to explore from, as its name | the questions that it answers"),
        Arg("request", help="what the user asked for"),
    ],
)

register_workflow(WORKFLOW)
