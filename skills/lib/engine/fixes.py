"""The answers to findings: before the next review, each finding is answered by a change or disputed.

A finding is answered if its file no longer has the content that the reviewer saw. If it was settled elsewhere, names
no file, or is settled by a change of blanks at line ends, the record ``fixes`` answers it: "id | changed | where" or
"id | disputed | why".

The content of each file when a reviewer or an answer last named it is kept with the review as ``named``: to name the
file again with the same content is no change.
"""

from __future__ import annotations

from skills.lib.engine import verdicts
from skills.lib.engine.decision import Refused
from skills.lib.field_checks import is_reason
from skills.lib.model import values
from skills.lib.model.requirements import Field
from skills.lib.model.run import FIXES, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import listed
from skills.lib.model.types import ItemStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.engine.proof import Proof


CHANGED, DISPUTED = "changed", "disputed"
# How a change is known: the record shows it, or only the answer claims it.
SHOWN, CLAIMED = "shown", "claimed"
# After so many disputes of one finding a person decides.
MOST_DISPUTES = 2
HELP = (
    'for each finding whose file you did not change: "id | changed | what settles it, a path if it is a file", or '
    '"id | disputed | why the finding is wrong"; [] if you changed the file of each'
)


def open_findings(run: Run) -> dict[str, list[Mapping[str, Any]]]:
    """The findings that must be answered, by checkpoint; a TODO need not be."""
    found = {}
    for checkpoint, review in run.reviews.items():
        if verdicts.failed(review):
            blocking = [item for item in verdicts.blocking_now(review) if item["status"] != ItemStatus.TODO]
            if blocking:
                found[checkpoint] = blocking
    return found


def asks(workflow: Workflow, run: Run, step: StepDef) -> list[Mapping[str, Any]]:
    """The findings without an answer that a step may answer."""
    found = open_findings(run) if run.reviews else {}
    return [
        item
        for checkpoint in asked_at(workflow, run, step)
        for item in found[checkpoint]
        if item["id"] not in run.reviews[checkpoint].get("fixes", {})
    ]


def asked_at(workflow: Workflow, run: Run, step: StepDef) -> list[str]:
    """The checkpoints whose findings a step may answer: it was sent back to, or leads to the next review.

    A review and its own gate answer none.
    """
    if not run.reviews:
        return []
    found = []
    ahead = {review.checkpoint for review in verdicts.reviews_ahead(workflow, step.next.values())}
    for checkpoint in open_findings(run):
        review = run.reviews[checkpoint]
        if review.get("settled") or decides(step, checkpoint):
            continue
        if checkpoint in ahead or review.get("sent_back_to") == step.id:
            found.append(checkpoint)
    return found


def name_of(run: Run, checkpoint: str, item: Mapping[str, Any]) -> str:
    """The name of a finding in an answer: its id, after its checkpoint's name if another checkpoint has the same id."""
    others = [
        one["id"]
        for name, review in run.reviews.items()
        if name != checkpoint and verdicts.failed(review)
        for one in review["items"]
        if one["status"] != ItemStatus.PASS
    ]
    return f"{checkpoint}:{item['id']}" if item["id"] in others else str(item["id"])


def decides(step: StepDef, checkpoint: str) -> bool:
    """True if the step is a review of the checkpoint, or its gate."""
    return step.checkpoint == checkpoint or (step.gate is not None and step.gate.checkpoint == checkpoint)


def must_be_answered(items: list[Mapping[str, Any]]) -> bool:
    """True if a finding names no file that is under review, so that only the record can answer it."""
    return any(not item.get("file") or item.get("outside") for item in items)


def read(run: Run, step: StepDef, given: Any) -> Run:
    """The run with the given answers to findings. Raises Refused if one answers no open finding."""
    if given is None:
        return run
    entries, known = _entries(given), _known(run)
    if not known:
        raise Refused("unknown-field", f"No finding is open, so step {step.id} records no fixes.", wrong=(FIXES,))
    reviews = dict(run.reviews)
    for entry in entries:
        name, how, why = _parts(entry)
        fault = _fault(run, known, entry)
        if fault:
            raise fault
        for checkpoint in known[name]:
            review, item = reviews[checkpoint], name.removeprefix(f"{checkpoint}:")
            reviews[checkpoint] = {**review, "fixes": {**review.get("fixes", {}), item: {"how": how, "why": why}}}
    return run.changed(reviews=reviews)


def given_back(run: Run, given: Any) -> list[str]:
    """The answers with placeholders for what is wrong; empty if they are no list, or nothing is open."""
    try:
        entries, known = _entries(given), _known(run)
    except Refused:
        return []
    return [_to_complete(run, known, entry) if _fault(run, known, entry) else entry for entry in entries if known]


def _to_complete(run: Run, known: Mapping[str, list[str]], entry: str) -> str:
    """The answer with a placeholder for each part that is wrong."""
    name, how, why = _parts(entry)
    if how == DISPUTED and _is_upheld(run, known, name):
        return f"{name} | {CHANGED} | FILL_path"
    if not _is_enough(how, why):
        why = "FILL_path" if how == CHANGED else "FILL_why"
    return f"{name if name in known else 'FILL_id'} | {how if how in (CHANGED, DISPUTED) else 'FILL_how'} | {why}"


def _is_enough(how: str, why: str) -> bool:
    """True if an answer says where the change is, or why the finding is disputed in more than a word."""
    return bool(why) and (how != DISPUTED or is_reason(why)) and not values.is_placeholder(why, "why")


def _is_upheld(run: Run, known: Mapping[str, list[str]], name: str) -> bool:
    """True if a person decided that the finding is right."""
    return any(name.removeprefix(f"{at}:") in run.reviews[at].get("upheld", ()) for at in known.get(name, ()))


def _known(run: Run) -> dict[str, list[str]]:
    """The checkpoints of each open finding, by its name in an answer."""
    known: dict[str, list[str]] = {}
    for checkpoint, review in run.reviews.items():
        for item in review["items"] if verdicts.failed(review) else ():
            if item["status"] != ItemStatus.PASS and checkpoint not in known.setdefault(item["id"], []):
                known[item["id"]].append(checkpoint)
    for name, checkpoints in list(known.items()):
        if len(checkpoints) > 1:
            del known[name]
            known.update({f"{checkpoint}:{name}": [checkpoint] for checkpoint in checkpoints})
    return known


def _parts(entry: str) -> tuple[str, str, str]:
    name, how, why = (*(part.strip() for part in entry.split("|", 2)), "", "")[:3]
    return name, how, why


def _fault(run: Run, known: Mapping[str, list[str]], entry: str) -> Refused | None:
    """What is wrong with an answer to a finding."""
    name, how, why = _parts(entry)
    if name not in known:
        form = "" if "|" in entry else '; write "id | changed | path" or "id | disputed | why"'
        why = f"fixes: {name!r:.60} is no finding that is open{form}."
        return Refused("bad-value", why, tuple(known), of="names", wrong=(FIXES,))
    if how not in (CHANGED, DISPUTED) or not _is_enough(how, why):
        form = f'write "{name} | changed | path that settles it" or "{name} | disputed | why it is wrong"'
        return Refused("bad-value", f"fixes, {entry[:80]!r}: {form}.", (CHANGED, DISPUTED), wrong=(FIXES,))
    if how == DISPUTED and _is_upheld(run, known, name):
        why = f"fixes: a person decided that {name} is right; fix it."
        return Refused("bad-value", why, (CHANGED,), wrong=(FIXES,))
    return None


def _entries(given: Any) -> list[str]:
    try:
        entries: list[str] = values.read(Field(FIXES, "list"), given)
    except ValueError as error:
        raise Refused("bad-value", f"{error}.", wrong=(FIXES,)) from None
    return entries


def settle(run: Run, step: StepDef, checkpoint: str, proof: Proof) -> tuple[Run, list[str]]:
    """The run with the answers to its findings settled, and the ids on which a person must decide.

    Raises Refused if a finding has no answer. In the review ``moved`` then says whether the record shows that the work
    changed, and ``blanks`` lists the findings that only a change of blanks at line ends answers.
    """
    items = open_findings(run).get(checkpoint)
    if not items:
        return run, []
    review = run.reviews[checkpoint]
    fixes, disputes = review.get("fixes", {}), dict(review.get("disputes", {}))
    covered = (proof.known(review["content"]) or {}) if review.get("content") else {}
    before = {**_named(review), **covered}  # the content of each file, as the reviewers had it
    missing, blanks, moved, undecided = [], [], False, []
    for item in items:
        fix = fixes.get(item["id"], {})
        if fix.get("how") == DISPUTED:
            disputes[item["id"]] = disputes.get(item["id"], 0) + 1
            if disputes[item["id"]] >= MOST_DISPUTES:
                undecided.append(item["id"])
        elif change := _change(item, fix, review, before, proof):
            moved = moved or change == SHOWN
        elif _has_other_blanks(item, proof) and _names_its_file(item, fix, proof):
            blanks.append(item["id"])
        else:
            missing.append(item)
    if missing:
        why = _what_is_missing(step, missing, fixes, before, proof)
        ids = tuple(item["id"] for item in missing)
        raise Refused("unanswered-finding", why, ids, of="names", missing=(FIXES,))
    after = {**review, "disputes": disputes, "moved": moved, "settled": True}
    named = {**_named(review), **_looked_at(items, fixes, before, proof)}
    if named:
        after["named"] = named
    if blanks:
        after["blanks"] = blanks
    for name in blanks:
        run = run.noted("finding", checkpoint, f"{name} was answered by a change of blanks alone")
    return run.changed(reviews={**run.reviews, checkpoint: after}), undecided


def _named(review: Mapping[str, Any]) -> dict[str, str]:
    """The content of each file when an answer or a reviewer last named it, by path."""
    at_review = {item["file"]: item["content"] for item in review["items"] if item.get("file")}
    return {**review.get("named", {}), **at_review}


def _looked_at(
    items: list[Mapping[str, Any]], fixes: Mapping[str, Any], before: Mapping[str, str], proof: Proof
) -> dict[str, str]:
    """The present content of the files of the findings, and of those that answers name; empty for a removed file."""
    places = [item["file"] for item in items if item.get("file")]
    places += [fix["why"] for item in items if (fix := fixes.get(item["id"], {})).get("how") == CHANGED]
    seen = [proof.look(place) for place in dict.fromkeys(places)]
    return {one["file"]: one["content"] for one in seen if one["content"] or one["file"] in before}


def _change(
    item: Mapping[str, Any], fix: Mapping[str, Any], review: Mapping[str, Any], before: Mapping[str, str], proof: Proof
) -> str:
    """SHOWN if the record shows the change that answers a finding, CLAIMED if only the answer does; else empty."""
    if item.get("file") and proof.look(item["file"])["content"] != item["content"]:
        return "" if _has_other_blanks(item, proof) else SHOWN
    if fix.get("how") != CHANGED:
        return ""
    seen = proof.look(fix["why"])
    file, known = seen["file"], before.get(seen["file"], "")
    if not seen["content"] and not known and not seen.get("was_there"):
        # A claimed change outside of all files is accepted if the finding names no file either.
        return CLAIMED if not item.get("file") and is_reason(fix["why"]) else ""
    if (seen["content"] and seen["content"] == known) or file == item.get("file"):
        return ""
    if review.get("content"):
        if proof.covered(review["covers"], [file]):
            return SHOWN
        if item.get("file"):
            return ""
    return SHOWN if known else CLAIMED


def _has_other_blanks(item: Mapping[str, Any], proof: Proof) -> bool:
    """True if the file of a finding changed only in blank lines and blanks at line ends."""
    if not item.get("text"):
        return False
    seen = proof.look(item["file"])
    return bool(seen["content"] != item["content"] and seen.get("text") == item["text"])


def _names_its_file(item: Mapping[str, Any], fix: Mapping[str, Any], proof: Proof) -> bool:
    return fix.get("how") == CHANGED and bool(proof.look(fix["why"])["file"] == item["file"])


def _what_is_missing(
    step: StepDef,
    items: list[Mapping[str, Any]],
    fixes: Mapping[str, Any],
    before: Mapping[str, str],
    proof: Proof,
) -> str:
    """The refusal in words: each finding without an answer, and why what was done or said is none."""
    missing = []
    for item in items:
        place = f"{item['file']} is as the reviewer saw it" if item.get("file") else "it names no file"
        fix = fixes.get(item["id"], {})
        seen = proof.look(fix["why"]) if fix.get("how") == CHANGED else {"file": "", "content": ""}
        if _has_other_blanks(item, proof):
            place = f'only blanks at line ends of {item["file"]} differ; say "{item["id"]} | changed | {item["file"]}" '
            place += "if that settles it"
        elif seen["content"] and seen["content"] == before.get(seen["file"]) and seen["file"] != item.get("file"):
            place += f", and {seen['file']} is as it was when it was last reviewed or named"
        elif fix and not seen["content"]:
            place += f", and {fix['why'][:80]!r} is no file of the project"
        missing.append(f"{item['id']} ({place})")
    return (
        f"{step.id} leads to the next review, and nothing answers {listed(missing, 6)}. Fix it; or record fixes: "
        '"id | changed | path that settles it", or "id | disputed | why the finding is wrong".'
    )


def upheld(run: Run, checkpoint: str, ids: list[str]) -> Run:
    """The run with these findings upheld by a person: a dispute answers them no more."""
    review = run.reviews[checkpoint]
    fixes = {name: fix for name, fix in review.get("fixes", {}).items() if name not in ids}
    after = {**review, "fixes": fixes, "upheld": [*review.get("upheld", ()), *ids], "settled": False}
    return run.changed(reviews={**run.reviews, checkpoint: after})


def accepted(run: Run, checkpoint: str, ids: list[str], reason: str) -> Run:
    """The run with these findings accepted by a person: they block no more, and no reviewer gets them again."""
    review = run.reviews[checkpoint]
    items = [{**item, "accepted": reason} if item["id"] in ids else item for item in review["items"]]
    return run.changed(reviews={**run.reviews, checkpoint: {**review, "items": items}})
