"""What the answer of a person does to a run."""

from __future__ import annotations

from skills.lib.engine import fixes, gates, inputs, not_done, verdicts
from skills.lib.engine.decision import Leaving, Move, Refused, Report, is_person
from skills.lib.engine.transition import go
from skills.lib.field_checks import is_reason
from skills.lib.model import values
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome, Person, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.engine.proof import Proof

# A free answer that is no longer than this (characters) has to be a whole prompt: any text may have it inside.
SHORT = 12
# How many characters of a prompt are kept with the answer that it has.
_PROMPT_KEPT = 1_000


def read_answer(workflow: Workflow, run: Run, step: StepDef, request: Request, digest: str, actor: str) -> Report:
    """What a request to a run that waits reports: the answer, by whom it was given, and the reason.

    Raises Refused if the request gives no answer, none that is valid, or more than an answer, and if ``actor`` is no
    person and the question needs one.
    """
    asked = run.question or {}
    choices = tuple(asked.get("choices", ()))
    given = request.answer
    if asked.get("at_terminal") and not is_person(actor):
        why = "A person answers this, and nothing that they were heard to say since the question is this answer."
        how = "Ask them and wait; if they did answer, have them run the command in ANSWER."
        raise Refused("person-needed", why, choices, how=how)
    if given is None:
        why = f"The run waits for a person: {asked.get('text', '')}"
        raise Refused("unanswered", why, choices, missing=("answer",))
    if not given.strip() or values.is_placeholder(given, "answer"):
        raise Refused("unfilled", "--answer holds no answer yet.", choices, missing=("answer",))
    if request.reason and values.is_placeholder(request.reason, "reason"):
        why = "--reason still stands as a placeholder; say why."
        raise Refused("unfilled", why, choices, missing=("reason",))
    if choices and given not in choices:
        raise Refused("bad-value", f"{given!r:.80} is not one of the answers.", choices, wrong=("answer",))
    if given in asked.get("reasons", ()) and not is_reason(request.reason or ""):
        raise Refused("no-reason", f"{given} takes a reason, in more than a word: --reason.", missing=("reason",))
    for name in (*request.records, *inputs.beyond_run(workflow, run, request)):
        why = f"{step.id} waits for an answer; nothing is recorded with it: {name!r:.80}."
        raise Refused("unknown-field", why, wrong=(name,))
    inputs.check_echo(run, step, request)
    recorded = {"answer": given, "by": "person" if is_person(actor) else "reported", "reason": request.reason or ""}
    return Report(digest, request.step, request.outcome, recorded=recorded)


def prompt_with(run: Run, given: str | None, proof: Proof) -> str:
    """The prompt in which a person gave that answer to the question of a run; "" if none is known.

    The last prompt that names a choice counts, and it may name no other. An answer in free words must be in a prompt as
    it is, and a short one must be the whole of it.
    """
    choices = (run.question or {}).get("choices", ())
    wanted = _plain(given or "")
    for prompt in reversed(proof.prompts() if wanted else ()):
        said = _plain(prompt)
        if not said:  # one that was too long to keep
            return ""
        if choices:
            named = _named(said, choices)
            if named:
                return prompt if named == [given] else ""
        elif said == wanted or (len(wanted) > SHORT and wanted in said):
            return prompt
    return ""


def _plain(text: str) -> str:
    """A text with neither case, line ends nor a full stop."""
    return " ".join(text.casefold().split()).rstrip(".!")


def _named(said: str, choices: Sequence[str]) -> list[str]:
    """The choices that stand in a text as words of their own; one that is a part of a longer one is not counted."""
    from unicodedata import category  # few runs wait for a person

    found = []
    for choice in sorted(choices, key=len, reverse=True):
        wanted, at = _plain(choice), 0
        while wanted and (at := said.find(wanted, at)) >= 0:
            end = at + len(wanted)
            around = said[max(at - 1, 0) : at] + said[end : end + 1]
            if any(category(char)[0] in "LMN" or char == "_" for char in around):  # letters, their marks, numbers
                at = end
                continue
            said = f"{said[:at]}\n{said[end:]}"
            if choice not in found:
                found.append(choice)
    return found


def answer(
    workflow: Workflow, run: Run, step: StepDef, report: Report, actor: str, proof: Proof, prompt: str = ""
) -> Move:
    """What the answer of ``read_answer`` does to a run that waits; ``prompt`` has it in the person's words."""
    detail = dict(report.recorded)
    if prompt:
        detail["prompt"] = values.NOT_KEPT if values.is_secret(prompt) else prompt[:_PROMPT_KEPT]
    given = detail["answer"]
    state = {**run.state.get(step.id, {}), "answer": given, "answered_by": "person" if is_person(actor) else actor}
    state.pop("reason", None)  # what was said to an earlier answer
    if detail["reason"]:
        state["reason"] = detail["reason"]
    if run.question and "gate" in run.question:
        is_limit = run.question.get("about") == "limit"
        return _settle(Leaving(workflow, step, report, proof, state, is_limit), run, run.question, detail)
    handler = step.handler
    outcome = handler.choices.get(given, Outcome.OK) if isinstance(handler, Person) else Outcome.OK
    report.check_outcome(step, outcome)
    if not is_person(actor):
        run = run.noted("answer", step.id, f"answered by the agent for a person: {given}")
    contents: dict[str, dict[str, str]] = {}
    if outcome is not Outcome.FAIL:
        run, contents = _heard(workflow, run, step, outcome, detail, proof)
    run = verdicts.asked_about(run, step, proof)
    leaving = Leaving(workflow, step, report, proof, state, answered=True)
    return go(leaving, run, outcome, {"outcome": outcome, **detail}).keeping(contents)


def _heard(
    workflow: Workflow, run: Run, step: StepDef, outcome: Outcome, detail: dict[str, Any], proof: Proof
) -> tuple[Run, dict[str, dict[str, str]]]:
    """The run with the reviews marked that failed or fell, if a person knew of them and let the run go on; and the
    files of these reviews by their digest.

    An answer passed on by the agent does not count if a MUST is open, or if a verdict fell. An answer that leads back
    to a review lets nothing go on.
    """
    contents: dict[str, dict[str, str]] = {}
    for checkpoint, review in run.reviews.items():
        fell = verdicts.fell_to(review, step)
        grave = fell or any(item["severity"] == Severity.MUST for item in verdicts.blocking_now(review))
        if not (fell or verdicts.failed(review)) or (detail["by"] != "person" and grave):
            continue
        if verdicts.leads_to_review(workflow, step, outcome, checkpoint):
            continue
        heard = {"step": step.id, **detail}
        if review.get("content"):
            now = proof.contents(review["covers"])
            heard["content"] = proof.digest(now)
            contents[heard["content"]] = now
        run = run.changed(reviews={**run.reviews, checkpoint: {**review, "heard": heard}})
    return run, contents


def _settle(leaving: Leaving, run: Run, asked: dict[str, Any], detail: dict[str, Any]) -> Move:
    """A person accepts what is open, with a reason that is kept, sends the work back once more, or ends the run."""
    step, given, reason = leaving.step, detail["answer"], detail["reason"].strip()
    name, about, accepts = asked["gate"], asked.get("about", "bound"), given == gates.ACCEPT
    if given != gates.REVISE and not is_reason(reason):
        what = "Accepting what is open" if accepts else "Abandoning the run"
        raise Refused(
            "no-reason",
            f"{what} takes a reason, in more than a word: --reason.",
            (gates.ACCEPT, gates.REVISE, gates.ABANDON),
            missing=("reason",),
        )
    if given == gates.ABANDON:
        last = {**run.last, "reason": reason}
        left = not_done.at_abandoning(run)
        ended = left.changed(status="abandoned", turn=run.turn + 1, last=last, question=None)
        return Move(ended, "abandoned", {"from": run.step, "reason": reason, "children": [], **detail})
    if about != "limit":
        run = run.changed(reviews={**run.reviews, name: {**run.reviews[name], "decision": detail}})
    if about == "dispute":
        return _settle_dispute(leaving, run, asked, detail)
    if about == "change":
        return _settle_change(leaving, run, asked, detail)
    again = Outcome(asked["outcome"]) if about == "limit" else Outcome.FAIL
    outcome = again
    if accepts:
        from skills.lib.engine import loops  # few runs come to a limit

        outcome = loops.accepted(leaving.workflow, step, again) if about == "limit" else Outcome.OK
    leaving.report.check_outcome(step, outcome)
    if about == "limit":
        if accepts:
            how = f"ended with {again}" if again.is_own else "failed"
            run = run.noted("verdict", step.id, f"a person went on although {step.id} {how}: {reason}")
    elif accepts:
        run = verdicts.pass_on(run, name, accepted=detail)
    else:
        run = verdicts.send_back(run, name, (step.route(Outcome.FAIL) or (None,))[0])
    return go(leaving, run, outcome, {"outcome": outcome, **detail})


def _settle_dispute(leaving: Leaving, run: Run, asked: dict[str, Any], detail: dict[str, Any]) -> Move:
    """Go on to the review without the findings that a person accepted, or back to the work that must fix them."""
    step = leaving.step
    checkpoint, ids = asked["gate"], asked["ids"]
    outcome = Outcome(asked["outcome"])
    settled = {"outcome": outcome, **detail}
    if detail["answer"] != gates.ACCEPT:
        run = fixes.upheld(run, checkpoint, ids)
        work = run.reviews[checkpoint].get("sent_back_to") or step.id
        return go(leaving, run, outcome, settled, to=(work,))
    run = fixes.accepted(run, checkpoint, ids, detail["reason"])
    if not step.asks_later:
        return go(leaving, run, outcome, settled)
    answered = gates.answer_findings(leaving, run, step.next.values(), detail)
    return answered if isinstance(answered, Move) else gates.ask(leaving, answered, detail)


def _settle_change(leaving: Leaving, run: Run, asked: dict[str, Any], detail: dict[str, Any]) -> Move:
    """Let the verdict hold for the files as they are now, or send the run back to have them reviewed."""
    step, proof = leaving.step, leaving.proof
    checkpoint, outcome = asked["gate"], Outcome(asked["outcome"])
    settled = {"outcome": outcome, **detail}
    if detail["answer"] == gates.ACCEPT:
        run, contents = verdicts.let_stand(run, checkpoint, detail, proof)
        run = run.noted("verdict", step.id, not_done.let_stand(checkpoint, detail["reason"]))
        return go(leaving, run, outcome, settled).keeping(contents)
    gate = verdicts.gate_of(leaving.workflow, checkpoint)
    to = (gate.stale,) if gate and gate.stale else step.route(Outcome.FAIL) or (step.id,)
    run = verdicts.fall(run, checkpoint, verdicts.changed(run, checkpoint, proof), to[0] or step.id, proof)
    return go(leaving, run, outcome, settled, to=to)
