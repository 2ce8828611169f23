"""Makes the document of solution-design from what the run recorded.

Called in the project's root as ``PATH DESIGN STEPS UNHEARD WANTED LIMITS REAL_PROBLEM BEHIND CRITERIA CANDIDATES
ATTACKS CHOICE WHY AGAINST REJECTED PERSPECTIVES LEFT_OUT LOST``; rows are JSON arrays, and what was never recorded is
its name in braces. Prints each fault and ends with 1 if there is one; else writes the file and prints its path as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

from check_design import id_of, parts_of, verdict_of

import skills.lib.checks as checks

MOST_WORDS = 700
FOLDER = ".lockstep/design"
VALUES = 18

_UNSAID = re.compile(r"\{[\w.-]+\}")


class Recorded:
    """What a run recorded; a value that it never recorded is empty."""

    def __init__(self, values: list[str]) -> None:
        texts = ["" if _UNSAID.fullmatch(value) else value for value in values]
        self.path, self.design, steps, self.unheard, self.wanted, limits, self.real_problem = texts[:7]
        behind, criteria, candidates, attacks, self.choice, self.why, self.against = texts[7:14]
        rejected, asked, left_out, lost = texts[14:]
        self.behind = _rows(behind)
        self.steps, self.limits, self.criteria = _rows(steps), _rows(limits), _rows(criteria)
        self.candidates = {id_of(row): parts_of(row) for row in _rows(candidates)}
        self.attacks, self.rejected = _rows(attacks), {id_of(row): parts_of(row) for row in _rows(rejected)}
        self.asked, self.left_out, self.lost = _rows(asked), _rows(left_out), _rows(lost)


def faults(run: Recorded) -> list[str]:
    """The faults of what was written for the document."""
    found = []
    if any(line.lstrip().startswith("#") for line in run.design.splitlines()):
        found.append("design has a heading; the document has its own")
    found += [fault for row in run.steps for fault in checks.row_faults([row], "what is done | how it is checked")]
    count = len(" ".join([run.design, *run.steps]).split())
    if count > MOST_WORDS:
        found.append(f"it has {count:,} words, at most {MOST_WORDS:,}: cut what nobody needs to build or refuse it")
    return found


def document(run: Recorded) -> str:
    """The document as Markdown."""
    name, how, _, gives_up = run.candidates[run.choice]
    of_choice = [parts_of(row) for row in run.attacks if id_of(row) == run.choice and verdict_of(row) != "holds"]
    lost = [row.partition(" | ") for row in run.lost]
    heard = [one for one in run.asked if one not in [name for name, _, _ in lost]]
    unheard = [f"- {one}: left out, for the effort that was chosen" for one in run.left_out]
    unheard += [f"- {one}: lost ({why})" for one, _, why in lost]
    sections = {
        "Problem": [
            _flat(run.real_problem),
            "",
            f"Wanted: {_flat(run.wanted)}",
            "",
            *[f"- {_flat(row)}" for row in run.behind],
            "",
            "Any solution must do this:",
            "",
            *[f"- {_flat(row)}" for row in run.criteria],
            *[f"- limit: {_flat(row)}" for row in run.limits],
        ],
        "Design": [f"{_flat(how)}. It gives up: {_flat(gives_up)}.", "", run.design.strip()],
        "Why": [run.why.strip(), "", f"The best argument against it: {run.against.strip()}"],
        "Alternatives": [_alternative(run, one) for one in run.candidates if one != run.choice],
        "Risks": [f"- {_flat(' | '.join(parts[1:]))}" for parts in of_choice] or ["No attack bends or breaks it."],
        "Steps": [f"{at}. {_flat(row)}" for at, row in enumerate(run.steps, 1)],
        "Perspectives": [f"Heard: {', '.join(heard)}.", "", *unheard, *(["", run.unheard] if run.unheard else [])],
    }
    body = [f"## {heading}\n\n" + "\n".join(lines) for heading, lines in sections.items()]
    return "\n\n".join([f"# {_flat(name.partition(' ')[2])}", *body]) + "\n"


def _alternative(run: Recorded, name: str) -> str:
    title, how, _, _ = run.candidates[name]
    _, why, right = [*run.rejected.get(name, [name]), "", ""][:3]
    return f"- {_flat(title)}: {_flat(how)}. Not taken: {_flat(why)}. What would make it right: {_flat(right)}."


def _flat(text: str) -> str:
    return " ".join(text.split())


def _rows(text: str) -> list[str]:
    found: list[str] = json.loads(text) if text else []
    return found


def main(arguments: list[str]) -> int:
    """Print the faults, or write the document and print its path; 0 if it is written."""
    if len(arguments) != VALUES:
        print("usage: make_design.py VALUE…")
        return 2
    try:
        run = Recorded(arguments)
        found = faults(run)
        if not found:
            free = f"{FOLDER}/{checks.slug(run.candidates[run.choice][0].partition(' ')[2]) or 'design'}"
            print(json.dumps(checks.write_new(document(run), free, ".md", run.path)))
    except (OSError, ValueError) as error:
        found = [f"the document cannot be written: {error}"]
    return checks.report(found) if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
