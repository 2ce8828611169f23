"""Who reviews what: which items each reviewer of a checkpoint judges, and what its reviewers found.

A target that came under review stays there until its checkpoint has passed, whatever is recorded meanwhile; then the
next review begins a new series.
"""

from __future__ import annotations

from skills.lib.workflow import quality
from skills.lib.workflow.types import ItemStatus, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.state import Run

    Items = list[dict[str, str]]


def shares(review: Mapping[str, Any] | None, targets: Sequence[str], named: bool) -> list[tuple[str, Items]]:
    """Each reviewer's target and the items that it verifies again, unjudged; none is a first review.

    First those of ``targets``, in order, then one of each target that is gone and still under review. ``named`` says
    that the step has targets; reviewers without are known by their number, as all are in a ledger of an older version.
    """
    found: list[tuple[str, list[Mapping[str, Any]]]] = [(target, []) for target in targets]
    gone: list[tuple[str, list[Mapping[str, Any]]]] = []
    free = list(range(len(targets)))
    for number, items in _by_reviewer(quality.open_series(review)):
        target = items[0].get("target", "") if named else ""
        if target:
            at = next((at for at in free if targets[at] == target), None)
            if at is not None:
                free.remove(at)
        else:
            at = (number - 1) % len(targets) if targets else None
        if at is None:
            gone.append((target, items))
        else:
            found[at][1].extend(items)
    return [(target, _unjudged(items)) for target, items in (*found, *gone)]


def _by_reviewer(review: Mapping[str, Any]) -> list[tuple[int, list[Mapping[str, Any]]]]:
    groups: dict[int, list[Mapping[str, Any]]] = {}
    for item in review.get("items", ()):
        groups.setdefault(item["owner"], []).append(item)
    return sorted(groups.items())


def _unjudged(items: Sequence[Mapping[str, Any]]) -> Items:
    """The items without what was found; one who never split a review off (it was lost) leaves none."""
    share: dict[str, dict[str, str]] = {}
    for item in items:
        if item.get("unsplit"):
            continue
        given = {name: item[name] for name in ("id", "scope", "check", "severity")}
        # Two reviewers may have called different items the same.
        at = 1
        while given["id"] in share:
            at += 1
            given["id"] = f"{item['id'][:60]}.{at}"
        share[given["id"]] = given
    return list(share.values())


def found(brood: Sequence[Run]) -> list[dict[str, Any]]:
    """The items that the reviewers reported, each with its reviewer's number and target; a lost one leaves TODOs."""
    items: list[dict[str, Any]] = []
    for child in brood:
        if child.status == "replaced":
            continue
        number, target = child.spec["number"], child.spec.get("target")
        reported: Sequence[Mapping[str, Any]] = _reported(child) if child.status == "done" else ()
        if not reported:
            reason = child.last.get("reason") or "the reviewer recorded no items"
            first = {"id": f"reviewer-{number}", "scope": "", "check": "the review was made", "severity": Severity.MUST}
            known = child.spec.get("items") or [{**first, "unsplit": True}]
            reported = [{**item, "status": ItemStatus.TODO, "finding": f"not reviewed: {reason}"} for item in known]
        whose = {"owner": number, **({"target": target} if target else {})}
        items.extend({**item, **whose} for item in reported)
    return items


def _reported(child: Run) -> Items:
    """The items of the last step that recorded any; what is no list of items, or of other items, counts as none."""
    known = child.spec.get("items")
    for step in dict.fromkeys((child.last.get("step"), child.last.get("judged"), *child.state)):
        try:
            items = quality.read_items(child.state.get(step or "", {}).get("items"))
            if known:
                quality.check_same(items, known)
        except ValueError:
            continue
        return quality.as_split(items, known) if known else items
    return []


def reviewed(run: Run, checkpoint: str, brood: Sequence[Run]) -> dict[str, Any]:
    """The checkpoint's review with one more counted: the next of its series, or the first of a new one."""
    before = run.reviews.get(checkpoint) or {}
    iteration = quality.open_series(before).get("iteration", 0) + 1
    items = found(brood)
    review = {"iteration": iteration, "items": items, "status": quality.verdict(items, iteration)}
    series = before.get("series", 1) + bool(before.get("passed"))
    return {**review, "series": series} if series > 1 else review
