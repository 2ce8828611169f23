"""The graph of code-quality: scope, review by four aspects, doubt each finding, report."""

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

SCOPE: list[Requirement] = [
    Field("files", "list", minimum=1, maximum=40, help="each file to read, relative to the project's root"),
    Field("intent", minimum=20, maximum=1000, help="what the code is for, and where that is said"),
    Command([CHECK, "files", "{files}"], 60, help="each file exists"),
]
REVIEW: list[Requirement] = [
    Field(
        "findings", "list", maximum=30, help='each "F1 | aspect | MUST | path:line | `words` | what goes wrong; cure"'
    ),
    Field("examined", "list", minimum=4, maximum=12, help='each "aspect | what was looked at, with path:line"'),
    Command(
        [CHECK, "findings", "{scope.files}", "{findings}", "{examined}"],
        60,
        help="each place has its words; all four aspects were examined",
    ),
]
DOUBT: list[Requirement] = [
    Field("kept", "list", maximum=30, help='each "F1 | kept or dropped | why"; [] where there is no finding'),
    Command([CHECK, "kept", "{review.findings}", "{kept}"], 60, help="each finding is kept or dropped, once"),
]
REPORT: list[Requirement] = [
    Command(
        [CHECK, "report", "{review.findings}", "{review.examined}", "{doubt.kept}", "{doubt.verdict}"],
        60,
        help="writes the report",
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
        "scope",
        "Say which files",
        PROMPTS["scope"],
        {Outcome.OK: "review"},
        needs=["subject"],
        requires=SCOPE,
        forbidden=PROMPTS["scope (forbidden)"].splitlines(),
        tools=LOOKING,
    ),
    StepDef(
        "review",
        "Review by four aspects",
        [PROMPTS["review"], "", get_convention("severity", "Categories")],
        {Outcome.OK: "doubt"},
        needs=["subject", "scope.files", "scope.intent"],
        requires=REVIEW,
        forbidden=PROMPTS["review (forbidden)"].splitlines(),
        tools=LOOKING,
    ),
    StepDef(
        "doubt",
        "Doubt each finding",
        PROMPTS["doubt"],
        {Outcome.OK: "report"},
        doubted,
        needs=["scope.files", "scope.intent", "review.findings"],
        requires=DOUBT,
        forbidden=PROMPTS["doubt (forbidden)"].splitlines(),
        tools=LOOKING,
    ),
    StepDef(
        "report",
        "Report what is left",
        PROMPTS["report"],
        {Outcome.OK: None},
        needs=["subject", "doubt.verdict"],
        requires=REPORT,
        forbidden=PROMPTS["report (forbidden)"].splitlines(),
        tools=["read"],
    ),
    title="Code quality",
    description="Reviews files for correctness, readability, maintainability and security, each finding at its place.",
    params=[Arg("subject", help="the files or the change to review, and what it was for")],
    closing=PROMPTS["closing"],
    unchecked="whether something was overlooked, and whether a finding was understood",
)

register_workflow(WORKFLOW)
