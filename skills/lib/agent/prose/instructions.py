"""What a model reads of a SKILL.md: its text, made ready for one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.lib.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.agent.prose.skill import ProseSkill


class Instructions(Record):
    """The text of a SKILL.md for one run, and what is to be noted of how it was made: kind and data of each row."""

    text: str
    noted: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def prepared(skill: ProseSkill, arguments: str, project: str, run: str) -> Instructions:
    """The instructions of a skill for the run ``run`` of a project, which was called with ``arguments``."""
    return Instructions(skill.body.strip())
