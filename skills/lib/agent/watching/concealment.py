"""What a session keeps of texts and calls: without secrets and personal data, and nothing of what is hidden.

A model sees results without secrets. What is hidden it sees whole, and its conversation is kept without it: the whole
of it is in memory alone, and after a crash the step begins anew from its block.
"""

from __future__ import annotations

import os

from skills.lib import compact_json, files
from skills.lib.agent.calls import plain
from skills.lib.agent.redaction import Redactor, has_mark, marks
from skills.lib.agent.watching.visibility import HIDDEN, SUMMARY, Levels
from skills.lib.guard.offering import SHELL, canonical
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# In place of what is hidden, in a conversation as it is kept.
PLACEHOLDER = "[hidden]"
NOT_KEPT = (
    "The arguments of this call held something that is not kept, so it cannot be carried out after the session was "
    "interrupted. Look at what was done, and make the call again if it is still needed."
)
# What a row of activity says of a call: all of it; that it was made; that and no more, for no reader.
WHOLE, BRIEF, BARE = "full", "brief", "hidden"
_LARGEST = 16 << 20


class Concealed(Record):
    """A call as it is noted: ``data`` for its row, and ``visibility`` of the row. ``digest`` is of its arguments."""

    data: Mapping[str, Any]
    visibility: str
    digest: str


class Concealment:
    """What one session keeps of texts and calls."""

    def __init__(self, redactor: Redactor | None = None, levels: Levels | None = None) -> None:
        self.redactor = redactor or Redactor()
        self._levels = levels or Levels()
        # The turn in which something hidden was last seen: what the model writes in it may have it.
        self._hidden_turn = -1
        self._whole: dict[str, dict[str, Any]] = {}

    def is_hidden(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """True if nothing of a call is kept."""
        return self._levels.of_call(tool, arguments) == HIDDEN

    def hides(self, turn: int) -> bool:
        """True if the model was shown something hidden in this turn."""
        return turn == self._hidden_turn

    def note_hidden(self, turn: int) -> None:
        """Keep in mind that the model is shown something hidden."""
        self._hidden_turn = turn

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Concealed:
        """A call as it is noted."""
        kept = self.redactor.value(plain(arguments))
        level, digest = self._levels.of_call(tool, arguments), compact_json.digest([tool, kept])
        if level == HIDDEN:
            return Concealed({"digest": digest}, BARE, digest)
        return Concealed({"arguments": kept}, BRIEF if level == SUMMARY else WHOLE, digest)

    def remember(self, key: str, arguments: Mapping[str, Any]) -> None:
        """Keep the whole arguments of a call until it is carried out, in memory."""
        self._whole[key] = dict(arguments)

    def whole(self, key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """The whole arguments of a call; None if they are not known any more."""
        if key in self._whole:
            return self._whole[key]
        return None if PLACEHOLDER in arguments or has_mark(arguments) else arguments

    def reported(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A report as it goes to the ledger, which has a rule of its own for fields that are named like secrets."""
        value = self.redactor.value
        return {
            name: {field: value(one) for field, one in given.items()} if isinstance(given, dict) else value(given)
            for name, given in arguments.items()
        }

    def why_not_written(self, tool: str, arguments: Mapping[str, Any], project: str) -> str:
        """Why a call that would put a mark into a file is not made; "" if it would not."""
        name = canonical(tool)
        if name not in ("write", "edit", SHELL):
            return ""
        found = marks({key: one for key, one in arguments.items() if key != "old"})
        if found and name != SHELL:
            there = marks(_content(project, str(arguments.get("path", ""))))
            found = [mark for mark in found if found.count(mark) > there.count(mark)]
        if not found:
            return ""
        return (
            f"{found[0]} stands in place of a text that you were not shown, and no file gets such a mark. Change only "
            "what is around it, with edit, or leave the file as it is."
        )


def _content(project: str, path: str) -> str:
    """The text of a file that is to be written; "" if there is none."""
    try:
        return files.read(os.path.join(project, path), _LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
