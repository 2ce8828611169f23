"""Checks what deepthink reports: the mode, numbered lists, the perspectives, the judgement of what came back.

Called as ``mode GIVEN CHOSEN``; with the name of a numbered list (``parts``, ``found``, ``claims`` or ``theses``) and
the list; as ``questions QUESTIONS``, ``answers QUESTIONS ANSWERS``, ``standing CLAIMS STANDING``, ``kept FIRST NOW
CHANGED``, ``edits FIRST CURRENT EDITS``, ``report CURRENT THESES OPEN LOG CONFIDENCE PERSPECTIVES``, ``design
PERSPECTIVES PARTS``, ``revised DESIGN PARTS FAULTS LINES DECLINED``, ``insights HEARD INSIGHTS`` or ``judged
PERSPECTIVES LOST CLAIMED CHECKED WEAK DESIGN``. Each list is a JSON array of texts, or the name in braces of a field
that was left out. Prints each fault and ends with 1 if there is one. Without a fault ``edits`` prints the answer as it
is then, ``kept`` the claims, ``revised`` the perspectives, ``questions`` the questions by number, and ``report`` the
report, as JSON.
"""

from __future__ import annotations

import json
import re
import sys

THESES = "S1 | claim | rests on | what would refute it"
NUMBERED = {
    "parts": "Q1 | sub-question | what would settle it",
    "found": "F1 | fact | source",
    "claims": "A1 | claim | rests on",
    "theses": THESES,
}
ANSWERS = ("observed", "known", "unknown")
STANDINGS = ("upheld", "changed", "refuted", "open")
QUESTIONS = "question | where to look"
PERSPECTIVES = "P1 name | its question | how it works | what it leaves to others | Q1, Q2"
_ID = re.compile(r"[A-Z]\d+\b")
_LEFT_OUT = re.compile(r"\{[\w.-]+\}")
_PERSPECTIVE = re.compile(r"\bP\d+\b")
_PART = re.compile(r"\bQ\d+\b")
_EDIT = re.compile(r'\s*"(?P<old>.+?)"\s*->\s*"(?P<new>.*)"\s*', re.DOTALL)
# How sure an answer is said to be.
SURE = {
    "certain": "certain",
    "high": "high: so, as far as it could be tested",
    "medium": "medium: most likely so",
    "low": "low: not settled; this is what speaks most for",
    "exploring": "exploring: not settled; this is what speaks most for",
}


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
            found.append(f"{where}: begin it with {wanted}; the form is {form}")
        elif len(parts) != count or not all(parts):
            found.append(f"{where}: {len(parts)} parts; write {form}")
    return found


def word_faults(field: str, asked: list[str], given: list[str], words: tuple[str, ...], count: int) -> list[str]:
    """What is asked and has no entry, and entries without a known id, one of the words, and the rest of their parts."""
    known = list(map(id_of, asked))
    found = []
    for line in given:
        faults = entry_faults(field, line, known, count)
        if not faults and parts_of(line, count)[1].lower() not in words:
            faults = [f"{field} {line[:60]!r}: its second part is one of {', '.join(words)}"]
        found += faults
    missing = [name for name in known if name not in set(map(id_of, given))]
    return found + [f"{field}: {name} has no entry" for name in missing]


def thesis_faults(before: list[str], theses: list[str]) -> list[str]:
    """Claims without an id of their own or without their parts; their numbers may have gaps, and one may be dropped."""
    found, names = [], list(map(id_of, theses))
    for name, line in zip(names, theses, strict=True):
        parts = parts_of(line, 4)
        if name.startswith("S") and len(parts) == 2 and parts[1].startswith("dropped: "):
            continue
        whole = parts_of(filled(line, before), 4)
        if drops_badly(line):
            found.append(f"claims {line[:60]!r}: write {name} | dropped: why")
        elif not name.startswith("S") or parts[0] != name or len(whole) != 4 or not all(whole) or "=" in whole:
            found.append(f"claims {line[:60]!r}: write {THESES}")
    return found + [f"claims: {name} is given twice" for name in sorted(set(names)) if name and names.count(name) > 1]


def theses_now(before: list[str], changed: list[str]) -> list[str]:
    """The claims as they are then, without those that are dropped."""
    claims = {id_of(line): line for line in before}
    claims.update({id_of(line): filled(line, before) for line in changed})
    dropped = [id_of(line) for line in changed if parts_of(line, 2)[-1].startswith("dropped: ")]
    return [line for name, line in claims.items() if name not in dropped]


def drops_badly(line: str) -> bool:
    """True if a line would drop something, and gives no reason or has further parts."""
    second, *more = [*parts_of(line), ""][1:-1] or [""]
    word, _, why = second.partition(":")
    return word.lower() == "dropped" and (bool(more) or not why or not second.startswith("dropped: "))


def filled(line: str, before: list[str]) -> str:
    """A line whose parts that are "=", or left out at its end, are those of the line before with its id."""
    known = next((parts_of(one) for one in before if id_of(one) == id_of(line)), [])
    given = parts_of(line, len(known)) if known else parts_of(line)
    if known and given[0] == id_of(line):
        given[0] = known[0]
    parts = [part if part != "=" or at >= len(known) else known[at] for at, part in enumerate(given)]
    return " | ".join([*parts, *known[len(parts) :]])


def edited(answer: str, edits: list[str]) -> tuple[str, list[str]]:
    """The answer with its edits made, and the faults of those whose old words do not stand in it once."""
    found = []
    for row in edits:
        match = _EDIT.fullmatch(row)
        if match is None:
            found.append(f'edits {row[:60]!r}: write "old words" -> "new words"')
        elif match["old"] == match["new"]:
            found.append(f"edits {row[:60]!r}: the new words are the old ones; leave it out, or change them")
        elif answer.count(match["old"]) != 1:
            times = answer.count(match["old"])
            found.append(
                f"edits {row[:60]!r}: the old words stand {times} times in the answer; quote them so that it is one"
            )
        else:
            answer = answer.replace(match["old"], match["new"])
    if not found and len(answer) < 40:
        found.append("edits: hardly anything of the answer is left")
    return answer, found


def report(
    answer: str, theses: list[str], open_ones: list[str], log: list[str], confidence: str, perspectives: list[str]
) -> str:
    """The report, with the names of perspectives in place of their ids."""
    names = {id_of(line): parts_of(line)[0].removeprefix(id_of(line)).strip() for line in perspectives}

    def named(text: str) -> str:
        return _PERSPECTIVE.sub(lambda match: f"({names[match[0]]})" if match[0] in names else match[0], text)

    claims = [parts_of(line, 4) for line in theses]
    told = [f"- {parts[1]} Rests on: {named(parts[2])}. Refuted by: {parts[3]}." for parts in claims if len(parts) == 4]
    parts = [
        [f"How sure: {SURE[confidence]}.", "", answer],
        ["What carries it:", *told],
        ["What was tried against it:", *(f"- {named(entry)}" for entry in log)],
        ["Open:", *(f"- {entry}" for entry in open_ones)] if open_ones else [],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def perspective_faults(perspectives: list[str]) -> list[str]:
    """What is wrong with the lines, and names that are missing or stand twice."""
    return numbered_faults(perspectives, PERSPECTIVES) + name_faults(perspectives)


def name_faults(perspectives: list[str]) -> list[str]:
    """Names of perspectives that are missing or stand twice."""
    found, names = [], list[str]()
    for line in perspectives:
        name = parts_of(line)[0].removeprefix(id_of(line)).strip().casefold()
        if not name or name in names:
            found.append(f"{line[:60]!r}: {'another perspective has that name' if name else 'it has no name'}")
        names.append(name)
    return found


def coverage_faults(perspectives: list[str], parts: list[str]) -> list[str]:
    """Parts of the plan that no perspective covers, and ids that nothing has."""
    known = list(map(id_of, parts))
    covered = {id_of(line): _PART.findall(parts_of(line, 5)[-1]) for line in perspectives}
    found = [f"{name}: there is no {part}" for name, named in covered.items() for part in named if part not in known]
    found += [f"{name} works on no part: end its line with one, as Q1" for name, named in covered.items() if not named]
    every = {part for named in covered.values() for part in named}
    return found + [f"{part} has no perspective; add it to the end of a line" for part in known if part not in every]


def revised(before: list[str], lines: list[str]) -> list[str]:
    """The perspectives as they are then; the number of a dropped one stays free."""
    after = {id_of(line): line for line in before}
    for line in lines:
        name, parts = id_of(line), parts_of(line)
        if len(parts) == 2 and parts[1].startswith("dropped: "):
            after.pop(name, None)
        else:
            after[name] = filled(line, before)
    return sorted(after.values(), key=lambda line: (len(id_of(line)), id_of(line)))


def revision_faults(
    before: list[str], parts: list[str], faults: list[str], lines: list[str], declined: list[str]
) -> list[str]:
    """What is wrong with the revised lines, and faults whose line is as it was without a word why."""
    known, after = [*map(id_of, before), "all"], revised(before, lines)
    found = [fault for line in faults for fault in entry_faults("faults", line, known, 2)]
    found += [fault for line in declined for fault in entry_faults("declined", line, known, 2)]
    found += [f"lines {line[:60]!r}: write {id_of(line)} | dropped: why" for line in lines if drops_badly(line)]
    given = list(map(id_of, lines))
    found += [f"lines: {name} is given twice" for name in sorted(set(given)) if name and given.count(name) > 1]
    found += [f"{line[:60]!r}: write {PERSPECTIVES}" for line in after if not is_perspective(line)]
    if not 3 <= len(after) <= 6:
        found.append(f"{len(after)} perspectives are left: three to six answer the question")
    found = found or [*name_faults(after), *coverage_faults(after, parts)]
    stays = [parts_of(line) for line in after]
    kept = {id_of(line) for line in before if parts_of(line) in stays}
    told = {parts_of(line)[0] for line in declined}
    for name in dict.fromkeys(map(id_of, faults)):
        if name in kept - told:
            found.append(f'{name} has a fault and is as it was; change it, or add "{name} | why" to declined')
    if "all" in [parts_of(line)[0] for line in faults] and [*map(parts_of, before)] == stays and "all" not in told:
        found.append('a fault of "all" is named and no line was changed; change one, or add "all | why" to declined')
    return found


def is_perspective(line: str) -> bool:
    """True if a line has a perspective's id and parts."""
    parts = parts_of(line, 5)
    return id_of(line).startswith("P") and len(parts) == 5 and all(parts) and "=" not in parts


def judgement_faults(
    perspectives: list[str], lost: list[str], claimed: list[str], checked: list[str], weak: list[str], design: str
) -> list[str]:
    """Answers that nobody checked, entries without their parts, ids that nothing has, and a bare "fails"."""
    known = list(map(id_of, perspectives))
    claims = {id_of(line): parts_of(line)[1].split(", ") for line in claimed}
    found = [fault for line in checked for fault in entry_faults("checked", line, known, 3)]
    for line in [] if found else checked:
        name, claim = parts_of(line, 3)[:2]
        if claim not in claims.get(name, [claim]):
            found.append(f"checked {line[:60]!r}: the second part is a claim of {name}: {', '.join(claims[name])}")
    found += [fault for line in weak for fault in entry_faults("weak", line, known, 2)]
    if not re.fullmatch(r"holds|fails: .{20,}", design.strip(), re.DOTALL):
        found.append(f'design {design[:60]!r}: write "holds", or "fails: " and why even full answers leave it open')
    seen, away = set(map(id_of, checked)), set(map(id_of, lost))
    missing = [name for name in known if name not in seen | away]
    found += [f'checked: {name} has no entry; add "{name} | A1 | what you checked, what came"' for name in missing]
    return found


def insight_faults(heard: list[str], insights: list[str]) -> list[str]:
    """Insights of perspectives that did not answer, and none at all where one did."""
    found = [fault for line in insights for fault in entry_faults("insights", line, heard, 3)]
    if heard and not insights:
        found.append(f'insights: write one at least, "{heard[0]} | what nobody else saw | what it changes"')
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
    if kind == "edits":
        return edited(current(*values[:2]), listed(values[2]))[1]
    if kind == "judged":
        perspectives, lost, claimed, checked, weak = map(json.loads, values[:5])
        return judgement_faults(perspectives, lost, claimed, checked, weak, values[5])
    lists = list(map(listed, values))
    if kind in NUMBERED:
        return numbered_faults(lists[0], NUMBERED[kind])
    if kind == "kept":
        return thesis_faults(lists[1] or lists[0], lists[2])
    if kind == "questions":
        return [f"{line[:60]!r}: write {QUESTIONS}" for line in lists[0] if not asked(line)]
    if kind == "answers":
        return word_faults("answers", lists[0], lists[1], ANSWERS, 4)
    if kind == "standing":
        return word_faults("standing", lists[0], lists[1], STANDINGS, 3)
    if kind == "design":
        return perspective_faults(lists[0]) or coverage_faults(*lists)
    if kind == "insights":
        return insight_faults(*lists)
    return revision_faults(*lists)


def listed(value: str) -> list[str]:
    """The texts of a JSON array; none for a field that was left out."""
    return [] if _LEFT_OUT.fullmatch(value) else list(json.loads(value))


def asked(line: str) -> str:
    """A question and where to look; empty if one of them is missing."""
    parts = parts_of(line, 2)
    return f"{parts[0]} | look in: {parts[1]}" if len(parts) == 2 and all(parts) else ""


def current(first: str, now: str) -> str:
    """The answer as it is now: the first one, until a pass has kept one."""
    return first if _LEFT_OUT.fullmatch(now) else now


COUNTS = {
    **dict.fromkeys(NUMBERED, 1),
    "mode": 2,
    "kept": 3,
    "questions": 1,
    "edits": 3,
    "report": 6,
    "answers": 2,
    "standing": 2,
    "design": 2,
    "revised": 5,
    "insights": 2,
    "judged": 6,
}


def main(arguments: list[str]) -> int:
    """Print the faults of what is named; 0 if there are none."""
    kind, values = (arguments[0], arguments[1:]) if arguments else ("", [])
    if COUNTS.get(kind) != len(values):
        print(f"usage: check_thinking.py {'|'.join(COUNTS)} VALUE…")
        return 2
    if kind == "report":
        theses, open_ones, log, perspectives = (listed(values[at]) for at in (1, 2, 3, 5))
        print(json.dumps(report(values[0], theses, open_ones, log, values[4], perspectives)))
        return 0
    found = faults(kind, values)
    for fault in found:
        print(fault)
    if kind == "edits" and not found:
        print(json.dumps(edited(current(*values[:2]), listed(values[2]))[0]))
    if kind == "revised" and not found:
        print(json.dumps(revised(listed(values[0]), listed(values[3]))))
    if kind == "kept" and not found:
        first, now, changed = map(listed, values)
        print(json.dumps(theses_now(now or first, changed)))
    if kind == "questions" and not found:
        print(json.dumps([f"V{number} | {asked(line)}" for number, line in enumerate(listed(values[0]), 1)]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
