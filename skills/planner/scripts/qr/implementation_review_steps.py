"""What the two reviews of implemented work share: their last step, which judges."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.workflow.core import StepDef
from skills.lib.workflow.requirements import Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills.lib.workflow.requirements import Requirement

JUDGED: list[Requirement] = [
    Field("items", "items", help="one object per check, each with the milestones that it is about under scope"),
    Command(["implementation_check.py", "{plan}", "items", "{items}"], 60, help="scopes are ids of milestones, or all"),
]


def judge(prompts: Mapping[str, str], *seen: str) -> StepDef:
    """Judge what the steps before have ``seen``, and report it as the items of the review."""
    return StepDef(
        "judge",
        "Judge it",
        [prompts["judge"], "", get_convention("severity")],
        {Outcome.OK: None},
        needs=["plan", *seen],
        requires=JUDGED,
    )
