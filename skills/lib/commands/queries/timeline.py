"""The record of a run as a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills.lib import compact_json
from skills.lib.commands.console.screen import Cell, Screen, one_line
from skills.lib.commands.queries.runs import (
    COLOURS,
    SHOWN,
    Records,
    described,
    left_undone,
    moment,
    outcome_of,
    short,
    skill_of,
    status_line,
    undone,
)
from skills.lib.engine import verdicts
from skills.lib.ledger.history import Event
from skills.lib.model.run import Run
from skills.lib.views import findings
from skills.lib.views.surroundings import surroundings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# How many answers to findings are listed.
ANSWERS = 20
_HEADINGS = ("SEQ", "TURN", "WHEN", "STEP", "WHAT", "BY", "DETAIL")


def as_data(records: Records, run: Run) -> dict[str, Any]:
    """A run and its events for a program."""
    events = [
        {name: value for name, value in event.fields().items() if name != "run"} for event in records.events(run.id)
    ]
    return {
        **described(run, records),
        "script": run.script,
        "definition": run.fingerprint,
        **({"review": verdicts.mode(run.spec)} if "checkpoint" in run.spec else {}),
        "reviews": run.reviews,
        "rounds": {name: findings.as_data(done) for name, done in findings.rounds(records.events(run.id)).items()},
        "state": run.state,
        "errata": run.errata,
        "events": events,
    }


def print_run(screen: Screen, records: Records, run: Run, whole: bool) -> None:
    """A run for a person: a headline, its events in order, its reviews, and on request every recorded value."""
    status = screen.styled(status_line(run), COLOURS.get(run.status, ""))
    names = ", ".join(dict.fromkeys((skill_of(run), run.workflow)))
    screen.print(screen.styled(f"Run {run.id}", "bold"), f"  {names}, turn {run.turn}, ", status)
    if run.spec:
        about = [
            str(run.spec.get("agent", "")),
            str(run.spec.get("target", "")),
            one_line(run.spec.get("task", ""))[:SHOWN],
        ]
        screen.print(f"  sub-agent of {run.parent}: ", ", ".join(part for part in about if part))
        if "checkpoint" in run.spec:
            screen.print(f"  {verdicts.mode(run.spec)}")
    # A workflow's name says little: any file can give one of that name.
    screen.print(f"  script {run.script or 'none'}, definition {run.fingerprint or 'none'}")
    for name, value in run.params.items():
        if value is None:
            continue
        screen.print(f"  --{name.replace('_', '-')} ", short(value))
    screen.table(_HEADINGS, [_row(screen, event) for event in records.events(run.id)])
    for checkpoint, review in run.reviews.items():
        _print_review(screen, checkpoint, review)
    _print_answers(screen, findings.rounds(records.events(run.id)), whole)
    undone_here = left_undone(run, records)
    if undone_here:
        screen.print(screen.styled("Not done" if run.ended else "Not done so far", "bold"))
        for entry in undone_here:
            screen.print(f"  {undone(entry)}")
    for name, notes in run.errata.items():
        screen.print(screen.styled(f"Erratum to {name}: ", "bold"), one_line("; ".join(notes)))
    if whole:
        for step, state in run.state.items():
            for name, value in state.items():
                shown = value if isinstance(value, str) else compact_json.readable(value)
                screen.print(screen.styled(f"{step}.{name}: ", "bold"), shown)


def _row(screen: Screen, event: Event) -> list[Cell]:
    detail = event.detail
    step = str(detail.get("from") or detail.get("step") or event.change.get("step") or "")
    what = screen.styled(_what(event), "red" if event.kind == "refused" else "yellow" if event.kind == "asked" else "")
    by = "agent (for a person)" if detail.get("by") == "reported" else event.actor
    by += f": {one_line(str(detail['who']))}" if detail.get("who") else ""
    return [str(event.seq), str(event.turn), moment(event.at), step, what, by, _detail(event)]


def _what(event: Event) -> str:
    detail = event.detail
    if event.kind in ("moved", "finished"):
        return f"{outcome_of(detail)} → {detail.get('to') or 'done'}"
    if event.kind == "asked":
        return f"{detail['outcome']}, a person is asked" if detail.get("outcome") else "a person is asked"
    return f"refused: {detail.get('code')}" if event.kind == "refused" else event.kind.replace("-", " ")


def _detail(event: Event) -> str:
    detail = event.detail
    parts = []
    if detail.get("origin"):
        parts.append(f"from run {short(detail['origin'])}")
    if detail.get("answer") is not None:
        parts.append(f"answer {short(detail['answer'])}")
    if event.kind == "refused":
        parts.append(f"{one_line(detail.get('asked', ''))}: {one_line(detail.get('why', '')).rstrip('.')}")
    if detail.get("child"):
        parts.append(str(detail["child"]))
    if detail.get("stale"):
        stale = detail["stale"]
        parts.append(f"the verdict on {stale['checkpoint']} fell: {short(', '.join(stale['files']))} changed")
    if detail.get("errata"):
        parts.append(f"erratum to {', '.join(detail['errata'])}")
    if detail.get("policy_was"):
        parts.append("the policy had changed")
    if detail.get("reason"):
        parts.append(f"because {short(detail['reason'])}")
    reported = {**detail.get("params", {}), **detail.get("recorded", {})}
    if event.kind == "opened":  # the parameters of the run stand above the table, texts of several lines there alone
        reported = {name: value for name, value in reported.items() if value is not None and "\n" not in str(value)}
    parts += [f"{name}={short(value)}" for name, value in reported.items()]
    parts += [_evidence(evidence) for evidence in detail.get("evidence", ())]
    if event.change.get("children"):
        parts.append("sub-agents " + " ".join(event.change["children"]))
    return "; ".join(parts)


def _evidence(evidence: dict[str, Any]) -> str:
    verdict = "✓" if evidence.get("ok") else "✗"
    code = f" (exit {evidence['exit']})" if evidence.get("exit") is not None else ""
    return ", ".join(
        [f"{verdict} {evidence.get('kind')} {one_line(evidence.get('what', ''))}{code}", *surroundings(evidence)]
    )


def _print_review(screen: Screen, checkpoint: str, review: dict[str, Any]) -> None:
    status = review.get("status", "?")
    series = f", series {review['series']}" if "series" in review else ""
    head = f"Review of {checkpoint}{series}: {review.get('iteration')} completed, verdict {status}"
    decision = review.get("decision")
    if decision:
        head += f"; {decision.get('by')} said {decision.get('answer')}: {decision.get('reason')}"
    screen.print(screen.styled(head, "green" if status == "pass" else "red"))
    items = review.get("items", ())
    columns = ("id", "severity", "status", "scope", "check", "finding")
    screen.table([name.upper() for name in columns], [[str(item.get(name, "")) for name in columns] for item in items])


def _print_answers(screen: Screen, rounds: Mapping[str, Sequence[findings.Round]], whole: bool) -> None:
    """How the findings of each review were answered, and which verdicts fell."""
    shown = one_line if whole else short
    for checkpoint, done in rounds.items():
        lines = []
        for one in done:
            at = f"  iteration {one.iteration}, "
            for name, given in one.answers.items():
                lines.append(f"{at}{name} " + "; ".join(shown(answer.text) for answer in given))
            lines += [f"{at}verdict fell at turn {turn}: {shown(', '.join(files))} changed" for turn, files in one.fell]
        if lines:
            screen.print(screen.styled(f"Answers to the review of {checkpoint}", "bold"))
        for line in lines if whole else lines[:ANSWERS]:
            screen.print(line)
        if len(lines) > ANSWERS and not whole:
            screen.print(f"  and {len(lines) - ANSWERS} more, which --values shows")
