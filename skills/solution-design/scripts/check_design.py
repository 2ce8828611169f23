"""Checks what solution-design reports by numbers, and the design that it writes.

Called in the project's root as ``limits LIST``, ``criteria LIST``, ``ideas LIST``, ``candidates LIST``, ``meets
CRITERIA MEETS``, ``attacks CANDIDATES CRITERIA ATTACKS MET``, ``choice CANDIDATES ATTACKS CHOICE REJECTED`` or
``document PATH LEFT_OUT LOST``, each list a JSON array of texts; prints each fault and ends with 1 if there is one.
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

MOST_WORDS = 1_200
SECTIONS = ("Problem", "Design", "Why", "Alternatives", "Risks", "Steps", "Perspectives")
NUMBERED = {
    "limits": "C1 | limit | hard or soft, set by whom",
    "criteria": "R1 | what any solution must do | how one would see it",
    "ideas": "I1 | idea | which perspectives had it",
    "candidates": "K1 name | how it solves it | ideas used | gives up",
}
VERDICTS = ("holds", "bends", "breaks")

_ID = re.compile(r"[A-Z]\d+\b")
_FENCE = re.compile(r"\s*(```|~~~)")


def id_of(line: str) -> str:
    """The id that a line begins with, or nothing."""
    match = _ID.match(line)
    return match[0] if match else ""


def parts_of(line: str, count: int = 0) -> list[str]:
    """What stands between the bars of a line; the last of ``count`` parts may hold further bars."""
    return [part.strip() for part in line.split("|", count - 1)]


def numbered_faults(kind: str, lines: list[str]) -> list[str]:
    """Lines without the parts of their form, or numbered out of order; a candidate has a name beside its number."""
    form = NUMBERED[kind]
    count, named, found = form.count("|") + 1, " " in form.partition(" |")[0], []
    for number, line in enumerate(lines, 1):
        parts, wanted = parts_of(line, count), f"{form[0]}{number}"
        where = f"{kind}, entry {number}, {line[:60]!r}"
        if id_of(line) != wanted:
            found.append(f"{where}: begin it with {wanted}; the form is {form}")
        elif len(parts) != count or not all(parts):
            found.append(f"{where}: {len(parts)} parts; write {form}")
        elif (parts[0] != wanted) != named:
            found.append(f"{where}: {'there is no name after' if named else 'put a | after'} {wanted}; write {form}")
    return found


def meets_faults(criteria: list[str], meets: list[str]) -> list[str]:
    """Criteria without an entry, and entries that do not say yes or no, and by what."""
    known = list(map(id_of, criteria))
    found = []
    for line in meets:
        parts = parts_of(line)
        if len(parts) < 3 or parts[0] not in known or parts[1].lower() not in ("yes", "no") or not parts[2]:
            found.append(f"meets {line[:60]!r}: write R1 | yes or no | by what; the criteria are {', '.join(known)}")
    answered = set(map(id_of, meets))
    return found + [
        f'meets: {name} is not there; add "{name} | yes or no | …"' for name in known if name not in answered
    ]


def attack_faults(candidates: list[str], criteria: list[str], attacks: list[str], met: list[str]) -> list[str]:
    """Candidates that were not attacked or held against the criteria, and attacks that do not say how they ended."""
    known = list(map(id_of, candidates))
    found = []
    for line in attacks:
        parts = parts_of(line)
        if parts[0] not in known:
            found.append(f"attack {line[:60]!r}: it does not begin with one of {', '.join(known)} and a |")
        elif not verdict_of(line):
            found.append(f"attack {line[:60]!r}: its last part does not begin with holds, bends or breaks")
    attacked, held = {parts_of(line)[0] for line in attacks}, {parts_of(line)[0] for line in met}
    found += [
        f'attacks: {name} has none; add "{name} | what happens | holds"' for name in known if name not in attacked
    ]
    found += [f'met: {name} is not there; add "{name} | R1 yes: …"' for name in known if name not in held]
    for line in met:
        silent = [
            name for name in map(id_of, criteria) if not re.search(rf"\b{name}\W+(yes|no)\b", line, re.IGNORECASE)
        ]
        found += [f"met {line[:60]!r}: write {name} yes: by what, or {name} no: why" for name in silent]
    return found


def verdict_of(attack: str) -> str:
    """How an attack ended, or nothing where its last part does not say."""
    last = parts_of(attack)[-1].lower()
    return next((word for word in VERDICTS if re.match(rf"{word}\b", last)), "")


def choice_faults(candidates: list[str], attacks: list[str], choice: str, rejected: list[str]) -> list[str]:
    """A choice that is none, or that broke while another did not; other candidates without a reason against them."""
    known = list(map(id_of, candidates))
    if choice not in known:
        return [f"choice is {choice}, and the candidates are {', '.join(known)}"]
    found = []
    broken = {parts_of(line)[0] for line in attacks if verdict_of(line) == "breaks"}
    whole = [name for name in known if name not in broken]
    if choice in broken and whole:
        found.append(f"choice: an attack breaks {choice}, and none breaks {', '.join(whole)}: choose among these")
    answered = {parts_of(line)[0] for line in rejected}
    others = [name for name in known if name != choice]
    found += [f'rejected: {name} is not there; add "{name} | why not | …"' for name in others if name not in answered]
    found += [f"rejected: {choice} is the choice" for _ in range(choice in answered)]
    return found


def document_faults(text: str, left_out: list[str], lost: list[str]) -> list[str]:
    """Headings that are missing, empty or out of order, too many words, perspectives not heard and not named."""
    body = sections(text)
    missing = [name for name in SECTIONS if name not in body]
    if missing:
        return ["there is no section " + ", ".join(f"## {name}" for name in missing)]
    found = [f"the section ## {name} is empty" for name in SECTIONS if not body[name]]
    order = [name for name in body if name in SECTIONS]
    if order != list(SECTIONS):
        found.append(f"the sections stand as {', '.join(order)}; their order is {', '.join(SECTIONS)}")
    count = len(text.split())
    if count > MOST_WORDS:
        found.append(f"it has {count:,} words, at most {MOST_WORDS:,}: cut what nobody needs to build or refuse it")
    named = body["Perspectives"].lower().replace("-", " ")
    unheard = [*left_out, *(line.partition(" ")[0] for line in lost)]
    silent = [name for name in unheard if name.replace("-", " ") not in named]
    return found + [f"the section ## Perspectives does not name {name}, which was not heard" for name in silent]


def sections(text: str) -> dict[str, str]:
    """The text under each second-level heading outside code fences."""
    body: dict[str, str] = {}
    heading, fenced = "", False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif line.startswith("## ") and not fenced:
            heading = line[3:].strip(" #")
            body.setdefault(heading, "")
            continue
        if heading:
            body[heading] += f"{line.strip()} " if line.strip() else ""
    return body


def faults(kind: str, values: list[str]) -> list[str]:
    """The faults of what is named; OSError or ValueError for a file or list that cannot be read."""
    if kind == "document":
        return document_faults(checks.text(values[0]), json.loads(values[1]), json.loads(values[2]))
    if kind == "choice":
        return choice_faults(json.loads(values[0]), json.loads(values[1]), values[2], json.loads(values[3]))
    if kind == "attacks":
        return attack_faults(*map(json.loads, values))
    if kind == "meets":
        return meets_faults(*map(json.loads, values))
    return numbered_faults(kind, json.loads(values[0]))


COUNTS = {**dict.fromkeys(NUMBERED, 1), "meets": 2, "attacks": 4, "choice": 4, "document": 3}


def main(arguments: list[str]) -> int:
    """Print the faults of what is named; 0 if there are none."""
    kind, values = (arguments[0], arguments[1:]) if arguments else ("", [])
    if COUNTS.get(kind) != len(values):
        print(f"usage: check_design.py {'|'.join(COUNTS)} VALUE…")
        return 2
    try:
        found = faults(kind, values)
    except (OSError, ValueError) as error:
        found = [f"{values[0][:200]} cannot be read: {error}"]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
