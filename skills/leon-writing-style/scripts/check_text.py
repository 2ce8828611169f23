"""Checks what leon-writing-style records: readings that quote the draft, a text that keeps its facts, counted words.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. A rewritten text holds every string that was to
be kept, unless it was declined as ``keep | string | reason``. Prints each fault and ends with 1 if there is one. A line
break counts as a space.
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

import skills.lib.checks as checks

FAMILIES = [f"T{at}" for at in range(1, 13)]
FINAL = [f"C{at}" for at in range(1, 9)]
# Programs count words a little differently.
TOLERANCE = 0.02

Rows = list[str]


def text_faults(text: str, draft: str, keep: Rows, declined: Rows) -> Rows:
    """A text that is the draft, or that lacks a string which was to be kept."""
    body, before = read(text), read(draft)
    found = ["it is the draft, word for word: rewrite it"] if body == before else []
    let_go = tuple(map(flowing, declined))
    missing = [string for string in map(flowing, keep) if string not in body]
    kept = [string for string in missing if not any(entry.startswith(f"keep | {string} | ") for entry in let_go)]
    found += [f"it does not hold, letter for letter: {string}" for string in kept]
    return [f"{text}: {fault}" for fault in found]


def tell_faults(tells: Rows, draft: str) -> Rows:
    """Families without an entry, and finds without their parts or quoted from elsewhere."""
    given = [checks.cells(row)[0] for row in tells]
    found = [f"{name} is missing; add its finds, or: {name} | none" for name in FAMILIES if name not in given]
    for row in tells:
        parts = checks.cells(row)
        if parts[0] not in FAMILIES or (parts[1:] != ["none"] and (len(parts) < 4 or not all(parts))):
            found.append(f"{row[:60]!r}: write T4 | place | quotation | how to mend it, or T5 | none")
    return found + quotation_faults(tells, 2, draft)


def reading_faults(rows: Rows, draft: str) -> Rows:
    """Marks or departures without their three parts, and quotations that are not in the draft."""
    form = "mark or rule | place or quotation | the sentence, worded to the end"
    found = [f"{row[:60]!r}: write {form}" for row in rows if not all([*checks.cells(row), "", ""][:3])]
    return found + quotation_faults(rows, 1, draft)


def count_faults(count: str, text: str) -> Rows:
    """A number of words that is not that of the file."""
    words = len(read(text).split())
    return [] if near(int(count), words) else [f"count is {count}, and {text} has {words} words: count them"]


def final_faults(rows: Rows, text: str) -> Rows:
    """Checks that are missing, out of order or without what shows them, and a length that was not counted."""
    found = []
    given = [checks.cells(row)[0] for row in rows]
    if given != FINAL:
        found.append(f"the checks begin with {', '.join(given)[:80]}: write {', '.join(FINAL)} in that order")
    for row in rows:
        parts = [*checks.cells(row), "", ""]
        if parts[1] not in ("pass", "fail") or not parts[2]:
            found.append(f"{row[:60]!r}: write C1 | pass or fail | a quotation or number that shows it")
    words = len(read(text).split())
    if not found and not any(near(int(number), words) for number in re.findall(r"\d+", rows[-1][2:])):
        found.append(f"C8 says how many words the file has, beside the target: {text} has {words}")
    return found + quotation_faults(rows, 2, text)


def quotation_faults(rows: Rows, at: int, file: str) -> Rows:
    """Parts of rows that are nothing but a quotation, and are not in the file."""
    body = read(file)
    found = []
    for row in rows:
        part = [*checks.cells(row), "", ""][at]
        quoted = re.fullmatch(r'"([^"]+)"', part)
        if quoted and flowing(quoted[1]) not in body:
            found.append(f"{row[:60]!r}: {file} does not say {part[:80]}; quote it letter for letter")
    return found


def near(number: int, words: int) -> bool:
    """True if a number is the number of words, as programs count them."""
    return abs(number - words) <= max(3, words * TOLERANCE)


def read(path: str) -> str:
    """The text of a file on one line, with single spaces; ValueError if it is no UTF-8 text."""
    try:
        return flowing(checks.text(path))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error}") from None


def flowing(text: str) -> str:
    """A text on one line, with single spaces."""
    return " ".join(text.split())


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "text": (text_faults, "text text rows rows"),
    "tells": (tell_faults, "rows text"),
    "reading": (reading_faults, "rows text"),
    "count": (count_faults, "text text"),
    "final": (final_faults, "rows text"),
}

if __name__ == "__main__":
    sys.exit(checks.run("check_text.py", CHECKS, sys.argv[1:]))
