"""The forms of rows, and those in which decision-critic, deepthink and refactor ask for lists of the texts."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def parts(*numbers: int) -> Callable[[list[str]], list[str]]:
    """Makes of each row the parts between its bars that have these numbers, from 0."""
    return lambda rows: [" | ".join(row.split(" | ")[number] for number in numbers) for row in rows]


def ids(rows: list[str]) -> list[str]:
    """The ids that rows begin with."""
    return [row.partition(":")[0] for row in rows]


def sentence(at: int) -> Callable[[str], str]:
    """Takes one sentence of a text."""
    return lambda text: re.split(r"(?<=[.!?]) ", text.strip())[at]


def first_id(letter: str) -> Callable[[str], str]:
    """Makes of a text the first id with that letter in it."""
    return lambda text: re.findall(rf"\b{letter}\d+\b", text)[0]


def points(
    claims: list[str], assumptions: list[str], constraints: list[str], classified: list[str], load_bearing: list[str]
) -> list[str]:
    """All points, a load-bearing one as "A2*: …", and with (judgement) at its end what was classified so."""
    judged = ids([row for row in classified if row.partition(": ")[2].startswith("judgement")])
    rows = [*claims, *assumptions, *constraints]
    marked = [row.replace(":", "*:", 1) if row.partition(":")[0] in ids(load_bearing) else row for row in rows]
    return [
        f"{made} (judgement)" if row.partition(":")[0] in judged else made
        for row, made in zip(rows, marked, strict=True)
    ]


def tests(questions: list[str], key: list[str]) -> list[str]:
    """Questions with their key: "question | where to look | ids | upheld if | refuted if"."""
    asked = [row.partition(": ")[2].removesuffix(".").split(" Look in: ") for row in questions]
    decided = [re.findall(r"tests ([^:]+): upheld if (.+); refuted if (.+)", row)[0] for row in key]
    return [" | ".join([*of, *by]) for of, by in zip(asked, decided, strict=True)]


def results(standing: list[str]) -> list[str]:
    """The questions by what they showed of the points: "upheld: Q1, Q5"; one that is unknown is not named."""
    found: dict[str, list[str]] = {}
    for row in standing:
        word, question = re.findall(r": (\w+)", row)[0], re.findall(r"\bQ\d+", row)[0]
        if "is unknown" not in row and question not in found.setdefault(word, []):
            found[word].append(question)
    return [f"{word}: {', '.join(names)}" for word, names in found.items()]


def options(rows: list[str], comparison: str) -> list[str]:
    """Options as "option | gains | costs | ids", that which a comparison names first in front."""
    best = first_id("O")(comparison)
    parts = [re.findall(r"(O\d+): (.+)\. Gains: (.+)\. Costs: (.+)\. Rests on: (.+)\.", row)[0] for row in rows]
    parts.sort(key=lambda part: part[0] != best)
    return [" | ".join([*part[1:4], ", ".join(re.findall(r"[ACK]\d+", part[4]))]) for part in parts]


def sentences_on_ids(limit: int) -> Callable[[str], str]:
    """Makes of a text as many of its sentences with an id as a limit leaves room for."""

    def within(text: str) -> str:
        kept = ""
        for sentence in re.split(r"(?<=[.!?])\s+", text.strip()):
            if not re.search(r"\b[ACK]\d", sentence):
                continue
            if len(f"{kept} {sentence}") > limit:
                break
            kept = f"{kept} {sentence}".strip()
        return kept

    return within


def by_option(action: str, comparison: str) -> str:
    """What to do, with the number of the best option in place of its words, the longest part of the first sentence."""
    longest = max(sentence(0)(action).split(", "), key=len)
    return action.strip().replace(longest, first_id("O")(comparison), 1)


def changed_parts(before: list[str], after: list[str]) -> list[str]:
    """Of lines with ids those that are new or changed, with = for a part that stays, but none at the end."""
    known = {row.split()[0]: row.split(" | ") for row in before}
    found = []
    for row in after:
        parts = row.split(" | ")
        old = known.get(row.split()[0])
        if old == parts:
            continue
        if old:
            parts = [row.split()[0]] + [
                "=" if part == one else part for part, one in zip(parts[1:], old[1:], strict=True)
            ]
            while parts[-1] == "=":
                parts.pop()
        found.append(" | ".join(parts))
    return found


def with_coverage(perspectives: list[str], coverage: list[str]) -> list[str]:
    """Perspectives with the parts of the plan that each answers at their ends."""
    covers = {row.split()[0]: [part.split()[0] for part in coverage if row.split()[0] in part] for row in perspectives}
    return [f"{row} | {', '.join(covers[row.split()[0]])}" for row in perspectives]


def without_ids(rows: list[str]) -> list[str]:
    """Rows such as "T1 | it says so" without their ids."""
    return [row.partition(" | ")[2] for row in rows]


def asked_in(questions: list[str]) -> list[str]:
    """Rows such as "V1 | question | look in: place" as "question | place"."""
    return [row.replace(" | look in: ", " | ") for row in without_ids(questions)]


def by_claim(checked: list[str], *claims: list[str]) -> list[str]:
    """Rows such as "P1 | claim | what came" with the number of the claim that has most of its words."""
    made = []
    for row, own in zip(checked, claims, strict=True):
        name, claim, came = row.split(" | ", 2)
        best = max(own, key=lambda one: len(set(one.split()) & set(claim.split())))
        made.append(f"{name} | {best.partition(' ')[0]} | {came}")
    return made


def beyond_gaps(rows: list[str], gaps: list[str]) -> list[str] | None:
    """What is open and is no gap that was told before: one with two of its longer words."""
    told = [set(re.findall(r"\w{5,}", gap)) for gap in gaps]
    new = [row for row in rows if all(len(gap & set(re.findall(r"\w{5,}", row))) < 2 for gap in told)]
    return new or None


def unnamed(dismissed: list[str], findings: list[str]) -> list[str]:
    """Candidates that were dismissed, without those that the text of a finding names."""
    named = " ".join(findings)
    return [row for row in dismissed if not re.search(rf"{re.escape(row.partition(' | ')[0])}(?!\d)", named)]


def without_keep(rows: list[str]) -> list[str]:
    """Rows such as "F1 | keep | SHOULD | why" without the word: its severity says it."""
    return [row.replace(" | keep | ", " | ", 1) for row in rows]


def joined_by_id(rows: list[str], others: list[str]) -> list[str]:
    """Rows, each with the parts of the other row of its id at its end."""
    ends = dict(row.split(" | ", 1) for row in others)
    return [f"{row} | {ends[row.partition(' | ')[0]]}" for row in rows]


def item_edits(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    """What is reported for items whose words changed: of each change the words before, quoted once, and after it."""
    known, found = {item["id"]: item for item in before}, []
    for item in after:
        old_item = known.get(item["id"], item)
        whole = "\n".join(part for part in old_item.values() if isinstance(part, str))
        for name in [name for name, part in item.items() if isinstance(part, str) and part != old_item.get(name)]:
            old, new = old_item[name].split(" "), item[name].split(" ")
            for _, at, end, to, stop in _changes(old, new):
                while at and whole.count(" ".join(old[at:end])) != 1:
                    at, to = at - 1, to - 1
                found.append(f'{item["id"]} | "{" ".join(old[at:end])}" -> "{" ".join(new[to:stop])}"')
    return found


def _changes(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """The changes between two lists of words; those with three words or fewer between them are one."""
    found: list[tuple[str, int, int, int, int]] = []
    for code in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if code[0] == "equal":
            continue
        if found and code[1] - found[-1][2] <= 3:
            found[-1] = ("replace", found[-1][1], code[2], found[-1][3], code[4])
        else:
            found.append(code)
    return found
