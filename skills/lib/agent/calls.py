"""A call of a tool in a session: where it belongs, and what came of it."""

from __future__ import annotations

import re

from skills.lib import compact_json
from skills.lib.field_checks import EMPTY
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# No text of a tool or a thought is kept or given to a model with more characters.
LONGEST = 400_000
# Half of a character: no provider can be sent one, and a conversation that holds one could never go on.
_SURROGATE = re.compile("[\ud800-\udfff]")


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


def readable(text: str) -> str:
    """The text as a model can be sent it: cut if it is very long, and without halves of characters."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n[{len(text) - LONGEST:,} characters left out]"
    return _SURROGATE.sub("\ufffd", text)


def readable_values(value: Any) -> Any:
    """A value of JSON with all its texts without halves of characters; the same value if there are none."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        changed: Any = {readable_values(name): readable_values(one) for name, one in value.items()}
    elif isinstance(value, list):
        changed = [readable_values(one) for one in value]
    else:
        return value
    return value if changed == value else changed


def plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as JSON can hold them, as text if they are very long."""
    try:
        text = compact_json.ordered(dict(arguments))
        if len(text) <= LONGEST:
            return dict(arguments)
    except (TypeError, ValueError, RecursionError):
        text = repr(arguments)
    return {"text": readable(text)}
