"""The graph of the technical writer for one milestone: read, comments, reasons, documents, verify, report."""

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
UNTOUCHED = Command(
    ["plan_scrub_check.py", "{plan}", "{milestone}"], 60, help="the copies' code is as it was handed over"
)
EXPLAINED = Command(
    ["plan_scrub_check.py", "{plan}", "{milestone}", "explained"],
    60,
    help="the copies' code is as it was handed over, and COMMENTS.json has each reason that the plan needs",
)
WANTED = Field(
    "wanted", "list", maximum=20, help='each "path | what is untrue or missing there"; [] where there is none'
)

READ: list[Requirement] = [
    Field("texts", "list", minimum=1, maximum=60, help='each "path:line | what stands there | what to do, and why"'),
    Field("homeless", "list", maximum=30, help="decisions and knowledge that stand in no file yet; [] where none"),
]
COMMENTED: list[Requirement] = [
    Field("changed", "list", maximum=60, help='each "path:line | what it said | what it says"; [] where nothing did'),
    UNTOUCHED,
]
REASONED: list[Requirement] = [
    Field("placed", "list", maximum=30, help='each "id or subject | path:line | the comment"; [] where there is none'),
    Field("left", "list", maximum=30, help="what belongs into a document; [] where nothing does"),
    EXPLAINED,
]
WRITTEN: list[Requirement] = [
    Field("written", "list", maximum=40, help="paths of the documents that are now copies; [] where there is none"),
    WANTED,
]
VERIFIED: list[Requirement] = [
    Field("checked", "list", minimum=1, maximum=80, help='each "path:line | statement | how it was checked"'),
    EXPLAINED,
]
REPORT: list[Requirement] = [
    Field("summary", minimum=20, maximum=800, help="which texts changed, and where the reasons stand"),
    WANTED,
    Field("open", "list", maximum=10, help="what could not be verified; [] where there is nothing"),
]

WORKFLOW = Workflow(
    "planner-plan-scrub",
    StepDef(
        "read",
        "Read the milestone and its texts",
        PROMPTS["read"],
        {Outcome.OK: "comments"},
        needs=GIVEN,
        requires=READ,
    ),
    StepDef(
        "comments",
        "Make comments timeless",
        [PROMPTS["comments"], "", get_convention("temporal")],
        {Outcome.OK: "reasons"},
        needs=[*GIVEN, "read.texts"],
        requires=COMMENTED,
    ),
    StepDef(
        "reasons",
        "Give reasons a place",
        PROMPTS["reasons"],
        {Outcome.OK: "documents"},
        needs=[*GIVEN, "read.homeless"],
        requires=REASONED,
    ),
    StepDef(
        "documents",
        "Write the documents",
        [PROMPTS["documents"], "", get_convention("documentation")],
        {Outcome.OK: "verify"},
        needs=[*GIVEN, "read.texts", "reasons.left"],
        requires=WRITTEN,
    ),
    StepDef(
        "verify",
        "Check the texts against the code",
        PROMPTS["verify"],
        {Outcome.OK: "report"},
        needs=[*GIVEN, "comments.changed", "reasons.placed", "documents.written"],
        requires=VERIFIED,
    ),
    StepDef(
        "report",
        "Hand over",
        PROMPTS["report"],
        {Outcome.OK: None},
        needs=[*GIVEN, "comments.changed", "reasons.placed", "documents.wanted", "verify.checked"],
        requires=REPORT,
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
