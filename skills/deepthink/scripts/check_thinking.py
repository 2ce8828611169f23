"""Checks what deepthink reports: the mode, the parts of the plan, the perspectives, the judgement of what came back.

Called as ``mode GIVEN CHOSEN``, ``parts LIST``, ``perspectives LIST``, ``design PERSPECTIVES PARTS COVERAGE`` or
``judged PERSPECTIVES LOST CHECKED WEAK``, each list a JSON array of texts; prints each fault and ends with 1 if there
is one.
"""

from __future__ import annotations

import json
import re
import sys

PARTS = "Q1 | sub-question | what would settle it"
PERSPECTIVES = "P1 name | its question | how it works | what it leaves to others"
_ID = re.compile(r"[A-Z]\d+\b")
_PERSPECTIVE = re.compile(r"\bP\d+\b")


def mode_faults(given: str, chosen: str) -> list[str]:
    """A chosen mode that contradicts the one that the run was opened with."""
    if given in ("auto", chosen):
        return []
    return [f"chosen is {chosen}, and this run was opened with --mode {given}: record chosen={given}"]


def numbered_faults(lines: list[str], form: str) -> list[str]:
    """Lines whose numbers are not in order, or that do not have the parts of the form."""
    found, count = [], form.count("|") + 1
    for number, line in enumerate(lines, 1):
        parts, wanted = parts_of(line, count), f"{form[0]}{number}"
        where = f"entry {number}, {line[:60]!r}"
        if id_of(line) != wanted:
            found.append(f"{where}: it does not begin with {wanted}")
        elif len(parts) != count or not all(parts):
            found.append(f"{where}: {len(parts)} parts; write {form}")
    return found


def perspective_faults(perspectives: list[str]) -> list[str]:
    """What is wrong with the lines, and names that are missing or stand twice."""
    found = numbered_faults(perspectives, PERSPECTIVES)
    names: list[str] = []
    for line in perspectives:
        name = parts_of(line)[0].removeprefix(id_of(line)).strip().casefold()
        if not name or name in names:
            found.append(f"{line[:60]!r}: {'another perspective has that name' if name else 'it has no name'}")
        names.append(name)
    return found


def coverage_faults(perspectives: list[str], parts: list[str], coverage: list[str]) -> list[str]:
    """Parts of the plan that no perspective covers, and ids that nothing has."""
    known = set(map(id_of, perspectives))
    covered: dict[str, set[str]] = {}
    found = []
    for line in coverage:
        ids = set(_PERSPECTIVE.findall(line.partition("|")[2]))
        covered.setdefault(id_of(line), set()).update(ids & known)
        found += [f"coverage {line[:60]!r}: there is no {name}" for name in sorted(ids - known)]
    bare = [id_of(part) for part in parts if not covered.get(id_of(part))]
    return found + [f'coverage: {part} has no perspective; add "{part} | P1"' for part in bare]


def judgement_faults(perspectives: list[str], lost: list[str], checked: list[str], weak: list[str]) -> list[str]:
    """Answers that nobody checked, entries without their parts, and ids that no perspective has."""
    known = list(map(id_of, perspectives))
    found = [fault for line in checked for fault in entry_faults("checked", line, known, 3)]
    found += [fault for line in weak for fault in entry_faults("weak", line, known, 2)]
    seen, away = set(map(id_of, checked)), set(map(id_of, lost))
    missing = [name for name in known if name not in seen | away]
    found += [f'checked: {name} has no entry; add "{name} | claim | what you checked, what came"' for name in missing]
    return found


def entry_faults(field: str, line: str, known: list[str], count: int) -> list[str]:
    """What is wrong with one entry that begins with a perspective's id."""
    parts = parts_of(line, count)
    where = f"{field} {line[:60]!r}"
    if parts[0] not in known:
        return [f"{where}: it does not begin with one of {', '.join(known)} and a |"]
    if len(parts) != count or not all(parts):
        return [f"{where}: {len(parts)} parts, and it has {count}, parted by |"]
    return []


def id_of(line: str) -> str:
    """The id that a line begins with, or nothing."""
    match = _ID.match(line)
    return match[0] if match else ""


def parts_of(line: str, count: int = 0) -> list[str]:
    """What stands between the bars of a line; the last of ``count`` parts may hold further bars."""
    return [part.strip() for part in line.split("|", count - 1)]


def faults(kind: str, values: list[str]) -> list[str]:
    """The faults of what is named."""
    if kind == "mode":
        return mode_faults(*values)
    lists = [json.loads(value) for value in values]
    if kind == "parts":
        return numbered_faults(lists[0], PARTS)
    if kind == "perspectives":
        return perspective_faults(lists[0])
    if kind == "design":
        return perspective_faults(lists[0]) or coverage_faults(*lists)
    return judgement_faults(*lists)


COUNTS = {"mode": 2, "parts": 1, "perspectives": 1, "design": 3, "judged": 4}


def main(arguments: list[str]) -> int:
    """Print the faults of what is named; 0 if there are none."""
    kind, values = (arguments[0], arguments[1:]) if arguments else ("", [])
    if COUNTS.get(kind) != len(values):
        print("usage: check_thinking.py mode|parts|perspectives|design|judged VALUE…")
        return 2
    found = faults(kind, values)
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
