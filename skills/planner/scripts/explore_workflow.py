"""The graph of the planner's explorer: locate, trace, precedents, limits, report."""

from __future__ import annotations

from skills.lib.prompts import read_prompts, read_resource
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


LOCATED: list[Requirement] = [
    Field("places", "list", minimum=1, maximum=15, help='each "path | why it may matter", the likeliest first'),
    Field(
        "absent", maximum=1000, help="what was searched for and not found, with the words; the word none where all was"
    ),
    Command(["explore_check.py", "files", "{places}"], 60, help="each entry begins with the path of a file"),
]
TRACED: list[Requirement] = [
    Field("findings", "list", minimum=1, maximum=15, help='each "path:line | what is so | what it means"'),
    _places("findings"),
]
PRECEDENTS: list[Requirement] = [
    Field("patterns", "list", minimum=1, maximum=8, help='each "path:line | what is done so | second place"'),
    _places("patterns"),
]
LIMITS: list[Requirement] = [
    Field("constraints", "list", maximum=10, help='each "path:line | what must stay so | what breaks otherwise"'),
    Field("corrections", maximum=1500, help="what turned out wrong or narrower; the word none where nothing did"),
    Field("unsure", "list", maximum=8, help='each "question | who or what would settle it"; [] where nothing is open'),
    _places("constraints"),
]
REPORT: list[Requirement] = [
    Field("summary", minimum=40, maximum=1200, help="the answer of your side"),
    Field("findings", "list", minimum=1, maximum=12, help="what holds, in the form of trace"),
    Field("patterns", "list", minimum=1, maximum=8, help="how it is done here, in the form of precedents"),
    Field("constraints", "list", maximum=10, help="what must stay so, in the form of limits"),
    Field("unsure", "list", maximum=8, help="what is open; [] where nothing is"),
    _places("findings", "patterns", "constraints"),
]

WORKFLOW = Workflow(
    "planner-explore",
    StepDef(
        "locate",
        "Find where to look",
        PROMPTS["locate"],
        {Outcome.OK: "trace"},
        needs=GIVEN,
        requires=LOCATED,
    ),
    StepDef(
        "trace",
        "Read what really happens",
        PROMPTS["trace"],
        {Outcome.OK: "precedents"},
        needs=[*GIVEN, "locate.places"],
        requires=TRACED,
    ),
    StepDef(
        "precedents",
        "Find how it is done here",
        PROMPTS["precedents"],
        {Outcome.OK: "limits"},
        needs=[*GIVEN, "trace.findings"],
        requires=PRECEDENTS,
    ),
    StepDef(
        "limits",
        "Look for what would break a plan",
        PROMPTS["limits"],
        {Outcome.OK: "report"},
        needs=[*GIVEN, "trace.findings", "precedents.patterns"],
        requires=LIMITS,
    ),
    StepDef(
        "report",
        "Report what holds",
        [PROMPTS["report"], "", read_resource(__file__, "explore-output.md").strip()],
        {Outcome.OK: None},
        needs=[
            *GIVEN,
            *("locate.absent", "trace.findings", "precedents.patterns"),
            *("limits.constraints", "limits.corrections", "limits.unsure"),
        ],
        requires=REPORT,
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
