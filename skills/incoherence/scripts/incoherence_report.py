"""Makes the report of incoherence from what the run recorded.

Called in the project's root as ``SUMMARY PATH LEFT_OUT DIMENSIONS SKIPPED UNREAD CANDIDATES DROPPED ISSUES DISMISSED
LOG ENDINGS OUTCOMES NOTES RAN``; lists are JSON arrays, and what was never recorded is its name in braces. Prints each
fault and ends with 1 if there is one; else writes the file, and prints its path as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys

# Also where Python leaves the folder of a script out (PYTHONSAFEPATH).
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import skills.lib.checks as checks

FOLDER = ".lockstep/incoherence"
VALUES = 15
# Endings after which something is left to do.
OPEN = ("deferred", "failed", "unfinished", "unjudged")

_UNSAID = re.compile(r"\{[\w.-]+\}")

Rows = list[str]


class Recorded:
    """What a run recorded; a value that it never recorded is empty."""

    def __init__(self, values: Rows) -> None:
        texts = ["" if _UNSAID.fullmatch(value) else value for value in values]
        self.summary, self.path, self.left_out, *lists, self.ran = texts
        rows: list[Rows] = [json.loads(text) if text else [] for text in lists]
        self.dimensions, self.skipped, self.unread, self.candidates, self.dropped = rows[:5]
        self.issues, self.dismissed, self.log, self.endings, self.outcomes, self.notes = rows[5:]


def report(run: Recorded) -> str:
    """The report as Markdown."""
    issues = [issue_line(run, row) for row in run.candidates]
    skipped = [f"- not looked at: {_flat(row)}" for row in run.skipped]
    left_out = [f"- left out: {_flat(run.left_out)}"] if run.left_out else []
    sections = {
        "Summary": [run.summary.strip()],
        "Issues": issues or ["No candidate came up."],
        "Coverage": [
            *[f"- looked at: {_flat(row)}" for row in run.dimensions],
            *[f"- unread: {_flat(row)}" for row in run.unread if not row.endswith("| none")],
            *skipped,
            *left_out,
        ],
        "Open": [
            *[
                f"- {name}: {ending_of(run, name)}"
                for row in run.candidates
                if ending_of(run, name := _name(row)) in OPEN
            ],
            *[f"- dropped: {_flat(row)}" for row in run.dropped],
            *[f"- still says the old thing: {_flat(row)}" for row in run.notes],
            *([f"- run: {_flat(run.ran)}"] if run.ran else []),
        ],
    }
    body = [f"## {name}\n\n" + "\n".join(lines or ["Nothing."]) for name, lines in sections.items()]
    return "\n\n".join(["# Contradictions", *body]) + "\n"


def issue_line(run: Recorded, candidate: str) -> str:
    """One line: a candidate, how it ended, its places, and what was decided and done."""
    name = _name(candidate)
    titles = {_name(row): checks.cells(row)[3] for row in run.issues}
    reasons = {_name(row): " | ".join(checks.cells(row)[2:]) for row in (*run.dismissed, *run.log)}
    item = {_name(row): checks.cells(row)[2] for row in run.endings}.get(name, "")
    done = {_name(row): row.split("|", 2)[2].strip() for row in run.outcomes}.get(item, "")
    places = candidate.partition("|")[2].rpartition("|")[0]
    parts = [titles.get(name, ""), places, reasons.get(name, ""), f"{item}: {done}" if item else ""]
    return f"- {name} ({ending_of(run, name)}): " + "; ".join(_flat(part) for part in parts if part.strip())


def ending_of(run: Recorded, name: str) -> str:
    """How a candidate ended: in its work item, by the user's decision, or dismissed."""
    words = {_name(row): checks.cells(row)[1] for row in (*run.dismissed, *run.log, *run.endings)}
    return words.get(name, "open")


def _name(row: str) -> str:
    return checks.cells(row)[0]


def _flat(text: str) -> str:
    return " ".join(text.split())


def main(arguments: Rows) -> int:
    """Write the report and print its path; 0 if it is written."""
    if len(arguments) != VALUES:
        print("usage: incoherence_report.py VALUE…")
        return 2
    try:
        run = Recorded(arguments)
        print(json.dumps(checks.write_new(report(run), f"{FOLDER}/contradictions", ".md", run.path)))
    except (OSError, ValueError) as error:
        return checks.report([f"the report cannot be written: {error}"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
