"""Markdown as blocks with the lines that they stand on, and as sections under headings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from skills.lib.errors import EnvironmentProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

HEADING, FENCE, ORDERED, BULLETS, PARAGRAPH, OTHER = "heading", "fence", "ordered", "bullets", "paragraph", "other"
_KINDS = {
    "heading_open": HEADING,
    "fence": FENCE,
    "ordered_list_open": ORDERED,
    "bullet_list_open": BULLETS,
    "paragraph_open": PARAGRAPH,
}
_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a list: its lines, counted from 1, and the text of its first paragraph without markup.

    ``strong`` is the bold text that the entry begins with, if it does. ``nested`` says that it holds more than text.
    """

    first: int
    last: int
    text: str
    strong: str = ""
    nested: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """One block at the top level of a text, with its first and last line, counted from 1.

    ``text`` has no markup and no tags, but for a fence, where it is the content; ``info`` is the language of a fence.
    ``strong`` is the bold text that a paragraph begins with. ``level`` is that of a heading, ``start`` the first number
    of a list.
    """

    kind: str
    first: int
    last: int
    text: str = ""
    info: str = ""
    strong: str = ""
    level: int = 0
    items: tuple[Item, ...] = ()
    start: int = 1


@dataclass(slots=True)
class Section:
    """A heading, or the beginning of a text, with the blocks under it and the sections below it.

    ``last`` is the last line of the section with all below it. The heading of the beginning is None, its level 0.
    """

    heading: Block | None
    level: int
    first: int
    last: int = 0
    parent: Section | None = None
    blocks: list[Block] = field(default_factory=list)
    below: list[Section] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The text of the heading; "" for the beginning of a text."""
        return self.heading.text if self.heading else ""

    def every(self) -> Iterator[Section]:
        """This section and all below it, in the order of the text."""
        waiting = [self]
        while waiting:
            section = waiting.pop()
            yield section
            waiting += reversed(section.below)

    def above(self) -> Iterator[Section]:
        """The sections around this one, the nearest first."""
        section = self.parent
        while section is not None:
            yield section
            section = section.parent


@cache
def _parser() -> MarkdownIt:
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        raise EnvironmentProblem(
            "the package markdown-it-py is not installed, which reads Markdown", remedy="pip install markdown-it-py"
        ) from None
    return MarkdownIt("commonmark").enable("table")


def read_blocks(text: str, first_line: int = 1) -> list[Block]:
    """The blocks of a Markdown text; ``first_line`` is the number of its first line.

    Raises EnvironmentProblem if the Markdown reader is not installed.
    """
    lines = text.split("\n")
    tokens = _parser().parse(text)
    blocks = []
    for at, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map:
            blocks.append(_block(tokens, at, lines, first_line))
    return blocks


def sections(blocks: Sequence[Block], last_line: int) -> Section:
    """The tree of sections of a text that ends with ``last_line``; its root is the beginning of the text."""
    root = Section(None, 0, blocks[0].first if blocks else last_line, last_line)
    at = root
    for block in blocks:
        if block.kind != HEADING:
            at.blocks.append(block)
            continue
        while at.level >= block.level:
            at.last = block.first - 1
            assert at.parent is not None
            at = at.parent
        at.below.append(Section(block, block.level, block.first, last_line, at))
        at = at.below[-1]
    return root


def _block(tokens: Sequence[Token], at: int, lines: Sequence[str], first_line: int) -> Block:
    token = tokens[at]
    kind = _KINDS.get(token.type, OTHER)
    first, last = _span(token, lines, first_line)
    if kind == FENCE:
        return Block(kind, first, last, token.content, token.info.strip().partition(" ")[0].lower())
    if kind in (ORDERED, BULLETS):
        start = int(token.attrs.get("start", 1))
        return Block(kind, first, last, items=tuple(_items(tokens, at, lines, first_line)), start=start)
    if token.type == "html_block":
        return Block(kind, first, last, " ".join(_TAG.sub(" ", token.content).split()))
    inline = tokens[at + 1] if kind in (HEADING, PARAGRAPH) else None
    text, strong = (plain_text(inline), _strong(inline)) if inline else ("", "")
    return Block(kind, first, last, text, strong=strong, level=int(token.tag[1:]) if kind == HEADING else 0)


def _span(token: Token, lines: Sequence[str], first_line: int) -> tuple[int, int]:
    """The first and last line of a token; blank lines at its end do not belong to it."""
    assert token.map is not None
    first, end = token.map
    while end > first + 1 and not lines[end - 1].strip():
        end -= 1
    return first + first_line, end - 1 + first_line


def _items(tokens: Sequence[Token], at: int, lines: Sequence[str], first_line: int) -> Iterator[Item]:
    """The entries of the list that begins at a token, each with what it holds."""
    level = tokens[at].level
    opened: Token | None = None
    inline: Token | None = None
    inside = 0
    for token in tokens[at + 1 :]:
        if token.level == level and token.nesting < 0:
            return
        if token.type == "list_item_open" and token.level == level + 1:
            opened, inline, inside = token, None, 0
        elif token.type == "list_item_close" and token.level == level + 1 and opened is not None:
            first, last = _span(opened, lines, first_line)
            text, strong = (plain_text(inline), _strong(inline)) if inline else ("", "")
            yield Item(first, last, text, strong, inside > 1)
        elif token.level == level + 2 and token.nesting >= 0:
            inside += 1
        elif inline is None and token.type == "inline" and inside == 1:
            inline = token


def plain_text(inline: Token) -> str:
    """The text of a paragraph or heading without its markup, on one line."""
    parts = []
    for child in inline.children or ():
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return " ".join("".join(parts).split())


def _strong(inline: Token) -> str:
    """The bold text that a paragraph begins with."""
    parts: list[str] = []
    depth = 0
    for child in inline.children or ():
        if child.type == "strong_open":
            depth += 1
        elif child.type == "strong_close":
            break
        elif depth:
            parts.append(child.content or " ")
        elif child.content.strip():
            break
    return " ".join("".join(parts).split())
