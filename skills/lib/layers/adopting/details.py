"""What is in the text of a step and has a place of its own in a workflow: rules, fields, a question for a person."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skills.lib.layers.adopting import names, wording
from skills.lib.layers.adopting.markdown import BULLETS, ORDERED, OTHER, PARAGRAPH, read_blocks
from skills.lib.layers.adopting.outline import Step, Way

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.layers.adopting.markdown import Block, Item

LABEL, HEADING, ENTRY, WHOLE = "label", "heading", "entry", "whole"
# Longer rules stay in the text, and so do more of them; more entries of a checklist are one list.
RULE_LIMIT, MOST_RULES, MOST_FIELDS, HELP_LIMIT = 300, 12, 12, 200
_TICK = re.compile(r"\[[ xX]\]\s+(?P<text>.+)", re.DOTALL)
_MARKER = re.compile(r"\s*(?:\d{1,9}[.)]|[-*+])(?:\s+|$)")


@dataclass(slots=True)
class Found:
    """What a text holds: its rules and the entries of its checklists, and the lines that are nothing else."""

    rules: list[str] = field(default_factory=list)
    ticks: list[str] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)


def fill_in(step: Step, source: Mapping[int, str], kind: str) -> None:
    """Give a step its rules, its fields, its text and the question that it asks.

    ``source`` has the lines of SKILL.md by their numbers. ``kind`` says what the step was: a LABEL of a graph, a
    HEADING, an ENTRY of a list, or the WHOLE text, for which nobody is asked.
    """
    lines = [(number, source[number]) for number in sorted(step.body) if number in source]
    lines = dedented(lines) if kind == ENTRY else lines
    found = search(lines)
    step.forbidden = found.rules
    _add_fields(step, found.ticks)
    text = "\n".join(line for number, line in lines if number not in found.lines).strip()
    step.text = "\n\n".join(part for part in (step.text, text) if part)
    if not step.text and (found.rules or found.ticks):
        step.text = step.title
    if kind != WHOLE:
        _ask(step, text, kind)


def search(lines: Sequence[tuple[int, str]], with_ticks: bool = True) -> Found:
    """The rules of a text, whose lines have their numbers, and its checklists."""
    found = Found()
    numbers = [number for number, _ in lines]
    lead: Block | None = None
    for block in read_blocks("\n".join(line for _, line in lines)):
        if block.kind in (BULLETS, ORDERED):
            _search_list(block, lead, numbers, found, with_ticks)
        elif block.kind == OTHER and block.text:
            _take_sentences(block.text, found)
        elif block.kind == PARAGRAPH and _take_sentences(block.text, found):
            found.lines.update(numbers[block.first - 1 : block.last])
        lead = block if block.kind in (PARAGRAPH, "heading") and wording.leads_prohibitions(block.text) else None
    return found


def _search_list(block: Block, lead: Block | None, numbers: Sequence[int], found: Found, with_ticks: bool) -> None:
    moved = 0
    for item in block.items:
        tick = _TICK.fullmatch(item.text)
        # What must never be is no entry to be met.
        rule = f"Never: {tick['text'] if tick else item.text}" if lead is not None else item.text
        if tick and lead is None:
            if item.nested or not with_ticks or len(tick["text"]) > HELP_LIMIT:
                continue
            found.ticks.append(tick["text"])
        elif _is_whole(item) and (lead is not None or wording.is_prohibition(rule)) and _is_rule(rule, found):
            found.rules.append(rule)
        else:
            if not tick and lead is None:
                _take_sentences(item.text, found)
            continue
        moved += 1
        found.lines.update(numbers[item.first - 1 : item.last])
    if lead is not None and moved == len(block.items):
        found.lines.update(numbers[lead.first - 1 : lead.last])


def _take_sentences(text: str, found: Found) -> bool:
    """Take the sentences of a text that forbid something for rules; True if all of them do."""
    sentences = wording.sentences(text)
    rules = [one for one in sentences if wording.is_prohibition(one) and _is_rule(one, found)]
    found.rules += rules
    return len(rules) == len(sentences)


def _is_whole(item: Item) -> bool:
    return not item.nested and bool(item.text)


def _is_rule(text: str, found: Found) -> bool:
    """True if a text is short enough for a rule, which is one line, and there are not too many."""
    return len(text) <= RULE_LIMIT and len(found.rules) < MOST_RULES and not text.endswith(":")


def _add_fields(step: Step, ticks: Sequence[str]) -> None:
    if len(ticks) > MOST_FIELDS:
        step.checklist = list(ticks)
        step.guesses.append(f"its checklist has {len(ticks)} entries: reported as one list")
        return
    for number, text in enumerate(ticks, 1):
        step.fields[names.field_name(text, step.fields, number)] = text
    if ticks:
        step.guesses.append("an entry of its checklist that is not met holds the step")


def _ask(step: Step, text: str, kind: str) -> None:
    """Let a person be asked if the title or the last sentence of a step says so: of a label, it alone."""
    by_title = kind != ENTRY and wording.wants_person(step.title)
    by_title = by_title or (kind == HEADING and wording.is_for_approval(step.title))
    last, is_all = _last_part(text)
    sentences, where = wording.sentences(last), "its last sentence"
    led, is_all_led = _lead_of_last_list(text)
    lead = wording.sentences(led)
    if not wording.ends_with_person(sentences[-1]) and wording.ends_with_person(lead[-1]):
        sentences, where, is_all = lead, "the sentence before its last list", is_all_led
    sentence = sentences[-1]
    if not by_title and (kind == LABEL or not wording.ends_with_person(sentence)):
        return
    said = step.title if by_title else sentence
    is_approval = wording.wants_approval(said) or wording.is_for_approval(said)
    title = step.title.rstrip(" ?.!:")
    if len(step.ways) > 1:
        step.asks = f"{title}?"
        step.answers = {way.outcome: way.outcome for way in step.ways}
        step.bound = 0
        step.guesses = [guess for guess in step.guesses if not guess.startswith("the loop is bounded")]
    elif is_approval:
        step.asks = f"{title}: do you approve?"
        step.answers = {"yes": "ok", "no": "fail"}
    else:
        step.asks = f"{title}: what is the answer?"
    if not by_title and not (is_all and len(sentences) == 1):
        step.fields["prepared"] = "what the person is asked about, in short"
    said_by = "its title" if by_title else where
    step.guesses.append(
        f"a person is asked, as {said_by} says; the question, its answers and at_terminal are not SKILL.md's"
    )


def lead_on(steps: Sequence[Step]) -> None:
    """Give the steps that ask for approval their two ways: on, and back to the work that is not approved."""
    for at, step in enumerate(steps):
        if step.answers.get("no") != "fail" or len(step.ways) > 1:
            continue
        on = step.ways[0].target if step.ways else steps[at + 1].id if at + 1 < len(steps) else None
        back = step.id if "prepared" in step.fields or not at else steps[at - 1].id
        step.ways = [Way("ok", on, "it is approved"), Way("fail", back, "it is not")]


def dedented(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines without the marker of the list entry that they begin with, and without its indentation."""
    if not lines:
        return []
    (number, first), rest = lines[0], lines[1:]
    marker = _MARKER.match(first)
    if marker is None:
        return list(lines)
    width = len(marker[0].expandtabs(4))
    return [(number, first[marker.end() :]), *((at, _cut(line, width)) for at, line in rest)]


def _cut(line: str, width: int) -> str:
    indentation = len(line) - len(line.lstrip(" "))
    return line[min(indentation, width) :]


def _last_part(text: str) -> tuple[str, bool]:
    """The last paragraph or list entry of a text without its markup, "" if it ends otherwise; True if it is all."""
    blocks = read_blocks(text)
    if not blocks:
        return "", True
    last = blocks[-1]
    if last.items:
        return last.items[-1].text, False
    return last.text if last.kind == PARAGRAPH else "", len(blocks) == 1


def _lead_of_last_list(text: str) -> tuple[str, bool]:
    """The paragraph before the list that a text ends with, such as that of a question's answers, else ""; as above."""
    blocks = read_blocks(text)
    if len(blocks) < 2 or blocks[-2].kind != PARAGRAPH or not blocks[-1].items:
        return "", False
    return blocks[-2].text, len(blocks) == 2
