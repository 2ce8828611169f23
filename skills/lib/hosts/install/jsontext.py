"""Edits a JSON file as text, so that everything else in it stays as it was written, to the last space.

A document is read into nodes that know where they stand; an edit replaces a stretch of the text. What JSON does not
have (comments, trailing commas, a name twice) is refused rather than lost.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from json.decoder import JSONDecodeError, JSONDecoder
from typing import Any

DEEPEST = 100
_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_READ = JSONDecoder().raw_decode
_INDENT = re.compile(r"\n([ \t]+)\S")


class NotPlain(ValueError):
    """The text is no plain JSON; the message says what and where."""


@dataclass(slots=True)
class Node:
    """A value: where its text stands, and what it holds. ``names`` are an object's, in the order of ``items``."""

    start: int
    end: int
    value: Any = None
    names: list[str] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    # Where each item begins, with its name if it has one.
    begins: list[int] = field(default_factory=list)

    def get(self, name: str) -> Node | None:
        """The value of a name; None where there is none."""
        return self.items[self.names.index(name)] if name in self.names else None


def parse(text: str) -> Node:
    """Read a document; NotPlain where it is none, or one that cannot be edited safely."""
    node = _value(text, _skip(text, 0), 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise _error(text, end, "something stands after the value")
    return node


def inserted(text: str, node: Node, value: Any, name: str | None = None) -> str:
    """The text with a value at the end of an object (under ``name``) or of an array."""
    lead = "" if name is None else json.dumps(name, ensure_ascii=False) + ": "
    if node.items:
        last = node.items[-1]
        before = text[node.items[-2].end if len(node.items) > 1 else node.start + 1 : node.begins[-1]]
        gap = before[before.find("\n") :] if "\n" in before else " "
        own = gap.rpartition("\n")[2] if "\n" in gap else None
        return text[: last.end] + "," + _newline(text, gap) + lead + _written(text, value, own) + text[last.end :]
    outer = _indent_at(text, node.start)
    if outer is None:
        body = lead + _written(text, value, None)
        return text[: node.start + 1] + body + text[node.end - 1 :]
    inner = outer + unit(text)
    end = _end_of_line(text)
    body = end + inner + lead + _written(text, value, inner) + end + outer
    return text[: node.start + 1] + body + text[node.end - 1 :]


def removed(text: str, node: Node, at: int) -> str:
    """The text without the item at that place of an object or array."""
    if len(node.items) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if at:
        return text[: node.items[at - 1].end] + text[node.items[at].end :]
    return text[: node.begins[0]] + text[node.begins[1] :]


def filled(text: str, node: Node, blank: str) -> str:
    """The text with blanks between the brackets of an empty object or array."""
    return text[: node.start + 1] + blank + text[node.end - 1 :]


def replaced(text: str, node: Node, value: Any) -> str:
    """The text with another value in the place of one."""
    return text[: node.start] + _written(text, value, _indent_at(text, node.start)) + text[node.end :]


def unit(text: str) -> str:
    """How far the text indents: that of its first indented line, else two spaces."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise _error(text, at, "it is nested too deeply")
    char = text[at : at + 1]
    if char == "{":
        return _object(text, at, depth)
    if char == "[":
        return _array(text, at, depth)
    if char == '"':
        value, end = _string(text, at)
        return Node(at, end, value)
    found = _SCALAR.match(text, at)
    if found is None:
        raise _error(text, at, "a value is missing")
    try:
        return Node(at, found.end(), json.loads(found[0], parse_constant=_refuse))
    except ValueError:
        raise _error(text, at, "this is no JSON value") from None


def _object(text: str, at: int, depth: int) -> Node:
    node = Node(at, at, {})
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        if node.items:
            at = _after_comma(text, at, "}")
        begin = at
        if text[at : at + 1] != '"':
            raise _error(text, at, "a name in quotes is missing")
        name, at = _string(text, at)
        if name in node.names:
            raise _error(text, begin, f"the name {name!r:.60} stands there twice")
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise _error(text, at, "a colon is missing")
        item = _value(text, _skip(text, at + 1), depth + 1)
        node.names.append(name)
        node.value[name] = item.value
        node.items.append(item)
        node.begins.append(begin)
        at = _skip(text, item.end)
    node.end = at + 1
    return node


def _array(text: str, at: int, depth: int) -> Node:
    node = Node(at, at, [])
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        if node.items:
            at = _after_comma(text, at, "]")
        item = _value(text, at, depth + 1)
        node.value.append(item.value)
        node.items.append(item)
        node.begins.append(item.start)
        at = _skip(text, item.end)
    node.end = at + 1
    return node


def _after_comma(text: str, at: int, closing: str) -> int:
    if text[at : at + 1] != ",":
        raise _error(text, at, f"a comma or {closing} is missing")
    at = _skip(text, at + 1)
    if text[at : at + 1] == closing:
        raise _error(text, at, "a comma stands before the end, which JSON does not have")
    return at


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _READ(text, at)
        return str(value), end
    except JSONDecodeError as error:
        raise _error(text, error.pos, error.msg) from None


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    end = found.end()
    if text.startswith(("//", "/*", "#"), end):
        raise _error(text, end, "a comment stands there")
    return end


def _error(text: str, at: int, what: str) -> NotPlain:
    return NotPlain(f"line {text.count(chr(10), 0, at) + 1}: {what}")


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _written(text: str, value: Any, indent: str | None) -> str:
    """A value as text whose further lines stand at ``indent``; on one line where there is none."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    shown = json.dumps(value, ensure_ascii=False, indent=unit(text))
    return shown.replace("\n", _end_of_line(text) + indent)


def _indent_at(text: str, at: int) -> str | None:
    """The indentation of the line of a place; None where the text is on one line and is not to be opened up."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    stripped = line.lstrip(" \t")
    if "\n" not in text.strip() and stripped:
        return None
    return line[: len(line) - len(stripped)]


def _end_of_line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _newline(text: str, gap: str) -> str:
    return gap.replace("\n", _end_of_line(text)) if "\r" not in gap else gap
