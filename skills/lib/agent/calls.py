"""A call of a tool in a session: where it belongs, and what came of it."""

from __future__ import annotations

from skills.lib.field_checks import EMPTY
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Stamp(Record):
    """Where a model's answer belongs: the run's turn and step when it was asked for, and the row of its call."""

    run: str
    turn: int
    step: str
    model: int

    @staticmethod
    def of(data: Mapping[str, Any] | None) -> Stamp | None:
        """The stamp that a message carries; None if it carries none."""
        try:
            given = dict(data or {})
            return Stamp(str(given["run"]), int(given["turn"]), str(given["step"]), int(given["model"]))
        except (KeyError, TypeError, ValueError):
            return None


class Ended(Record):
    """What a call of a tool came to: its text, whether it succeeded, and the same as data where the tool gives it."""

    text: str
    ok: bool = True
    data: Mapping[str, Any] = EMPTY
