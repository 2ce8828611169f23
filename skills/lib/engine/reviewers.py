"""The reviewers of a checkpoint: the files, items and checks that each of them is given, and what they found.

A target stays under review until its checkpoint has passed, even if it is removed from the list meanwhile. Then the
next review begins a new series.
"""

from __future__ import annotations

from skills.lib.engine import verdicts
from skills.lib.model.items import PARTS, read_items
from skills.lib.model.run import FINISHED, Run
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, ItemStatus, Severity
from skills.lib.paths import folder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.engine.proof import Proof

    Items = list[dict[str, Any]]

# What a reviewer looks at if nothing is left of its checks.
REST = "what is there now does what is asked, and nothing that was changed harms it"


def shares(review: Mapping[str, Any] | None, targets: Sequence[str], named: bool) -> list[tuple[str, Items]]:
    """Each reviewer's target and the items that it verifies again, unjudged; no items for a first review.

    First the reviewers of ``targets``, in order, then one for each target that was removed and is still under review.
    ``named`` says that the step has targets; without, and in an older ledger, reviewers are matched by their number.
    An item that was FAIL has ``failed``. An item that a person accepted is left out.
    """
    found: list[tuple[str, list[Mapping[str, Any]]]] = [(target, []) for target in targets]
    removed: list[tuple[str, list[Mapping[str, Any]]]] = []
    free = list(range(len(targets)))
    for number, items in _by_reviewer(verdicts.open_series(review)):
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


def review_spec(
    run: Run,
    checkpoint: str,
    dispatch: Dispatch,
    checks: Mapping[str, Sequence[str]],
    target: str,
    number: int,
    items: list[dict[str, Any]],
) -> dict[str, Any]:
    """What a reviewer is given beside: the items to verify again, the checks to make, what a person accepted."""
    # The items of this reviewer in the open series of reviews, by its target, or by its number if it has none.
    name, whose = ("target", target) if target else ("owner", number)
    items_before = verdicts.open_series(run.reviews.get(checkpoint)).get("items", ())
    before = [item for item in items_before if item.get(name) == whose]
    accepted = [item for item in before if item.get("accepted")]
    if accepted and not items and (dispatch.script or not dispatch.checks):
        # It has nothing left to verify: what is there now is still looked at.
        items = [{"id": "rest-1", "scope": "all", "check": REST, "severity": Severity.MUST.value}]
    spec: dict[str, Any] = {"checkpoint": checkpoint}
    if dispatch.checks and not dispatch.script:
        spec["answers"] = True
    spec["items"] = [{name: part for name, part in item.items() if name != "failed"} for item in items]
    optional = {
        "failed": [item["id"] for item in items if item.get("failed")],
        "checks": _checks(run, dispatch, checks, target, items, before),
        "accepted": [f"{item['check']}: {item['finding']} ({item['accepted']})" for item in accepted],
    }
    return {**spec, **{name: value for name, value in optional.items() if value}}


def covered(run: Run, step: StepDef) -> dict[str, Any]:
    """The patterns of the files that a review covers, and the folders that places may begin in.

    Empty for a review that is about no files.
    """
    if not verdicts.covers_files(run, step):
        return {}
    covers = verdicts.patterns(run, step)
    folders = dict.fromkeys([folder_of(text) for text in covers])
    return {"covers": covers, "bases": [folder for folder in folders if folder and folder != "."]}


def _checks(
    run: Run,
    dispatch: Dispatch,
    computed: Mapping[str, Sequence[str]],
    target: str,
    again: Sequence[Mapping[str, Any]],
    before: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The checks that a reviewer must make beside the items that it verifies ``again``: one for each kind and target.

    An item of the review ``before`` that a person accepted is not checked again. One that a lost reviewer had to check
    is checked, even if its target was removed.
    """
    made = []
    given = [*again, *[item for item in before if item.get("accepted")]]
    for check in dispatch.checks:
        over = computed.get(check.kind, check.over)
        if over == "{target}":
            over = [target]
        elif isinstance(over, str):
            step, _, field = over.rpartition(".")
            over = run.state.get(step, {}).get(field) or []
        known = {item["scope"] for item in given if item.get("kind") == check.kind}
        taken = {item["id"] for item in given}
        number = 0
        scopes = _scopes(over if isinstance(over, (list, tuple)) and check.over else ["all"])
        for item in before:
            if item.get("unsplit") and item.get("kind") == check.kind:
                scopes.setdefault(item["scope"], item.get("detail", ""))
        for scope, detail in scopes.items():
            if scope in known:
                continue
            number += 1
            while f"{check.kind}-{number}" in taken:
                number += 1
            text = f"{check.text}: {detail}" if detail else check.text
            stub = {"id": f"{check.kind}-{number}", "kind": check.kind, "scope": scope, "check": text}
            made.append({**stub, "severity": str(check.severity), **({"detail": detail} if detail else {})})
    if dispatch.checks and not dispatch.script and not made and all(item.get("accepted") for item in given):
        # Each check was accepted by a person, or has no target: what is there now is still looked at.
        stub = {"id": "rest-1", "kind": "rest", "scope": "all", "check": REST}
        made.append({**stub, "severity": Severity.MUST.value})
    return made


def _scopes(entries: Sequence[Any]) -> dict[str, str]:
    """Each target of a check once, with everything that must be true of it."""
    found: dict[str, str] = {}
    for entry in entries:
        scope, _, detail = (part.strip() for part in str(entry).partition("|"))
        found[scope] = "; ".join(part for part in (found.get(scope, ""), detail) if part)
    return found


def hand_over(
    run: Run, step: StepDef, create: list[dict[str, Any]], proof: Proof
) -> tuple[Run, dict[str, dict[str, str]]]:
    """The run with the digest of the files that its review is handed, and these files by that digest.

    Each spec of ``create`` gets the files that were changed since a review passed them.
    """
    if not verdicts.covers_files(run, step):
        return run, {}
    handed, contents = verdicts.hand_over(run, step, proof)
    known = [entry["what"] for entry in run.not_done]
    for text in verdicts.uncovered(run, step, any(contents.values())):
        handed = handed if text in known else handed.noted("verdict", step.id, text)
    since = verdicts.since(run, step, proof)
    for spec in create if since else ():
        spec["since"] = since
    return handed, contents


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
            return verdicts.as_split(items, known)
    return []


def reviewed(run: Run, checkpoint: str, reviewers: Sequence[Run]) -> dict[str, Any]:
    """The checkpoint's next review: one more of its series, or the first of a new one."""
    before = run.reviews.get(checkpoint) or {}
    last = verdicts.open_series(before)
    iteration = last.get("iteration", 0) + 1
    # Another step may review the same checkpoint, and cover no file.
    covers = next((child.spec["covers"] for child in reviewers if "covers" in child.spec), None)
    content = run.handed.get(checkpoint) if covers is not None else None
    accepted = [item for item in last.get("items", ()) if item.get("accepted")]
    items = [*found(reviewers, accepted), *accepted]
    level = verdicts.level_of(last) + _is_other_work(last, content) if last else 1
    review = {"iteration": iteration, "level": level, "items": items, "status": verdicts.verdict(items, level)}
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
