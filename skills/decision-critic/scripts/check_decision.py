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
    from collections.abc import Callable
    from typing import Any

KINDS = {"C": "claims", "A": "assumptions", "K": "constraints"}
# Of each kind.
MOST = 8
STANDINGS = ("refuted", "upheld", "open")
TEST = "question | where to look | ids | upheld if | refuted if"
OPTION = "option | gains | costs | ids"

_ROW = re.compile(
    r"(?P<id>[A-Z]\d+)(?P<bears>\*)?(?:\s+\[(?P<mark>observed|known|unknown)\])?:\s*(?P<text>.+)", re.DOTALL
)
_KEY = re.compile(r"(?P<id>Q\d+) tests (?P<tested>[^:]+):\s*(?P<text>.+)", re.DOTALL)
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_ID = re.compile(r"\b[ACKOQ]\d+\b")

Rows = list[str]


def point_faults(points: Rows) -> Rows:
    """Points without their number or text, a kind without any, two points that are one, constraints without their
    source, and load-bearing points that are too many, or constraints alone."""
    found, kinds = [], {letter: [row for row in points if row.strip()[:1] == letter] for letter in KINDS}
    for letter, rows in kinds.items():
        found += numbered_faults(letter, rows)
        if not 1 <= len(rows) <= MOST:
            found.append(f"{len(rows)} {KINDS[letter]}: give 1 to {MOST}, as {letter}1: …")
    found += [f"{row[:60]!r}: begin it with C1:, A1: or K1:" for row in points if row.strip()[:1] not in KINDS]
    ends = ("(stated)", "(inferred)")
    found += [
        f"{row[:60]!r}: end it with (stated) or (inferred)" for row in kinds["K"] if not row.strip().endswith(ends)
    ]
    found, bearing = found or twin_faults(points), bearing_of(points)
    if not 1 <= len(bearing) <= 5:
        found.append(f"{len(bearing)} points bear load: mark 1 to 5 of them, as A1*: …")
    elif all(name.startswith("K") for name in bearing):
        found.append("constraints alone bear load: mark the claim or assumption that the decision rests on")
    return found


def twin_faults(points: Rows) -> Rows:
    """Points with the words of an earlier one."""
    found = []
    texts: dict[str, str] = {}
    for row in points:
        first = texts.setdefault(" ".join(checks.words(row.partition(":")[2])), id_of(row))
        if first != id_of(row):
            found.append(f"{id_of(row)} says what {first} says; merge them")
    return found


def test_faults(points: Rows, tests: Rows) -> Rows:
    """Tests without one of their parts or that decide nothing, questions that tell what they are for or are asked
    twice, and load-bearing points without one."""
    known, asked = ids(points), set()
    found = form_faults(tests, TEST)
    for row in tests:
        question, place, tested, upheld, refuted = parts_of(row, TEST)
        told = [name for name in _ID.findall(f"{question} {place}") if name in known]
        found += [f"{question[:60]!r} names {name}: whoever answers must not see the ids" for name in told]
        names = _ID.findall(tested)
        found += [f"{question[:60]!r} tests {name}, which is no point" for name in names if name not in known]
        if not names:
            found.append(f"{question[:60]!r} tests no id: name the one that it tests, as A1")
        if upheld and _said(upheld) == _said(refuted):
            found.append(f"{question[:60]!r} is upheld and refuted by the same answer: say what would decide")
        asked |= set(names)
    asking = [parts_of(row, TEST)[:2] for row in tests]
    texts = {" | ".join(map(_said, parts)): " | ".join(parts) for parts in asking}
    twice = [texts[said] for said in checks.repeated(" | ".join(map(_said, parts)) for parts in asking)]
    found += [f"{row[:60]!r} is asked twice: ask something else, or name all of its ids in one" for row in twice]
    return found + [
        f"no question tests {name}, which is load-bearing" for name in bearing_of(points) if name not in asked
    ]


def _said(text: str) -> str:
    """The text as it is compared: neither case, blanks nor its last mark make it another one."""
    return checks.flat(text).casefold().rstrip(".?!")


def questions_of(tests: Rows) -> Rows:
    """The questions, which whoever answers sees, by their numbers."""
    parts = [parts_of(row, TEST) for row in tests]
    return [f"Q{number}: {asked} Look in: {place}" for number, (asked, place, *_) in enumerate(parts, 1)]


def key_of(tests: Rows) -> Rows:
    """What each question tests and what decides it, which whoever answers does not see."""
    parts = [parts_of(row, TEST) for row in tests]
    return [
        f"Q{number} tests {', '.join(_ID.findall(tested))}: upheld if {upheld}; refuted if {refuted}"
        for number, (_, _, tested, upheld, refuted) in enumerate(parts, 1)
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


def result_faults(key: Rows, answers: Rows, results: Rows) -> Rows:
    """Questions that were answered without their one result, and a result that its answer does not allow."""
    found, given, marks = [], [], marks_of(answers)
    for row in results:
        word, named = row.partition(":")[0].strip(), _ID.findall(row.partition(":")[2])
        given += named
        if word not in STANDINGS or not named:
            found.append(f"{row[:60]!r}: write one of {', '.join(STANDINGS)}, and its questions: refuted: Q1, Q3")
        elif word != "open":
            found += [f"{name} is unknown: it is open" for name in named if marks.get(name) == "unknown"]
    open_ones = [name for name in ids(key) if marks.get(name) == "unknown" and name not in given]
    return checks.coverage(ids(key), [*given, *open_ones], "result of question") + found


def standing_of_points(points: Rows, key: Rows, answers: Rows, results: Rows) -> Rows:
    """Each point that was tested, with its word and the questions; a load-bearing one stands by what was observed."""
    words = {name: row.partition(":")[0].strip() for row in results for name in _ID.findall(row.partition(":")[2])}
    marks, bearing = marks_of(answers), bearing_of(points)
    found: dict[str, dict[str, Rows]] = {}
    for row in key:
        asked = id_of(row)
        for name in tested(row):
            counts = name not in bearing or marks.get(asked) == "observed"
            word = words.get(asked, "open") if counts else "open"
            found.setdefault(name, {}).setdefault(word, []).append(asked)
    return [
        f"{name}: " + ", ".join(f"{word} by {', '.join(by[word])}" for word in STANDINGS if word in by)
        for name, by in found.items()
    ]


def case_faults(points: Rows, standing: Rows, case: str) -> Rows:
    """A case that rests on no point, or is silent about one that is refuted."""
    named = set(_ID.findall(case)) & set(ids(points))
    refuted = [id_of(row) for row in standing if standing_of(row) == "refuted"]
    found = [f"case does not speak of {name}, which is refuted" for name in refuted if name not in named]
    if not named or checks.says_little(case, 25):
        found.append("case rests on named ids: tell the story, and name the id behind every point, as A1")
    return found


def option_faults(points: Rows, standing: Rows, options: Rows, effect: str) -> Rows:
    """Options without one of their parts, and an unclear effect if the best of them, the first, rests on no open id."""
    known, found = ids(points), form_faults(options, OPTION)
    rests = [_ID.findall(parts_of(row, OPTION)[-1]) for row in options]
    for row, names in zip(options, rests, strict=True):
        found += [f"{row[:60]!r} rests on {name}, which is no point" for name in names if name not in known]
        if not names and parts_of(row, OPTION)[-1] not in ("", "none"):
            found.append(f"{row[:60]!r}: end it with the ids that it rests on, as A1, or none")
    open_ones = [id_of(row) for row in standing if standing_of(row) == "open"]
    if standing and effect == "unclear" and not set(open_ones) & set(rests[0]):
        what = ", ".join(open_ones) or "none is"
        found.append(f"effect is unclear: the first option names the open id that it depends on ({what})")
    return found


def numbered(options: Rows) -> Rows:
    """The options by their numbers, the best of them first."""
    parts = [[part.rstrip(".") for part in parts_of(row, OPTION)] for row in options]
    return [
        f"O{number}: {option}. Gains: {gains}. Costs: {costs}. Rests on: {by}"
        for number, (option, gains, costs, by) in enumerate(parts, 1)
    ]


def verdict_faults(
    points: Rows,
    answers: Rows,
    standing: Rows,
    case: str,
    options: Rows,
    effect: str,
    verdict: str,
    grounds: Rows,
    action: str,
) -> Rows:
    """A STAND that the findings forbid, and ids that carry the verdict and do not exist."""
    words = {id_of(row): standing_of(row) for row in standing}
    bearing, carrying, known = bearing_of(points), ids(grounds), [*ids(points), *ids(numbered(options))]
    found = [f"grounds names {name:.20}, which is no point and no option" for name in carrying if name not in known]
    if verdict == "STAND":
        found += [
            f"{name} is refuted and load-bearing: STAND is out" for name in bearing if words.get(name) == "refuted"
        ]
        if effect == "better-option":
            found.append("an option is better (challenge.effect): STAND is out")
        upheld = [name for name in bearing if words.get(name) == "upheld"]
        found += [f"grounds: add {name}, which is load-bearing and upheld" for name in upheld if name not in carrying]
    names = re.findall(r"\bO\d+\b", action)
    found += [f"action names {name}, which is no option" for name in names if name not in ids(numbered(options))]
    if checks.says_little(action, 4) and not (names and verdict == "REVISE"):
        found.append("action says too little: what would reopen it, the new decision, or who decides what")
    return found


def report(
    points: Rows,
    answers: Rows,
    standing: Rows,
    case: str,
    options: Rows,
    effect: str,
    verdict: str,
    grounds: Rows,
    action: str,
) -> str:
    """The report: the verdict, what carries it in words, what was observed, what speaks against it, what is open."""
    ways = numbered(options)
    texts = {id_of(row): row.replace("*:", ":", 1) for row in [*points, *ways]}
    stands = {id_of(row): row.partition(":")[2].strip() for row in standing}
    told = {name: " - ".join(filter(None, [texts[name], stands.get(name)])) for name in texts}
    carrying = [name for name in ids(grounds) if name in texts]
    left = [id_of(row) for row in standing if standing_of(row) == "open" and id_of(row) not in carrying]
    best, todo = id_of(ways[0]), re.sub(r"\bO\d+\b", lambda name: spoken(name[0], options), action)
    named = {name for row in carrying + left for name in re.findall(r"\bQ\d+\b", stands.get(row, ""))}
    parts = [
        [f"Verdict: {verdict}. {todo}"],
        ["What carries it:", *(told[name] for name in carrying)],
        [f"Best other option ({effect}): {best}", *([told[best]] if best not in carrying else [])],
        ["What speaks against it:", case] if verdict == "STAND" else [],
        ["Open:", *(told[name] for name in left)] if left else [],
        ["What was found:", *(row for row in answers if id_of(row) in named)] if named else [],
    ]
    return "\n\n".join("\n".join(line.strip() for line in part) for part in parts if part)


def spoken(name: str, options: Rows) -> str:
    """The words of an option, for a reader who does not know its number."""
    option = parts_of(options[int(name[1:]) - 1], OPTION)[0].rstrip(".")
    return f"{name} ({option})"


def numbered_faults(letter: str, rows: Rows) -> Rows:
    """Rows that do not begin with their number, or that say hardly a word."""
    found = []
    for number, row in enumerate(rows, 1):
        match = _ROW.fullmatch(row.strip())
        if match is None or match["id"] != f"{letter}{number}" or checks.says_little(match["text"]):
            name = f"{letter}{number}"
            found.append(f"{row[:60]!r}: write {name}: or, if it bears load, {name}*: and at least three words")
    return found


def form_faults(rows: Rows, form: str) -> Rows:
    """Rows that do not have the parts of a form, or whose first part says hardly a word."""
    found = []
    for row in rows:
        parts = checks.cells(row)
        if len(parts) != form.count("|") + 1 or not all(parts) or checks.says_little(parts[0]):
            found.append(f"{row[:60]!r}: write {form}; the {form.partition(' ')[0]} has at least three words")
    return found


def parts_of(row: str, form: str) -> Rows:
    """The parts of a row, as many as the form has."""
    count = form.count("|") + 1
    return [*checks.cells(row), *[""] * count][:count]


def tested(row: str) -> Rows:
    """The ids that a row of the key tests."""
    match = _KEY.fullmatch(row.strip())
    return _ID.findall(match["tested"]) if match else []


def marks_of(answers: Rows) -> dict[str, str]:
    """The mark of each answer by its question."""
    return {match["id"]: match["mark"] for row in answers if (match := _ROW.fullmatch(row.strip()))}


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


def bearing_of(points: Rows) -> Rows:
    """The ids of the points that are marked as load-bearing, as in ``A1*: …``."""
    return [match["id"] for row in points if (match := _ROW.fullmatch(row.strip())) and match["bears"]]


def standing_faults(points: Rows, key: Rows, answers: Rows, results: Rows, case: str) -> Rows:
    """What is wrong with the results, or with the case, which is read by how the points stand."""
    found = result_faults(key, answers, results)
    return found or case_faults(points, standing_of_points(points, key, answers, results), case)


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "points": (point_faults, "rows"),
    "questions": (test_faults, "rows rows"),
    "key": (lambda tests: [], "rows"),
    "answers": (answer_faults, "rows rows"),
    "standing": (standing_faults, "rows rows rows rows text"),
    "options": (option_faults, "rows rows rows text"),
    "verdict": (verdict_faults, "rows rows rows text rows text text rows text"),
}
# What is printed if a check finds no fault.
MADE: dict[str, Callable[..., Rows | str]] = {
    "questions": lambda points, tests: questions_of(tests),
    "key": key_of,
    "standing": lambda *values: standing_of_points(*values[:-1]),
    "verdict": report,
}


def main(arguments: list[str]) -> int:
    """Check what a step records; print as JSON what is made of it, if there is no fault."""
    ended = checks.run("check_decision.py", CHECKS, arguments)
    if not ended and arguments[0] in MADE:
        values: list[Any] = [
            value if form == "text" else json.loads(value)
            for form, value in zip(CHECKS[arguments[0]][1].split(), arguments[1:], strict=True)
        ]
        print(json.dumps(MADE[arguments[0]](*values)))
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
