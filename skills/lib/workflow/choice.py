"""One entry for several scripts of a skill: which of them runs is said by a flag."""

from __future__ import annotations

from skills.lib.workflow.core import RESERVED_FLAGS
from skills.lib.workflow.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Choice(Value):
    """Which script of a skill its common entry runs: the words of a flag, each with the file of a script beside it."""

    __slots__ = ("name", "scripts", "help")
    name: str
    scripts: Mapping[str, str]
    help: str

    def __init__(self, name: str, scripts: Mapping[str, str], help: str = "") -> None:
        if name in RESERVED_FLAGS:
            raise ValueError(f"Choice: --{name} is a flag of every step script, choose another name")
        self._set(name=name, scripts=dict(scripts), help=help)

    @property
    def flag(self) -> str:
        """The command-line flag that chooses."""
        return "--" + self.name
