"""What the two reviews of implemented work share: steps that split statements off, and the last step, which judges."""

from __future__ import annotations

import os

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_resource
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import StepDef
from skills.lib.workflow.requirements import Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.workflow.requirements import Requirement

of_plans = load_module(os.path.join(os.path.dirname(__file__), "plan_review_steps.py"))
JUDGED: list[Requirement] = [
    Field("answers", "answers", help="one for each check, statement, or item"),
    Command(
        ["project_checks.py", "{plan}"],
        7200,
        help="the plan's own test, lint and type commands end with 0",
        severity="MUST",
    ),
]


def split(
    prompts: Mapping[str, str],
    name: str,
    title: str,
    after: str,
    needs: Sequence[str],
    convention: str = "",
    before: Sequence[str] = (),
) -> StepDef:
    """A step that splits statements off, others than the steps ``before`` did; ``convention`` names their measure."""
    measure = ["", get_convention(convention)] if convention else []
    return StepDef(
        name,
        title,
        [prompts[name], "", of_plans.SPLIT, *measure],
        {Outcome.OK: after},
        needs=["plan", *needs],
        requires=of_plans.stated(*before, maximum=40),
    )


def judge(prompts: Mapping[str, str], *split_off: str) -> StepDef:
    """Answer what the review must answer: its checks, and the statements that the steps ``split_off`` recorded."""
    return StepDef(
        "judge",
        "Judge it",
        [prompts["judge"], "", read_resource(__file__, "review-verify.md").strip()],
        {Outcome.OK: None},
        needs=["plan", *(f"{step}.statements" for step in split_off)],
        requires=JUDGED,
    )
