"""What policies in the mode ``report`` would have answered: it is written down, and said on standard error."""

from __future__ import annotations

import os

from skills.lib import compact_json, paths
from skills.lib.hosts.hook import guard_texts
from skills.lib.hosts.hook.event import Event, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.guard.decisions import Deny, Look

# A file of reports gets no more once it has so many bytes.
_LONGEST = 1_000_000


def keep(event: Event, answer: Deny | Look) -> None:
    """Write down what a policy would have answered, and say it."""
    text = guard_texts.answer(answer, event)
    write(2, f"Lockstep would have answered: {text}\n")
    path = os.path.join(paths.state(), "reports", event.main + ".jsonl")
    line = compact_json.readable({"tool": event.tool, "rule": answer.rule, "answer": text}) + "\n"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(path, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            if file.tell() < _LONGEST:
                file.write(line.encode("utf-8", "replace"))
    except OSError:
        return
