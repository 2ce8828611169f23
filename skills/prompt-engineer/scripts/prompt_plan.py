"""The plan of prompt-engineer as data: what is changed in which prompt, and the text that comes out of it.

A run keeps everything in one folder of the project: ``findings.json``, the faults that were found; ``plan.json``, with
one object for each change; ``draft/<file>``, where a prompt is new; ``before/<file>`` and ``after/<file>``, the whole
texts; ``changes.diff``.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import skills.lib.checks as checks
from skills.lib.paths import scripts

PLAN, DIFF, DRAFT, BEFORE, AFTER = "plan.json", "changes.diff", "draft", "before", "after"
FINDINGS = "findings.json"
KEPT, MENDED, DROPPED = VERDICTS = ("kept", "mended", "dropped")
TECHNIQUES = Path(scripts(__file__)).parent / "resources" / "techniques.md"

# Of a quotation that decides.
LEAST = 4

_ID = re.compile(r"C[1-9]\d*")
_WORDS = ("id", "file", "technique", "quote", "why")
_QUOTED = re.compile(r"(?<!\w)'(.+?)'(?!\w)|\"([^\"]+)\"|“([^”]+)”", re.DOTALL)
# What each entry of a technique has: no words that decide.
_LABELS = re.compile(r"^(?:Use when|Not when|Cost|Before|After):", re.MULTILINE)


class Change(NamedTuple):
    """One change: ``quote`` is replaced; in a draft, which has no replacements, it carries the technique."""

    id: str
    file: str
    technique: str
    quote: str
    why: str
    replacement: str | None


class Prompt(NamedTuple):
    """A prompt before and after; ``before`` is None where there was none."""

    file: str
    before: str | None
    after: str


class Faulty(Exception):
    """What is wrong, one sentence a fault."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


def technique_names() -> list[str]:
    """The names in the headings of resources/techniques.md."""
    return list(technique_entries())


def technique_entries() -> dict[str, str]:
    """The entries of resources/techniques.md by name, each without its sources."""
    found = {}
    for part in TECHNIQUES.read_text(encoding="utf-8").split("\n## ")[1:]:
        name, _, body = part.partition("\n")
        said = re.sub(r"^Source: .*\n(?:  .*\n)*", "", body.strip() + "\n", flags=re.MULTILINE)
        found[name.strip()] = f"{name.strip()}\n{said.strip()}"
    return found


def inside(path: str | Path) -> Path:
    """The path under the project's root, which is the working directory; Faulty where it leads outside."""
    root = Path.cwd().resolve()
    if not (root / path).resolve().is_relative_to(root) or (root / path).resolve() == root:
        raise Faulty(f"{path} lies outside the project; paths are relative to its root")
    return root / path


def text_of(path: str | Path) -> str:
    """The text of a file of the project, its line ends as they are."""
    try:
        return checks.content(str(inside(path))).decode("utf-8")
    except OSError as error:
        raise Faulty(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Faulty(f"{path} is not UTF-8 text") from None
    except ValueError as error:
        raise Faulty(str(error)) from None


def read_changes(folder: str, files: Sequence[str]) -> list[Change]:
    """The changes of a plan; Faulty names every one that has not the form, or does not fit its prompt."""
    path = os.path.join(folder, PLAN)
    try:
        entries = json.loads(text_of(path))
    except ValueError as error:
        raise Faulty(f"{path} is not JSON: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise Faulty(f"{path} is an array with an object for each change, and holds none")
    faults, names, found = list[str](), technique_names(), _findings(folder)
    changes = []
    for number, entry in enumerate(entries, 1):
        try:
            changes.append(_change(_whole(entry, number, files, found), names, files))
        except Faulty as problem:
            faults += [f"entry {number}: {fault}" for fault in problem.faults]
    ids = [change.id for change in changes]
    faults += [f"{name} stands {ids.count(name)} times as an id" for name in sorted(set(ids)) if ids.count(name) > 1]
    if faults:
        raise Faulty(*faults)
    return changes


def _findings(folder: str) -> list[dict[str, str]]:
    """The faults that were found, each with file, quote and why; none before they are noted."""
    path = os.path.join(folder, FINDINGS)
    try:
        found: list[dict[str, str]] = json.loads(text_of(path)) if inside(path).is_file() else []
    except ValueError as error:
        raise Faulty(f"{path} is not JSON: {error}; it is written as the findings are reported") from None
    return found


def _whole(entry: Any, number: int, files: Sequence[str], found: Sequence[dict[str, str]]) -> Any:
    """The change with what follows from its place, from the only prompt and from the finding that it answers."""
    if not isinstance(entry, dict):
        return entry
    known = {"id": f"C{number}", **({"file": files[0]} if len(files) == 1 else {})}
    if "finding" in entry:
        at = entry["finding"]
        if not isinstance(at, int) or isinstance(at, bool) or not 1 <= at <= len(found):
            known_ones = f"the number of a finding, 1 to {len(found)}" if found else "this run has no findings"
            raise Faulty(f"finding {at!r}: {known_ones}; or leave it out, and give quote and why")
        known |= found[at - 1]
    return {**known, **{key: value for key, value in entry.items() if key != "finding"}}


def _change(entry: Any, names: Sequence[str], files: Sequence[str]) -> Change:
    if not isinstance(entry, dict):
        raise Faulty("not an object")
    hints = dict.fromkeys(("quote", "why"), "; give it, or in finding the number of the finding that has it")
    faults = [f"{word} is missing, or no text{hints.get(word, '')}" for word in _WORDS if not _is_text(entry.get(word))]
    replacement = entry.get("replacement")
    if replacement is not None and not isinstance(replacement, str):
        faults.append("replacement is no text")
    beyond = sorted(set(entry) - {*_WORDS, "replacement"})
    if beyond:
        faults.append(
            f"{', '.join(beyond)}: no part of a change; the parts are finding, {', '.join(_WORDS)}, replacement"
        )
    if faults:
        raise Faulty(*faults)
    change = Change(entry["id"], entry["file"], entry["technique"], entry["quote"], entry["why"], replacement)
    if not _ID.fullmatch(change.id):
        faults.append(f"id {change.id!r}: C and a number, such as C1")
    if change.file not in files:
        faults.append(f"file {change.file!r} is none of this run's prompts: {', '.join(files)}")
    if change.technique not in names:
        near = difflib.get_close_matches(change.technique, names, 1)
        hint = f"the nearest is {near[0]}" if near else "the headings of resources/techniques.md are the names"
        faults.append(f"there is no technique {change.technique!r}; {hint}")
    if faults:
        raise Faulty(*faults)
    return change


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def read_verdicts(entries: Sequence[str], changes: Sequence[Change]) -> dict[str, str]:
    """The verdict on each change by its id; Faulty where one has none, or an entry is of another form."""
    found: dict[str, str] = {}
    faults = []
    said = technique_entries()
    known = {one.id: [one.quote, one.replacement or "", _LABELS.sub("", said[one.technique])] for one in changes}
    for entry in entries:
        parts = [part.strip() for part in entry.split("|")]
        if len(parts) < 3 or parts[-1] not in VERDICTS:
            faults.append(f"verdict {entry[:60]!r}: id | answer | one of {', '.join(VERDICTS)}")
        elif parts[0] in known and not _quotes(" | ".join(parts[1:-1]), known[parts[0]]):
            faults.append(
                f"verdict {parts[0]} quotes no words of its change or of its technique's entry; quote those that "
                "decide, of the entry two at least"
            )
        elif parts[0] in found:
            faults.append(f"{parts[0]} has two verdicts; give it one")
        else:
            found[parts[0]] = parts[-1]
    ids = [change.id for change in changes]
    faults += [f"{name} of plan.json has no verdict" for name in ids if name not in found and not faults]
    faults += [f"verdict {name}: plan.json has no such change" for name in found if name not in ids]
    if faults:
        raise Faulty(*faults)
    return found


def _quotes(answer: str, texts: Sequence[str]) -> bool:
    """True if the answer quotes the change in four characters at least, or the technique's entry in two words."""
    *change, entry = [" ".join(text.split()).casefold() for text in texts]
    quoted = [" ".join("".join(found).split()).casefold() for found in _QUOTED.findall(answer)]
    return any(
        len(words) >= LEAST and (any(words in text for text in change) or (" " in words and words in entry))
        for words in quoted
    )


def prompts(
    folder: str,
    files: Sequence[str],
    changes: Sequence[Change],
    verdicts: dict[str, str],
    before: Callable[[str], Path],
) -> list[Prompt]:
    """Each prompt that changes, with both texts; ``before`` says where the old one stands. Faulty names all misfits."""
    found, faults = list[Prompt](), list[str]()
    for file in files:
        own = [change for change in changes if change.file == file]
        draft = inside(os.path.join(folder, DRAFT, file))
        old = text_of(before(file)) if before(file).is_file() else None
        try:
            if draft.is_file():
                after = _drafted(text_of(draft), own, verdicts, os.path.join(folder, DRAFT, file))
            elif old is None:
                raise Faulty(f"{file} is neither there nor drafted as {os.path.join(folder, DRAFT, file)}")
            else:
                after = _edited(old, [change for change in own if verdicts.get(change.id) != DROPPED])
        except Faulty as problem:
            faults += problem.faults
            continue
        if after != old:
            found.append(Prompt(file, old, after))
    if faults:
        raise Faulty(*faults)
    return found


def _drafted(draft: str, changes: Sequence[Change], verdicts: dict[str, str], name: str) -> str:
    faults = []
    for change in changes:
        stands = as_written(change.quote, draft) in draft
        if change.replacement is not None:
            faults.append(f"{change.id}: a draft is edited itself; leave out replacement, quote the passage of {name}")
        elif verdicts.get(change.id) == DROPPED and stands:
            faults.append(f"{change.id} was dropped, and its passage still stands in {name}; take it out or reword it")
        elif verdicts.get(change.id) != DROPPED and not stands:
            faults.append(
                f"{change.id}: the passage {_short(change.quote)} does not stand in {name}{_near(change, draft)}"
            )
    if faults:
        raise Faulty(*faults)
    return draft


def _edited(text: str, changes: Sequence[Change]) -> str:
    """The text with every passage replaced; each must stand there once, and none may reach into another."""
    faults, places = [], []
    for change in changes:
        quote = as_written(change.quote, text)
        count = text.count(quote)
        if count > 1:
            faults.append(f"{change.id}: {_short(quote)} stands {count} times in {change.file}; quote more around it")
        elif count == 0:
            faults.append(f"{change.id}: {_short(quote)} does not stand in {change.file}{_near(change, text)}")
        elif change.replacement is None:
            faults.append(f"{change.id}: replacement is missing; an empty text takes the passage out")
        elif change.replacement == change.quote:
            faults.append(f"{change.id}: quote and replacement are the same")
        else:
            at = text.index(quote)
            places.append((at, at + len(quote), as_written(change.replacement, text), change.id))
    places.sort()
    for (_, end, _, first), (start, _, _, second) in pairwise(places):
        if start < end:
            faults.append(f"{first} and {second} change the same words; make one change of them")
    if faults:
        raise Faulty(*faults)
    for start, end, replacement, _ in reversed(places):
        text = text[:start] + replacement + text[end:]
    return text


def as_written(passage: str, text: str) -> str:
    """The passage with the line ends of the text."""
    passage = passage.replace("\r\n", "\n")
    return passage.replace("\n", "\r\n") if "\r\n" in text else passage


def lost(keep: Sequence[str], changed: Sequence[Prompt]) -> list[str]:
    """The strings that stood in a prompt and do not any more; where all are new, those that stand in none."""
    faults = [
        f"{_short(string)} is to be kept, and does not stand in {prompt.file} after the change"
        for string in keep
        for prompt in changed
        if prompt.before is not None and string in prompt.before and string not in prompt.after
    ]
    if changed and all(prompt.before is None for prompt in changed):
        missing = [string for string in keep if not any(string in prompt.after for prompt in changed)]
        faults += [f"{_short(string)} is to be kept, and stands in no draft" for string in missing]
    return faults


def difference(changed: Sequence[Prompt]) -> str:
    """The unified diff of all prompts."""
    lines = list[str]()
    for prompt in changed:
        old = "/dev/null" if prompt.before is None else f"a/{prompt.file}"
        before = (prompt.before or "").splitlines(keepends=True)
        after = prompt.after.splitlines(keepends=True)
        lines += difflib.unified_diff(before, after, old, f"b/{prompt.file}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _near(change: Change, text: str) -> str:
    """Where something like the passage stands, for a quotation that is not exact."""
    lines = [line.strip() for line in text.splitlines()]
    near = difflib.get_close_matches(change.quote.strip().splitlines()[0].strip(), lines, 1, 0.6)
    return f"; line {lines.index(near[0]) + 1} is near: {_short(near[0])}" if near else "; copy it letter for letter"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
