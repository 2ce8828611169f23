"""Checks what decision-critic records: ids that exist, answers by their questions, a verdict that the findings allow.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. Prints each fault and ends with 1 if there is
one. A verdict without a fault prints the report as JSON.
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

import skills.lib.checks as checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = ("verifiable", "judgement", "constraint")
STANDINGS = ("upheld", "refuted", "open")

_ROW = re.compile(r"(?P<id>[A-Z]\d+)(?:\s+\[(?P<mark>observed|known|unknown)\])?:\s*(?P<text>.+)", re.DOTALL)
_KEY = re.compile(r"(?P<id>Q\d+) tests (?P<tested>[^:]+):\s*(?P<text>.+)", re.DOTALL)
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_ID = re.compile(r"\b[ACKOQ]\d+\b")

Rows = list[str]


def part_faults(claims: Rows, assumptions: Rows, constraints: Rows) -> Rows:
    """Points without their number or text, two that are one, and constraints without their source."""
    found: Rows = []
    for letter, rows in (("C", claims), ("A", assumptions), ("K", constraints)):
        found += numbered_faults(letter, rows)
    ends = ("(stated)", "(inferred)")
    found += [
        f"{row[:60]!r}: end it with (stated) or (inferred)" for row in constraints if not row.strip().endswith(ends)
    ]
    return found or twin_faults([*claims, *assumptions, *constraints])


def twin_faults(points: Rows) -> Rows:
    """Points with the words of an earlier one."""
    found = []
    texts: dict[str, str] = {}
    for row in points:
        first = texts.setdefault(" ".join(checks.words(row.partition(":")[2])), id_of(row))
        if first != id_of(row):
            found.append(f"{id_of(row)} says what {first} says; merge them")
    return found


def kind_faults(points: Rows, kinds: Rows, load_bearing: Rows) -> Rows:
    """Points without their one kind, and load-bearing ids that are unknown, or constraints alone."""
    known, given = ids(points), [_ID.findall(row.partition(":")[2]) for row in kinds]
    found = checks.coverage(known, [name for names in given for name in names], "point")
    for row, names in zip(kinds, given, strict=True):
        if row.partition(":")[0].strip() not in KINDS or not names:
            found.append(f"{row[:60]!r}: write one of {', '.join(KINDS)}, and its ids: verifiable: C1, A1")
    found += [f"load_bearing names {name}, which is no point" for name in ids(load_bearing) if name not in known]
    found += [f"load_bearing names {name} twice" for name in checks.repeated(ids(load_bearing))]
    if load_bearing and all(name.startswith("K") for name in ids(load_bearing)):
        found.append("load_bearing names constraints alone: name the claim or assumption that the decision rests on")
    return found


def question_faults(points: Rows, load_bearing: Rows, questions: Rows, key: Rows) -> Rows:
    """Questions that tell what they are for or where nothing is to be looked up, and a key that does not fit them."""
    known = ids(points)
    found = numbered_faults("Q", questions)
    for row in questions:
        told = [name for name in _ID.findall(row) if name in known]
        found += [f"{id_of(row)} names {name}: whoever answers must not see the ids" for name in told]
        if "look in:" not in row.lower():
            found.append(f"{id_of(row)}: end it with: Look in: …")
    found += checks.coverage(ids(questions), ids(key), "key of question")
    for row in key:
        match = _KEY.fullmatch(row.strip())
        if match is None or "upheld" not in match["text"] or "refuted" not in match["text"]:
            found.append(f"{row[:60]!r}: write Q1 tests A1: upheld if …; refuted if …")
            continue
        found += [f"{match['id']} tests {name}, which is no point" for name in tested(row) if name not in known]
        if not tested(row):
            found.append(f"{match['id']} tests no id: name the one that it tests, as A1")
    asked = {name for row in key for name in tested(row)}
    return found + [
        f"no question tests {name}, which is load-bearing" for name in ids(load_bearing) if name not in asked
    ]


def answer_faults(questions: Rows, answers: Rows) -> Rows:
    """Questions without their one answer, and answers without a mark or a basis."""
    found = checks.coverage(ids(questions), ids(answers), "answer to")
    for row in answers:
        match = _ROW.fullmatch(row.strip())
        if match is None or not match["mark"] or checks.says_little(match["text"], 2):
            found.append(f"{row[:60]!r}: write Q1 [observed], [known] or [unknown]: the answer. Basis: …")
        elif match["mark"] == "observed" and checks.says_little(match["text"].partition("Basis:")[2], 2):
            found.append(
                f"{id_of(row)} is observed: end it with Basis: the command or place, and the part that matters"
            )
        found += checks.quotation_faults(row)
    return found


def case_faults(points: Rows, load_bearing: Rows, key: Rows, answers: Rows, standing: Rows, case: str) -> Rows:
    """Ids whose standing is missing or is not what the answers allow, and a case that rests on none of them."""
    known = ids(points)
    wanted = dict.fromkeys([*ids(load_bearing), *(name for row in key for name in tested(row))])
    given = ids(standing)
    found = [f"standing: {name} is missing" for name in wanted if name not in given]
    found += [f"standing: {name:.20} is no point" for name in given if name not in known]
    found += [f"standing: {name} is given twice" for name in checks.repeated(given)]
    marks = {match["id"]: match["mark"] for row in answers if (match := _ROW.fullmatch(row.strip()))}
    tests = {id_of(row): tested(row) for row in key}
    for row in standing:
        name, word = id_of(row), standing_of(row)
        if not word:
            found.append(f"{row[:60]!r}: write {name}: one of upheld, refuted, open, and by which Q")
        if word not in ("upheld", "refuted"):
            continue
        by = [asked for asked in _ID.findall(row) if name in tests.get(asked, ())]
        if not any(marks.get(asked) in ("observed", "known") for asked in by):
            found.append(
                f"{name} is {word} by no answer: name the question that tests it and was answered, or write open"
            )
        elif name in ids(load_bearing) and not any(marks.get(asked) == "observed" for asked in by):
            found.append(f"{name} is load-bearing, and no answer to it was observed: it is open")
    named = set(_ID.findall(case)) & set(known)
    refuted = [id_of(row) for row in standing if standing_of(row) == "refuted"]
    found += [f"case_against does not speak of {name}, which is refuted" for name in refuted if name not in named]
    if not named or checks.says_little(case, 25):
        found.append("case_against rests on named ids: tell the story, and name the id behind every point, as A1")
    return found


def frame_faults(standing: Rows, options: Rows, best: str, effect: str) -> Rows:
    """Options without their number or text, a best one that is none, and an unclear effect that hangs on no open id."""
    found, named = numbered_faults("O", options), _ID.findall(best)
    if len([name for name in named if name in ids(options)]) != 1:
        found.append(f"best names one option: {', '.join(ids(options))}")
    open_ones = {id_of(row) for row in standing if standing_of(row) == "open"}
    if effect == "unclear" and not open_ones & set(named):
        what = ", ".join(sorted(open_ones)) or "none is"
        found.append(f"effect is unclear: name in best the open id that it depends on ({what})")
    return found


def verdict_faults(
    points: Rows,
    load_bearing: Rows,
    answers: Rows,
    standing: Rows,
    case: str,
    options: Rows,
    best: str,
    effect: str,
    verdict: str,
    grounds: Rows,
    action: str,
) -> Rows:
    """A STAND that the findings forbid, and ids that carry the verdict and do not exist."""
    words = {id_of(row): standing_of(row) for row in standing}
    bearing, carrying, known = ids(load_bearing), ids(grounds), [*ids(points), *ids(options)]
    found = [f"grounds names {name:.20}, which is no point and no option" for name in carrying if name not in known]
    if verdict == "STAND":
        found += [
            f"{name} is refuted and load-bearing: STAND is out" for name in bearing if words.get(name) == "refuted"
        ]
        if effect == "better-option":
            found.append("an option is better (reframe.effect): STAND is out")
        upheld = [name for name in bearing if words.get(name) == "upheld"]
        found += [f"grounds: add {name}, which is load-bearing and upheld" for name in upheld if name not in carrying]
    if checks.says_little(action, 4):
        found.append("action says too little: what would reopen it, the new decision, or who decides what")
    return found


def report(
    points: Rows,
    load_bearing: Rows,
    answers: Rows,
    standing: Rows,
    case: str,
    options: Rows,
    best: str,
    effect: str,
    verdict: str,
    grounds: Rows,
    action: str,
) -> str:
    """The report: the verdict, what carries it in words, what was observed, what speaks against it, what is open."""
    texts = {id_of(row): row for row in [*points, *options]}
    stands = {id_of(row): row.partition(":")[2].strip() for row in standing}
    told = {name: " - ".join(filter(None, [texts[name], stands.get(name)])) for name in texts}
    carrying = [name for name in ids(grounds) if name in texts]
    left = [id_of(row) for row in standing if standing_of(row) == "open" and id_of(row) not in carrying]
    other = [name for name in _ID.findall(best) if name in told]
    named = {name for row in carrying + left for name in re.findall(r"\bQ\d+\b", stands.get(row, ""))}
    parts = [
        [f"Verdict: {verdict}. {action}"],
        ["What carries it:", *(told[name] for name in carrying)],
        [f"Best other option ({effect}): {best}", *(told[name] for name in other if name not in [*carrying, *left])],
        ["What speaks against it:", case] if verdict == "STAND" else [],
        ["Open:", *(told[name] for name in left)] if left else [],
        ["What was found:", *(row for row in answers if id_of(row) in named)] if named else [],
    ]
    return "\n\n".join("\n".join(line.strip() for line in part) for part in parts if part)


def numbered_faults(letter: str, rows: Rows) -> Rows:
    """Rows that do not begin with their number, or that say hardly a word."""
    found = []
    for number, row in enumerate(rows, 1):
        match = _ROW.fullmatch(row.strip())
        if match is None or match["id"] != f"{letter}{number}" or checks.says_little(match["text"]):
            found.append(f"{row[:60]!r}: write {letter}{number}: and at least three words")
    return found


def tested(row: str) -> Rows:
    """The ids that a row of the key tests."""
    match = _KEY.fullmatch(row.strip())
    return _ID.findall(match["tested"]) if match else []


def standing_of(row: str) -> str:
    """The word of a row such as ``A1: refuted by Q1``; empty if it has none."""
    match = _ROW.fullmatch(row.strip())
    word = _WORD.match(match["text"]) if match else None
    return word[0].lower() if word and word[0].lower() in STANDINGS else ""


def id_of(row: str) -> str:
    """The id that a row begins with."""
    match = re.match(r"\w+", row.strip())
    return match[0] if match else row[:20]


def ids(rows: Rows) -> Rows:
    """The id of each row."""
    return [id_of(row) for row in rows]


def by_points(check: checks.Check) -> checks.Check:
    """A check whose first values are the claims, assumptions and constraints apart."""
    return lambda claims, assumptions, constraints, *rest: check([*claims, *assumptions, *constraints], *rest)


POINTS = "rows rows rows"
VERDICT = f"{POINTS} rows rows rows text rows text text text rows text"
CHECKS: dict[str, tuple[checks.Check, str]] = {
    "parts": (part_faults, POINTS),
    "kinds": (by_points(kind_faults), f"{POINTS} rows rows"),
    "questions": (by_points(question_faults), f"{POINTS} rows rows rows"),
    "answers": (answer_faults, "rows rows"),
    "case": (by_points(case_faults), f"{POINTS} rows rows rows rows text"),
    "frames": (frame_faults, "rows rows text text"),
    "verdict": (by_points(verdict_faults), VERDICT),
}


def main(arguments: list[str]) -> int:
    """Check what a step records; print the report of a verdict without a fault."""
    ended = checks.run("check_decision.py", CHECKS, arguments)
    if not ended and arguments[0] == "verdict":
        values: list[Any] = [
            value if form == "text" else json.loads(value)
            for form, value in zip(VERDICT.split(), arguments[1:], strict=True)
        ]
        print(json.dumps(report([*values[0], *values[1], *values[2]], *values[3:])))
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
