"""Counts what went wrong in one recorded session."""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from skills.lib.layers.replaying import failing, searching, verdicts
from skills.lib.layers.replaying.events import Call, Changed, Event, Folder, Judged, Offered, Said, Terms
from skills.lib.layers.replaying.facts import Facts
from skills.lib.layers.replaying.lines import name_of, read
from skills.lib.layers.replaying.tasks import Task
from skills.lib.layers.replaying.verdicts import FAIL, INCONCLUSIVE, PASS, TASK, Claim, Verdict
from skills.lib.layers.replaying.writing import written
from skills.lib.record import Record

ERRORS, SEARCHES, CLAIMS = "command_errors", "shell_searches", "unproved_claims"
FILES, VERDICTS = "files_outside", "wrong_verdicts"
MEASURES = (ERRORS, SEARCHES, CLAIMS, FILES, VERDICTS)
# Files of this name hold verdicts, whoever writes them.
_REPORTS = ("phase-report.json", "task-feedback.md")
# So many parts of an absolute path may belong to a project.
_DEEPEST = 40
# Where a session may keep what is no part of the project.
_SCRATCH = ("/tmp/", "/var/tmp/", "/dev/", "/private/tmp/")  # noqa: S108  compared, never opened


class Finding(Record):
    """One thing that is counted: the measure, the line of the file, and what it is."""

    measure: str
    number: int
    what: str


class Count(Record):
    """What was counted in a session.

    ``files_known`` is False if nobody says which files the task may change. ``judged`` are the ids of the criteria that
    got a verdict; ``denied`` counts the calls that were refused before they ran.
    """

    findings: Sequence[Finding]
    calls: int
    denied: int
    judged: frozenset[str]
    files_known: bool

    def of(self, measure: str) -> int:
        """How many findings a measure has."""
        return sum(finding.measure == measure for finding in self.findings)


class _Stated(Record):
    """A verdict as it stood when it was stated: what of its evidence was not shown, and what was shown otherwise."""

    number: int
    verdict: Verdict
    unproved: tuple[str, ...]
    contradicted: str


class Counter:
    """Follows the events of one session."""

    def __init__(self, task: Task, terms: Terms, host: str = "") -> None:
        self._task, self._terms = task, terms
        self._facts = Facts()
        self._facts.folder = task.folder
        self._findings: list[Finding] = []
        self._has_search = any("search" in terms.kinds(host, tool, {}) for tool in task.tools)
        self._changed: dict[str, int] = {}
        self._stated: dict[str, _Stated] = {}
        # What the engine of a skill found itself.
        self._checked: dict[str, str] = {}
        self._is_report = Task(artifacts=task.artifacts).allows()
        self._calls = self._denied = 0
        self._host = host

    def take(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, Folder):
            self._facts.folder = self._facts.folder or event.path
        elif isinstance(event, Offered):
            self._has_search = self._has_search or any(
                "search" in self._terms.kinds(self._host, tool, {}) for tool in event.tools
            )
        elif isinstance(event, Said):
            self._say(event.number, event.text)
        elif isinstance(event, Judged):
            self._judge(event.number, event.verdicts)
        elif isinstance(event, Changed):
            for path in event.paths:
                self._change(event.number, path)
        else:
            self._call(event)

    def count(self, due: Collection[str] = ()) -> Count:
        """What was counted; ``due`` are the ids of more criteria that a verdict is due on."""
        judged = frozenset(name for name in self._stated if name != TASK)
        outside = self._outside()
        found = [*self._findings, *outside]
        for stated in self._stated.values():
            found += [Finding(CLAIMS, stated.number, what) for what in stated.unproved]
        found += self._wrong(judged, due, bool(outside))
        order = {measure: at for at, measure in enumerate(MEASURES)}
        found.sort(key=lambda one: (order[one.measure], one.number, one.what))
        return Count(found, self._calls, self._denied, judged, self._task.files is not None)

    def _call(self, call: Call) -> None:
        self._calls += 1
        if call.was_denied:
            self._denied += 1
            return
        if why := failing.why(call, self._task.checks):
            self._findings.append(Finding(ERRORS, call.number, why))
        if call.command and self._has_search and searching.is_search(call.command):
            self._findings.append(Finding(SEARCHES, call.number, call.command))
        if "search" in call.kinds and call.was_known:
            self._has_search = call.ok  # one that fails leaves the shell as the last resort
        for path in self._written(call):
            self._change(call.number, path)
        self._facts.learn(call)
        for text in _reported(call):
            self._say(call.number, text)
        if " --step " in call.command and call.exit == 0 and _runs_script(call.command):
            self._judge(call.number, verdicts.checked_in(call.output))

    def _judge(self, number: int, found: Mapping[str, str]) -> None:
        for name, mark in found.items():
            self._checked[name] = mark
            self._stated[name] = _Stated(number, Verdict(name, mark, ()), (), "")

    def _written(self, call: Call) -> Iterable[str]:
        if call.command:
            return written(call.command, call.exit == 0)
        return call.paths if call.ok and call.kinds & {"edit", "write"} else ()

    def _change(self, number: int, path: str) -> None:
        place = self._facts.place(path)
        if place.startswith(_SCRATCH) or self._any(place, self._is_report):
            return
        self._facts.change(path)
        self._changed.setdefault(place, number)

    def _any(self, place: str, covers: Callable[[str], bool]) -> bool:
        """True for a path that is covered; without the project's folder nobody knows where an absolute one begins."""
        is_open = posixpath.isabs(place) and not self._facts.folder
        return any(covers(one) for one in (_tails(place) if is_open else [place]))

    def _outside(self) -> list[Finding]:
        """The files that were changed and that the task does not allow."""
        if self._task.files is None:
            return []
        allows = self._task.allows()
        return [
            Finding(FILES, number, place) for place, number in self._changed.items() if not self._any(place, allows)
        ]

    def _say(self, number: int, text: str) -> None:
        for verdict in verdicts.stated_in(text, self._facts.has_run, self._task.criteria, self._task.id):
            unproved, contradicted = self._weigh(verdict)
            self._stated[verdict.name] = _Stated(number, verdict, unproved, contradicted)

    def _weigh(self, verdict: Verdict) -> tuple[tuple[str, ...], str]:
        """What of a verdict's evidence no result has shown, and what one has shown otherwise."""
        checked = self._checked.get(verdict.name, verdict.mark)
        if checked != verdict.mark:
            named = f"criterion {verdict.name}" if verdict.name else "the task"
            return (), f"{named} is {verdict.mark}, and the engine found {checked}"
        if verdict.name == TASK or verdict.mark == INCONCLUSIVE or verdict.name in self._checked:
            return (), ""
        where = f"criterion {verdict.name} is {verdict.mark}"
        if not verdict.claims:
            return (f"{where}: it names no evidence",), ""
        unproved: list[str] = []
        for claim in verdict.claims:
            shown, why = self._shown(claim, verdict.mark)
            if shown is False:
                return (), f"{where}: {why}"
            if shown is None:
                unproved.append(f"{where}: {why}")
        return tuple(unproved), ""

    def _shown(self, claim: Claim, mark: str) -> tuple[bool | None, str]:
        """True for a claim that a result shows, False for one that it contradicts, else None; with the reason."""
        if claim.is_command:
            run = self._facts.run_of(claim.text)
            if run is None:
                return None, f"{claim.text} was not run"
            if run.edits < self._facts.edits:
                return None, f"{claim.text} was not run since the last change"
            if mark == FAIL or run.exit == 0:
                return True, ""
            if run.exit is None:
                return None, f"how {claim.text} ended is not known"
            return False, f"{claim.text} ended with {run.exit}"
        is_there = self._facts.is_there(claim.text)
        if mark == FAIL or claim.may_be_gone:
            return (True, "") if self._facts.was_looked_for(claim.text) else (None, f"{claim.text} was not looked at")
        if is_there is None:
            return None, f"no result before shows {claim.text}"
        return is_there, "" if is_there else f"{claim.text} is not there"

    def _wrong(self, judged: frozenset[str], due: Collection[str], has_outside: bool) -> list[Finding]:
        found = []
        for name in sorted({*judged, *self._task.criteria, *due}):
            stated = self._stated.get(name)
            if why := _against(stated, self._task.expected.get(name), f"criterion {name}"):
                found.append(Finding(VERDICTS, stated.number if stated else 0, why))
        whole = self._stated.get(TASK)
        expected = self._task.expected.get(TASK)
        why = _against(whole, expected, "the task") if whole or expected else ""
        if whole and not why and TASK not in self._checked:
            why = self._against_criteria(whole.verdict.mark, judged, has_outside)
        if why:
            found.append(Finding(VERDICTS, whole.number if whole else 0, why))
        return found

    def _against_criteria(self, mark: str, judged: frozenset[str], has_outside: bool) -> str:
        """Why the verdict on the task cannot be right, by the verdicts on its criteria."""
        others = [name for name in sorted(judged) if self._stated[name].verdict.mark != PASS]
        if mark == PASS and others:
            return f"the task is PASS, and criterion {others[0]} is {self._stated[others[0]].verdict.mark}"
        if mark == PASS and has_outside:
            return "the task is PASS, and a file was changed that it does not allow"
        if mark == FAIL and judged and not others and not has_outside:
            return "the task is FAIL, and each of its criteria is PASS"
        return ""


def count(events: Iterable[Event], task: Task, terms: Terms, due: Collection[str] = ()) -> Count:
    """What went wrong in a session."""
    counter = Counter(task, terms)
    for event in events:
        counter.take(event)
    return counter.count(due)


def _against(stated: _Stated | None, expected: frozenset[str] | None, what: str) -> str:
    """Why a verdict is wrong; empty if it is not known to be."""
    if stated is None:
        return f"{what} has no verdict"
    if expected is not None and stated.verdict.mark not in expected:
        return f"{what} is {stated.verdict.mark}, and {' or '.join(sorted(expected))} is right"
    return stated.contradicted


def _reported(call: Call) -> Iterable[str]:
    """The texts of a call in which verdicts are reported: a report that is written, or values for a step."""
    if not call.ok or call.exit not in (0, None):
        return
    if call.kinds & {"write", "edit"} and any(posixpath.basename(path) in _REPORTS for path in call.paths):
        texts = [call.arguments.get(name) for name in ("content", "text", "new_string", "newString", "contents")]
        yield from [text for text in texts if isinstance(text, str)]
    elif "--record" in call.command:
        yield from _recorded(call.command)


def _runs_script(line: str) -> bool:
    """True for a line that calls a step's script, and does nothing else but ``cd``."""
    programs = [words for command in read(line).commands for words in command.programs]
    others = [words for words in programs if name_of(words) != "cd"]
    return bool(others) and all(any((word or "").endswith(".py") for word in words[:2]) for words in others)


def _recorded(line: str) -> Iterable[str]:
    """The values that a step command records."""
    for command in read(line).commands:
        for words in command.programs[-1:]:
            for before, word in itertools.pairwise(words):
                if before == "--record" and word and "=" in word:
                    yield word.partition("=")[2]


def _tails(path: str) -> list[str]:
    parts = path.strip("/").split("/")[-_DEEPEST:]
    return ["/".join(parts[at:]) for at in range(len(parts))]


def as_data(found: Count) -> Mapping[str, Any]:
    """A count for a program."""
    return {
        **{measure: found.of(measure) for measure in MEASURES},
        **({} if found.files_known else {FILES: None}),
        "calls": found.calls,
        "denied": found.denied,
        "judged": sorted(found.judged),
        "findings": [finding.fields() for finding in found.findings],
    }
