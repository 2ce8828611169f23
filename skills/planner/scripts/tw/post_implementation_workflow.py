"""The graph of the technical writer of implemented work: survey, comment, keep knowledge, write, index, prove."""

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
GIVEN = ("plan", "assignment")


def _places(*fields: str) -> Command:
    """The check that each entry of these lists begins with a file that is there."""
    return Command(
        ["post_implementation_check.py", *["{" + name + "}" for name in fields]], 60, help="each begins with a file"
    )


SURVEYED: list[Requirement] = [
    Field("due", "list", minimum=1, maximum=60, help='each "path | comment, knowledge, document or index | what"'),
]
COMMENTED: list[Requirement] = [
    Field("comments", "list", maximum=60, help='each "path:line | the reason that it states"; [] where none was due'),
    _places("comments"),
]
KEPT: list[Requirement] = [
    Field("knowledge", "list", maximum=40, help='each "path:line | what stands there now"; [] where there is none'),
    _places("knowledge"),
]
WRITTEN: list[Requirement] = [
    Field("documents", "list", maximum=60, help='each "path:line | what it says now"; [] where none was due'),
    _places("documents"),
]
INDEXED: list[Requirement] = [
    Field("indexes", "list", maximum=40, help='each "path:line | the row"; [] where the project has no index'),
    _places("indexes"),
]
PROVED: list[Requirement] = [
    Field("files", "list", maximum=60, help="each file that was changed or made; [] where none was"),
    Field("ran", "list", minimum=1, maximum=20, help='each "command | how it ended, with numbers"'),
    Field("summary", minimum=20, maximum=1200, help="what is documented now and where; what is left, and why"),
    _places("files"),
]

WORKFLOW = Workflow(
    "planner-post-implementation",
    StepDef(
        "survey",
        "See what is due",
        PROMPTS["survey"],
        {Outcome.OK: "comment"},
        needs=GIVEN,
        requires=SURVEYED,
    ),
    StepDef(
        "comment",
        "Put reasons where they are read",
        [PROMPTS["comment"], "", get_convention("temporal")],
        {Outcome.OK: "keep"},
        needs=[*GIVEN, "survey.due"],
        requires=COMMENTED,
    ),
    StepDef(
        "keep",
        "Keep what the code cannot show",
        PROMPTS["keep"],
        {Outcome.OK: "write"},
        needs=[*GIVEN, "survey.due", "comment.comments"],
        requires=KEPT,
    ),
    StepDef(
        "write",
        "Write the documents",
        [PROMPTS["write"], "", get_convention("documentation")],
        {Outcome.OK: "index"},
        needs=[*GIVEN, "survey.due", "keep.knowledge"],
        requires=WRITTEN,
    ),
    StepDef(
        "index",
        "Bring the indexes up to date",
        PROMPTS["index"],
        {Outcome.OK: "prove"},
        needs=[*GIVEN, "survey.due"],
        requires=INDEXED,
    ),
    StepDef(
        "prove",
        "Prove it, and hand over",
        PROMPTS["prove"],
        {Outcome.OK: None},
        needs=[*GIVEN, "comment.comments", "keep.knowledge", "write.documents", "index.indexes"],
        requires=PROVED,
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    title="Technical writer of implemented work",
    description="Brings comments, documents and indexes up to what an executed plan has made of the project.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("assignment", help='all; after a review "all | finding; finding"'),
    ],
)

register_workflow(WORKFLOW)
