"""Checks what prompt-engineer reports, and writes what was approved.

Called in the project's root; FILES, KEEP, VERDICTS and ENTRIES are JSON arrays of texts:

    begin FOLDER FILES FITS LEAST MOST  the prompts are there, and the folder is free; nothing if FITS is another scope
    begin-new …                         the same, and the prompts need not be there yet
    quotes ENTRIES                      every 'file | "passage" | …' quotes what stands in its file
    quotes-one FILES ENTRIES            the same of one prompt: '"passage" | …', with or without the file
    cases CASES LEAST                   every case has so many parts at least, and no two are one
    elsewhere FINDINGS CAUSE            a cause outside the prompts names a place
    noted FOLDER FILES ENTRIES          keeps the findings, so that plan.json can name one by its number
    parts FINDINGS PARTS                where a fault was found, a part says what is to stay
    held CASES FINDINGS HELD            where nothing is wrong, a passage is quoted for each case
    keep KEEP FILES                     every string stands in one of the prompts
    plan FOLDER FILES KEEP              plan.json has its form, and fits the prompts
    entries FOLDER FILES                prints as JSON what is said of the techniques that plan.json uses
    summary FOLDER FILES VERDICTS REJECTED REMARKS  prints as JSON what the user is asked about
    traced FOLDER FILES CASES ENTRIES   every case, as '1, 3 | "passage"', has a passage in after/
    told FOLDER FILES VERDICTS          prints as JSON what the user is told
    build FOLDER FILES KEEP VERDICTS    the same, judged; writes before/, after/ and changes.diff
    apply FOLDER FILES KEEP VERDICTS    writes the prompts, exactly as changes.diff says

Prints each fault and ends with 1 if there is one; nothing is then written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import prompt_plan as plans
from prompt_plan import Faulty, Prompt

import skills.lib.checks as checks

SHOWN = 10
CASE_FORMS = {
    "2": "input | what is right, and what came if it was run",
    "3": "input | what is right | what comes today; run or not",
}

_ENTRY = re.compile(r'\s*(?P<file>[^|"]+?)\s*\|\s*["“](?P<passage>.+?)["”]\s*\|\s*(?P<rest>\S.*)', re.DOTALL)
_TRACE = re.compile(r'\s*(?:cases? )?(?P<cases>\d+(?:\s*,\s*\d+)*)\s*\|\s*["“](?P<passage>.+?)["”].*', re.DOTALL)


def begin(folder: str, files: Sequence[str], fits: str, least: str, most: str, new: bool = False) -> str:
    """Check that a run may begin in the folder with these prompts, unless it ends because another scope fits."""
    if fits not in ("yes", "", "{fits}"):
        return f"not begun: {fits} fits better"
    faults = [f"{file} stands {files.count(file)} times in files" for file in set(files) if files.count(file) > 1]
    if not int(least) <= len(files) <= int(most):
        faults.append(f"{len(files)} prompts; this scope takes {least} to {most}")
    own = plans.inside(folder)
    if (own / plans.DIFF).exists():
        faults.append(f"{folder} holds the changes and the old prompts of an earlier run; name a new folder")
    for file in files:
        try:
            if plans.inside(file).is_relative_to(own):
                faults.append(f"{file} lies in the run's own folder; name the place where the prompt is used")
            elif plans.inside(file).exists() or not new:
                plans.text_of(file)
        except Faulty as problem:
            faults += problem.faults
    if faults:
        raise Faulty(*faults)
    return f"{len(files)} prompts"


def quotes(entries: Sequence[str]) -> str:
    """Check that every passage stands in its file; white space may differ."""
    faults = []
    for number, entry in enumerate(entries, 1):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            faults.append(f'entry {number}, {entry[:60]!r}: the form is file | "passage" | what is said of it')
            continue
        try:
            if _plain(match["passage"]) not in _plain(plans.text_of(match["file"])):
                faults.append(f"entry {number}: {match['passage'][:60]!r} does not stand in {match['file']}")
        except Faulty as problem:
            faults += [f"entry {number}: {fault}" for fault in problem.faults]
    if faults:
        raise Faulty(*faults)
    return f"{len(entries)} passages"


def quotes_one(files: Sequence[str], entries: Sequence[str]) -> str:
    """Check that every passage stands in the one prompt, which an entry may leave out."""
    whole = [entry if _ENTRY.fullmatch(entry) else f"{files[0]} | {entry}" for entry in entries]
    faults = [
        f'entry {number}, {given[:60]!r}: the form is "passage" | what is said of it'
        for number, (given, entry) in enumerate(zip(entries, whole, strict=True), 1)
        if not _ENTRY.fullmatch(entry)
    ]
    try:
        quotes([entry for entry in whole if _ENTRY.fullmatch(entry)])
    except Faulty as problem:
        faults += problem.faults
    if faults:
        raise Faulty(*faults)
    return f"{len(entries)} passages"


def noted(folder: str, files: Sequence[str], entries: Sequence[str]) -> str:
    """Keep the findings in the run's folder, each with file, quote and why."""
    whole = [_ENTRY.fullmatch(entry) or _ENTRY.fullmatch(f"{files[0]} | {entry}") for entry in entries]
    found = [{"file": one["file"], "quote": one["passage"], "why": one["rest"]} for one in whole if one]
    _write(plans.inside(folder) / plans.FINDINGS, json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    return f"{len(found)} findings"


def parts(findings: Sequence[str], entries: Sequence[str]) -> str:
    """Check that something is said of what a change must not take away, if there will be a change."""
    if findings and not entries:
        raise Faulty(
            'parts is empty: of each passage that a change may touch "first words" | what it does | who needs it'
        )
    return f"{len(entries)} parts"


def cases(entries: Sequence[str], least: str) -> str:
    """Check that every case has an input, what is right and, of three parts, what comes; no two have one input."""
    faults, inputs = [], list[str]()
    for number, entry in enumerate(entries, 1):
        parts = [part.strip() for part in entry.split("|")]
        if len(parts) < int(least) or not all(parts[: int(least)]):
            faults.append(f"case {number}, {entry[:60]!r}: write {CASE_FORMS[least]}")
        inputs.append(_plain(parts[0]).casefold())
    faults += [
        f"case {at}: its input is that of an earlier case"
        for at, one in enumerate(inputs, 1)
        if one in inputs[: at - 1]
    ]
    if faults:
        raise Faulty(*faults)
    return f"{len(entries)} cases"


def elsewhere(findings: Sequence[str], cause: str) -> str:
    """Check that a cause outside the prompts says where it is seen."""
    if not findings and not checks.names_location(cause):
        raise Faulty("findings is empty, so that cause names where it is seen: path:line of the transcript or the code")
    return "the cause has its place"


def held(entries: Sequence[str], findings: Sequence[str], passages: Sequence[str] | str) -> str:
    """Check that a run which finds no fault says for each case which passage makes its output right."""
    given = [] if isinstance(passages, str) else passages
    if not findings and len(given) < len(entries):
        raise Faulty(
            f"no fault was found, so that held says why: for each of the {len(entries)} cases "
            'file | "passage" | the case, and how this passage makes its output right'
        )
    return quotes(given)


def keep(strings: Sequence[str], files: Sequence[str]) -> str:
    """Check that what is to be kept is there."""
    texts = [plans.text_of(file) for file in files]
    faults = [f"{string[:60]!r} stands in none of the prompts" for string in strings if not _stands(string, texts)]
    if faults:
        raise Faulty(*faults)
    return f"{len(strings)} strings"


def plan(folder: str, files: Sequence[str], strings: Sequence[str]) -> str:
    """Check that the plan fits the prompts as they stand now."""
    changes = plans.read_changes(folder, files)
    changed = plans.prompts(folder, files, changes, {}, plans.inside)
    faults = plans.lost(strings, changed)
    if faults:
        raise Faulty(*faults)
    return f"{len(changes)} changes in {len(changed)} prompts"


def entries(folder: str, files: Sequence[str]) -> str:
    """What is said of each technique that the plan uses, without its sources; none if the plan has faults."""
    try:
        used = {change.technique for change in plans.read_changes(folder, files)}
    except Faulty:
        return "[]"
    return json.dumps([text for name, text in plans.technique_entries().items() if name in used], ensure_ascii=False)


def summary(
    folder: str, files: Sequence[str], entries: Sequence[str], rejected: Sequence[str], remarks: Sequence[str] | str
) -> str:
    """What the user is asked about: each change, what was left out and why, and what was not tested."""
    rows = []
    try:
        changes = plans.read_changes(folder, files)
        verdicts = plans.read_verdicts(entries, changes)
    except Faulty:
        return "[]"
    said = {(parts := entry.split("|"))[0].strip(): parts[-2].strip() for entry in entries}
    for change in changes:
        if verdicts[change.id] == plans.DROPPED:
            rows.append(f"dropped | {change.id}, {change.technique} | {said[change.id]}")
        else:
            since = " (mended in the last round, and not checked since)" * (verdicts[change.id] == plans.MENDED)
            rows.append(f"{change.id} | {change.file} | {change.technique} | {change.why}{since}")
    rows += [f"rejected | {row}" for row in rejected]
    rows += [] if isinstance(remarks, str) else remarks
    return json.dumps([*rows, "not tested | no model was run on the new text"], ensure_ascii=False)


def traced(folder: str, files: Sequence[str], cases: Sequence[str], entries: Sequence[str]) -> str:
    """Check that every case names a passage that stands in a prompt as it would be."""
    texts = []
    for file in files:
        after = os.path.join(folder, plans.AFTER, file)
        texts.append(_plain(plans.text_of(after if plans.inside(after).is_file() else file)))
    faults, known = list[str](), set[int]()
    for entry in entries:
        match = _TRACE.fullmatch(entry)
        named = [int(number) for number in match["cases"].split(",")] if match else []
        if match is None or not all(1 <= number <= len(cases) for number in named):
            faults.append(f'{entry[:60]!r}: the form is the number of a case, 1 to {len(cases)} | "passage"')
        elif not any(_plain(match["passage"]) in text for text in texts):
            faults.append(f"case {match['cases']}: {match['passage'][:60]!r} stands in no prompt under {folder}/after")
        else:
            known.update(named)
    if not faults:
        faults += [f"case {at} has no passage" for at in range(1, len(cases) + 1) if at not in known]
    if faults:
        raise Faulty(*faults)
    return f"{len(entries)} passages"


def told(folder: str, files: Sequence[str], entries: Sequence[str]) -> str:
    """What the user is told at the end: which changes were made in which prompt, and where the old texts lie."""
    try:
        changes = plans.read_changes(folder, files)
        verdicts = plans.read_verdicts(entries, changes)
    except Faulty:
        return '""'
    made = [change for change in changes if verdicts[change.id] != plans.DROPPED]
    rows = [f"{file} ({', '.join(change.id for change in made if change.file == file)})" for file in files]
    written = ", ".join(row for row in rows if not row.endswith("()"))
    words = f"Written: {written}. The old texts lie under {folder}/{plans.BEFORE}. No model was run on the new ones."
    return json.dumps(words, ensure_ascii=False)


def build(folder: str, files: Sequence[str], strings: Sequence[str], entries: Sequence[str]) -> str:
    """Write the old and the new texts and their difference into the folder; the prompts stay as they are."""
    changed = _judged(folder, files, strings, entries, plans.inside)
    for part in (plans.BEFORE, plans.AFTER):
        shutil.rmtree(plans.inside(folder) / part, ignore_errors=True)
    for prompt in changed:
        if prompt.before is not None:
            _write(plans.inside(folder) / plans.BEFORE / prompt.file, prompt.before)
        _write(plans.inside(folder) / plans.AFTER / prompt.file, prompt.after)
    diff = plans.difference(changed)
    _write(plans.inside(folder) / plans.DIFF, diff)
    return f"{folder}/{plans.DIFF} is written, sha256 {hashlib.sha256(diff.encode()).hexdigest()[:16]}"


def apply(folder: str, files: Sequence[str], strings: Sequence[str], entries: Sequence[str]) -> str:
    """Write the prompts as approved, and read them again; an approval of another difference does not count."""
    changed = _judged(folder, files, strings, entries, lambda file: plans.inside(folder) / plans.BEFORE / file)
    if plans.text_of(os.path.join(folder, plans.DIFF)) != plans.difference(changed):
        raise Faulty(
            f"plan.json, verdicts and before/ do not give the approved {folder}/{plans.DIFF}: something was edited "
            "since. Put it back as it was when the user said yes"
        )
    faults = []
    for prompt in changed:
        now = plans.text_of(prompt.file) if plans.inside(prompt.file).exists() else None
        if now not in (prompt.before, prompt.after):
            faults.append(
                f"{prompt.file} was edited since the user said yes; nothing was written. Show them the edit; if they "
                "agree, put back the text under before/"
            )
    if faults:
        raise Faulty(*faults)
    for prompt in changed:
        _write(plans.inside(prompt.file), prompt.after)
        if plans.text_of(prompt.file) != prompt.after:
            raise Faulty(f"{prompt.file} does not hold what was written; run the same command again")
    return f"written: {', '.join(prompt.file for prompt in changed) or 'nothing'}"


def _judged(
    folder: str, files: Sequence[str], strings: Sequence[str], entries: Sequence[str], before: Callable[[str], Path]
) -> list[Prompt]:
    changes = plans.read_changes(folder, files)
    verdicts = plans.read_verdicts(entries, changes)
    changed = plans.prompts(folder, files, changes, verdicts, before)
    faults = plans.lost(strings, changed)
    if faults:
        raise Faulty(*faults)
    return changed


def _write(path: Path, text: str) -> None:
    """Leave the text whole or not at all; the file keeps its mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(text.encode("utf-8"))
    if path.exists():
        shutil.copymode(path, part)
    os.replace(part, path)


def _stands(string: str, texts: Sequence[str]) -> bool:
    return any(plans.as_written(string, text) in text for text in texts)


def _plain(text: str) -> str:
    return " ".join(text.split())


# Each with the number of arguments that follow its name.
CHECKS: dict[str, tuple[Callable[..., str], int]] = {
    "begin": (begin, 5),
    "begin-new": (partial(begin, new=True), 5),
    "quotes": (quotes, 1),
    "quotes-one": (quotes_one, 2),
    "cases": (cases, 2),
    "noted": (noted, 3),
    "parts": (parts, 2),
    "elsewhere": (elsewhere, 2),
    "held": (held, 3),
    "keep": (keep, 2),
    "plan": (plan, 3),
    "entries": (entries, 2),
    "summary": (summary, 5),
    "traced": (traced, 4),
    "told": (told, 3),
    "build": (build, 4),
    "apply": (apply, 4),
}


def main(arguments: list[str]) -> int:
    """Do what is asked and say what came of it; 0 if nothing is wrong."""
    check, count = CHECKS.get(arguments[0] if arguments else "", (None, 0))
    if check is None or len(arguments) != count + 1:
        print(__doc__)
        return 2
    try:
        print(check(*(json.loads(value) if value.startswith("[") else value for value in arguments[1:])))
    except json.JSONDecodeError as error:
        print(f"an argument is not JSON: {error}")
        return 2
    except OSError as error:
        print(f"{error.filename}: {error.strerror}")
        return 1
    except Faulty as problem:
        for fault in problem.faults[:SHOWN]:
            print(fault)
        if len(problem.faults) > SHOWN:
            print(f"and {len(problem.faults) - SHOWN} more")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
