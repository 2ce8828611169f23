"""Checks what a run of incoherence records, in the project's root: that quotations stand, that nothing is forgotten.

Called as ``CHECK ARGUMENT…``; lists are JSON arrays, and an argument that still is a name in braces, such as
``{plan.items}``, was never recorded and counts as empty. Prints each fault and ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

# Also where Python leaves the folder of a script out (PYTHONSAFEPATH).
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import incoherence_quotes as quotes  # type: ignore[import-not-found]  # beside this script, in no package

import skills.lib.checks as checks
from skills.lib.paths import scripts

SHOWN = 10
ENTRY = 650
CONFIRMED = ("ambiguity", "gap", "drift", "contradiction")
DISMISSED = ("false-alarm", "duplicate", "unjudged")
SEVERITIES = ("MUST", "SHOULD", "COULD")
NO_CELLS = "it has {count} parts, and takes {wanted} with bars between: {form}"

Entries = list[str]


def cells(entry: str) -> list[str]:
    """The parts of an entry that bars separate."""
    return [part.strip() for part in entry.split("|")]


def name(entry: str) -> str:
    """The id that an entry begins with."""
    return cells(entry)[0]


def coverage_faults(wanted: Entries, given: Entries, what: str) -> Entries:
    """Which ids are missing, are there more than once, or are none at all."""
    count = Counter(given)
    missing = [one for one in wanted if not count[one]]
    found = [f"{what} {', '.join(missing)}: missing; each stands exactly once"] if missing else []
    often = {one: times for one, times in count.items() if times > 1}
    found += [f"{what} {one[:60]} stands {times} times; each stands exactly once" for one, times in often.items()]
    valid = ", ".join(wanted) or "none"
    return found + [f"{one[:60]!r} is no {what} here; there are: {valid}" for one in count if one not in wanted]


def each(entries: Entries, fault: Callable[[str], str]) -> Entries:
    """The faults of entries, one by one."""
    pairs = [(entry, fault(entry)) for entry in entries]
    return [f"{entry[:60]!r}: {why}" for entry, why in pairs if why]


def shaped(wanted: int, form: str, words: tuple[str, ...] = ()) -> Callable[[str], str]:
    """A fault for entries that have too few parts, an empty one, or another word as the second part."""

    def fault(entry: str) -> str:
        found = cells(entry)
        if len(found) < wanted or not all(found[:wanted]):
            return NO_CELLS.format(count=len([part for part in found if part]), wanted=wanted, form=form)
        return f"its second part is one of {', '.join(words)}" if words and found[1] not in words else ""

    return fault


def reasoned(wanted: int, form: str, words: tuple[str, ...] = ()) -> Callable[[str], str]:
    """A fault as of ``shaped``, and one for a last part of a single word."""
    shape = shaped(wanted, form, words)

    def fault(entry: str) -> str:
        why = shape(entry)
        if why or checks.is_reason(cells(entry)[wanted - 1]):
            return why
        return f"a reason has more than a word: {form}"

    return fault


def sources(entries: Entries) -> Entries:
    """Each entry begins with a path that exists."""
    return each(entries, lambda entry: quotes.path_fault(name(entry).strip("`")))


def compared(entries: Entries) -> Entries:
    """Each entry is a place and what was compared there, or says why there is none."""

    def fault(entry: str) -> str:
        parts = [*cells(entry), "", "", ""]
        if parts[0] == "none":
            return "" if not checks.says_little(parts[1]) else "say why there is none, in a few words"
        why = checks.location_fault(parts[0])
        if not why and re.match(r"differs\b", parts[2].lower()):
            return "what differs is a finding: quote both sides in findings, or in more on the second look"
        if why or not re.match(r"(agrees|unclear)\b", parts[2].lower()) or not parts[1] or not parts[3]:
            form = "path:line | statement | agrees or unclear | the other side; or none | why"
            return f"{why or 'it has not all its parts'}; write {form}"
        return "; ".join(checks.quotation_faults(entry))

    return each(entries, fault)


def dimensions(chosen: Entries, skipped: Entries) -> Entries:
    """Every letter of the catalogue is chosen or skipped, once."""
    file = os.path.join(scripts(__file__), os.pardir, "resources", "dimensions.md")
    with open(file, encoding="utf-8") as opened:
        letters = re.findall(r"^## ([A-Z]) ", opened.read(), re.MULTILINE)
    found = coverage_faults(letters, [name(entry) for entry in [*chosen, *skipped]], "dimension")
    found += each(chosen, shaped(3, "letter | paths on both sides | what could disagree"))
    return found + each(skipped, shaped(2, "letter | reason"))


def findings(entries: Entries) -> Entries:
    """Each finding quotes two places."""
    return each(entries, quotes.finding_fault)


def evidence(candidate: str, entries: Entries) -> Entries:
    """Each piece of evidence quotes one place, or is about a place of the candidate by its number."""

    def fault(entry: str) -> str:
        number, *said = cells(entry)
        if not number.isdigit():
            why: str = quotes.evidence_fault(entry)
            return why
        count = quotes.count(candidate)
        if not 1 <= int(number) <= count:
            return f'the candidate has {count} places; quote another one: path:line "quote" | what it shows'
        return "" if any(said) else f"write {number} | what it shows"

    return each(entries, fault)


def candidates(found: Entries, given: Entries, dropped: Entries) -> Entries:
    """Candidates are numbered, and use up the findings together with the dropped ones."""
    wanted = [f"I{at}" for at in range(1, len(given) + 1)]
    if [name(entry) for entry in given] != wanted:
        return [f"the candidates begin with {', '.join(map(name, given))[:200]}; number them {', '.join(wanted)}"]
    used = [one.strip() for entry in given for one in [*cells(entry), ""][1].split(",")]
    wrong = coverage_faults([name(entry) for entry in found], used + [name(entry) for entry in dropped], "finding")
    return each(given, shaped(2, "I1 | A1, C2")) + wrong + each(dropped, reasoned(2, "finding | reason"))


def judgement(verdict: str, options: Entries, recommended: str) -> Entries:
    """A false alarm has no options; everything else has two to four, and one of them is recommended."""
    if verdict == "false-alarm":
        return ["a false alarm has nothing to settle: give no options"] if options else []
    letters = [name(entry) for entry in options]
    if len(options) < 2 or letters != list("abcd")[: len(letters)]:
        return [
            f"the options are {', '.join(letters) or 'none'}; give two to four: a | change | files | cost, then b, …"
        ]
    found = each(options, shaped(4, "a | change | files | cost"))
    if recommended[:1] not in letters or recommended[1:2] != ":":
        found.append(f"recommended begins with the letter of an option: {letters[0]}: because …")
    return found


def verdicts(given: Entries, judged: list[dict[str, Any]], issues: Entries, dismissed: Entries) -> Entries:
    """Every candidate is an issue or dismissed, once; a title alone is of an issue that was judged to be one."""
    found = coverage_faults([name(entry) for entry in given], [name(e) for e in [*issues, *dismissed]], "candidate")
    titles = [entry for entry in issues if len(cells(entry)) <= 2]
    corrected = [entry for entry in issues if entry not in titles]
    form = "I1 | verdict | severity | title"
    found += each(titles, shaped(2, "I1 | title")) + each(corrected, shaped(4, form, CONFIRMED))
    verdict = {name(one["candidate"]): one["verdict"] for one in judged}
    found += [
        f"{entry[:60]!r}: it was judged {verdict[name(entry)]}; to call it an issue, write {form}"
        for entry in titles
        if verdict.get(name(entry), CONFIRMED[0]) not in CONFIRMED
    ]
    severities = [entry for entry in corrected if cells(entry)[2:3] and cells(entry)[2] not in SEVERITIES]
    found += [f"{entry[:60]!r}: its third part is one of {', '.join(SEVERITIES)}" for entry in severities]
    return found + each(dismissed, reasoned(3, "I2 | word | reason", DISMISSED))


def batch(
    first: Entries, due: Entries, issues: Entries, judged: list[dict[str, Any]], asked: Entries, entries: Entries
) -> Entries:
    """The entries are of issues that are due, each with lettered options and a recommendation.

    What the user asked back, or nobody gave options for, needs an entry that is written for it.
    """
    wanted, given = due or first, list(map(issue_of, entries))
    found = [f"{one[:60]!r} is no issue due here; there are: {', '.join(wanted)}" for one in given if one not in wanted]
    found += [f"{one[:60]} has two entries" for one in checks.repeated(given)]
    made = made_entries(wanted, issues, judged)
    for issue in wanted:
        if issue not in given and issue in map(name, asked):
            found.append(f"the user asked about {issue}: give an entry of it that answers what they asked")
        elif issue not in given and entry_fault(made[issue], shown=True):
            found.append(f"{issue} was judged without options: give an entry of it")
    return found + each(entries, entry_fault)


def made_entries(wanted: Entries, issues: Entries, judged: list[dict[str, Any]]) -> dict[str, str]:
    """By issue the text that a user decides by, made of its title, its candidate, and how it was judged."""
    by_issue, titles = {name(one["candidate"]): one for one in judged}, {name(entry): cells(entry) for entry in issues}
    made = {}
    for issue in wanted:
        one, (_, verdict, severity, title, *_) = by_issue[issue], titles[issue]
        places = one["candidate"].partition("|")[2].rpartition("|")[0].strip()
        options = [cells(option) for option in one.get("options", ())]
        lines = [f"{letter}) {change} ({files}); costs: {cost}" for letter, change, files, cost, *_ in options]
        letter, _, reason = one.get("recommended", "").partition(":")
        recommended = [f"Recommended: {letter}, {reason.strip()}"] if letter else []
        head = f"{issue}: {title} ({verdict}, {severity})"
        made[issue] = "\n".join([head, places, one.get("why", "").strip(), *lines, *recommended])
    return made


def shown(
    first: Entries, due: Entries, issues: Entries, judged: list[dict[str, Any]], asked: Entries, entries: Entries
) -> Entries:
    """The entries of the batch, those that were given in place of the made ones."""
    own = {issue_of(entry): entry for entry in entries}
    return list({**made_entries(due or first, issues, judged), **own}.values())


def entry_fault(entry: str, shown: bool = False) -> str:
    """Why a user could not decide by an entry; or nothing. What a script made, ``shown``, may be longer."""
    letters = options_of(entry)
    if not re.match(r"I\d+: \S", entry):
        return "its first line has to be: I1: what disagrees"
    if len(letters) < 2 or letters != list("abcd")[: len(letters)]:
        return f"its options are {', '.join(letters) or 'none'}; give two to four lines: a) …, b) …"
    chosen = re.findall(r"^Recommended: ([a-z])\b", entry, re.MULTILINE)
    if len(chosen) != 1 or chosen[0] not in letters:
        return "write one line that begins with Recommended: and the letter of one of its options"
    return f"it has {len(entry)} characters, at most {ENTRY}" if len(entry) > ENTRY and not shown else ""


def issue_of(entry: str) -> str:
    """The id that an entry of a batch begins with."""
    return entry.partition(":")[0].strip()


def options_of(entry: str) -> Entries:
    """The letters of the options that an entry of a batch offers."""
    return re.findall(r"^([a-z])\) \S", entry, re.MULTILINE)


def resolutions(entries: Entries, given: Entries) -> Entries:
    """Every issue of the batch has an answer; a resolved one names its option, or the user's own, and what to do."""
    offered = {issue_of(entry): options_of(entry) for entry in entries}

    def fault(resolution: str) -> str:
        found = cells(resolution)
        letters = offered.get(found[0], [])
        if found[1:2] and found[1] in letters:
            return ""
        if re.fullmatch("[a-z]", "".join(found[1:2])):
            return f"{found[1]!r} is no option of {found[0]}: use {', '.join([*letters, 'own'])}"
        words = ("own", "deferred", "rejected", "again")
        form = "I1 | a; or I1 | own | what is to be done; or I2 | deferred, rejected or again | reason"
        return shaped(3, form, words)(resolution)

    return coverage_faults(list(offered), [name(entry) for entry in given], "issue") + each(given, fault)


def files_of(item: str) -> list[tuple[str, bool]]:
    """The files that an item names, each with whether it is new."""
    named = [path.strip() for path in [*cells(item), "", ""][2].split(",")]
    return [(quotes.plain(path.removesuffix("(new)")), path.endswith("(new)")) for path in named if path]


def plan(log: Entries, items: Entries) -> Entries:
    """Items are numbered, cover the resolved issues, and name files that exist."""
    wanted = [f"W{at}" for at in range(1, len(items) + 1)]
    if [name(item) for item in items] != wanted:
        return [f"the items begin with {', '.join(map(name, items))[:200]}; number them {', '.join(wanted)}"]
    resolved = [name(entry) for entry in log if cells(entry)[1:2] == ["resolved"]]
    covered = [issue.strip() for item in items for issue in [*cells(item), ""][1].split(",")]
    found = each(items, shaped(4, "W1 | I1, I3 | files | how one sees that it is done"))
    return found + coverage_faults(resolved, covered, "resolved issue") + each(items, file_fault)


def file_fault(item: str) -> str:
    """Why the files of an item are none that can be changed; or nothing."""
    for path, new in files_of(item):
        fault = quotes.path_fault(path)
        if new and fault.startswith("no such file"):
            continue
        if new and not fault:
            return f"{path} exists, and is marked (new)"
        if fault:
            return f"{path}: {fault}; one that is to be written is marked: {path} (new)"
        if not os.path.isfile(path):
            return f"{path} is a folder; name the files that change"
    return ""


def changes(item: str, status: str, given: Entries) -> Entries:
    """What is applied is seen in every file of the item; what is blocked changed nothing."""
    if status != "applied":
        return ["a blocked item has no changes: put its files back, and give []"] if given else []
    files = [path for path, _ in files_of(item.partition("\n")[0])]
    found, accounted, changed = Entries(), set(), 0
    for entry in given:
        path, state, fault = change_of(entry, files)
        accounted.add(path)
        changed += state != "unchanged"
        if fault:
            found.append(f"{entry[:60]!r}: {fault}")
    unseen = [path for path in files if path not in accounted]
    if unseen:
        found.append(f"{', '.join(unseen)}: named by the item, not by a change; or: path | unchanged: reason")
    return found if changed else [*found, "nothing is changed: the status is blocked"]


def change_of(entry: str, files: Entries) -> tuple[str, str, str]:
    """The file that an entry is about; changed, deleted or unchanged; and what is wrong with the entry."""
    state = re.match(r"(unchanged|deleted): \S", [*cells(entry), ""][1])
    if not state:
        path, fault = quotes.change_fault(entry, files)
        return path, "changed", fault
    path = quotes.plain(name(entry))
    if path not in files:
        return path, state[1], f"{path} is not a file of the item, which names {', '.join(files)}"
    there = os.path.exists(path)
    wrong = {"deleted": there, "unchanged": not there}[state[1]]
    return path, state[1], f"{path} {'is still there' if there else 'does not exist'}" if wrong else ""


def wave(items: Entries, outcomes: Entries) -> Entries:
    """Every item of the wave has come to something; one that is applied is quoted from its file."""

    def fault(outcome: str) -> str:
        wrong = shaped(3, 'W1 | applied | path:line "quote"', ("applied", "again", "failed"))(outcome)
        applied = cells(outcome)[1:2] == ["applied"]
        return wrong or (quotes.quoted_fault(outcome.split("|", 2)[2]) if applied else "")

    return coverage_faults(items, [name(outcome) for outcome in outcomes], "item of this wave") + each(outcomes, fault)


TEXTS: dict[Callable[..., Entries], tuple[int, ...]] = {judgement: (0, 2), changes: (0, 1), evidence: (0,)}
CHECKS: dict[str, Callable[..., Entries]] = {
    check.__name__: check
    for check in (
        *(sources, compared, dimensions, findings, evidence, candidates, judgement, verdicts),
        *(batch, resolutions, plan, changes, wave),
    )
}


def read(argument: str, is_text: bool) -> Any:
    """An argument as it is, or as the list that it holds; what was never recorded is an empty list."""
    if is_text:
        return argument
    return [] if re.fullmatch(r"\{[\w.-]+\}", argument) else json.loads(argument)


def main(arguments: list[str]) -> int:
    """Print the faults that the named check finds; 0 if there are none."""
    check = CHECKS.get(arguments[0]) if arguments else None
    if check is None:
        print(f"usage: check_incoherence.py {'|'.join(CHECKS)} ARGUMENT…")
        return 2
    texts = TEXTS.get(check, ())
    try:
        found = check(*[read(argument, at in texts) for at, argument in enumerate(arguments[1:])])
    except (OSError, ValueError) as error:
        found = [f"cannot be read: {error}"]
    else:
        if check is batch and not found:
            print(json.dumps(shown(*[read(argument, False) for argument in arguments[1:]]), ensure_ascii=False))
    for fault in found[:SHOWN]:
        print(fault)
    if len(found) > SHOWN:
        print(f"and {len(found) - SHOWN} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
