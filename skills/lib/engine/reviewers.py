"""The reviewers of a checkpoint: which items each of them verifies again, and what they found.

A target stays under review until its checkpoint has passed, even if it is removed from the list meanwhile. Then the
next review begins a new series.
"""

from __future__ import annotations

from skills.lib.engine import quality
from skills.lib.model.items import PARTS, read_items
from skills.lib.model.run import FINISHED, Run
from skills.lib.model.types import ItemStatus, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Items = list[dict[str, Any]]


def shares(review: Mapping[str, Any] | None, targets: Sequence[str], named: bool) -> list[tuple[str, Items]]:
    """Each reviewer's target and the items that it verifies again, unjudged; no items for a first review.

    First the reviewers of ``targets``, in order, then one for each target that was removed and is still under review.
    ``named`` says that the step has targets; without, and in an older ledger, reviewers are matched by their number.
    An item that was FAIL has ``failed``. An item that a person accepted is left out.
    """
    found: list[tuple[str, list[Mapping[str, Any]]]] = [(target, []) for target in targets]
    removed: list[tuple[str, list[Mapping[str, Any]]]] = []
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
            removed.append((target, items))
        else:
            found[at][1].extend(items)
    return [(target, _unjudged(items)) for target, items in (*found, *removed)]


def _by_reviewer(review: Mapping[str, Any]) -> list[tuple[int, list[Mapping[str, Any]]]]:
    groups: dict[int, list[Mapping[str, Any]]] = {}
    for item in review.get("items", ()):
        groups.setdefault(item["owner"], []).append(item)
    return sorted(groups.items())


def _unjudged(items: Sequence[Mapping[str, Any]]) -> Items:
    """The items without their findings; those of a reviewer that was lost, and those that were accepted, left out."""
    share: dict[str, dict[str, Any]] = {}
    for item in items:
        if item.get("unsplit") or item.get("accepted"):
            continue
        given = {name: item[name] for name in ("id", "scope", "check", "severity", "kind", "command") if name in item}
        if item["status"] == ItemStatus.FAIL or item.get("failed"):
            given["failed"] = True
        # Two reviewers may have called different items the same.
        at = 1
        while given["id"] in share:
            at += 1
            given["id"] = f"{item['id'][:60]}.{at}"
        share[given["id"]] = given
    return list(share.values())


def found(reviewers: Sequence[Run], accepted: Sequence[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
    """The items that the reviewers reported, each with its reviewer's number and target; TODOs for a lost reviewer.

    Each has an id of its own, which no item that was ``accepted`` before has.
    """
    items: list[dict[str, Any]] = []
    again = [item["id"] for child in reviewers for item in child.spec.get("items") or ()]
    taken = {item["id"] for item in accepted} | set(again)
    for child in reviewers:
        if child.status == "replaced":
            continue
        number, target = child.spec["number"], child.spec.get("target")
        reported: Sequence[Mapping[str, Any]] = _reported(child) if child.status in FINISHED else ()
        if not reported:
            reason = child.last.get("reason") or "the reviewer recorded no items"
            first = {"id": f"reviewer-{number}", "scope": "", "check": "the review was made", "severity": Severity.MUST}
            checks = child.spec.get("checks", ())
            known = [*child.spec["items"], *checks] if child.spec.get("items") else []
            # A lost first review has no items: the next one is a first review again.
            has_must = any(check["severity"] == Severity.MUST for check in checks)
            known = known or [{**one, "unsplit": True} for one in (checks if has_must else (first, *checks))]
            todo = {"status": ItemStatus.TODO, "finding": f"not reviewed: {reason}"}
            was = child.spec.get("failed", ())
            reported = [{**item, **todo, **({"failed": True} if item["id"] in was else {})} for item in known]
        whose = {"owner": number, **({"target": target} if target else {})}
        mine = {item["id"] for item in child.spec.get("items") or ()}
        for item in reported:
            # Two reviewers may have called different items the same: an answer or a decision is about one of them.
            name, at = item["id"], 1
            while item["id"] not in mine and name in taken:
                at += 1
                name = f"{item['id'][:58]}.{at}"
            taken.add(name)
            items.append({**item, "id": name, **whose})
    return items


def _reported(child: Run) -> list[dict[str, Any]]:
    """The items of the last step that recorded a valid list of them, with all that it was given; empty if none did."""
    known = child.spec.get("items") or []
    for step in dict.fromkeys((child.last.get("step"), child.last.get("judged"), *child.state)):
        given = child.state.get(step or "", {}).get("items")
        try:
            items = [dict(item) for item in given] if isinstance(given, list) else []
            read_items([{name: item.get(name, "") for name in PARTS} for item in items])
        except (ValueError, TypeError):
            continue
        if {item["id"] for item in known} <= {item["id"] for item in items}:
            return quality.as_split(items, known)
    return []


def reviewed(run: Run, checkpoint: str, reviewers: Sequence[Run]) -> dict[str, Any]:
    """The checkpoint's next review: one more of its series, or the first of a new one."""
    before = run.reviews.get(checkpoint) or {}
    last = quality.open_series(before)
    iteration = last.get("iteration", 0) + 1
    # Another step may review the same checkpoint, and cover no file.
    covers = next((child.spec["covers"] for child in reviewers if "covers" in child.spec), None)
    content = run.handed.get(checkpoint) if covers is not None else None
    accepted = [item for item in last.get("items", ()) if item.get("accepted")]
    items = [*found(reviewers, accepted), *accepted]
    level = quality.level_of(last) + _is_other_work(last, content) if last else 1
    review = {"iteration": iteration, "level": level, "items": items, "status": quality.verdict(items, level)}
    if content:
        review.update(content=content, covers=covers)
    kept = {"series": before.get("series", 1) + bool(before.get("passed")), "returns": before.get("returns", 0)}
    review.update({name: value for name, value in kept.items() if value > (name == "series")})
    review.update({name: last[name] for name in ("disputes", "upheld", "named") if last.get(name)})
    return review


def _is_other_work(last: Mapping[str, Any], content: str | None) -> bool:
    """True if the work changed since the last review: by its files if known, else by the answers to its findings."""
    if last.get("blanks") and not last.get("moved"):
        return False
    if content and last.get("content"):
        return bool(content != last["content"])
    return bool(last.get("moved"))
