"""Where the work stands: banners and progress."""

from __future__ import annotations

from collections.abc import Sequence

from skills.lib.blocks.formatters.fragments import block, whole
from skills.lib.blocks.xml import escape
from skills.lib.model.standalone import QRState
from skills.lib.model.types import Element, Rendered

_MODES = {
    "initial": "This is the first pass.",
    "fix": "The last review found issues: fix them, and nothing else.",
    "re-verify": "The last review found issues: check the work again with fresh eyes.",
}


def format_state_banner(checkpoint: str, iteration: int = 1, mode: str = "initial") -> Rendered:
    """State the checkpoint, the iteration and the mode of a review loop.

    ``mode`` is ``initial``, ``fix``, ``re-verify`` or a word of the author's own, which is printed without a gloss.
    """
    whole(iteration, "iteration")
    text = f"Checkpoint {checkpoint}, iteration {iteration}. {_MODES.get(mode, '')}".rstrip(" ")
    return block("state_banner", {"checkpoint": checkpoint, "iteration": iteration, "mode": mode}, text)


def format_qr_banner(qr: QRState, qr_name: str, fresh_review: bool = False) -> Rendered:
    """State, in one line of text, which review this is and what the last one came to.

    A fresh review does not read the earlier findings before it has its own: a verifier that sees a first answer
    tends to repeat its mistakes. Source: Dhuliawala et al. 2023, "Chain-of-Verification Reduces Hallucination in
    Large Language Models", arXiv 2309.11495.
    """
    name = qr_name.upper()
    found_issues = qr.failed or (qr.status is not None and not qr.passed)
    last = "Previous review found issues." if found_issues else "Previous review passed." if qr.passed else ""
    if qr.iteration == 1 and not last:
        return Rendered(escape(f"{name}: Review the work for issues."))
    kind = ", fresh review" if fresh_review else ""
    return Rendered(escape(f"{name} (Iteration {qr.iteration}{kind}): {last or 'Review the work for issues.'}"))


def format_progress(done: Sequence[str], current: str, remaining: Sequence[str] = ()) -> Rendered:
    """List what is done, what is under way and what remains, each in order."""
    items = [
        *(Element("item", {"status": "done"}, text) for text in done),
        Element("item", {"status": "current"}, current),
        *(Element("item", {"status": "remaining"}, text) for text in remaining),
    ]
    return block("progress", {"done": len(done), "total": len(items)}, *items)
