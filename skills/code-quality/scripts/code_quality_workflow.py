"""The graph of code-quality: review by four aspects, doubt each finding; a script writes the report."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
CHECK = "check_review.py"
LOOKING = ["read", "search", "shell(git diff)", "shell(git log)", "shell(git show)", "shell(git status)"]

REVIEW: list[Requirement] = [
    Field("files", "list", minimum=1, maximum=40, help="each file that was read, relative to the project's root"),
    Field("intent", minimum=20, maximum=1000, help="what the code is for, and where that is said"),
    Field("findings", "list", maximum=30, help='"F1 | aspect | MUST | path:line | `words` | what goes wrong; cure"'),
    Field("examined", "list", maximum=12, required=False, help='"aspect | what was looked at, with path:line"'),
    Command(
        [CHECK, "findings", "{files}", "{findings}", "{examined}"],
        60,
        help="each place has its words; an aspect without a finding was examined",
    ),
]
DOUBT: list[Requirement] = [
    Field("kept", "list", maximum=30, help='"F1 | kept | path:line" or "F2 | dropped | why"; [] without findings'),
    Command(
        [CHECK, "report", "{review.findings}", "{review.examined}", "{kept}"],
        60,
        help="each finding is kept or dropped, once; writes the report",
        records="report",
    ),
]


def doubted(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """The verdict: fail if a MUST was kept."""
    kept = {row.split("|")[0].strip() for row in ctx.step_state["kept"] if row.split("|")[1].strip() == "kept"}
    rows = [[part.strip() for part in row.split("|")] for row in ctx.run_state["review"]["findings"]]
    fails = any(row[0] in kept and row[2] == "MUST" for row in rows)
    return Outcome.OK, {"verdict": "fail" if fails else "pass"}


WORKFLOW = Workflow(
    "code-quality",
    StepDef(
        "review",
        "Review by four aspects",
        [PROMPTS["review"], "", get_convention("severity", "Categories")],
        {Outcome.OK: "doubt"},
        needs=["subject"],
        requires=REVIEW,
        forbidden=PROMPTS["review (forbidden)"].splitlines(),
    ),
    StepDef(
        "doubt",
        "Doubt each finding, and have the report made",
        PROMPTS["doubt"],
        {Outcome.OK: None},
        doubted,
        needs=["review.intent", "review.findings"],
        requires=DOUBT,
        forbidden=PROMPTS["doubt (forbidden)"].splitlines(),
    ),
    title="Code quality",
    description="Reviews files for correctness, readability, maintainability and security, each finding at its place.",
    tools=LOOKING,
    params=[Arg("subject", help="the files or the change to review, and what it was for")],
    closing=PROMPTS["closing"],
    unchecked="whether something was overlooked, and whether a finding was understood",
)

register_workflow(WORKFLOW)
