"""One entry for several scripts of a skill: which of them runs is said by a flag."""

from __future__ import annotations

from skills.lib.model.steps import RESERVED_FLAGS
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Choice(Record):
    """Which script of a skill its common entry runs: the words of a flag, each with the file of a script beside it."""

    name: str
    scripts: Mapping[str, str]
    help: str = ""

    def _check(self) -> None:
        if self.name in RESERVED_FLAGS:
            raise ValueError(f"Choice: --{self.name} is a flag of every step script, choose another name")

    @property
    def flag(self) -> str:
        """The command-line flag that chooses."""
        return "--" + self.name
