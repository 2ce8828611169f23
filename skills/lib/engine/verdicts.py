"""Whether a checkpoint's verdict holds: it serves one gate, and it falls with the files that it is about.

A review's record has ``status``, and ``passed`` once a gate let it through: the verdict is then spent. ``content`` is
the digest of the files that it covers, as they were handed to the reviewers.
"""

from __future__ import annotations

from skills.lib.model.requirements import fill
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import printable
from skills.lib.model.types import Outcome, Person, QRStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from skills.lib.engine.proof import Proof
    from skills.lib.model.types import Gate

# How many changed files a reviewer is told.
TOLD = 50
# A content that the ledger does not have any more: whatever was reviewed counts as changed.
UNKNOWN = "(the record of what was reviewed is lost)"


def failed(review: Mapping[str, Any] | None) -> bool:
    """True if the last verdict is FAIL and no person accepted it."""
    return review is not None and review["status"] == QRStatus.FAIL and not review.get("passed")


def reviews_ahead(workflow: Workflow, targets: Iterable[str | None]) -> list[StepDef]:
    """The reviews that come next from these targets, be it after questions to people."""
    found: list[StepDef] = []
    queue = [target for target in targets if target is not None]
    seen = set(queue)
    while queue:
        step = workflow.step(queue.pop())
        if step.handler is not None and step.checkpoint:
            found.append(step)
        if isinstance(step.handler, Person) and not step.asks_later:
            ways = {target for target in step.next.values() if target is not None} - seen
            seen |= ways
            queue += ways
    return found


def leads_to_review(workflow: Workflow, step: StepDef, outcome: Outcome, checkpoint: str) -> bool:
    """True if the way on from there, by OK from step to step, comes to the reviewers of the checkpoint."""
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
        gate = step.gate if step.handler is not None else None
        if gate is not None:
            yield step, gate


def gate_of(workflow: Workflow, checkpoint: str) -> Gate | None:
    """The gate of a checkpoint; one that says where a fallen verdict leads goes first."""
    found = [gate for _, gate in gates(workflow) if gate.checkpoint == checkpoint]
    return next((gate for gate in found if gate.stale), found[0] if found else None)


def patterns(run: Run, step: StepDef) -> list[str]:
    """What the review of a step covers in this run; until a verdict holds, also what the rounds before it covered."""
    given, _ = _stated(run, step)
    return list(dict.fromkeys([*_before(run, step), *given]))


def covers_files(run: Run, step: StepDef) -> bool:
    """True if the review of a step is about files: it says which, or the rounds before it did."""
    return bool(step.checkpoint and (step.covers or _before(run, step)))


def uncovered(run: Run, step: StepDef, has_files: bool) -> list[str]:
    """What a review covers less than its step says, in words: values that were not recorded, and no file at all."""
    given, absent = _stated(run, step)
    found = [f"the review of {step.checkpoint} covers no files of {name}, which was not recorded" for name in absent]
    if not has_files and (given or not absent):
        found.append(f"the review of {step.checkpoint} covers no file: {', '.join(given) or 'the lists are empty'}")
    return found


def _before(run: Run, step: StepDef) -> Sequence[str]:
    """What the last review covered, unless its verdict holds or was spent."""
    review = run.reviews.get(step.checkpoint or "", {})
    is_open = not review.get("passed") or (review.get("changed") and not review.get("accepted"))
    found: Sequence[str] = review.get("covers", ()) if is_open else ()
    return found


def _stated(run: Run, step: StepDef) -> tuple[list[str], list[str]]:
    """The patterns of a step with values put in, a list by its entries; and the values that were not recorded."""
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
    """The values that a pattern names, and that are not known; {a,b} is a choice of the pattern."""
    names = [part.partition("}")[0] for part in text.split("{")[1:] if "}" in part]
    return [name for name in names if name not in known and "," not in name]


def hand_over(run: Run, step: StepDef, proof: Proof) -> tuple[Run, dict[str, dict[str, str]]]:
    """The run with the digest of the files that a review is handed, and the files by that digest."""
    checkpoint = step.checkpoint
    if checkpoint is None or not covers_files(run, step):
        return run, {}
    files = proof.contents(patterns(run, step))
    digest = proof.digest(files)
    return run.changed(handed={**run.handed, checkpoint: digest}), {digest: files}


def differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The files that are not the same, were added or removed, in order."""
    return sorted(path for path in {**before, **now} if before.get(path) != now.get(path))


def changed(run: Run, checkpoint: str, proof: Proof) -> list[str]:
    """The covered files that are not as they were handed to the review, or as a person last let them be, printable."""
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
    """The first checkpoint whose passed verdict fell, with its files; None if each of them holds.

    A later review that passed a file as it is now takes the verdict on it over.
    """
    for checkpoint, review in run.reviews.items():
        # A FAIL that nobody let go fails the run, whatever its files.
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
    """The run with its review marked as spent: the next of this checkpoint begins anew."""
    review = {**run.reviews[checkpoint], "passed": True, "passed_at": run.turn, **fields}
    return run.changed(reviews={**run.reviews, checkpoint: review})


def send_back(run: Run, checkpoint: str, work: str | None) -> Run:
    """The run with its review marked as the reason to be in the work step, which then shows its blocking findings."""
    return run.changed(reviews={**run.reviews, checkpoint: {**run.reviews[checkpoint], "sent_back_to": work}})


def fall(run: Run, checkpoint: str, files: Sequence[str], to: str, proof: Proof) -> Run:
    """The run with its verdict marked as fallen with these files, and one more return counted.

    What a person accepted falls with it.
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
    """The run with the files noted that a person was asked about at this step, for each verdict that fell with them."""
    for checkpoint, review in run.reviews.items():
        if fell_to(review, step):
            asked = {**review, "asked_about": proof.digest(proof.contents(review["covers"]))}
            run = run.changed(reviews={**run.reviews, checkpoint: asked})
    return run


def was_told(run: Run, checkpoint: str, proof: Proof) -> bool:
    """True if the verdict fell with these very files already, or a person was asked about them."""
    review = run.reviews[checkpoint]
    told = [review[name] for name in ("fell_with", "asked_about") if name in review]
    return bool(told) and proof.digest(proof.contents(review["covers"])) in told


def stands(
    run: Run, checkpoint: str, decision: Mapping[str, Any], proof: Proof
) -> tuple[Run, dict[str, dict[str, str]]]:
    """The run whose verdict a person let stand for the files as they are now, and these files by their digest."""
    now = proof.contents(run.reviews[checkpoint]["covers"])
    digest = proof.digest(now)
    review = {name: part for name, part in run.reviews[checkpoint].items() if name != "heard"}
    run = run.changed(reviews={**run.reviews, checkpoint: review})
    return pass_on(run, checkpoint, content=digest, accepted=decision), {digest: now}


def since(run: Run, step: StepDef, proof: Proof) -> list[str]:
    """The files of a review that were changed since a review passed them, be it this one or one it takes over from."""
    covered = set(proof.contents(patterns(run, step)))
    found = []
    for checkpoint, review in run.reviews.items():
        if review.get("passed"):
            paths = _shown([path for path in _changed(run, checkpoint, proof) if path in covered])
            found += [f"{path} (since {checkpoint} passed)" for path in paths]
    return found if len(found) <= TOLD else [*found[:TOLD], f"and {len(found) - TOLD} more"]


def may_end_done(run: Run) -> bool:
    """True if no last verdict is a FAIL, but for those that a person knew of when they let the run go on."""
    return not any(failed(review) and not review.get("heard") for review in run.reviews.values())
