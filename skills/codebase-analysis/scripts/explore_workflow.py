"""The graph of one explorer of codebase-analysis: read one area, and report findings that can be opened."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
KINDS = "pattern, flow, decision, context or border"

READ: list[Requirement] = [
    Field("findings", "list", maximum=12, help=f'"path:line | what is so | {KINDS}"'),
    Field("unsure", "list", maximum=6, help='"what is unsettled | the place that would settle it"'),
    Field("unread", "list", maximum=12, required=False, help='"path | why": files of the area that nobody opened'),
    Command(["check_places.py", "explored", "{findings}", "{unsure}"], 60, help="each finding's place exists"),
]

WORKFLOW = Workflow(
    "codebase-analysis-explore",
    StepDef(
        "explore", "Explore one area", PROMPTS["explore"], {Outcome.OK: None}, needs=["area", "goal"], requires=READ
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "shell", "write"],
    title="Codebase analysis: explore one area",
    description="Reads one area of a codebase, for one question.",
    params=[
        Arg("area", help="paths | question | first file to open"),
        Arg("goal", help="what all explorers work for"),
    ],
)

register_workflow(WORKFLOW)
