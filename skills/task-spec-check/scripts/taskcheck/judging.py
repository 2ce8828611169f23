"""Judges each criterion of a task by what was looked up and run, and the task by its criteria and its files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skills.lib import checks
from skills.lib.checks import is_reason

from . import looking, running, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .looking import Shown
    from .task import Criterion

PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
_ORDER = ("low", "medium", "high")


def report_faults(
    criteria: Sequence[Criterion], reports: Sequence[Mapping[str, Any]], files: Callable[[], set[str]]
) -> list[str]:
    """What is wrong with a report before anything is run: criteria left out, no finding, places that are not there.

    ``files`` gives the paths that are compared with the base: any other could have been written to be evidence.
    """
    found = checks.coverage([one.id for one in criteria], [row["criterion"] for row in reports], "criterion")
    texts = {one.id: one for one in criteria}
    for row in reports:
        name, rows = row["criterion"], row["evidence"]
        if row["verdict"] != PASS and not is_reason(row.get("finding", "")):
            found.append(f"{name}: say in finding what is wrong or could not be found out, and where")
        if row["verdict"] == PASS and not rows and not (name in texts and texts[name].verify):
            found.append(f"{name}: give evidence for PASS, or record INCONCLUSIVE with what is missing")
        found += [f"{name}: {fault}" for one in rows for fault in looking.place_faults(one)]
    places = [] if found else [(row["criterion"], *looking.read_of(one)) for row in reports for one in row["evidence"]]
    known = files() if any(paths for _, *paths in places) else set()
    return found + [
        f"{name}: {paths[0]} is not compared with the base: git ignores it, or it is of the state; name another file"
        for name, *paths in places
        if paths and not known.intersection(paths)
    ]


def judged(
    criteria: Sequence[Criterion], reports: Iterable[Mapping[str, Any]], changed: set[str] | None
) -> list[dict[str, Any]]:
    """Each criterion with its verdict, confidence, evidence and findings."""
    by_id = {row["criterion"]: row for row in reports}
    run = _once()
    return [_judged(one, by_id[one.id], changed, run) for one in criteria]


def _once() -> looking.Run:
    """Runs each command once, however many criteria name it."""
    known: dict[str, running.Ran] = {}

    def run(argv: list[str]) -> running.Ran:
        key = json.dumps(argv)
        if key not in known:
            known[key] = running.run(argv)
        return known[key]

    return run


def _judged(one: Criterion, row: Mapping[str, Any], changed: set[str] | None, run: looking.Run) -> dict[str, Any]:
    given = [looking.verify(argv, run) for argv in one.verify]
    seen = [*given, *(looking.look(part, one.text, changed, run) for part in row["evidence"])]
    verdict, confidence, findings = _verdict(one, row, seen)
    return {
        "id": one.id,
        "text": one.text,
        "verdict": verdict,
        "confidence": confidence,
        "findings": findings,
        "evidence": [part.to_data() for part in seen],
    }


def _verdict(one: Criterion, row: Mapping[str, Any], seen: Sequence[Shown]) -> tuple[str, str, list[str]]:
    """The verdict, its confidence, and what keeps it from PASS: the agent may lower a verdict, and never raise it."""
    said = [row["finding"]] if row.get("finding") and row["verdict"] != PASS else []
    refuted = [f"{part.location}: {part.why}" for part in seen if part.shows == looking.REFUTES]
    if refuted or row["verdict"] == FAIL:
        return FAIL, "high" if refuted else row["confidence"], [*said, *refuted]
    weak = [f"{part.location}: {part.why}" for part in seen if part.shows == looking.WEAK]
    why, strength = _unproved(one, seen)
    if row["verdict"] == INCONCLUSIVE:
        return INCONCLUSIVE, row["confidence"], said
    if not why and row["confidence"] == "low":
        why = "the confidence is low, and a guess is no PASS"
    if why:
        return INCONCLUSIVE, "low", [why, *weak]
    return PASS, min(strength, row["confidence"], key=_ORDER.index), []


def _unproved(one: Criterion, seen: Sequence[Shown]) -> tuple[str, str]:
    """Why a criterion is not proved, empty if it is; and how strong the evidence is that proves it."""
    proving = [part for part in seen if part.shows == looking.PROVES]
    if one.verify:
        whole = len([part for part in seen[: len(one.verify)] if part.shows == looking.PROVES]) == len(one.verify)
        return ("" if whole else "a command that the task gives proves nothing"), "high"
    named = any(part.type == "command" and part.strength == "high" for part in proving)
    if terms.is_vague(one.text) and not named:
        return "the criterion is a matter of judgement: the task has to give a command or a number for it", "low"
    if any(part.type in ("test", "command") for part in proving):
        return "", max((part.strength for part in proving), key=_ORDER.index)
    if not proving:
        return "no evidence shows it", "low"
    paths = [part.location.partition(":")[0] for part in proving]
    missing = terms.lacking(one.text, "\n".join(part.text for part in proving), paths)
    if missing:
        return (
            f"what was read does not show {missing[:200]}: name a test that does, and the command that runs it",
            "low",
        )
    return "", "medium"


def files_verdict(
    outside: Sequence[str], changes: Sequence[str], allowed: Sequence[str], base: str
) -> tuple[str, list[str]]:
    """Whether a task changed what it may: FAIL for a file outside, INCONCLUSIVE if its change cannot be seen."""
    if outside:
        return FAIL, list(outside)
    if not changes and allowed:
        return INCONCLUSIVE, [
            f"nothing differs from {base}, so the task's change cannot be seen: begin a new run with --base, the "
            "commit before its first"
        ]
    return PASS, []


def outcome(criteria: Iterable[Mapping[str, Any]], files: str) -> str:
    """PASS if each criterion and the files pass, else FAIL: what is inconclusive fails the task, too."""
    return PASS if files == PASS and all(one["verdict"] == PASS for one in criteria) else FAIL


def is_open(criteria: Iterable[Mapping[str, Any]], reports: Iterable[Mapping[str, Any]], files: str) -> bool:
    """True if only weak evidence keeps the task from PASS, so that stronger may be looked for."""
    claimed = {row["criterion"] for row in reports if row["verdict"] == PASS}
    verdicts = [(one["verdict"], one["id"] in claimed) for one in criteria]
    fails = files != PASS or any(verdict == FAIL or (verdict == INCONCLUSIVE and not was) for verdict, was in verdicts)
    return not fails and any(verdict == INCONCLUSIVE for verdict, _ in verdicts)
