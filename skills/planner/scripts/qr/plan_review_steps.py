"""What the three reviews of a plan share: steps that split statements off, and the last step, which answers them."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_resource
from skills.lib.workflow.core import StepDef
from skills.lib.workflow.requirements import Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.workflow.requirements import Requirement

SPLIT = read_resource(__file__, "review-split.md").strip()


def stated(*before: str, maximum: int = 20) -> list[Requirement]:
    """The statements of a step, held to the plan's ids and to those of the steps ``before``."""
    earlier = [f"{{{step}.statements}}" for step in before]
    check = ["statements_check.py", "{plan}", "{statements}", *earlier]
    return [
        Field("statements", "statements", maximum=maximum, help='each "scope | statement"; or "none: reason"'),
        Command(check, 60, help="each has a scope of the plan, and none is made twice"),
    ]


def split(
    prompts: Mapping[str, str],
    name: str,
    what: str,
    after: str,
    needs: Sequence[str],
    convention: str = "",
    before: Sequence[str] = (),
    maximum: int = 20,
) -> StepDef:
    """A step that splits statements off, others than the steps ``before`` did; ``convention`` names their measure."""
    measure = ["", get_convention(convention)] if convention else []
    return StepDef(
        name,
        f"Split off: {what}",
        [prompts[name], "", SPLIT, *measure],
        {Outcome.OK: after},
        needs=needs,
        requires=stated(*before, maximum=maximum),
    )


def verify(prompts: Mapping[str, str], given: Sequence[str], split_off: Sequence[str]) -> StepDef:
    """Answer the statements that the steps ``split_off`` recorded, or the items of a re-verification."""
    return StepDef(
        "verify",
        "Answer each for itself",
        [prompts["verify"], "", read_resource(__file__, "review-verify.md").strip()],
        {Outcome.OK: None},
        needs=[*given, *(f"{step}.statements" for step in split_off)],
        requires=[Field("answers", "answers", help="one for each statement, or for each item")],
    )
