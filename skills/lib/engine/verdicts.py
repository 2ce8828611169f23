"""Verdicts: when items block, when a verdict holds, and how a block speaks of a review.

A review loop has three pillars: a banner that says which checkpoint and which iteration, a stop condition that reads
the verdict from the ledger and never from the caller, and a re-verify mode that leads back to the work with a counter.
Verification apart from the work, item by item and blind to earlier verdicts, follows Chain-of-Verification
(Dhuliawala et al., 2023).

A verdict serves for one gate, and it falls when the files that it covers change. A review's record has ``status``, and
``passed`` after its gate let the run through: the verdict is then spent. ``content`` is the digest of the files that it
covers, as they were handed to the reviewers.
"""

from __future__ import annotations

from skills.lib.field_checks import is_reason
from skills.lib.model.requirements import fill
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import printable
from skills.lib.model.types import Gate, ItemStatus, Outcome, Person, QRStatus, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from skills.lib.engine.proof import Proof
    from skills.lib.model.standalone import QRState

# Reviews of changed work up to which a SHOULD blocks.
_SHOULD_BLOCKS = 3
# How many changed files are listed for a reviewer.
LISTED = 50
# If the ledger has lost what was reviewed, everything counts as changed.
UNKNOWN = "(the record of what was reviewed is lost)"


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


def failed(review: Mapping[str, Any] | None) -> bool:
    """True if the last verdict is FAIL and no person accepted it."""
    return review is not None and review["status"] == QRStatus.FAIL and not review.get("passed")


def reviews_ahead(workflow: Workflow, targets: Iterable[str | None]) -> list[StepDef]:
    """The review steps that come next from these targets; questions to people in between are passed over."""
    found: list[StepDef] = []
    queue = [target for target in targets if target is not None]
    seen = set(queue)
    while queue:
        step = workflow.step(queue.pop())
        if step.checkpoint:
            found.append(step)
        if isinstance(step.handler, Person) and not step.asks_later:
            ways = {target for target in step.next.values() if target is not None} - seen
            seen |= ways
            queue += ways
    return found


def leads_to_review(workflow: Workflow, step: StepDef, outcome: Outcome, checkpoint: str) -> bool:
    """True if the outcome, and then OK from step to step, leads to the reviewers of the checkpoint."""
    way, seen = step.route(outcome), {step.id}
    while way is not None and way[0] is not None and way[0] not in seen:
        seen.add(way[0])
        after = workflow.step(way[0])
        if after.checkpoint == checkpoint:
            return True
        way = after.route(Outcome.OK)
    return False


def gates(workflow: Workflow) -> Iterator[tuple[StepDef, Gate]]:
    """Every step that is a gate, with its gate."""
    for step in workflow.steps:
        gate = step.gate
        if gate is not None:
            yield step, gate


def gate_of(workflow: Workflow, checkpoint: str) -> Gate | None:
    """The gate of a checkpoint, one with a ``stale`` step if there are several; None if it has no gate."""
    found = [gate for _, gate in gates(workflow) if gate.checkpoint == checkpoint]
    return next((gate for gate in found if gate.stale), found[0] if found else None)


def patterns(run: Run, step: StepDef) -> list[str]:
    """The patterns of the files that a step's review covers, and until a verdict holds those of earlier rounds."""
    given, _ = _stated(run, step)
    return list(dict.fromkeys([*_before(run, step), *given]))


def covers_files(run: Run, step: StepDef) -> bool:
    """True if the step names files that its review covers, or an earlier round did."""
    return bool(step.checkpoint and (step.covers or _before(run, step)))


def uncovered(run: Run, step: StepDef, has_files: bool) -> list[str]:
    """What a review leaves uncovered against its step, in words: values that were not recorded, or every file."""
    given, absent = _stated(run, step)
    found = [f"the review of {step.checkpoint} covers no files of {name}, which was not recorded" for name in absent]
    if not has_files and (given or not absent):
        found.append(f"the review of {step.checkpoint} covers no file: {', '.join(given) or 'the lists are empty'}")
    return found


def _before(run: Run, step: StepDef) -> Sequence[str]:
    """The patterns that the last review covered; none if its verdict holds or was spent."""
    review = run.reviews.get(step.checkpoint or "", {})
    is_open = not review.get("passed") or (review.get("changed") and not review.get("accepted"))
    found: Sequence[str] = review.get("covers", ()) if is_open else ()
    return found


def _stated(run: Run, step: StepDef) -> tuple[list[str], list[str]]:
    """The patterns of a step with values filled in, and the names of values that were not recorded.

    A pattern that is a recorded list stands for each of its entries.
    """
    known = {name: value for name, value in {**run.params, **run.recorded}.items() if value is not None}
    found: list[str] = []
    absent: list[str] = []
    for text in step.covers:
        value = known.get(text[1:-1]) if text[:1] == "{" and text[-1:] == "}" else None
        missing = _names(text, known)
        if missing or value == "":
            absent += missing or [text[1:-1]]
        else:
            found += [str(entry) for entry in value] if isinstance(value, list) else [fill(text, known)]
    return found, list(dict.fromkeys(absent))


def _names(text: str, known: Mapping[str, Any]) -> list[str]:
    """The values that a pattern names and that are not known; {a,b} is a choice and names none."""
    names = [part.partition("}")[0] for part in text.split("{")[1:] if "}" in part]
    return [name for name in names if name not in known and "," not in name]


def hand_over(run: Run, step: StepDef, proof: Proof) -> tuple[Run, dict[str, dict[str, str]]]:
    """The run with the digest of the files that a review is handed, and the files by that digest."""
    files = proof.contents(patterns(run, step))
    digest = proof.digest(files)
    return run.changed(handed={**run.handed, step.checkpoint or "": digest}), {digest: files}


def differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The files that differ, were added or were removed, sorted."""
    return sorted(path for path in {**before, **now} if before.get(path) != now.get(path))


def changed(run: Run, checkpoint: str, proof: Proof) -> list[str]:
    """The covered files that changed since the review got them, or since a person accepted them; printable."""
    return _shown(_changed(run, checkpoint, proof))


def _shown(paths: Sequence[str]) -> list[str]:
    """The paths with a question mark for each character that no line of a document can hold."""
    return [printable(path).replace("\n", "?") for path in paths]


def _changed(run: Run, checkpoint: str, proof: Proof) -> list[str]:
    review = run.reviews[checkpoint]
    digest = review.get("heard", {}).get("content") or review.get("content")
    if not digest:
        return []
    now = proof.contents(review["covers"])
    if proof.digest(now) == digest:
        return []
    seen = proof.known(digest)
    return [UNKNOWN] if seen is None else differing(seen, now)


def first_fallen(run: Run, proof: Proof) -> tuple[str, list[str]] | None:
    """The first checkpoint whose passed verdict fell, with its files; None if every verdict holds.

    A file does not count if a later review passed it as it is now.
    """
    for checkpoint, review in run.reviews.items():
        # A FAIL that nobody accepted fails the run, whatever its files.
        left = [] if failed(review) and not review.get("heard") else _changed(run, checkpoint, proof)
        at = review.get("passed_at", run.turn)
        for later in run.reviews.values() if left else ():
            if later.get("content") and later.get("passed") and later["passed_at"] > at:
                seen, now = proof.known(later["content"]) or {}, proof.contents(later["covers"])
                taken = proof.covered(later["covers"], left)
                left = [path for path in left if path not in taken or seen.get(path) != now.get(path)]
        if left:
            return checkpoint, _shown(left)
    return None


def pass_on(run: Run, checkpoint: str, **fields: Any) -> Run:
    """The run with its review marked as spent: the next one of this checkpoint begins a new series."""
    review = {**run.reviews[checkpoint], "passed": True, "passed_at": run.turn, **fields}
    return run.changed(reviews={**run.reviews, checkpoint: review})


def send_back(run: Run, checkpoint: str, work: str | None) -> Run:
    """The run with the review sent back to the work step, which then shows the blocking findings."""
    return run.changed(reviews={**run.reviews, checkpoint: {**run.reviews[checkpoint], "sent_back_to": work}})


def fall(run: Run, checkpoint: str, files: Sequence[str], to: str, proof: Proof) -> Run:
    """The run with its verdict marked as fallen with these files, and one more return counted.

    What a person accepted is no longer accepted.
    """
    review = {name: part for name, part in run.reviews[checkpoint].items() if name != "accepted"}
    review.update(passed=True, changed=_shown(files[:20]), sent_back_to=to)
    review["fell_with"] = proof.digest(proof.contents(review["covers"]))
    review.setdefault("passed_at", run.turn)
    review["returns"] = review.get("returns", 0) + 1
    return run.changed(reviews={**run.reviews, checkpoint: review})


def fell_to(review: Mapping[str, Any], step: StepDef) -> bool:
    """True if the verdict fell with its files, and that led to this step."""
    return bool(review.get("passed") and review.get("changed")) and review.get("sent_back_to") == step.id


def asked_about(run: Run, step: StepDef, proof: Proof) -> Run:
    """The run with the files noted that a person was asked about, for each fallen verdict that led to this step."""
    for checkpoint, review in run.reviews.items():
        if fell_to(review, step):
            asked = {**review, "asked_about": proof.digest(proof.contents(review["covers"]))}
            run = run.changed(reviews={**run.reviews, checkpoint: asked})
    return run


def was_raised(run: Run, checkpoint: str, proof: Proof) -> bool:
    """True if the verdict fell with the same files before, or a person was asked about them."""
    review = run.reviews[checkpoint]
    known = [review[name] for name in ("fell_with", "asked_about") if name in review]
    return bool(known) and proof.digest(proof.contents(review["covers"])) in known


def let_stand(
    run: Run, checkpoint: str, decision: Mapping[str, Any], proof: Proof
) -> tuple[Run, dict[str, dict[str, str]]]:
    """The run with its verdict accepted by a person for the files as they are now, and these files by their digest."""
    now = proof.contents(run.reviews[checkpoint]["covers"])
    digest = proof.digest(now)
    review = {name: part for name, part in run.reviews[checkpoint].items() if name != "heard"}
    run = run.changed(reviews={**run.reviews, checkpoint: review})
    return pass_on(run, checkpoint, content=digest, accepted=decision), {digest: now}


def since(run: Run, step: StepDef, proof: Proof) -> list[str]:
    """The files of a step's review that changed since a review passed them, this one or another."""
    covered = set(proof.contents(patterns(run, step)))
    found = []
    for checkpoint, review in run.reviews.items():
        if review.get("passed"):
            paths = _shown([path for path in _changed(run, checkpoint, proof) if path in covered])
            found += [f"{path} (since {checkpoint} passed)" for path in paths]
    return found if len(found) <= LISTED else [*found[:LISTED], f"and {len(found) - LISTED} more"]


def may_end_done(run: Run) -> bool:
    """True if no last verdict is FAIL, except those that a person knew of when they let the run go on."""
    return not any(failed(review) and not review.get("heard") for review in run.reviews.values())
