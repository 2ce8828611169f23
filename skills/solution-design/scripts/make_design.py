"""Makes the document of solution-design from what the run recorded.

Called in the project's root as ``PATH DESIGN STEPS UNHEARD PROBLEM CONSTRAINTS LIMITS REAL_PROBLEM BEHIND CRITERIA
CANDIDATES ATTACKS CHOICE WHY AGAINST REJECTED PERSPECTIVES LEFT_OUT LOST``; rows are JSON arrays, and what was never
recorded is its name in braces. Prints each fault and ends with 1 if there is one; else writes the file and prints its
path as JSON.
"""

from __future__ import annotations

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
from skills.lib.checks import flat, rows_of

MOST_WORDS = 700
FOLDER = ".lockstep/design"
# The constraints of a run that was given none.
UNSTATED = "none stated"
VALUES = 19


class Recorded:
    """What a run recorded; a value that it never recorded is empty."""

    def __init__(self, values: list[str]) -> None:
        self.path, self.design, steps, self.unheard, self.problem = values[:5]
        self.constraints, limits, self.real_problem = values[5:8]
        behind, criteria, candidates, attacks, self.choice, self.why, self.against = values[8:15]
        rejected, asked, left_out, lost = values[15:]
        self.behind = rows_of(behind)
        self.steps, self.limits, self.criteria = rows_of(steps), rows_of(limits), rows_of(criteria)
        self.candidates = {id_of(row): parts_of(row) for row in rows_of(candidates)}
        self.attacks, self.rejected = (
            rows_of(attacks),
            {id_of(row): parts_of(row) for row in rows_of(rejected)},
        )
        self.asked, self.left_out, self.lost = rows_of(asked), rows_of(left_out), rows_of(lost)


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
    stated = [run.constraints] if run.constraints not in ("", UNSTATED) else []
    lost = [row.partition(" | ") for row in run.lost]
    heard = [one for one in run.asked if one not in [name for name, _, _ in lost]]
    unheard = [f"- {one}: left out, for the effort that was chosen" for one in run.left_out]
    unheard += [f"- {one}: lost ({why})" for one, _, why in lost]
    sections = {
        "Problem": [
            flat(run.real_problem),
            "",
            f"Asked: {flat(run.problem)}",
            "",
            *[f"- {flat(row)}" for row in run.behind],
            "",
            "Any solution must do this:",
            "",
            *[f"- {flat(row)}" for row in run.criteria],
            *[f"- limit: {flat(row)}" for row in (*stated, *run.limits)],
        ],
        "Design": [f"{flat(how)}. It gives up: {flat(gives_up)}.", "", run.design.strip()],
        "Why": [run.why.strip(), "", f"The best argument against it: {run.against.strip()}"],
        "Alternatives": [_alternative(run, one) for one in run.candidates if one != run.choice],
        "Risks": [f"- {flat(' | '.join(parts[1:]))}" for parts in of_choice] or ["No attack bends or breaks it."],
        "Steps": [f"{at}. {flat(row)}" for at, row in enumerate(run.steps, 1)],
        "Perspectives": [f"Heard: {', '.join(heard)}.", "", *unheard, *(["", run.unheard] if run.unheard else [])],
    }
    body = [f"## {heading}\n\n" + "\n".join(lines) for heading, lines in sections.items()]
    return "\n\n".join([f"# {flat(name.partition(' ')[2])}", *body]) + "\n"


def _alternative(run: Recorded, name: str) -> str:
    title, how, _, _ = run.candidates[name]
    _, why, right = [*run.rejected.get(name, [name]), "", ""][:3]
    unmet = {id_of(row): parts_of(row)[1] for row in run.criteria}
    why = re.sub(r"\bR\d+\b", lambda named: f"{named[0]} ({unmet[named[0]]})" if named[0] in unmet else named[0], why)
    return f"- {flat(title)}: {flat(how)}. Not taken: {flat(why)}. What would make it right: {flat(right)}."


def written(values: list[str]) -> list[str] | str:
    """The path of the document that was written, or the faults."""
    run = Recorded(values)
    return faults(run) or checks.write_new(
        document(run),
        f"{FOLDER}/{checks.slug(run.candidates[run.choice][0].partition(' ')[2]) or 'design'}",
        ".md",
        run.path,
    )


if __name__ == "__main__":
    sys.exit(checks.write("make_design.py", sys.argv[1:], VALUES, written))
