"""Quality review: items, the one severity schedule, and the construct that builds a whole review loop.

Three pillars hold a loop: a banner that says which checkpoint and which iteration, a stop condition that reads the
verdict from the ledger and never from the caller, and a re-verify mode that leads back to the work with a counter.
Verification apart from the work, item by item and blind to earlier verdicts, follows Chain-of-Verification
(Dhuliawala et al., 2023).
"""

from __future__ import annotations

from skills.lib.model.types import (
    ItemStatus,
    QRStatus,
    Severity,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from skills.lib.model.standalone import QRState

# How many faults of reported items are told at once.
_FAULTS = 6
# Reviews of changed work up to which a SHOULD blocks.
_SHOULD_BLOCKS = 3


def blocking_severities(level: int) -> frozenset[Severity]:
    """The severities that block: MUST and SHOULD up to level 3, then MUST; a COULD never does.

    The level is the number of reviews that the work was changed for: it grows where the work did, not with the count.
    """
    if level <= _SHOULD_BLOCKS:
        return frozenset((Severity.MUST, Severity.SHOULD))
    return frozenset((Severity.MUST,))


def blocking(items: Sequence[Mapping[str, str]], level: int) -> list[Mapping[str, str]]:
    """The items that keep the gate shut: not passed (a TODO counts as failed), severe enough, accepted by nobody."""
    severities = blocking_severities(level)
    return [
        item
        for item in items
        if item["status"] != ItemStatus.PASS and item["severity"] in severities and not item.get("accepted")
    ]


def blocking_now(review: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """The items of a checkpoint's review that keep its gate shut."""
    return blocking(review["items"], level_of(review))


def level_of(review: Mapping[str, Any]) -> int:
    """The level of a review; a record of before levels has its iteration."""
    return int(review.get("level", review["iteration"]))


def verdict(items: Sequence[Mapping[str, str]], level: int) -> QRStatus:
    """Pass when something was reviewed and nothing blocks; a review without items is no review."""
    return QRStatus.PASS if items and not blocking(items, level) else QRStatus.FAIL


def check_same(
    reported: Sequence[Mapping[str, str]], known: Sequence[Mapping[str, str]], failed: Collection[str] = ()
) -> None:
    """Hold a re-verification to the items split off in the first review; ValueError names what differs.

    An item of ``failed``, which was a finding before, says why it passes now.
    """
    from skills.lib.reasons import is_reason

    has, wants = {item["id"] for item in reported}, {item["id"] for item in known}
    if has != wants:
        parts = []
        if wants - has:
            parts.append("missing: " + ", ".join(sorted(wants - has)))
        if has - wants:
            parts.append("unknown: " + ", ".join(sorted(has - wants)))
        raise ValueError("the items of this checkpoint were split off in its first review; " + "; ".join(parts))
    severity = {item["id"]: item["severity"] for item in known}
    for item in reported:
        if item["severity"] != severity[item["id"]]:
            raise ValueError(
                f"item {item['id']}: severity is {severity[item['id']]} since the first review, not {item['severity']}"
            )
        if item["status"] == ItemStatus.PASS and item["id"] in failed and not is_reason(item["finding"]):
            raise ValueError(
                f"item {item['id']} was a finding before: say in finding what is there now that settles it"
            )


def as_split(reported: Sequence[Mapping[str, Any]], known: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """The reported items with scope, check and kind as the first review set them: a re-verification rewords nothing."""
    set_first = ("scope", "check", "kind", "command")
    first = {item["id"]: {name: item[name] for name in set_first if name in item} for item in known}
    return [{**item, **first.get(item["id"], {})} for item in reported]


def open_series(review: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The review if its checkpoint has not passed since; after that the next one begins anew."""
    return {} if not review or review.get("passed") else review


def state(review: Mapping[str, Any] | None) -> QRState:
    """The QRState that a checkpoint's record bears out."""
    from skills.lib.model.standalone import QRState

    review = open_series(review)
    if not review.get("iteration"):
        return QRState()
    done = int(review["iteration"])
    status = QRStatus(review["status"])
    return QRState(iteration=done + 1, failed=status is QRStatus.FAIL, status=status)


def banner(checkpoint: str, review: Mapping[str, Any] | None, bound: int, judged: bool) -> str:
    """The first pillar in words: checkpoint, iteration k of n, and which kind of review, or its verdict once judged."""
    if judged and review:
        iteration, mode = int(review["iteration"]), f"reviewed, verdict {review['status']}"
    else:
        iteration = state(review).iteration
        mode = "re-verification, with fresh eyes" if iteration > 1 else "first review"
    return f"Review of {checkpoint}: iteration {iteration} of {max(bound, iteration)}, {mode}."


def mode(spec: Mapping[str, Any]) -> str:
    """Which kind of review a reviewer makes, in words; empty if its sub-agent reviews nothing."""
    if "checkpoint" not in spec:
        return ""
    items = len(spec.get("items") or ())
    of = f"re-verification of {items} item{'s' * (items != 1)}, with fresh eyes" if items else "first review"
    return f"Review of {spec['checkpoint']}: {of}."
