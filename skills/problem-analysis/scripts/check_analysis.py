"""Checks what problem-analysis records: ids that exist, rivals that can be refuted, a cause that rests on evidence.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. Prints each fault and ends with 1 if there is
one.
"""

from __future__ import annotations

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

SURE = ("high", "certain")
# The most characters of one entry of evidence; what is longer belongs into a file that the entry names.
LONGEST = 400

FACT = 'write "F1: what was seen (its source)", or "Set aside: …"'
HYPOTHESIS = "H1: cause and mechanism. Predicts: … Refuted by: …"
PROBLEM = "under which conditions, what is observed, what was expected instead"
TEST = "what to run or look at, which result means present and which means gone"
LINK = 'write "1. what leads to the next link [E2]"'
OBSERVATION = "E1: what was run or read -> what it showed. For H1, against H2: why"
PARTS = {"cause": "of its cause", "predicts": "after Predicts:", "refuted": "after Refuted by:"}

_FACT = re.compile(r"F(?P<number>\d+):\s*(?P<text>.*\(.+\).*)", re.DOTALL)
_HYPOTHESIS = re.compile(
    r"(?P<id>H\d+):\s*(?P<cause>.+?)\bPredicts:\s*(?P<predicts>.+?)\bRefuted by:\s*(?P<refuted>.+)", re.DOTALL
)
_OBSERVATION = re.compile(r"E(?P<number>\d+):\s*(?P<text>.+)", re.DOTALL)
_STANDING = re.compile(r"(?P<id>H\d+):\s*(?P<word>stands|weakened|refuted)\b", re.IGNORECASE)
_SPEAKS = r"\b{side}\s+(H[1-8]\b(?:(?:\s*,\s*|\s+)(?:and\s+|or\s+|as\s+for\s+)?H[1-8]\b)*)"
# Nothing beyond H8 is a hypothesis, such as a part number.
_RIVALS = re.compile(r"\bH[1-8]\b")
_EVIDENCE = re.compile(r"\bE\d+\b")
_NUMBER = re.compile(r"^\s*\d+[.)]?\s")
_LINK = re.compile(r"\[([^\]]*)\]")

Rows = list[str]


def frame_faults(verdict: str, question: str, facts: Rows, problem: str, test: str) -> Rows:
    """Parts of the frame that say hardly anything, facts without a number or a source, a question too few or many."""
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
    none = checks.words(question) == ["none"]
    if verdict == "testable":
        found += [
            f"{name} says too little: {wanted}"
            for name, text, wanted in (("problem", problem, PROBLEM), ("test", test, TEST))
            if checks.says_little(text)
        ]
    if verdict == "testable" and not none:
        found.append("the verdict is testable, so that question is: none")
    if verdict != "testable" and (none or checks.says_little(question)):
        found.append(f"the verdict is {verdict}: write the one question that is open")
    return found


def hypothesis_faults(hypotheses: Rows, first_check: str) -> Rows:
    """Hypotheses that lack a part, say the same or are misnumbered, and a first check that tells none apart."""
    found = form_faults(hypotheses, 1) or twin_faults(hypotheses)
    if not found and len(set(_RIVALS.findall(first_check)) & set(ids(hypotheses))) < 2:
        found.append("first_check says what each hypothesis predicts: name two of them or more, as H1 and H2")
    return found


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


def pass_faults(
    hypotheses: Rows, added: Rows, log: Rows, evidence: Rows, standing: Rows, left: Rows, confidence: str
) -> Rows:
    """What is wrong with one pass of the investigation."""
    known = [*hypotheses, *added]
    new = [row for row in standing if id_of(row) not in ids(known)]
    found = evidence_faults([*ids(known), *ids(new)], log, evidence)
    found += form_faults(new, len(known) + 1) or twin_faults([*known, *new])
    found += checks.coverage(ids(known), [name for name in ids(standing) if name not in ids(new)], "hypothesis")
    words = standing_of(standing)
    for row in standing:
        if row not in new:
            found += standing_faults(row, [*log, *evidence])
    open_ones = [name for name in ids([*known, *new]) if words.get(name) != "refuted"]
    if not found and sorted(set(left)) != sorted(open_ones):
        found.append(f"left is what no evidence refutes; by standing that is {', '.join(open_ones) or 'none'}")
    if not found and confidence in SURE:
        found += confidence_faults(confidence, open_ones, [*log, *evidence])
    return found


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
        named = [*speaks("for", row), *speaks("against", row)]
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


def standing_faults(row: str, log: Rows) -> Rows:
    """A row without its word, with evidence that does not exist, or refuted by nothing that speaks against it."""
    match = _STANDING.match(row.strip())
    if match is None:
        return [f'{row[:60]!r}: write "{id_of(row)}: stands", weakened or refuted, and by which E']
    entries = {f"E{number_of(entry)}": entry for entry in log}
    cited = _EVIDENCE.findall(row)
    found = [f"{match['id']} cites {name}, which is not in the log" for name in cited if name not in entries]
    if not found and match["word"].lower() == "refuted":
        name = match["id"]
        if not any(name in speaks("against", entries[entry]) for entry in cited):
            found.append(
                f'{name} is refuted by no entry that it cites: the entry of evidence says "against {name}: why"'
            )
    return found


def confidence_faults(confidence: str, left: Rows, log: Rows) -> Rows:
    """Why the confidence is too high: a rival that nothing refutes, or nothing that speaks for what is left."""
    if len(left) != 1:
        many = f"confidence {confidence} leaves one hypothesis, and {', '.join(left) or 'none'} is left"
        return [f"{many}: refute the others, each by an observation of its own, or report medium"]
    if not any(left[0] in speaks("for", entry) for entry in log):
        return [f'no evidence says "for {left[0]}: why": find some, or report a lower confidence than {confidence}']
    return []


def cause_faults(
    known: Rows,
    added: Rows,
    facts: Rows,
    log: Rows,
    left: Rows,
    confidence: str,
    chain: Rows,
    root_cause: str,
    excluded: Rows,
) -> Rows:
    """Links that rest on nothing, rivals that nobody speaks of, and a cause surer than the investigation."""
    entries = {f"E{number_of(entry)}" for entry in log}
    sources = entries | {f"F{match['number']}" for row in facts if (match := _FACT.fullmatch(row.strip()))}
    found = []
    for row in chain:
        cited = re.findall(r"\b[EF]\d+\b|\bassumed\b", " ".join(_LINK.findall(row)))
        found += [
            f"{row[:60]!r} cites {name}, which is not recorded" for name in cited if name not in {*sources, "assumed"}
        ]
        if not cited:
            found.append(f"{row[:60]!r}: end the link with its evidence, as [E2] or [F1], or with [assumed]")
    links = [checks.words(_NUMBER.sub("", _LINK.sub("", row))) for row in chain]
    found += [f"{row[:60]!r} says too little: {LINK}" for row, said in zip(chain, links, strict=True) if len(said) < 2]
    found += [f"the chain says {text[:60]!r} twice" for text in checks.repeated(" ".join(said) for said in links)]
    rivals, named = ids([*known, *added]), ids(excluded)
    found += [f"excluded names {name:.20}, which is no hypothesis" for name in named if name not in rivals]
    missing = [name for name in rivals if name not in named]
    if len(left) == 1:
        missing = [name for name in missing if name != left[0]]
        found += [f"{left[0]} is left, and is not excluded"] * (left[0] in named)
    else:
        missing = missing[1:]
    found += [
        f'excluded: {name} is missing; add "{name}, in words: refuted by E1", or not excluded' for name in missing
    ]
    for row in excluded:
        cited = _EVIDENCE.findall(row)
        found += [f"{id_of(row)} cites {name}, which is not in the log" for name in cited if name not in entries]
        if "not excluded" not in row and (not cited or id_of(row) in left):
            found.append(f"{row[:60]!r}: name the evidence that refutes it, as E1, or write: not excluded")
    if checks.says_little(root_cause.partition("Not found:")[2], 3) and checks.says_little(root_cause, 5):
        found.append("root_cause says too little: name the link, and what would not happen without it")
    sure = confidence in SURE and len(left) == 1
    if not sure and not root_cause.startswith(("Most likely:", "Not found:")):
        found.append(f"the confidence is {confidence}: begin root_cause with Most likely: or with Not found:")
    return found


def report_faults(answer: str, report: str) -> Rows:
    """A report without the answer that is given beside it, or with hardly a word."""
    if " ".join(answer.split()) not in " ".join(report.split()):
        return ["answer is the Answer part of report, word for word"]
    return ["report says too little: it has all six parts"] if checks.says_little(report, 25) else []


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


def standing_of(standing: Rows) -> dict[str, str]:
    """Each hypothesis with its word."""
    return {match["id"]: match["word"].lower() for row in standing if (match := _STANDING.match(row.strip()))}


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "frame": (frame_faults, "text text rows text text"),
    "hypotheses": (hypothesis_faults, "rows text"),
    "pass": (pass_faults, "rows rows rows rows rows rows text"),
    "cause": (cause_faults, "rows rows rows rows rows text rows text rows"),
    "report": (report_faults, "text text"),
}

if __name__ == "__main__":
    sys.exit(checks.run("check_analysis.py", CHECKS, sys.argv[1:]))
