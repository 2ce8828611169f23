"""What the engine decides: a move, a repeat, or a refusal that changes nothing."""

from __future__ import annotations

from skills.lib.field_checks import EMPTY
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.workflow.state import Run


class Refusal(Record):
    """Not allowed from where the run stands: a code for programs, the reason in words, what would be valid."""

    code: str
    why: str
    valid: tuple[str, ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()


class Repeat(Record):
    """The very request that led to where the run stands: nothing to do but to print the block again."""


class Move(Record):
    """The run after the request, the event to record, the children to create or end, and files under review to keep.

    ``contents`` has the digest of each file by path, by one digest over all of them.
    """

    run: Run
    kind: str
    detail: dict[str, Any]
    create: tuple[dict[str, Any], ...] = ()
    end: tuple[tuple[str, str], ...] = ()
    contents: Mapping[str, dict[str, str]] = EMPTY

    def keeping(self, contents: Mapping[str, dict[str, str]]) -> Move:
        """The same move, with more files to keep."""
        more = {**contents, **self.contents}
        return Move(self.run, self.kind, self.detail, self.create, self.end, more) if contents else self


Decision = Refusal | Repeat | Move


class Refused(Exception):
    """Carries a refusal out of the middle of a decision."""

    def __init__(self, code: str, why: str, valid: tuple[str, ...] = (), evidence: tuple[dict[str, Any], ...] = ()):
        self.refusal = Refusal(code, why, valid, evidence)
