"""Checks what leon-writing-style records: readings that quote the draft, a text that keeps its facts, counted words.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. A rewritten text holds every string that was to
be kept, unless it was declined as ``keep | string | reason``, and no words that were found, unless their family or rule
was. ``digest`` prints one of the words of a file, ``refined`` if they are others since, and the last check without a
fault the summary, as JSON. Prints each fault and ends with 1 if there is one. A line break counts as a space.
"""

from __future__ import annotations

import hashlib
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

FAMILIES = [f"T{at}" for at in range(1, 13)]
FINAL = [f"C{at}" for at in range(1, 6)]
SAMPLE = "(sample)"

Rows = list[str]


def text_faults(text: str, draft: str, keep: Rows, tells: Rows, departures: Rows, declined: Rows) -> Rows:
    """A text that is the draft, lacks a string which was to be kept, or still has words that were found."""
    body, before = read(text), read(draft)
    found = ["it is the draft, word for word: rewrite it"] if body == before else []
    let_go = tuple(map(flowing, declined))
    missing = [string for string in map(flowing, keep) if string not in body]
    kept = [string for string in missing if not any(entry.startswith(f"keep | {string} | ") for entry in let_go)]
    found += [f"it does not hold, letter for letter: {string}" for string in kept]
    spared = {checks.cells(row)[0] for row in declined}
    for row in [*tells, *departures]:
        name, quoted = checks.cells(row)[0], quotation(row)
        if name not in spared and quoted and quoted in body and quoted not in map(flowing, keep):
            found.append(f'it still has what {name} found, "{quoted[:60]}": mend it, or decline it as {name} | reason')
    return [f"{text}: {fault}" for fault in found]


def tell_faults(tells: Rows, draft: str) -> Rows:
    """Families that nobody looked for, and finds without their parts or quoted from elsewhere."""
    rows = [checks.cells(row) for row in tells]
    finds = [parts[0] for parts in rows if parts[0] != "none"]
    without = [name for parts in rows if parts[0] == "none" for name in re.findall(r"T\d+", " ".join(parts[1:]))]
    found = [f"{name} is missing; add its finds, or: none | {name}" for name in FAMILIES if name not in finds + without]
    found += [f"{name} has a find and is under none" for name in FAMILIES if name in finds and name in without]
    for row, parts in zip(tells, rows, strict=True):
        if parts[0] not in [*FAMILIES, "none"] or len(parts) < 2 or not all(parts):
            found.append(f"{row[:60]!r}: write T4 | quotation, or none | T5, T7")
    return found + quotation_faults([row for row in tells if not row.startswith("none")], draft)


def mark_faults(rows: Rows) -> Rows:
    """Marks without their sentence."""
    return [f"{row[:60]!r}: write mark | the sentence" for row in rows if not all([*checks.cells(row), ""][:2])]


def departure_faults(rows: Rows, draft: str) -> Rows:
    """Departures without their rule or words, and quotations that are not in the draft."""
    found = [f"{row[:60]!r}: write rule | quotation" for row in rows if not all([*checks.cells(row), ""][:2])]
    return found + quotation_faults(rows, draft)


def final_faults(rows: Rows, text: str, *_: str) -> Rows:
    """Checks that are missing, out of order or without what shows them."""
    found = []
    given = [checks.cells(row)[0] for row in rows]
    if given != FINAL:
        found.append(f"the checks begin with {', '.join(given)[:80]}: write {', '.join(FINAL)} in that order")
    for row in rows:
        parts = [*checks.cells(row), "", ""]
        if parts[1] not in ("pass", "fail") or not parts[2]:
            found.append(f"{row[:60]!r}: write C1 | pass or fail | a quotation that shows it")
    return found + quotation_faults(rows, text)


def summary(rows: Rows, text: str, words: str, missing: str, profile: str, refined: str) -> str:
    """What the user should know of the text: its length, what failed, what is missing, whose voice it has."""
    parts = [f"{len(read(text).split())} words; {words} were the target."]
    parts += [f"Not passed: {row}." for row in rows if checks.cells(row)[1] == "fail"]
    if missing.strip().rstrip(".").lower() != "none":
        parts.append(f"Missing in the material: {missing.strip().rstrip('.')}.")
    if refined == "no":
        parts.append("No sentence was refined after it was written.")
    if SAMPLE in checks.text(profile).partition("\n")[0]:
        parts.append(f"The voice is that of the neutral sample; your own profile belongs in {profile}.")
    return " ".join(parts)


def quotation(row: str) -> str:
    """The words of a row's last part, if it is nothing but a quotation, on one line; else nothing."""
    quoted = re.fullmatch(r'"([^"]+)"', checks.cells(row)[-1])
    return flowing(quoted[1]) if quoted else ""


def quotation_faults(rows: Rows, file: str) -> Rows:
    """Rows that end in a quotation which is not in the file."""
    body = read(file)
    return [
        f"{row[:60]!r}: {file} does not say that; quote it letter for letter"
        for row in rows
        if quotation(row) not in body
    ]


def digest(path: str) -> str:
    """A digest of the words of a file; empty if it cannot be read, which another check refuses."""
    try:
        return hashlib.sha256(read(path).encode()).hexdigest()[:16]
    except (OSError, ValueError):
        return ""


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
    "text": (text_faults, "text text rows rows rows rows"),
    "tells": (tell_faults, "rows text"),
    "marks": (mark_faults, "rows"),
    "departures": (departure_faults, "rows text"),
    "final": (final_faults, "rows text text text text text"),
}


def main(arguments: list[str]) -> int:
    """Check what a step records; print what is made of it: a digest, whether it was refined, the summary."""
    match arguments:
        case ["digest", text]:
            print(json.dumps(digest(text)))
            return 0
        case ["refined", text, written]:
            print(json.dumps("no" if digest(text) == written else "yes"))
            return 0
    ended = checks.run("check_text.py", CHECKS, arguments)
    if not ended and arguments[0] == "final":
        print(json.dumps(summary(json.loads(arguments[1]), *arguments[2:])))
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
