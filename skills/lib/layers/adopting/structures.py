"""Finds what in a SKILL.md says how its procedure goes, by rules that are tried in order.

A graph; headings "Step n"; counted headings; an ordered list. Each gives candidates, and one of them an outline.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skills.lib.layers.adopting import dot, flow, matching, mermaid
from skills.lib.layers.adopting.drawn import Unreadable
from skills.lib.layers.adopting.markdown import FENCE, ORDERED, PARAGRAPH
from skills.lib.layers.adopting.outline import Outline, Step
from skills.lib.layers.adopting.wording import (
    begins_with_verb,
    says_example,
    says_no_procedure,
    says_procedure,
    says_to_follow,
    short_title,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skills.lib.layers.adopting.drawn import Drawn
    from skills.lib.layers.adopting.markdown import Block, Section

GRAPH, STEPS, COUNTED, LIST = "graph", "step headings", "counted headings", "ordered list"
RULES = (GRAPH, STEPS, COUNTED, LIST)
_LANGUAGES = {"dot": dot.read, "graphviz": dot.read, "gv": dot.read, "mermaid": mermaid.read}
_NUMBER = r"(?P<number>\d{1,3}(?:\.\d{1,3})*[a-z]?|[ivx]{1,5}|[a-h]|one|two|three|four|five|six|seven|eight|nine|ten)"
_STEP = re.compile(
    rf"(?:[^\w\s]+\s*)?(?P<word>step|phase|stage)\s+#?{_NUMBER}\b(?:\s*(?:/|of)\s*\d+)?\s*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_COUNTED = re.compile(r"(?P<number>\d{1,2})\ufe0f?\u20e3?\s*(?:[.):\u2014\u2013-]\s*|\s)(?P<rest>\S.*)", re.DOTALL)
_LEAD = " \t:.)\u2014\u2013-|\u2192"
_TAIL = _LEAD.replace(")", "")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A structure that may be the procedure: by which rule, under which heading, from which line.

    ``sure`` is 2 if its heading says that it is a procedure, 1 if something near does, else 0. ``section`` is what it
    stands in.
    """

    rule: str
    heading: str
    line: int
    sure: int
    section: Section
    build: Callable[[], Outline]


def find(root: Section, named: Section | None = None) -> tuple[list[Candidate], list[str]]:
    """Every structure of a text, and what is to be said of graphs that were passed over.

    ``named`` is the section that somebody says holds the procedure, whatever its heading says.
    """
    notes: list[str] = []
    found = [*_graphs(root, named, notes), *_headings(root, named), *_lists(root, named)]
    return found, notes


def best(found: Sequence[Candidate], is_named: bool = False) -> list[Candidate]:
    """Those of the first rule that gives any, the surest of them; several are rivals.

    One of which nothing says that it is a procedure is none, unless somebody named its heading.
    """
    for rule in RULES:
        of_rule = [one for one in found if one.rule == rule and (one.sure or is_named)]
        surest = max((one.sure for one in of_rule), default=0)
        if of_rule:
            return [one for one in of_rule if one.sure == surest]
    return []


def _is_excluded(section: Section, named: Section | None) -> bool:
    """True if a section holds an example, and nobody named it."""
    around = [section, *section.above()]
    is_example = any(says_example(one.title) for one in around if one.level > 1)
    return is_example and (named is None or named not in around)


def _graphs(root: Section, named: Section | None, notes: list[str]) -> Iterator[Candidate]:
    for section in root.every():
        for before, block in zip([None, *section.blocks], section.blocks, strict=False):
            read = _LANGUAGES.get(block.info) if block.kind == FENCE else None
            if read is None:
                continue
            try:
                drawn = read(block.text)
                why = "" if section is named else _why_no_process(section, before, drawn)
                steps = flow.steps_of(drawn)[0] if not why else []
            except Unreadable as problem:
                why = f"line {block.first + problem.line}: {problem.why}"
            if why:
                notes.append(f"the {block.info} graph in lines {block.first}-{block.last} is passed over: {why}")
            else:
                yield _graph(root, section, block, drawn, len(steps))


def _graph(root: Section, section: Section, block: Block, drawn: Drawn, count: int) -> Candidate:
    def build() -> Outline:
        steps, ids, guesses = flow.steps_of(drawn)
        for step in steps:
            step.lines = {line + block.first for line in step.lines}
        matching.give_texts(steps, {ids[name]: drawn.nodes[name].label for name in ids}, root, block)
        return Outline(GRAPH, section.title, block.first, steps, range(block.first, block.last + 1), guesses)

    sure = 2 if says_procedure(section.title) or says_procedure(drawn.title.replace("_", " ")) else 1
    return Candidate(GRAPH, section.title, block.first, sure if count > 2 else 1, section, build)


def _why_no_process(section: Section, before: Block | None, drawn: Drawn) -> str:
    """Why a graph does not say how the procedure goes; "" if it may."""
    title = drawn.title.replace("_", " ")
    if flow.is_decision(drawn, says_procedure(section.title)):
        return "it only says what to choose"
    for heading in (section.title, title):
        if says_no_procedure(heading) and not says_procedure(heading):
            return f"{heading[:60]!r} is no heading of a procedure"
    if _is_excluded(section, None):
        return "it is an example"
    if before is not None and before.kind == PARAGRAPH and says_example(before.text):
        return "it is an example"
    return ""


def _headings(root: Section, named: Section | None) -> Iterator[Candidate]:
    for rule, pattern in ((STEPS, _STEP), (COUNTED, _COUNTED)):
        groups: list[tuple[Section, list[Section]]] = []
        taken: set[int] = set()
        for parent in root.every():
            if any(id(one) in taken for one in (parent, *parent.above())):
                continue
            if _is_excluded(parent, named):
                continue
            if rule == COUNTED and parent is not named and says_no_procedure(parent.title):
                continue
            counted = [one for one in parent.below if pattern.fullmatch(one.title)]
            members = _commonest(counted, pattern) if rule == STEPS else counted
            if groups and members and _goes_on(groups[-1][1], members, pattern):
                groups[-1][1].extend(members)
            elif len(members) > 1 and (rule == STEPS or _is_counted([one.title for one in members])):
                groups.append((parent, list(members)))
            else:
                continue
            taken.update(map(id, members))
        for parent, members in groups:
            yield _counted(rule, parent, _with_missing(members, pattern), pattern)
    for section in root.every():
        if not _is_excluded(section, named):
            yield from _bold_headings(section, STEPS, _STEP)
            yield from _bold_headings(section, COUNTED, _COUNTED)


def _with_missing(members: Sequence[Section], pattern: re.Pattern[str]) -> list[Section]:
    """The members, and those that fill a gap in their numbers and stand at a lower level by mistake."""
    found: list[Section] = []
    for member, following in zip(members, [*members[1:], None], strict=True):
        found.append(member)
        missing = range(_as_number(member, pattern) + 1, _as_number(following, pattern) if following else 0)
        below = [one for one in member.every() if one is not member and _as_number(one, pattern) in missing]
        if missing and [_as_number(one, pattern) for one in below] == list(missing):
            found += below
    return found


def _counted(rule: str, parent: Section, members: Sequence[Section], pattern: re.Pattern[str]) -> Candidate:
    def build() -> Outline:
        steps = []
        for member, following in zip(members, [*members[1:], None], strict=True):
            assert member.heading is not None
            last = min(member.last, following.first - 1) if following else member.last
            step = Step("", _title(member, pattern))
            step.lines = set(range(member.first, last + 1))
            step.body = set(range(member.heading.last + 1, last + 1))
            steps.append(step)
        return Outline(rule, parent.title, members[0].first, steps, guesses=_gaps(members, pattern))

    sure = 2 if rule == STEPS or says_procedure(parent.title) else 0
    if not sure and 2 * sum(begins_with_verb(_title(member, pattern)) for member in members) > len(members):
        sure = 1
    return Candidate(rule, parent.title or members[0].title, members[0].first, sure, parent, build)


def _bold_headings(section: Section, rule: str, pattern: re.Pattern[str]) -> Iterator[Candidate]:
    """Paragraphs that begin with a bold "Step n" or a bold number, as headings."""
    marked = [block for block in section.blocks if block.kind == PARAGRAPH and pattern.fullmatch(block.strong)]
    if len(marked) < 2 or (rule == COUNTED and not _is_counted([block.strong for block in marked])):
        return
    end = section.below[0].first - 1 if section.below else section.last
    bounds = [*(block.first for block in marked[1:]), end + 1]

    def build() -> Outline:
        steps = []
        for block, bound in zip(marked, bounds, strict=True):
            step = Step("", _bold_title(block, pattern))
            step.lines = step.body = set(range(block.first, bound))
            steps.append(step)
        return Outline(rule, section.title, marked[0].first, steps)

    is_sure = rule == STEPS or says_procedure(section.title)
    yield Candidate(rule, section.title, marked[0].first, int(is_sure), section, build)


def _bold_title(block: Block, pattern: re.Pattern[str]) -> str:
    match = pattern.fullmatch(block.strong)
    rest = match["rest"].lstrip(_LEAD).rstrip(_TAIL) if match else ""
    return rest or short_title(block.text)


def _lists(root: Section, named: Section | None) -> Iterator[Candidate]:
    for section in root.every():
        around = [section, *section.above()]
        if _is_excluded(section, named) or (section is not named and says_no_procedure(section.title)):
            continue
        for blocks, before in _runs_of_items(section):
            if sum(len(block.items) for block in blocks) < 2:
                continue
            said = says_procedure(section.title) or (section.level > 2 and any(map(_says_procedure, around[1:2])))
            sure = 2 if said else 1 if before is not None and says_to_follow(before.text) else 0
            yield _list(section, blocks, sure)


def _says_procedure(section: Section) -> bool:
    return section.level > 1 and says_procedure(section.title)


def _runs_of_items(section: Section) -> Iterator[tuple[list[Block], Block | None]]:
    """The ordered lists of a section: those that count on are one. With the paragraph before each."""
    runs: list[tuple[list[Block], Block | None]] = []
    for before, block in zip([None, *section.blocks], section.blocks, strict=False):
        if block.kind != ORDERED:
            continue
        if runs and block.start > 1 and block.start == _next_number(runs[-1][0]):
            runs[-1][0].append(block)
        else:
            runs.append(([block], before if before is not None and before.kind == PARAGRAPH else None))
    yield from runs


def _next_number(blocks: Sequence[Block]) -> int:
    return blocks[-1].start + len(blocks[-1].items)


def _list(section: Section, blocks: Sequence[Block], sure: int) -> Candidate:
    def build() -> Outline:
        items = [item for block in blocks for item in block.items]
        ends = [*(item.first - 1 for item in items[1:]), blocks[-1].last]
        steps = []
        for item, end in zip(items, ends, strict=True):
            step = Step("", short_title(item.strong or item.text))
            step.lines = step.body = set(range(item.first, end + 1))
            steps.append(step)
        return Outline(LIST, section.title, blocks[0].first, steps)

    return Candidate(LIST, section.title, blocks[0].first, sure, section, build)


def _title(section: Section, pattern: re.Pattern[str]) -> str:
    """The title of a step by its heading; if that only counts, by the bold line below it."""
    match = pattern.fullmatch(section.title)
    rest = match["rest"].lstrip(_LEAD).rstrip(_TAIL) if match else ""
    first = section.blocks[0] if section.blocks else None
    if not rest and first and first.kind == PARAGRAPH and first.strong == first.text:
        rest = first.text
    return rest or section.title.strip(" \t:")


def _commonest(members: Sequence[Section], pattern: re.Pattern[str]) -> list[Section]:
    """Those of the members that begin with the commonest word, such as phase."""
    kinds: dict[str, list[Section]] = {}
    for member in members:
        match = pattern.fullmatch(member.title)
        assert match is not None
        kinds.setdefault(match["word"].lower(), []).append(member)
    return max(kinds.values(), key=len, default=[])


def _number(member: Section, pattern: re.Pattern[str]) -> str:
    match = pattern.fullmatch(member.title)
    return match["number"].lower() if match else ""


def _as_number(member: Section, pattern: re.Pattern[str]) -> int:
    """The number of a heading; -1 if it has none, or one of another kind."""
    number = _number(member, pattern)
    return int(number) if number.isdecimal() else -1


def _goes_on(before: Sequence[Section], members: Sequence[Section], pattern: re.Pattern[str]) -> bool:
    """True if the members count on from the last of those before."""
    last, first = _number(before[-1], pattern), _number(members[0], pattern)
    return last.isdecimal() and first.isdecimal() and int(first) == int(last) + 1


def _is_counted(titles: Sequence[str]) -> bool:
    numbers = [int(match["number"]) for title in titles if (match := _COUNTED.fullmatch(title))]
    return numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _gaps(members: Sequence[Section], pattern: re.Pattern[str]) -> list[str]:
    numbers = [_number(member, pattern) for member in members]
    if all(number.isdecimal() for number in numbers):
        counted = [int(number) for number in numbers]
        if counted != list(range(counted[0], counted[0] + len(counted))):
            return [f"the numbers of the headings are {', '.join(numbers)}: taken in the order in which they stand"]
    return []
