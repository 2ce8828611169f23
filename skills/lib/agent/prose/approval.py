"""Whether the commands in a SKILL.md may run: its user's settings name the skill, or a person approved it as it is."""

from __future__ import annotations

from skills.lib import consents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.agent.prose.skill import ProseSkill

# The folder of approvals, in the folder of what Lockstep keeps for a user.
FOLDER = "injection"


def is_given(skill: ProseSkill, named: Sequence[str]) -> bool:
    """True if a person approved this text of the skill, or the user's settings have it among the skills ``named``."""
    return skill.name in named or is_approved(skill)


def is_approved(skill: ProseSkill) -> bool:
    """True if a person approved this text of the skill in this folder."""
    return consents.is_given(FOLDER, _about(skill))


def give(skill: ProseSkill) -> None:
    """Keep a person's approval. Raises EnvironmentProblem if it cannot be kept."""
    consents.give(FOLDER, _about(skill))


def withdraw(skill: ProseSkill) -> None:
    """Forget an approval."""
    consents.withdraw(FOLDER, _about(skill))


def _about(skill: ProseSkill) -> dict[str, str]:
    return {"skill": skill.folder, "digest": skill.digest}
