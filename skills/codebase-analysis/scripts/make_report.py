"""Makes the report of codebase-analysis from what the run recorded.

Called in the project's root as ``PATH ANSWER ACROSS STRIKE GOAL AREAS LEFT_OUT FOUND OPEN LOG QUESTIONS WEAKEST
CONFIDENCE``; rows are JSON arrays, and what was never recorded is its name in braces. Prints each fault and ends with 1
if there is one; else writes the file, and prints its path as JSON.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

from check_places import BEGINNING, PLACE, fault_of, kind_of, kind_part, means_a_file

import skills.lib.checks as checks
from skills.lib.checks import flat, rows_of
from skills.lib.git import Git

SECTIONS = ("Answer", "Structure", "Patterns", "Flows", "Decisions", "Context", "Open")
# Where findings and rows of a kind stand.
SECTION_OF = {
    "structure": "Structure",
    "border": "Structure",
    "pattern": "Patterns",
    "flow": "Flows",
    "decision": "Decisions",
    "context": "Context",
}
FEWEST_PLACES = 3
MOST_WORDS = 700
FOLDER = ".lockstep/analysis"
FOLDERS_TOLD = 12
VALUES = 13

_QUOTED = re.compile(rf"`{PLACE}`")
_CITED = re.compile(r"(?<![\w`])F\d+\b")
_FENCE = re.compile(r"\s*(```|~~~)")


class Recorded:
    """What a run recorded; a value that it never recorded is empty."""

    def __init__(self, values: list[str]) -> None:
        self.path, self.answer, across, strike, self.goal, areas, self.left_out = values[:7]
        found, unsure, log, questions, self.weakest, self.confidence = values[7:]
        self.across, self.strike, self.areas = rows_of(across), rows_of(strike), rows_of(areas)
        self.found, self.unsure, self.log, self.questions = (
            rows_of(found),
            rows_of(unsure),
            rows_of(log),
            rows_of(questions),
        )
        self.answer, self.across = self._with_places(self.answer), [self._with_places(row) for row in self.across]

    def _with_places(self, text: str) -> str:
        """The text with the place of each finding that it names by id."""
        places = {cells[0]: _quoted(cells[1]) for cells in map(checks.cells, self.found)}
        return _CITED.sub(lambda cited: places.get(cited[0], cited[0]), text)


def faults(run: Recorded) -> list[str]:
    """The faults of what was written for the report: places, headings, length, rows of no section, unknown ids."""
    found = text_faults("\n".join([run.answer, *run.across]))
    if any(line.startswith("#") for _, line in prose(run.answer)):
        found.append("answer has a heading; the report has its own")
    for row in run.across:
        if not kind_of(row) or not row.partition("|")[2].strip():
            found.append(f"{row[:60]!r}: write structure, patterns, flows, decisions or context | text")
        elif not _QUOTED.search(row):
            found.append(f"{row[:60]!r}: name a place of it as `path:line`, or a finding as F3")
    known = [checks.cells(row)[0] for row in run.found]
    return found + [f"strike: {name[:40]!r} is no finding of the survey" for name in run.strike if name not in known]


def text_faults(text: str) -> list[str]:
    """Every place of a text that cannot be opened, and what is too few or too many of it."""
    found, places = [], set()
    for number, line in prose(text):
        for match in _QUOTED.finditer(line):
            if not means_a_file(match["path"], os.curdir):
                continue
            places.add(match[0])
            why = fault_of(match, os.curdir)
            if why:
                found.append(f"line {number}, {match[0]}: {why}")
    if len(places) < FEWEST_PLACES:
        found.append(f"{len(places)} places are named as `path:line`; an answer rests on {FEWEST_PLACES} or more")
    count = len(text.split())
    if count > MOST_WORDS:
        found.append(f"it has {count:,} words, at most {MOST_WORDS:,}: cut what the goal does not need")
    return found


def prose(text: str) -> list[tuple[int, str]]:
    """The numbered lines outside code fences."""
    lines, fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            lines.append((number, line))
    return lines


def report(run: Recorded) -> str:
    """The report as Markdown."""
    sections: dict[str, list[str]] = {name: [] for name in SECTIONS}
    for row in run.across:
        sections[SECTION_OF[kind_of(row)]].append(f"- {flat(row.partition('|')[2])}")
    for row in run.found:
        name, place, what = checks.cells(row)[:3]
        kind = kind_part(row.partition("|")[2])
        if name not in run.strike:
            border = "at the border: " * (kind_of(kind) == "border")
            sections[SECTION_OF[kind_of(kind)]].append(f"- {_quoted(place)} {border}{flat(what)}")
    read = " (read in the rounds)" * (len(run.areas) == 1)
    sections["Structure"][:0] = [*tracked_files(), *[f"- area{read}: {flat(area)}" for area in run.areas]]
    sure = f"Confidence: {run.confidence}. The weakest claim: {flat(run.weakest)}"
    sections["Answer"] = [run.answer.strip(), "", sure, "", "What it rests on:", "", *map(_settled, run.log)]
    left_out = [f"left out: {run.left_out}"] if run.left_out else []
    sections["Open"] = [f"- {flat(row)}" for row in (*run.questions, *run.unsure, *left_out)]
    body = [f"## {name}\n\n" + "\n".join(rows or ["Nothing was found."]) for name, rows in sections.items()]
    return "\n\n".join([f"# {flat(run.goal)}", *body]) + "\n"


def tracked_files() -> list[str]:
    """How many files each top folder has, as git knows them, in a line; nothing without git."""
    printed = Git(os.curdir).output("ls-files", "-z") or b""
    names = [os.fsdecode(name) for name in printed.split(b"\0") if name]
    tops = Counter(f"{name.partition('/')[0]}/" if "/" in name else "the root" for name in names)
    told = ", ".join(f"{top} {count}" for top, count in tops.most_common(FOLDERS_TOLD))
    return [f"{len(names)} files: {told}", ""] if names else []


def _settled(row: str) -> str:
    if not BEGINNING.match(row):
        return row
    place, what, means = [*checks.cells(row), "", ""][:3]
    return f"- {_quoted(place)} {flat(what)}: {flat(means)}"


def _quoted(place: str) -> str:
    return f"`{place.strip('`')}`"


def written(values: list[str]) -> list[str] | str:
    """The path of the report that was written, or the faults."""
    run = Recorded(values)
    return faults(run) or checks.write_new(
        report(run), f"{FOLDER}/{checks.slug(run.goal) or 'report'}", ".md", run.path
    )


if __name__ == "__main__":
    sys.exit(checks.write("make_report.py", sys.argv[1:], VALUES, written))
