"""Checks what leon-writing-style records: points that quote the request, readings that quote the draft, a text that
keeps its facts, counted words.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. The text stands beside the draft: note.text.md
beside note.draft.md. It holds every string that was to be kept, unless it was declined as ``keep | string | reason``,
and no words that were found, unless each of their families and rules was. A line break counts as a space. Prints each
fault and ends with 1 if there is one.

These print JSON: ``voice`` the path of the profile, for which the sample is copied if there is none; ``place`` the path
of the draft, and ``beside`` that of the text; ``digest`` one of its words, ``refined`` if they are others since; and
the last check without a fault the summary.
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
from skills.lib import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FAMILIES = [f"T{at}" for at in range(1, 13)]
FINAL = [f"C{at}" for at in range(1, 6)]
# Families and rules of one find.
MOST = 4
SAMPLE = "(sample)"
FOLDER = ".lockstep/writing"
PROFILE = ".lockstep/style-profile.md"

Rows = list[str]


def point_faults(points: Rows, request: str) -> Rows:
    """Points that quote what the request does not say."""
    quoted = [(row, re.fullmatch(r'"([^"]+)"', checks.cells(row)[0])) for row in points]
    return [
        f"{row[:60]!r}: the request does not say that; quote it letter for letter, or write: point (source)"
        for row, match in quoted
        if match and (checks.says_little(match[1], 1) or flowing(match[1]) not in flowing(request))
    ]


def text_faults(draft: str, keep: Rows, finds: Rows, declined: Rows) -> Rows:
    """A text that is the draft, lacks a string which was to be kept, or still has words that were found."""
    text = beside(draft)
    body, before = read(text), read(draft)
    found = ["it is the draft, word for word: rewrite it"] if body == before else []
    let_go = tuple(map(flowing, declined))
    missing = [string for string in map(flowing, keep) if string not in body]
    kept = [string for string in missing if not any(entry.startswith(f"keep | {string} | ") for entry in let_go)]
    found += [f"it does not hold, letter for letter: {string}" for string in kept]
    found += [f"{row[:60]!r}: write T4 | why you did not follow it" for row in declined if unreasoned(row)]
    spared = {name for row in declined for name in names(row)}
    for row in finds:
        quoted = quotation(row)
        if not {*names(row)} <= spared and quoted and quoted in body and quoted not in map(flowing, keep):
            name = ", ".join(names(row))
            found.append(f'it still has what {name} found, "{quoted[:60]}": mend it, or decline it as {name} | reason')
    return [f"{text}: {fault}" for fault in found]


def find_faults(finds: Rows, draft: str) -> Rows:
    """Families that nobody looked for, and finds without their parts or quoted from elsewhere."""
    rows = [checks.cells(row) for row in finds]
    given = [name for row in finds for name in names(row) if name != "none"]
    without = [name for parts in rows if parts[0] == "none" for name in re.findall(r"T\d+", " ".join(parts[1:]))]
    found = [f"{name} is missing; add its finds, or: none | {name}" for name in FAMILIES if name not in given + without]
    found += [f"{name} has a find and is under none" for name in FAMILIES if name in given and name in without]
    for row, parts in zip(finds, rows, strict=True):
        unknown = [name for name in names(row) if re.fullmatch(r"T\d+", name) and name not in FAMILIES]
        if unknown or len(parts) < 2 or not all(parts):
            found.append(f"{row[:60]!r}: write T4 | quotation, or none | T5, T7")
        elif len(names(row)) > MOST:
            found.append(f"{row[:60]!r}: {len(names(row))} families and rules; {MOST} at most fall upon one passage")
    if all({*names(row)} <= {"none", *FAMILIES} for row in finds):
        found.append("no rule of the profile is held against the draft; write R2 | quotation")
    return found + quotation_faults([row for row in finds if not row.startswith("none")], draft)


def mark_faults(rows: Rows, draft: str) -> Rows:
    """Marks without words of the text, two with the same, and those whose words the draft had."""
    found = [f"{row[:60]!r}: write M2 | its sentence's first words in quotes" for row in rows if not quotation(row)]
    twice = checks.repeated(filter(None, map(quotation, rows)))
    found += [f'"{quoted[:60]}" is quoted for two marks; quote a sentence of its own for each' for quoted in twice]
    before = read(draft)
    old = [row for row in rows if quotation(row) and quotation(row) in before]
    found += [f"{row[:60]!r}: the draft says that already; quote a sentence that you wrote for the mark" for row in old]
    return found + quotation_faults(rows, beside(draft))


def final_faults(rows: Rows, draft: str, *_: str) -> Rows:
    """Checks that are missing, out of order or without what shows them."""
    found = []
    given = [checks.cells(row)[0] for row in rows]
    if given != FINAL:
        found.append(f"the checks begin with {', '.join(given)[:80]}: write {', '.join(FINAL)} in that order")
    for row in rows:
        parts = [*checks.cells(row), "", ""]
        if parts[1] not in ("pass", "fail") or not parts[2]:
            found.append(f"{row[:60]!r}: write C1 | pass or fail | a quotation that shows it")
    return found + quotation_faults(rows, beside(draft))


def summary(rows: Rows, draft: str, words: str, missing: str, profile: str, refined: str) -> str:
    """What the user should know of the text: its length, what failed, what is missing, whose voice it has."""
    parts = [f"{len(read(beside(draft)).split())} words; {words} were the target."]
    parts += [f"Not passed: {row}." for row in rows if checks.cells(row)[1] == "fail"]
    if missing.strip().rstrip(".").lower() not in ("", "none", "{settle.missing}"):
        parts.append(f"Missing in the material: {missing.strip().rstrip('.')}.")
    if refined == "no":
        parts.append("No sentence was refined after it was written.")
    if SAMPLE in checks.text(profile).partition("\n")[0]:
        parts.append(f"The voice is that of the neutral sample; your own profile belongs in {profile}.")
    return " ".join(parts)


def voice(profile: str) -> str:
    """The path of the profile; without one it is the project's own, and where there is none, a copy of the sample."""
    path = profile.strip()
    if path in ("", "{profile}"):
        path = PROFILE
        if not os.path.lexists(path):
            sample = os.path.join(os.path.dirname(paths.scripts(__file__)), "resources", "style-profile.md")
            checks.write_new(checks.text(sample), "", "", path)
    fault = checks.path_fault(path) or ("" if os.path.isfile(path) else "not a file")
    if fault:
        raise ValueError(f"{path[:200]}: {fault}; name the profile by its path in the project, or leave it out")
    return path


def place(draft: str, request: str) -> str:
    """The path of the draft; without one a new file's, named by the first words of the request."""
    if draft.strip() not in ("", "{draft}"):
        if checks.path_fault(draft.strip()).startswith("outside"):
            raise ValueError(f"{draft.strip()[:200]} is outside the project; name a new file in it, or leave it out")
        return draft.strip()
    name = f"{FOLDER}/{checks.slug(request, 4) or 'text'}"
    free = [f"{name}{at}.draft.md" for at in ("", *range(2, 100))]
    return next((path for path in free if not os.path.lexists(path)), free[-1])


def beside(draft: str) -> str:
    """The path of the text: the draft's with .text in place of .draft."""
    stem, ending = os.path.splitext(draft)
    return f"{stem.removesuffix('.draft')}.text{ending}"


def unreasoned(row: str) -> bool:
    """True if a row of what was declined has no reason."""
    return checks.says_little(" ".join(checks.cells(row)[1:]), 2)


def names(row: str) -> Rows:
    """The families and rules that a row begins with."""
    return [name.strip() for name in checks.cells(row)[0].split(",")]


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


def digest(draft: str) -> str:
    """A digest of the words of the text beside a draft; empty if it cannot be read, which another check refuses."""
    try:
        return hashlib.sha256(read(beside(draft)).encode()).hexdigest()[:16]
    except (OSError, ValueError):
        return ""


def refined(draft: str, written: str) -> str:
    """Whether the text has another digest than when it was written: yes or no."""
    return "no" if digest(draft) == written else "yes"


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
    "points": (point_faults, "rows text"),
    "text": (text_faults, "text rows rows rows"),
    "finds": (find_faults, "rows text"),
    "marks": (mark_faults, "rows text"),
    "final": (final_faults, "rows text text text text text"),
}
# What prints a value, by its name.
MADE: dict[str, Callable[..., str]] = {
    "voice": voice,
    "place": place,
    "beside": lambda draft, request: beside(place(draft, request)),
    "digest": digest,
    "refined": refined,
}


def main(arguments: list[str]) -> int:
    """Check what a step records; print what is made of it."""
    if arguments and arguments[0] in MADE:
        try:
            print(json.dumps(MADE[arguments[0]](*arguments[1:])))
        except (OSError, ValueError) as error:
            return checks.report([str(error)])
        return 0
    ended = checks.run("check_text.py", CHECKS, arguments)
    if not ended and arguments[0] == "final":
        print(json.dumps(summary(json.loads(arguments[1]), *arguments[2:])))
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
