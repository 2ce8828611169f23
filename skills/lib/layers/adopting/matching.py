"""Finds the text of each node of a graph: the section or the entry of a list that says the same as its label."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skills.lib.layers.adopting.markdown import BULLETS, ORDERED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skills.lib.layers.adopting.markdown import Block, Section
    from skills.lib.layers.adopting.outline import Step

_WORD = re.compile(r"[a-z0-9]+")
_COUNT = re.compile(r"^\W*(?:(?:step|phase|stage)\s+)?(?:\d+|[ivx]+|[a-h])\s*[.:)\u2014\u2013-]\s*", re.IGNORECASE)
_EMPTY = frozenset(("a", "an", "and", "as", "by", "for", "from", "if", "in", "is", "it", "of", "on", "or", "the", "to"))
# How much of the words of both must be the same.
_LEAST = 0.5


def give_texts(steps: Sequence[Step], labels: Mapping[str, str], root: Section, graph: Block) -> None:
    """Add to each step the lines of what says the same as its label; each section or entry goes to one step."""
    by_id = {step.id: step for step in steps}
    taken: set[int] = set()
    for title, first, said, last in _texts(root, graph):
        if first in taken:
            continue
        scored = [(_alike(title, label), name) for name, label in labels.items()]
        score, name = max(scored, default=(0.0, ""))
        if score >= _LEAST:
            lines = set(range(first, last + 1))
            taken |= lines
            by_id[name].lines |= lines
            by_id[name].body |= {line for line in lines if line >= said}
            by_id[name].guesses.append(f"the text of lines {first}-{last} was taken for it, by its words")


def _texts(root: Section, graph: Block) -> Iterator[tuple[str, int, int, int]]:
    """What may be a text: how it is called, its first line, the first after its heading, and its last.

    Sections come first, then entries of lists; none of them holds the graph.
    """
    for section in root.every():
        if section.heading and not section.first <= graph.first <= section.last:
            yield section.title, section.first, section.heading.last + 1, section.last
    for section in root.every():
        for block in section.blocks:
            for item in block.items if block.kind in (ORDERED, BULLETS) else ():
                yield item.strong or item.text.partition(".")[0][:80], item.first, item.first, item.last


def _alike(one: str, other: str) -> float:
    """How much of the words of two texts is the same, from 0 to 1."""
    first, second = _said(one), _said(other)
    common = len(first & second)
    if not common or not (first and second):
        return 0.0
    if first == second or (common > 1 and (first <= second or second <= first)):
        return 0.5 + 0.5 * common / len(first | second)
    return common / len(first | second) if common > 1 else 0.0


def _said(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(_COUNT.sub("", text).lower())} - _EMPTY


def _stem(word: str) -> str:
    for end in ("ing", "es", "s", "e"):
        if word.endswith(end) and len(word) > len(end) + 3:
            return word[: -len(end)]
    return word
