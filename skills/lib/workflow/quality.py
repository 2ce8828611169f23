"""Quality review: items, the one severity schedule, and the construct that builds a whole review loop.

Three pillars hold a loop: a banner that says which checkpoint and which iteration, a stop condition that reads the
verdict from the ledger and never from the caller, and a re-verify mode that leads back to the work with a counter.
Verification apart from the work, item by item and blind to earlier verdicts, follows Chain-of-Verification
(Dhuliawala et al., 2023).
"""

from __future__ import annotations

from skills.lib.workflow.core import StepDef
from skills.lib.workflow.types import (
    AgentRole,
    Dispatch,
    Gate,
    ItemStatus,
    Outcome,
    QRStatus,
    Severity,
    is_word,
)
from skills.lib.workflow.values import ITEM_SHAPE, JUDGED_SHAPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.bare import QRState

# Completed reviews after which a person decides (requirement W-10).
BOUND = 5
# How many faults of reported items are told at once.
_FAULTS = 6
PARTS = ("id", "scope", "check", "severity", "status", "finding", "place")
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


def read_items(value: Any, known: Sequence[Mapping[str, str]] = ()) -> list[dict[str, str]]:
    """Check and normalise reported review items; ValueError says which item is wrong and how.

    An id that is left out is given. Of ``known`` items, which are verified again, scope, check and severity need not be
    reported again.
    """
    shape = JUDGED_SHAPE if known else ITEM_SHAPE
    if not isinstance(value, list) or not value:
        raise ValueError(f"give a JSON array of at least one item, each {shape}")
    items: dict[str, dict[str, str]] = {}
    faults: list[str] = []
    for at, entry in enumerate(value, 1):
        if isinstance(entry, dict) and not entry.get("id") and not known:
            entry = {**entry, "id": f"R{at}"}
        item, wrong = _read_item(_completed(entry, known))
        if item.get("id") and item["id"] in items:
            wrong.append(f"the id {item['id']} is given twice")
        items[item.get("id", "")] = item
        faults += [f"item {at}: {fault}" for fault in wrong]
    if faults:
        more = f" (and {len(faults) - _FAULTS} more)" if len(faults) > _FAULTS else ""
        raise ValueError(f"{'; '.join(faults[:_FAULTS])}{more}. An item is {shape}")
    return list(items.values())


def _completed(entry: Any, known: Sequence[Mapping[str, str]]) -> Any:
    if not known or not isinstance(entry, dict):
        return entry
    first = next((item for item in known if item["id"] == entry.get("id")), {})
    return {**{name: first[name] for name in ("scope", "check", "severity") if name in first}, **entry}


def _read_item(entry: Any) -> tuple[dict[str, str], list[str]]:
    """An item as it is kept, and what is wrong with it."""
    if not isinstance(entry, dict):
        return {}, [f"{entry!r:.60} is not an object"]
    item, faults = {}, []
    unknown = set(entry) - set(PARTS)
    if unknown:
        faults.append(f"{', '.join(sorted(map(str, unknown)))} is not part of it")
    for name in PARTS:
        text = entry.get(name, "")
        if not isinstance(text, str):
            faults.append(f"{name} is not a text")
            text = ""
        if text.strip() or name != "place":
            item[name] = text.strip()
    if faults:
        return item, faults
    plain = item["id"].replace("-", "").replace("_", "").replace(".", "").replace(":", "")
    if not (plain.isascii() and plain.isalnum() and item["id"][0].isalnum() and len(item["id"]) <= 64):
        faults.append(f"the id {item['id']!r:.60} is not one (letters, digits, - _ . : and at most 64; no sign first)")
    if not is_word(Severity, item["severity"]):
        faults.append(f"severity {item['severity']!r:.40} is not one of MUST, SHOULD, COULD")
    if not item["check"]:
        faults.append("check is empty; say what was checked")
    if not is_word(ItemStatus, item["status"]):
        faults.append(f"status {item['status']!r:.40} is not one of PASS, FAIL, TODO")
    elif item["status"] != ItemStatus.PASS and not item["finding"]:
        faults.append("finding is empty; say what is wrong, or what is still to do")
    return item, faults


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
    set_first = ("scope", "check", "kind")
    first = {item["id"]: {name: item[name] for name in set_first if name in item} for item in known}
    return [{**item, **first.get(item["id"], {})} for item in reported]


def open_series(review: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The review if its checkpoint has not passed since; after that the next one begins anew."""
    return {} if not review or review.get("passed") else review


def state(review: Mapping[str, Any] | None) -> QRState:
    """The QRState that a checkpoint's record bears out."""
    from skills.lib.workflow.bare import QRState

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


def review_loop(
    checkpoint: str,
    *,
    work: str,
    passed: str | None,
    reviewer: Dispatch | None = None,
    title: str = "",
    actions: Sequence[str] | str = (),
    needs: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    gate_actions: Sequence[str] | str = (),
    gate_needs: Sequence[str] = (),
    bound: int = BOUND,
    stale: str | None = None,
    skipped: str = "",
) -> tuple[StepDef, StepDef]:
    """Build the review step and the gate of a checkpoint: fail leads back to ``work``, pass on to ``passed``.

    ``reviewer`` says how the review is done (default: one free-form quality reviewer); its checkpoint is set here.
    ``actions``, ``needs`` and ``forbidden`` are the review step's, ``gate_actions`` and ``gate_needs`` the gate's.
    ``stale`` is where a verdict leads that fell with the files which the reviewer covers (default: the review step),
    ``skipped`` where the review leads if its reviewer has no target.
    """
    base = reviewer or Dispatch(
        AgentRole.QUALITY_REVIEWER, task=f"Review {checkpoint} against the checks of this step, item by item."
    )
    fields = {**base.fields(), "checkpoint": checkpoint}
    agent = fields.pop("agent")
    label = title or checkpoint.replace("-", " ").capitalize()
    review = StepDef(
        f"{checkpoint}-review",
        f"Review: {label}",
        actions or [f"Have {label.lower()} reviewed by the sub-agents below. Do not review it yourself."],
        {Outcome.OK: f"{checkpoint}-gate", **({Outcome.SKIP: skipped} if skipped else {})},
        Dispatch(agent, **fields),  # type: ignore[arg-type]
        needs=needs,
        forbidden=forbidden,
    )
    gate = StepDef(
        f"{checkpoint}-gate",
        f"Gate: {label}",
        gate_actions
        or ["Run the command below. The verdict is read from what the reviewers recorded; there is nothing to report."],
        {Outcome.OK: passed, Outcome.FAIL: work},
        Gate(checkpoint, bound, (stale or review.id) if base.covers else None),
        needs=gate_needs,
        when={
            Outcome.OK: "when no finding that blocks at this iteration is open",
            Outcome.FAIL: "when a blocking finding is open: it goes back to be fixed and is reviewed again",
        },
    )
    return review, gate
