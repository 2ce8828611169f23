"""What reviews found, as a step that fixes it is told."""

from __future__ import annotations

from skills.lib.engine import fixes, verdicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef, Workflow


def to_fix(workflow: Workflow, run: Run, step: StepDef) -> list[tuple[str, list[str]]]:
    """The blocking findings that sent the run back to this step, by checkpoint; or the files whose verdict fell."""
    found = []
    to_answer = fixes.asked_at(workflow, run, step)
    for checkpoint, review in run.reviews.items():
        if review.get("sent_back_to") != step.id and checkpoint not in to_answer:
            continue
        if review.get("passed"):
            lines = [f"{path} was changed after this review passed it" for path in review.get("changed", ())]
        else:
            lines = [
                _finding(fixes.name_of(run, checkpoint, item), item, review.get("upheld", ()))
                for item in verdicts.blocking_now(review)
            ]
        found += [(checkpoint, lines)] if lines else []
    return found


def _finding(name: str, item: Mapping[str, str], upheld: Sequence[str]) -> str:
    place = f" [{item['place']}]" if item.get("place") else ""
    ruled = ". A person decided that this is right: it is disputed no more." if item["id"] in upheld else ""
    return f"{name} ({item['severity']}) {item['check']}: {item['finding']}{place}{ruled}"
