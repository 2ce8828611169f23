"""The forms in which steps ask now for what the texts say in those of an older version."""

from __future__ import annotations

import json
import re
import shlex
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from benchmarks.cost.quotations import (
    first_words_of_checks,
    marks_in,
    parts_of_findings,
    passages,
    quoted_points,
    shorter_plan,
    traced,
)
from benchmarks.cost.rows import (
    asked_in,
    beyond_gaps,
    by_claim,
    by_option,
    changed_parts,
    ids,
    joined_by_id,
    options,
    parts,
    points,
    results,
    sentence,
    sentences_on_ids,
    tests,
    unnamed,
    with_coverage,
    without_ids,
    without_keep,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def lines_under(*heads: str) -> Callable[[str], list[str]]:
    """Makes a list of the lines of a report that stand under, or begin with, one of these heads and a colon."""

    def lines(text: str) -> list[str]:
        found, at = [], ""
        for line in text.strip().splitlines():
            head = re.match(r"([A-Z]+):\s*(.*)", line)
            at, rest = (head[1], head[2]) if head else (at, line)
            if at in heads and rest and rest != "none":
                found.append(rest)
        return found

    return lines


def in_same_file(rows: list[str]) -> list[str]:
    """Rows that begin with path:line; those about the file of the row before begin with ":line"."""
    paths = ["", *[row.partition(":")[0] for row in rows]]
    return [row.removeprefix(before) if before else row for before, row in zip(paths, rows, strict=False)]


def explored(text: str) -> list[str]:
    """The findings of an explorer's report, with what is at the border of its area as findings of that kind."""
    borders = [" | ".join([*row.split(" | ")[:2], "border"]) for row in lines_under("BORDERS")(text)]
    found = [row.removesuffix(" | structure") for row in lines_under("FINDINGS")(text)]
    return in_same_file(found + borders)


def section_as_row(kind: str, heading: str, cited: str) -> Callable[[dict[str, str]], list[str]]:
    """Makes one row of that kind of a section of the file that was written; its last sentence is a finding's id."""

    def row(writes: dict[str, str]) -> list[str]:
        text = next(iter(writes.values())).partition(f"## {heading}\n")[2].partition("\n## ")[0]
        return [f"{kind} | {' '.join(re.split(r'(?<=[.!?]) ', ' '.join(text.split()))[:-1])} {cited}"]

    return row


def until(mark: str) -> Callable[[list[str]], list[str]]:
    """Makes of each row what it says before a mark."""
    return lambda rows: [row.partition(mark)[0].rstrip() for row in rows]


def after(mark: str) -> Callable[[str], str]:
    """Makes of a text what it says after the last mark."""
    return lambda text: text.rpartition(mark)[2].strip()


def first(count: int) -> Callable[[list[str]], list[str]]:
    """Makes of a list its first entries."""
    return lambda rows: rows[:count]


def edits(before: str, after: str) -> str:
    """What is typed to make one text of another in its places: of each the old words and the new, with one beside."""
    old, new = before.split(" "), after.split(" ")
    changed = [code for code in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if code[0] != "equal"]
    typed = [[*old[max(at - 1, 0) : end], *new[max(to - 1, 0) : stop]] for _, at, end, to, stop in changed]
    return "\n".join(" ".join(words) for words in typed)


def standing(rows: list[str]) -> list[str]:
    """Rows such as "A1 | upheld | by V1: nothing is stored" with the ids of the answers alone."""
    found = [row.split(" | ", 2) for row in rows]
    return [f"{name} | {word} | {', '.join(re.findall(r'V[0-9]+', why)) or 'none'}" for name, word, why in found]


def sentence_edits(before: str, after: str) -> list[str]:
    """What is reported for an answer that was changed: of each change the sentences before and after it."""
    old, new = (re.split(r"(?<=[.!?]) ", text.strip()) for text in (before, after))
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [
        f'"{" ".join(old[at:end])}" -> "{" ".join(new[to:stop])}"'
        for code, at, end, to, stop in codes
        if code != "equal"
    ]


# Files that are written in another form now: what makes it of the file's text and of what an earlier step reported.
WRITTEN: dict[str, tuple[str, Callable[[str, list[str]], str]]] = {
    "prompt-engineer-single-prompt.plan": ("findings", shorter_plan),
}


# The steps that say to edit a file in its places, and not to write it anew.
EDITED = {"leon-writing-style.refine", "doc-sync.migrate", "incoherence-reconcile.apply"}


def observations_of_link_1(text: str) -> str:
    """The observations that a root cause names after its first sentence, which the chain's first link says too."""
    return f"1: {', '.join(re.findall(r'E[0-9]+', text.partition('. ')[2]))}"


def without_conditions(rows: list[str]) -> list[str]:
    """Facts, of which the one that a run of the test showed does not say its conditions again."""
    return [re.sub(r"^(F\d+): [^:]+: (.*\(ran the test\))$", r"\1: \2", row) for row in rows]


def all_but_last(rows: list[str]) -> list[str]:
    """The links of a chain but for the last, which is the problem itself."""
    return rows[:-1]


def rows_of(*ids: str, how: str = "") -> Callable[[list[str]], list[str]]:
    """Takes from rows such as "D1 | left | why" those with these ids, or that ended so, without that part.

    Of what is done only the file is taken: "D1 | README.md".
    """

    def taken(rows: list[str]) -> list[str]:
        parts = [[part.strip() for part in row.split("|", 2)] for row in rows]
        return [
            f"{name} | {text.partition(':')[0] if ended == 'done' else text}"
            for name, ended, text in parts
            if name in ids or ended == how
        ]

    return taken


def all_but_last_sentence(text: str) -> str:
    """A text without its last sentence, which says what a script adds."""
    return text.strip()[: -len(sentence(-1)(text))].rstrip()


def without_places_read(text: str) -> str:
    """An answer without its second sentence and its last clause, which say what findings and searches say."""
    return f"{sentence(0)(text)} {sentence(2)(text).partition(';')[0].removeprefix('Searches for ')}."


def searches(rows: list[str]) -> list[str]:
    """Searches by the search tool, without its name; one of the whole project names no folder."""
    return [row.replace(" | . | ", " | ") for row in parts(1, 2, 3)(rows)]


def paragraph(number: int) -> Callable[[str], str]:
    """Takes the paragraph of that number, from 1."""
    return lambda text: text.strip().split("\n\n")[number - 1]


def searched_signs(signs: list[str], searched: list[str]) -> list[str]:
    """One row for each sign: what it is, the search as it was run, the hits, and what would excuse it."""
    rows = dict(row.split(" | ", 1) for row in searched)
    parts = [(name, *rest.split(" | ")) for name, _, rest in (sign.partition(": ") for sign in signs)]
    return [f"{sign} | {rows[name]} | {excuse}" for name, sign, _, excuse in parts]


def candidates(rows: list[str]) -> list[str]:
    """The places of candidates; those in the file of the one before begin with ":line"."""
    return in_same_file(until(" | ")(rows))


def without_derived(writes: dict[str, str]) -> list[dict[str, Any]]:
    """The work items of a file, without what a script adds to each, and without empty lists."""
    items = json.loads(next(iter(writes.values())))["items"]
    return [{key: part for key, part in item.items() if part and key not in DERIVED} for item in items]


def changed(entry: Any, before: list[Any]) -> Any:
    """An entry; of an object that was reported under its id before, the id and what differs."""
    if not isinstance(entry, dict) or "id" not in entry:
        return entry
    known = next((one for one in reversed(before) if isinstance(one, dict) and one.get("id") == entry["id"]), {})
    return {name: part for name, part in entry.items() if name == "id" or known.get(name) != part}


def section(heading: str) -> Callable[[dict[str, str]], str]:
    """Takes one section of the file that was written."""
    return lambda writes: next(iter(writes.values())).partition(f"## {heading}\n")[2].partition("\n## ")[0].strip()


def numbered(heading: str) -> Callable[[dict[str, str]], list[str]]:
    """Takes the numbered lines of one section of the file that was written; the check is the last part of each."""

    def rows(writes: dict[str, str]) -> list[str]:
        lines = [line.partition(". ")[2] for line in section(heading)(writes).splitlines()]
        return [" | ".join(line.split(" Check: ")) if " Check: " in line else f"{line} | read it" for line in lines]

    return rows


def not_by_the_user(limits: list[str]) -> list[str]:
    """Limits but for those that the user stated when the run was opened."""
    return [row for row in limits if "set by the user" not in row]


def all_but_sentence(at: int) -> Callable[[str], str]:
    """Makes of a text the same without one sentence, which repeats what was reported before."""
    return lambda text: " ".join(
        one for number, one in enumerate(re.split(r"(?<=[.!?]) ", text.strip())) if number != at
    )


def by_criterion(rejected: list[str], met: list[str]) -> list[str]:
    """Rows such as "K1 | why not | what would make it right", why not by the criterion that it does not meet."""
    unmet = dict(re.findall(r"^(K\d+) \|.*?\b(R\d+) no\b", "\n".join(met), re.MULTILINE))
    rows = [row.split(" | ") for row in rejected]
    return [" | ".join([name, unmet.get(name, why), right]) for name, why, right in rows]


def by_letter(resolutions: list[str]) -> list[str]:
    """Resolutions, of a chosen option the letter, and what is to be done on the way besides."""
    found = []
    for name, word, *rest in (row.split(" | ") for row in resolutions):
        said = [rest[0], *re.findall(r"on the way .*", rest[1])] if word == "resolved" else [word, *rest]
        found.append(" | ".join([name, *said]))
    return found


def by_place(evidence: list[str], candidate: str) -> list[str]:
    """Evidence, of the places that the candidate quotes by their numbers."""
    places = re.findall(r'([^\s|"]+:[0-9]+) "', candidate)
    return [
        f"{places.index(row.split(' ')[0]) + 1} | {row.rpartition(' | ')[2]}" if row.split(" ")[0] in places else row
        for row in evidence
    ]


def not_differing(compared: list[str]) -> list[str]:
    """Comparisons but for those that a finding is made of."""
    return [row for row in compared if row.split(" | ")[2] != "differs"]


def unless_empty(rows: list[str]) -> list[str] | None:
    """A list that may be left out if it is empty."""
    return rows or None


def unless_none(text: str) -> str | None:
    """A text that may be left out if there is nothing to say."""
    return None if re.match(r"none\b", text.strip(), re.IGNORECASE) else text


def unless_yes(word: str) -> str | None:
    """A word that may be left out if it is yes."""
    return None if word == "yes" else word


def nothing(_: object) -> list[str]:
    """What a script makes need not be given."""
    return []


def sharing(rows: list[str]) -> list[str]:
    """Rows with one for all that say the same after their ids."""
    ids: dict[str, list[str]] = {}
    for name, _, said in (row.partition(" | ") for row in rows):
        ids.setdefault(said, []).append(name)
    return [f"{', '.join(names)} | {said}" for said, names in ids.items()]


def joined_findings(rows: list[str]) -> list[str]:
    """Candidates as the findings that they are made of, the first of which has the places and the text."""
    parts = [row.split(" | ") for row in rows]
    besides = [one[3].partition(";")[2] or one[3].partition(", and ")[2] for one in parts]
    return [
        " | ".join([one[0], one[-1], *([more.strip()] if more else [])])
        for one, more in zip(parts, besides, strict=True)
    ]


def unexamined(findings: list[str], examined: list[str]) -> list[str]:
    """What was looked at for the aspects that no finding has."""
    found = {row.split(" | ")[1] for row in findings}
    return [row for row in examined if row.split(" | ")[0] not in found]


def decided(rows: list[str]) -> list[str]:
    """Rows such as "F1 | kept | a.py:3 reads it, and so on": of a kept finding the place alone."""
    parts = [row.split(" | ", 2) for row in rows]
    return [
        f"{name} | {word} | {re.findall(r'[^ ]+:[0-9]+(?:-[0-9]+)?', why)[0] if word == 'kept' else why}"
        for name, word, why in parts
    ]


def evidence_rows(reports: list[dict[str, Any]]) -> list[str]:
    """A row for each piece of evidence; none for a criterion that passes by the task's own command alone."""
    rows = []
    for one in reports:
        for part in one["evidence"]:
            command = [shlex.join(part["command"])] if "command" in part else []
            said = [part.get("location"), *command, part.get("quote", part.get("expect"))]
            rows.append(
                " | ".join(
                    [f"{one['criterion']} {one['verdict']} {one['confidence']}", part["type"], *filter(None, said)]
                )
            )
        if one.get("finding"):
            rows.append(f"{one['criterion']} {one['verdict']} {one['confidence']} | {one['finding']}")
    return rows


# What is added to each work item from its clusters.
DERIVED = ("findings", "cause", "intent")

# By "workflow.step", fields that ask in another form for what the texts say under an older name.
OLDER: dict[str, dict[str, tuple[str | tuple[str, ...], Callable[..., Any]]]] = {
    "task-spec-check.prove": {"evidence": ("evidence", evidence_rows)},
    "problem-analysis.hypothesize": {"hypotheses": ("hypotheses", until("Refuted by:"))},
    "problem-analysis.gate": {"facts": ("facts", without_conditions), "question": ("question", unless_none)},
    "problem-analysis.formulate": {
        "chain": ("chain", all_but_last),
        "root_cause": ("root_cause", observations_of_link_1),
    },
    "problem-analysis.report": {"next_step": ("report", after("Next: "))},
    "decision-critic.extract": {
        "points": (("claims", "assumptions", "constraints", "classified", "load_bearing"), points),
    },
    "decision-critic.question": {"tests": (("questions", "key"), tests)},
    "decision-critic.challenge": {
        "results": ("standing", results),
        "case": ("case_against", sentences_on_ids(600)),
        "options": (("options", "comparison"), options),
    },
    "decision-critic.verdict": {
        "grounds": ("carried_by", ids),
        "action": (("action", "comparison"), by_option),
    },
    "deepthink.abstract": {"principles": ("principles", first(3)), "analogies": ("analogies", first(3))},
    "deepthink.plan": {"tests": ("tests", without_ids)},
    "deepthink.design": {"perspectives": (("perspectives", "coverage"), with_coverage)},
    "deepthink.revise": {"faults": ("faults", parts(0, 1)), "lines": (("designed", "perspectives"), changed_parts)},
    "deepthink-perspective.question": {"questions": ("questions", asked_in)},
    "deepthink.gate": {"checked": (("checked", "claims_1", "claims_2", "claims_3"), by_claim)},
    "deepthink.refine": {
        "open": (("open", "gaps"), beyond_gaps),
        "claims": (("first", "claims"), changed_parts),
    },
    "deepthink-perspective.report": {"standing": ("standing", standing)},
    "prompt-engineer-single-prompt.triage": {"fits": ("fits", unless_yes)},
    "prompt-engineer-single-prompt.understand": {
        "cases": ("cases", parts(0, 1)),
        "findings": ("findings", parts(1, 2)),
        "parts": (("parts", "findings"), parts_of_findings),
    },
    "prompt-engineer-single-prompt.plan": {"rejected": ("rejected", first(1))},
    "prompt-engineer-single-prompt.refine": {"verdicts": ("verdicts", parts(0, 2, 3))},
    "prompt-engineer-single-prompt.execute": {"traced": ("traced", traced)},
    "leon-writing-style.settle": {
        "aim": ("aim", after("After reading, the reader ")),
        "points": (("points", "request"), quoted_points),
    },
    "leon-writing-style.read": {"finds": (("tells", "departures"), passages)},
    "leon-writing-style.consolidate": {"marks": (("marks", "writes"), marks_in), "declined": ("writes", nothing)},
    "leon-writing-style.check": {"checks": ("checks", first_words_of_checks)},
    "codebase-analysis-explore.explore": {
        "findings": ("result", explored),
        "unsure": ("result", lines_under("UNSURE")),
        "unread": ("result", lines_under("UNREAD")),
    },
    "code-quality.review": {"examined": (("findings", "examined"), unexamined)},
    "safe-shell-search.search": {
        "searches": ("searches", searches),
        "findings": ("findings", in_same_file),
        "answer": ("answer", without_places_read),
    },
    "code-quality.doubt": {"kept": ("kept", decided)},
    "codebase-analysis.deepen": {"findings": ("findings", in_same_file)},
    "doc-sync.migrate": {"undone": ("settled", rows_of(how="left")), "homes": ("settled", rows_of("D6"))},
    "doc-sync.report": {"note": ("report", paragraph(2))},
    "refactor-explore.search": {
        "signs": (("former_signs", "searched"), searched_signs),
        "candidates": ("candidates", candidates),
    },
    "refactor-explore.judge": {
        "dismissed": (("dismissed", "findings"), unnamed),
        "unsearched": ("summary", sentence(-1)),
    },
    "refactor.triage": {"triaged": ("triaged", without_keep)},
    "refactor.cluster": {"clusters": (("clusters", "weighed"), joined_by_id)},
    "refactor.synthesize": {"path": ("items_file", str)},
    "incoherence-explore.sweep": {
        "compared": ("compared", not_differing),
        "gaps": ("gaps", unless_empty),
        "unread": ("unread", unless_none),
    },
    "incoherence.candidates": {"joined": ("candidates", joined_findings)},
    "incoherence-deep-dive.judge": {
        "evidence": (("evidence", "candidate"), by_place),
        "history": ("history", unless_none),
        "recommended": ("recommended", unless_none),
    },
    "incoherence-reconcile.apply": {"note": ("note", unless_none)},
    "incoherence.verdicts": {"listed": ("listed", parts(0, 3))},
    "incoherence.batch": {"entries": ("entries", nothing)},
    "incoherence.collect-answers": {"resolutions": ("resolutions", by_letter)},
    "incoherence.plan": {"items": ("items", parts(0, 1, 2, 4))},
    "solution-design.context": {"limits": ("limits", not_by_the_user)},
    "solution-design-perspective.propose": {"changes": ("changes", parts(0, 2))},
    "solution-design.synthesize": {
        "ideas": ("ideas", parts(0, 1)),
        "learned": ("learned", nothing),  # the facts of the context have it
        "built": ("built", parts(0, 2, 3)),
    },
    "solution-design.challenge": {"met": ("met", sharing)},
    "solution-design.select": {
        "why": ("why", all_but_sentence(1)),
        "rejected": (("rejected", "met"), by_criterion),
    },
    "solution-design.output": {
        "design": ("writes", section("Design")),
        "steps": ("writes", numbered("Steps")),
    },
    "codebase-analysis.synthesize": {
        "answer": ("answer", all_but_last_sentence),
        "across": ("writes", section_as_row("context", "Context", "F6")),
    },
}
