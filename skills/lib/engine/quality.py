"""Quality review: the verdict on items, the one severity schedule, re-verification, and the banner of a review.

A review loop has three pillars: a banner that says which checkpoint and which iteration, a stop condition that reads
the verdict from the ledger and never from the caller, and a re-verify mode that leads back to the work with a counter.
Verification apart from the work, item by item and blind to earlier verdicts, follows Chain-of-Verification
(Dhuliawala et al., 2023).
"""

from __future__ import annotations

from skills.lib.model.types import ItemStatus, QRStatus, Severity
from skills.lib.reasons import is_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from skills.lib.model.standalone import QRState

# Reviews of changed work up to which a SHOULD blocks.
_SHOULD_BLOCKS = 3


def blocking_severities(level: int) -> frozenset[Severity]:
    """The severities that block: MUST and SHOULD up to level 3, then MUST; a COULD never does.

    The level counts the reviews of changed work: it does not grow if nothing was changed between two reviews.
    """
    return frozenset((Severity.MUST, Severity.SHOULD) if level <= _SHOULD_BLOCKS else (Severity.MUST,))


def blocking(items: Sequence[Mapping[str, str]], level: int) -> list[Mapping[str, str]]:
    """The items that keep the gate shut: not PASS, severe enough, and not accepted by a person."""
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
    """The level of a review; a record of an older ledger has none, and its iteration is used."""
    return int(review.get("level", review["iteration"]))


def verdict(items: Sequence[Mapping[str, str]], level: int) -> QRStatus:
    """PASS if there are items and none of them blocks, else FAIL."""
    return QRStatus.PASS if items and not blocking(items, level) else QRStatus.FAIL


def check_same(
    reported: Sequence[Mapping[str, str]], known: Sequence[Mapping[str, str]], failed: Collection[str] = ()
) -> None:
    """Raise ValueError if a re-verification reports other items than it was given, or another severity.

    An item of ``failed``, which was a finding before, must say why it passes now.
    """
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
    """The reported items with scope, check, kind and command as the first review set them."""
    set_first = ("scope", "check", "kind", "command")
    first = {item["id"]: {name: item[name] for name in set_first if name in item} for item in known}
    return [{**item, **first.get(item["id"], {})} for item in reported]


def open_series(review: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The review if it has not passed its gate; empty otherwise, because the next one begins a new series."""
    return {} if not review or review.get("passed") else review


def state(review: Mapping[str, Any] | None) -> QRState:
    """The QRState of a checkpoint's record."""
    from skills.lib.model.standalone import QRState

    review = open_series(review)
    if not review.get("iteration"):
        return QRState()
    done = int(review["iteration"])
    status = QRStatus(review["status"])
    return QRState(iteration=done + 1, failed=status is QRStatus.FAIL, status=status)


def banner(checkpoint: str, review: Mapping[str, Any] | None, bound: int, judged: bool) -> str:
    """The first pillar in words: checkpoint, iteration k of n, and the kind of review, or its verdict if ``judged``."""
    if judged and review:
        iteration, mode = int(review["iteration"]), f"reviewed, verdict {review['status']}"
    else:
        iteration = state(review).iteration
        mode = "re-verification, with fresh eyes" if iteration > 1 else "first review"
    return f"Review of {checkpoint}: iteration {iteration} of {max(bound, iteration)}, {mode}."


def mode(spec: Mapping[str, Any]) -> str:
    """The kind of review that a sub-agent makes, in words; empty if it reviews nothing."""
    if "checkpoint" not in spec:
        return ""
    items = len(spec.get("items") or ())
    of = f"re-verification of {items} item{'s' * (items != 1)}, with fresh eyes" if items else "first review"
    return f"Review of {spec['checkpoint']}: {of}."
