"""Checks what problem-analysis records: ids that exist, rivals that can be refuted, a cause that rests on evidence.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. Prints each fault and ends with 1 if there is
one. A pass without one prints how each hypothesis stands, and ``report`` the report, as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys
from itertools import combinations

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import skills.lib.checks as checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SURE = ("high", "certain")
# What an entry of evidence says of a hypothesis.
SIDES = ("for", "against", "weakens")
# The most characters of one entry of evidence; what is longer belongs into a file that the entry names.
LONGEST = 400

FACT = 'write "F1: what was seen (its source)", or "Set aside: …"'
HYPOTHESIS = "H1: cause and mechanism. Predicts: …"
PROBLEM = "under which conditions, what is observed, what was expected instead"
TEST = "what to run or look at, which result means present and which means gone"
LINK = 'write "1. what leads to the next link [E2]"'
OBSERVATION = "E1: what was run or read -> what it showed. For H1, against H2: why"
PARTS = {"cause": "of its cause", "predicts": "after Predicts:"}
ROOT = 'write "1: what is different without link 1" or "1: E5", or "Not found: what the evidence has narrowed it to"'
NOT_FOUND = "Not found:"

_FACT = re.compile(r"F(?P<number>\d+):\s*(?P<text>.*\(.+\).*)", re.DOTALL)
_HYPOTHESIS = re.compile(r"(?P<id>H\d+):\s*(?P<cause>.+?)\bPredicts:\s*(?P<predicts>.+)", re.DOTALL)
_OBSERVATION = re.compile(r"E(?P<number>\d+):\s*(?P<text>.+)", re.DOTALL)
_SPEAKS = r"\b{side}\s+(H[1-8]\b(?:(?:\s*,\s*|\s+)(?:and\s+|or\s+|as\s+for\s+)?H[1-8]\b)*)"
# Nothing beyond H8 is a hypothesis, such as a part number.
_RIVALS = re.compile(r"\bH[1-8]\b")
_WITHDRAWN = re.compile(r"\bwithdraws\s+(E\d+)\b", re.IGNORECASE)
_NUMBER = re.compile(r"^\s*\d+[.)]?\s")
_LINK = re.compile(r"\[([^\]]*)\]")
_IDS = re.compile(r"E\d+(?:\s*,\s*E\d+)*\.?")
_ROOT = re.compile(r"(?P<links>\d+(?:\s*,\s*\d+)*):\s*(?P<without>.+)", re.DOTALL)

Rows = list[str]


def frame_faults(verdict: str, question: str, facts: Rows, problem: str, test: str) -> Rows:
    """Parts of the frame that say hardly anything, facts without a number or a source, a question too few."""
    found, numbers = [], []
    for row in facts:
        match = _FACT.fullmatch(row.strip())
        if match:
            numbers.append(f"F{match['number']}")
            found += [f"F{match['number']} says too little: {FACT}"] * checks.says_little(match["text"])
        elif not row.startswith("Set aside:"):
            found.append(f"{row[:60]!r}: {FACT}")
        found += checks.quotation_faults(row)
    found += [f"the id {name} is given twice" for name in checks.repeated(numbers)]
    if verdict == "testable":
        found += [
            f"{name} says too little: {wanted}"
            for name, text, wanted in (("problem", problem, PROBLEM), ("test", test, TEST))
            if checks.says_little(text)
        ]
    if verdict != "testable" and checks.says_little(question, 2):
        found.append(f"the verdict is {verdict}: record question, the one that is open")
    return found


def hypothesis_faults(hypotheses: Rows) -> Rows:
    """Hypotheses that lack a part, say the same or are misnumbered."""
    return form_faults(hypotheses, 1) or twin_faults(hypotheses)


def form_faults(hypotheses: Rows, first: int) -> Rows:
    """Hypotheses that do not have the form, with numbers from ``first`` on."""
    found = []
    for number, row in enumerate(hypotheses, first):
        match = _HYPOTHESIS.fullmatch(row.strip())
        if match is None or match["id"] != f"H{number}":
            found.append(f"{row[:60]!r}: write {HYPOTHESIS.replace('H1', f'H{number}')}")
            continue
        empty = [part for group, part in PARTS.items() if checks.says_little(match[group])]
        found += [f"{match['id']} says too little {part}; the form is {HYPOTHESIS}" for part in empty]
    return found


def twin_faults(hypotheses: Rows) -> Rows:
    """Pairs of hypotheses with the same cause, or with the same prediction."""
    found = []
    parts = [match for row in hypotheses if (match := _HYPOTHESIS.fullmatch(row.strip()))]
    for one, other in combinations(parts, 2):
        if checks.words(one["cause"]) == checks.words(other["cause"]):
            found.append(f"{one['id']} and {other['id']} are one cause; merge them")
        elif checks.words(one["predicts"]) == checks.words(other["predicts"]):
            found.append(f"{one['id']} and {other['id']} predict the same; merge them, or say on what they differ")
    return found


def pass_faults(hypotheses: Rows, added: Rows, log: Rows, recorded: Rows, confidence: str) -> Rows:
    """What is wrong with one pass of the investigation."""
    known, (new, evidence) = [*hypotheses, *added], parted(recorded)
    found = [] if evidence else ["evidence has no observation: E1, E2, …"]
    found += evidence_faults(ids([*known, *new]), log, evidence)
    found += form_faults(new, len(known) + 1) or twin_faults([*known, *new])
    standing = standing_of([*known, *new], [*log, *evidence])
    left = [id_of(row) for row in standing if not is_refuted(row)]
    if not found and confidence in SURE:
        found += confidence_faults(confidence, left, [*log, *evidence])
    return found


def parted(recorded: Rows) -> tuple[Rows, Rows]:
    """The hypotheses that a pass adds, and its observations."""
    return [row for row in recorded if row.startswith("H")], [row for row in recorded if not row.startswith("H")]


def evidence_faults(rivals: Rows, log: Rows, evidence: Rows) -> Rows:
    """Observations that do not continue the log, show nothing, or speak on no hypothesis."""
    found = []
    last = max((number_of(row) for row in log), default=0)
    seen = {said(row) for row in log}
    for row in evidence:
        match, where = _OBSERVATION.fullmatch(row.strip()), f"{row[:60]!r}"
        if match is None or int(match["number"]) <= last:
            found.append(f"{where}: begin it with E{last + 1}, or a higher number; the form is {OBSERVATION}")
            continue
        last = int(match["number"])
        named = [name for side in SIDES for name in speaks(side, row)]
        found += [f"E{last} speaks of {name}, which is no hypothesis" for name in named if name not in rivals]
        if len(row) > LONGEST:
            found.append(f"E{last} has {len(row)} characters, at most {LONGEST}: put long output into a file")
        if said(row) in seen:
            found.append(f"E{last} repeats an entry word for word; say what was done anew")
        seen.add(said(row))
        if not match["text"].lower().startswith("could not"):
            done, arrow, shown = match["text"].partition("->")
            if not arrow or checks.says_little(done, 1) or checks.says_little(shown, 2) or not _RIVALS.search(row):
                found.append(f"{where}: write {OBSERVATION}; or: could not … because …")
        found += checks.quotation_faults(row)
    return found


def standing_of(rivals: Rows, log: Rows) -> Rows:
    """How each hypothesis stands by the entries of evidence that name it, without those that were withdrawn."""
    withdrawn = {name for row in log for name in _WITHDRAWN.findall(row)}
    valid = [row for row in log if f"E{number_of(row)}" not in withdrawn]
    found = []
    for name in ids(rivals):
        sides = {side: [f"E{number_of(row)}" for row in valid if name in speaks(side, row)] for side in SIDES}
        fits = f"for it {', '.join(sides['for'])}" if sides["for"] else ""
        if sides["against"]:
            words = f"refuted by {', '.join(sides['against'])}"
        elif sides["weakens"]:
            words = "; ".join(filter(None, [f"weakened by {', '.join(sides['weakens'])}", fits]))
        else:
            words = f"stands; {fits or 'nothing speaks for it'}"
        found.append(f"{name}: {words}")
    return found


def is_refuted(row: str) -> bool:
    """True for a row of the standing that says so."""
    return ": refuted" in row


def confidence_faults(confidence: str, left: Rows, log: Rows) -> Rows:
    """Why the confidence is too high: a rival that nothing refutes, or nothing that speaks for what is left."""
    if len(left) != 1:
        many = f"confidence {confidence} leaves one hypothesis, and {', '.join(left) or 'none'} is left"
        return [f"{many}: refute the others, each by an observation of its own, or report medium"]
    if not any(left[0] in speaks("for", entry) for entry in log):
        return [f'no evidence says "for {left[0]}: why": find some, or report a lower confidence than {confidence}']
    return []


def cause_faults(facts: Rows, log: Rows, standing: Rows, chain: Rows, root_cause: str) -> Rows:
    """Links that rest on nothing, and a root cause that is none of them, or that nothing stands for."""
    sources = {*(f"E{number_of(entry)}" for entry in log), *facts_by_id(facts)}
    found = []
    for row in chain:
        cited = re.findall(r"\b[EF]\d+\b|\bassumed\b", " ".join(_LINK.findall(row)))
        found += [
            f"{row[:60]!r} cites {name}, which is not recorded" for name in cited if name not in {*sources, "assumed"}
        ]
        if not cited:
            found.append(f"{row[:60]!r}: end the link with its evidence, as [E2] or [F1], or with [assumed]")
    links = [checks.words(link_of(row)) for row in chain]
    found += [f"{row[:60]!r} says too little: {LINK}" for row, said in zip(chain, links, strict=True) if len(said) < 2]
    found += [f"the chain says {text[:60]!r} twice" for text in checks.repeated(" ".join(said) for said in links)]
    return found + root_faults(chain, log, standing, root_cause)


def root_faults(chain: Rows, log: Rows, standing: Rows, root_cause: str) -> Rows:
    """A root cause that names no link of the chain, says too little, or is found though every hypothesis is refuted.

    Ids alone are enough if they are of observations that speak for a hypothesis that stands.
    """
    if root_cause.startswith(NOT_FOUND):
        little = checks.says_little(root_cause.partition(NOT_FOUND)[2])
        return [f"root_cause says too little: {ROOT}"] * little
    match = _ROOT.fullmatch(root_cause.strip())
    if match is None:
        return [f"root_cause: {ROOT}"]
    found = [
        f"root_cause names link {number}, and the chain has {len(chain)}"
        for number in numbers(match["links"])
        if not 1 <= number <= len(chain)
    ]
    left = {id_of(row) for row in standing if not is_refuted(row)}
    showing = [f"E{number_of(entry)}" for entry in log if left & set(speaks("for", entry))]
    if _IDS.fullmatch(match["without"].strip()):
        named = re.findall(r"E\d+", match["without"])
        found += [f"root_cause: {name} speaks for no hypothesis that stands" for name in named if name not in showing]
    elif checks.says_little(match["without"], 4):
        found.append(f"root_cause says too little: {ROOT}")
    if all(map(is_refuted, standing)):
        found.append(f"every hypothesis is refuted: begin root_cause with {NOT_FOUND}")
    return found


def numbers(text: str) -> list[int]:
    """The numbers in a text."""
    return [int(number) for number in re.findall(r"\d+", text)]


def link_of(row: str) -> str:
    """What a link of the chain says, without its number and its evidence."""
    return _NUMBER.sub("", _LINK.sub("", row)).strip()


def headline(chain: Rows, root_cause: str, confidence: str, settled: bool) -> str:
    """The report's beginning: the cause in the words of its links, how sure it is, and what is different without it."""
    match = _ROOT.fullmatch(root_cause.strip())
    if match is None:
        return f"Cause not found (confidence {confidence}): {root_cause.partition(NOT_FOUND)[2].strip()}"
    links = "; ".join(link_of(chain[number - 1]).rstrip(".") for number in numbers(match["links"]))
    sure = "Cause" if settled else "Most likely cause"
    return f"{sure} (confidence {confidence}): {links}.\nWithout it: {match['without']}"


def report(
    problem: str,
    test: str,
    facts: Rows,
    hypotheses: Rows,
    added: Rows,
    log: Rows,
    standing: Rows,
    confidence: str,
    chain: Rows,
    root_cause: str,
    gaps: str,
    next_step: str,
) -> str:
    """The report, with the words of each hypothesis and of each observation that it rests on."""
    causes = {id_of(row): cause_of(row) for row in [*hypotheses, *added]}
    rivals = [f"{name}, {causes[name]}: {row.partition(': ')[2]}" for row in standing if (name := id_of(row)) in causes]
    refuted = [row for row, judged in zip(rivals, standing, strict=True) if is_refuted(judged)]
    left = [row for row in rivals if row not in refuted]
    settled = confidence in SURE and len(left) == 1
    cited = re.findall(r"\b[EF]\d+\b", " ".join([*chain, root_cause, *refuted]))
    sources = {**facts_by_id(facts), **{f"E{number_of(entry)}": entry for entry in log}}
    parts = [
        [headline(chain, root_cause, confidence, settled), *chain],
        [f"This leads to the problem: {problem}", f"Test: {test}"],
        ["Ruled out:", *refuted] if refuted else [],
        ["Not ruled out:", *left] if left and not settled else [],
        [f"Open: {gaps}", f"Next: {next_step}"],
        ["What was observed:", *(row for name, row in sources.items() if name in cited)],
    ]
    return "\n\n".join("\n".join(line.strip() for line in part) for part in parts if part)


def cause_of(row: str) -> str:
    """The cause that a hypothesis names, without its mechanism's last full stop."""
    match = _HYPOTHESIS.fullmatch(row.strip())
    return match["cause"].strip().rstrip(".") if match else row


def facts_by_id(facts: Rows) -> dict[str, str]:
    """Each numbered fact by its id."""
    return {f"F{match['number']}": row for row in facts if (match := _FACT.fullmatch(row.strip()))}


def not_given(value: str) -> bool:
    """True for a value that may be left out and was."""
    return value.startswith("{") and value.endswith("}")


def id_of(row: str) -> str:
    """The id that a row begins with."""
    match = re.match(r"\w+", row.strip())
    return match[0] if match else row[:20]


def ids(rows: Rows) -> Rows:
    """The id of each row."""
    return [id_of(row) for row in rows]


def number_of(entry: str) -> int:
    """The number of an entry of evidence."""
    match = _OBSERVATION.match(entry.strip())
    return int(match["number"]) if match else 0


def said(entry: str) -> str:
    """The words of an entry behind its number."""
    return " ".join(checks.words(entry.partition(":")[2]))


def speaks(side: str, entry: str) -> Rows:
    """The hypotheses that an entry of evidence speaks ``for`` or ``against``."""
    found = re.findall(_SPEAKS.format(side=side), entry, re.IGNORECASE)
    return [name for group in found for name in _RIVALS.findall(group)]


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "frame": (frame_faults, "text text rows text text"),
    "hypotheses": (hypothesis_faults, "rows"),
    "pass": (pass_faults, "rows rows rows rows text"),
    "cause": (cause_faults, "rows rows rows rows text"),
}


def main(arguments: list[str]) -> int:
    """Check what a step records; print what is made of it: the standing of a pass, and the report."""
    kind, values = arguments[0] if arguments else "", arguments[1:]
    if kind == "report" and len(values) == 12:
        texts = (0, 1, 7, 9, 10, 11)
        given: list[Any] = [value if at in texts else rows(value) for at, value in enumerate(values)]
        return tell(report(*given))
    ended = checks.run("check_analysis.py", CHECKS, arguments)
    if kind == "pass" and not ended:
        hypotheses, added, log, recorded = (rows(value) for value in values[:4])
        new, evidence = parted(recorded)
        tell(standing_of([*hypotheses, *added, *new], [*log, *evidence]))
    return ended


def rows(value: str) -> Rows:
    """The texts of a JSON array; none if it was never recorded."""
    return [] if not_given(value) else [str(row) for row in json.loads(value)]


def tell(value: object) -> int:
    """Print a value for the run to record."""
    print(json.dumps(value))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
