"""What the three reviews of a plan share: statements are split off, each is answered for itself, items are reported."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_resource
from skills.lib.workflow.core import StepDef
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SPLIT = read_resource(__file__, "review-split.md").strip()
STATEMENTS = Field("statements", "list", maximum=30, help='each "scope | statement"; [] on a re-verification')


def split(
    prompts: Mapping[str, str], name: str, what: str, after: str, needs: Sequence[str], convention: str = ""
) -> StepDef:
    """A step that splits statements off; ``convention`` names the one that they are measured by."""
    measure = ["", get_convention(convention)] if convention else []
    return StepDef(
        name,
        f"Split off: {what}",
        [prompts[name], "", SPLIT, *measure],
        {Outcome.OK: after},
        needs=needs,
        requires=[STATEMENTS],
    )


def verify(prompts: Mapping[str, str], given: Sequence[str], split_off: Sequence[str]) -> StepDef:
    """Answer the statements that the steps ``split_off`` recorded, each for itself."""
    return StepDef(
        "verify",
        "Answer each for itself",
        [prompts["verify"], "", read_resource(__file__, "review-verify.md").strip()],
        {Outcome.OK: "report"},
        needs=[*given, *(f"{step}.statements" for step in split_off)],
        requires=[
            Field("answers", "list", minimum=1, maximum=60, help='each "scope | statement | status | what is there"')
        ],
    )


def report(prompts: Mapping[str, str]) -> StepDef:
    """Turn the answers into the items of the review, the last thing that it does."""
    return StepDef(
        "report",
        "Report the items",
        [prompts["report"], "", read_resource(__file__, "review-report.md").strip(), "", get_convention("severity")],
        {Outcome.OK: None},
        needs=["plan", "verify.answers"],
        requires=[Field("items", "items", help="one object per answer; on a re-verification exactly the items given")],
    )
