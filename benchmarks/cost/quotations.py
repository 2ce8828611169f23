"""The forms in which leon-writing-style and prompt-engineer ask for passages: by a few words of each."""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher

from benchmarks.cost.rows import parts
from benchmarks.cost.texts import project_files


def words_of(text: str, most: int = 6) -> str:
    """The first words of a text."""
    return " ".join(text.split()[:most])


def passages(tells: list[str], departures: list[str]) -> list[str]:
    """Finds and departures as one row for each passage, with all that it falls under and the first words of it.

    Quotations of which one holds another's words are of one passage. What has no find is one row.
    """
    rows = [*parts(0, 2)([row for row in tells if not row.endswith("| none")]), *parts(0, 1)(departures)]
    found: list[tuple[list[str], str]] = []
    for name, quoted in sorted((row.split(" | ") for row in rows), key=lambda row: -len(row[1])):
        text = quoted.strip('"')
        of = next((entry for entry in found if text in entry[1]), None)
        if of:
            of[0].append(name)
        else:
            found.append(([name], text))
    without = [row.partition(" ")[0] for row in tells if row.endswith("| none")]
    return [*[f'{", ".join(names)} | "{words_of(text)}"' for names, text in found], f"none | {', '.join(without)}"]


# An agent that quotes a passage says at least so many words of it.
LEAST_QUOTED = 5


def quoted_points(points: list[str], request: str) -> list[str]:
    """Points of the request as words of one clause that they share with it, and what the material adds to each."""
    said = request.split()
    rows = []
    for point in points:
        own, _, more = point.partition(" (request)")
        blocks = SequenceMatcher(None, [word.lower() for word in said], own.lower().split(), autojunk=False)
        at, _, size = blocks.find_longest_match()
        while size < LEAST_QUOTED and not said[at - 1].endswith(","):
            at, size = at - 1, size + 1
        quoted = " ".join(said[at : at + size])
        rows.append(f'"{quoted}"' + (f" | {more.removeprefix('; ')}" if more else ""))
    return rows


def marks_in(marks: list[str], writes: dict[str, str]) -> list[str]:
    """The marks that came into the text that was written, each with the first words of its sentence there."""
    text = " ".join(next(iter(writes.values())).split())
    rows = [(name, words_of(sentence)) for name, sentence in (row.split(" | ") for row in parts(0, 2)(marks))]
    return [f'{name} | "{words}"' for name, words in rows if words in text]


def first_words_of_checks(rows: list[str]) -> list[str]:
    """The first five checks, the quotation in each by its first words."""
    cells = [row.split(" | ") for row in rows[:5]]
    return [" | ".join([*head, f'"{words_of(last[1:-1])}"' if last.startswith('"') else last]) for *head, last in cells]


def traced(rows: list[str]) -> list[str]:
    """Rows such as "path | passage | case 2: how" as "2, 3 | passage", one for each passage."""
    found: dict[str, list[str]] = {}
    for _, passage, how in (row.split(" | ") for row in rows):
        found.setdefault(passage, []).extend(re.findall(r"case ([0-9]+)", how))
    return [f"{', '.join(cases)} | {passage}" for passage, cases in found.items()]


def parts_of_findings(rows: list[str], findings: list[str]) -> list[str]:
    """The parts of a prompt that begin in a sentence with a finding's passage, without the file."""
    prompt = project_files()[rows[0].partition(" | ")[0]]
    faulty = [re.findall(r'"(.+?)" \|', row)[0] for row in findings]
    sentences = [one for one in re.split(r"\n\n|(?<=[.!?])\s+", prompt) if any(passage in one for passage in faulty)]
    kept = [row for row in rows if any(row.split(" | ")[1].strip('"') in one for one in sentences)]
    return parts(1, 2, 3)(kept)


def shorter_plan(text: str, findings: list[str]) -> str:
    """The changes of a plan, of each what neither its place nor the finding that it answers says."""
    passages = [row.partition(" | ")[0].strip('"') for row in findings]
    lines = []
    for change in json.loads(text):
        quote = change["quote"]
        at = next(at for at, passage in enumerate(passages) if passage in quote)
        own = {"quote": quote} if quote != passages[at] else {}
        made = {"finding": at + 1, "technique": change["technique"], **own, "replacement": change["replacement"]}
        lines.append(f" {json.dumps(made, ensure_ascii=False)}")
    return "[\n" + ",\n".join(lines) + "\n]\n"
