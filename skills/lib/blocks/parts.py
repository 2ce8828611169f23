"""Parts that several documents share."""

from __future__ import annotations

from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.blocks.caller import Caller
    from skills.lib.model.run import Run

# What hosts cut hook and tool output at (lessons measured on four clients).
BLOCK_LIMIT = 10_000


def clipped(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters whole; of a longer one as many, and how long it is."""
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text):,} characters)"


def notice(words: str, command: str = "") -> Element:
    """A remark above what is to be done, with the command it speaks of."""
    if not command:
        return Element("NOTICE", {}, words)
    return Element("NOTICE", {}, f"{words} ", Element("command", {}, command))


def child_command(child: Run, caller: Caller) -> str:
    """The command that a sub-agent is given: its first, or the one that shows where it stands."""
    step = "1" if child.status == "pending" else "current"
    return caller.step(step, child, turn=False)


def limit_met(run: Run) -> str:
    """That the step left last ended for want of iterations."""
    step, limit = run.last["step"], run.last["limit"]
    spent = f"{limit} iterations were" if limit > 1 else "one iteration was"
    return f"{step} was left because its {spent} used up, not because it was done."
