"""Checks what solution-design reports by numbers.

Called in the project's root as ``limits LIST``, ``criteria LIST``, ``ideas LIST``, ``built IDEAS LIST``, ``corrected
LIST``, ``attacks CANDIDATES CRITERIA ATTACKS MET`` or ``choice CANDIDATES CRITERIA ATTACKS MET CHOICE
REJECTED``, each list a JSON array of texts; prints each fault and ends with 1 if there is one.
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

NUMBERED = {
    "limits": "C1 | limit | hard or soft, set by whom",
    "criteria": "R1 | what any solution must do | how one would see it",
    "ideas": "I1 | idea",
}
BUILT = "K1 name | I1, I3 | gives up | what it does besides"
VERDICTS = ("holds", "bends", "breaks")

_ID = re.compile(r"[A-Z]\d+\b")
# The name of what was never recorded.
_UNSAID = re.compile(r"\{[\w.-]+\}")


def id_of(line: str) -> str:
    """The id that a line begins with, or nothing."""
    match = _ID.match(line)
    return match[0] if match else ""


def parts_of(line: str, count: int = 0) -> list[str]:
    """What stands between the bars of a line; the last of ``count`` parts may hold further bars."""
    return [part.strip() for part in line.split("|", count - 1)]


def numbered_faults(kind: str, lines: list[str]) -> list[str]:
    """Lines without the parts of their form, or numbered out of order."""
    form = NUMBERED[kind]
    count, found = form.count("|") + 1, []
    for number, line in enumerate(lines, 1):
        parts, wanted = parts_of(line, count), f"{form[0]}{number}"
        where = f"{kind}, entry {number}, {line[:60]!r}"
        if id_of(line) != wanted:
            found.append(f"{where}: begin it with {wanted}; the form is {form}")
        elif len(parts) != count or not all(parts):
            found.append(f"{where}: {len(parts)} parts; write {form}")
        elif parts[0] != wanted:
            found.append(f"{where}: put a | after {wanted}; write {form}")
    return found


def built_faults(ideas: list[str], built: list[str]) -> list[str]:
    """Candidates without their name or parts, of ideas that are not there, of nothing, or of what another is made."""
    known, found = list(map(id_of, ideas)), []
    made: dict[tuple[str, ...], str] = {}
    for number, line in enumerate(built, 1):
        parts, wanted = parts_of(line), f"K{number}"
        where = f"built, entry {number}, {line[:60]!r}"
        if id_of(line) != wanted:
            found.append(f"{where}: begin it with {wanted}; the form is {BUILT}")
            continue
        if len(parts) not in (3, 4) or not all(parts):
            found.append(f"{where}: {len(parts)} parts, or an empty one; write {BUILT}")
            continue
        if parts[0] == wanted:
            found.append(f"{where}: there is no name after {wanted}; write {BUILT}")
        used = re.findall(r"I\d+", parts[1])
        found += [f"{where}: {idea} is none of {', '.join(known)}" for idea in used if idea not in known]
        if not used and len(parts) < 4:
            found.append(f"{where}: it uses no idea; say in a fourth part what it does")
        first = made.setdefault((*sorted({*used}), *parts[3:]), wanted)
        if first != wanted:
            found.append(f"{where}: it is made of what {first} is made of; say in a fourth part what it does otherwise")
    return found


def corrected_faults(corrected: list[str]) -> list[str]:
    """Corrections of given facts without their parts."""
    return checks.row_faults(corrected, "fact | what is so | place")


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
    attacked = {parts_of(line)[0] for line in attacks}
    held = [name for line in met for name in held_in(line)]
    found += [
        f'attacks: {name} has none; add "{name} | what happens | holds"' for name in known if name not in attacked
    ]
    found += [f'met: {name} is not there; add "{name} | R1 yes: …"' for name in known if name not in held]
    found += [f"met: {name:.20} is none of {', '.join(known)}" for name in dict.fromkeys(held) if name not in known]
    found += [f"met: {name} is given twice" for name in checks.repeated(held) if name in known]
    broken = broken_by(attacks)
    for line in met:
        names = held_in(line)
        if 0 < len(broken.intersection(names)) < len(set(names)):
            apart = ", ".join(sorted(broken.intersection(names)))
            found.append(f"met {line[:60]!r}: {apart} is broken, the others are not: give it a row of its own")
        silent = [
            name for name in map(id_of, criteria) if not re.search(rf"\b{name}\W+(yes|no)\b", line, re.IGNORECASE)
        ]
        found += [f"met {line[:60]!r}: write {name} yes: by what, or {name} no: why" for name in silent]
    return found


def held_in(line: str) -> list[str]:
    """The candidates that a row of met is about."""
    return [name.strip() for name in parts_of(line)[0].split(",")]


def broken_by(attacks: list[str]) -> set[str]:
    """The candidates that an attack breaks."""
    return {parts_of(line)[0] for line in attacks if verdict_of(line) == "breaks"}


def verdict_of(attack: str) -> str:
    """How an attack ended, or nothing where its last part does not say."""
    last = parts_of(attack)[-1].lower()
    return next((word for word in VERDICTS if re.match(rf"{word}\b", last)), "")


def choice_faults(
    candidates: list[str], criteria: list[str], attacks: list[str], met: list[str], choice: str, rejected: list[str]
) -> list[str]:
    """A choice that is none, or that broke while another did not; other candidates without a reason against them."""
    known = list(map(id_of, candidates))
    if choice not in known:
        return [f"choice is {choice}, and the candidates are {', '.join(known)}"]
    found = []
    broken = broken_by(attacks)
    whole = [name for name in known if name not in broken]
    if choice in broken and whole:
        found.append(f"choice: an attack breaks {choice}, and none breaks {', '.join(whole)}: choose among these")
    answered = {parts_of(line)[0] for line in rejected}
    others = [name for name in known if name != choice]
    found += [f'rejected: {name} is not there; add "{name} | why not | …"' for name in others if name not in answered]
    found += [f"rejected: {choice} is the choice" for _ in range(choice in answered)]
    return found + reason_faults(list(map(id_of, criteria)), met, rejected)


def reason_faults(criteria: list[str], met: list[str], rejected: list[str]) -> list[str]:
    """Rejections without their parts, or for a criterion that is not there or that the candidate meets."""
    found = []
    held = {name: line for line in met for name in held_in(line)}
    for line in rejected:
        name, why, *right = [*parts_of(line), ""][:3]
        if not why or not any(right):
            found.append(f"rejected {line[:60]!r}: write {name} | R2, or why not | what would make it right")
        elif re.fullmatch(r"R\d+", why):
            if why not in criteria:
                found.append(f"rejected {line[:60]!r}: {why} is none of {', '.join(criteria)}; or say why not in words")
            elif re.search(rf"\b{why}\W+yes\b", held.get(name, ""), re.IGNORECASE):
                found.append(f"rejected {line[:60]!r}: {name} meets {why} by met; say why not in words")
    return found


def faults(kind: str, values: list[str]) -> list[str]:
    """The faults of what is named; OSError or ValueError for a file or list that cannot be read."""
    if kind == "choice":
        candidates, criteria, attacks, met = map(json.loads, values[:4])
        return choice_faults(candidates, criteria, attacks, met, values[4], json.loads(values[5]))
    if kind == "attacks":
        return attack_faults(*map(json.loads, values))
    if kind == "built":
        return built_faults(*map(json.loads, values))
    rows = [] if _UNSAID.fullmatch(values[0]) else json.loads(values[0])
    return corrected_faults(rows) if kind == "corrected" else numbered_faults(kind, rows)


COUNTS = {**dict.fromkeys(NUMBERED, 1), "built": 2, "corrected": 1, "attacks": 4, "choice": 6}


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
