"""Reads a graph in DOT, the language of Graphviz: what of it says how a procedure goes."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from skills.lib.layers.adopting import drawn
from skills.lib.layers.adopting.drawn import Drawn, Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<sign>->|--|[{}\[\];,=:+])
    |(?P<name>[^\W\d][\w]*|-?(?:\.\d+|\d+(?:\.\d*)?))
    |(?P<html><)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_DEEPEST = 20
_CHOICES = frozenset(("diamond", "mdiamond"))
_ENDS = frozenset(("doublecircle", "doubleoctagon", "msquare"))
_NOTES = frozenset(("note", "comment", "plaintext", "plain", "none", "tab"))


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def read(text: str) -> Drawn:
    """The nodes and edges of a directed graph. Raises Unreadable for anything else."""
    return _Reader(_tokens(text)).graph()


def _tokens(text: str) -> list[_Token]:
    found, at, line = [], 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Unreadable(line, f"{text[at]!r} has no meaning there in DOT")
        kind, word, end = str(match.lastgroup), match[0], match.end()
        if kind == "html":
            end = _closing(text, at, line)
            word = _TAG.sub(" ", text[at + 1 : end - 1])
        elif kind == "quoted":
            word = _ESCAPE.sub(_unescaped, word[1:-1])
        if kind != "space":
            found.append(_Token(kind if kind in ("sign", "name") else "text", word, line))
        line += text.count("\n", at, end)
        at = end
    return [*found, _Token("end", "", line)]


def _closing(text: str, at: int, line: int) -> int:
    """Where an HTML label ends that begins at ``at``."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "<") - (text[place] == ">")
        if not depth:
            return place + 1
    raise Unreadable(line, "a label in angle brackets is not closed")


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "l": "\n", "r": "\n", "\n": ""}.get(match[1], match[1])


class _Reader:
    """Reads statements, token by token; ``defaults`` are the attributes of the nodes and edges that follow."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.at = tokens, 0
        self.drawn = Drawn()

    def graph(self) -> Drawn:
        if self._word() == "strict":
            self.at += 1
        if self._word() != "digraph":
            raise Unreadable(self._line(), "it is no directed graph: it does not begin with digraph")
        self.at += 1
        if self._is_name():
            self.drawn.title = self._name()
        self._statements({}, {}, 0)
        if self._token().kind != "end":
            raise Unreadable(self._line(), "something follows the end of the graph")
        return self.drawn

    def _statements(self, nodes: Mapping[str, str], edges: Mapping[str, str], depth: int) -> list[str]:
        """The statements in braces; gives the names of the nodes in them."""
        if depth > _DEEPEST:
            raise Unreadable(self._line(), f"its subgraphs are nested more than {_DEEPEST} deep")
        self._expect("{")
        nodes, edges, named = dict(nodes), dict(edges), list[str]()
        while self._sign() != "}":
            if self._sign() in (";", ","):
                self.at += 1
            elif self._word() in ("graph", "node", "edge") and self._sign(1) == "[":
                kind = self._name()
                {"node": nodes, "edge": edges}.get(kind, {}).update(self._attributes())
            elif self._is_name() and self._sign(1) == "=":
                self.at += 2
                self._name()
            else:
                named += self._chain(nodes, edges, depth)
        self.at += 1
        return named

    def _chain(self, nodes: Mapping[str, str], edges: Mapping[str, str], depth: int) -> list[str]:
        """A node, or nodes with edges between them, and the attributes of these."""
        line = self._line()
        groups, places = [self._group(nodes, edges, depth)], [line]
        while self._sign() in ("->", "--"):
            if self._sign() == "--":
                raise Unreadable(self._line(), "-- is no edge of a directed graph")
            places.append(self._line())
            self.at += 1
            groups.append(self._group(nodes, edges, depth))
        given = self._attributes()
        if len(groups) == 1:
            for name in groups[0]:
                _apply(self.drawn.nodes[name], given)
        about = {**edges, **given}
        for at, (sources, targets) in enumerate(pairwise(groups), 1):
            if about.get("style") == "invis":
                continue
            back = about.get("dir") == "back"
            for source in sources:
                for target in targets:
                    ends = (target, source) if back else (source, target)
                    self.drawn.connect(*ends, about.get("label", about.get("xlabel", "")), places[at])
        return [name for group in groups for name in group]

    def _group(self, nodes: Mapping[str, str], edges: Mapping[str, str], depth: int) -> list[str]:
        """The one node, or those of a subgraph, that stand at an end of an edge."""
        if self._word() == "subgraph":
            self.at += 1
            if self._is_name():
                self._name()
        if self._sign() == "{":
            return self._statements(nodes, edges, depth + 1)
        line, name = self._line(), self._name()
        while self._sign() == ":":
            self.at += 1
            self._name()
        is_new = name not in self.drawn.nodes
        node = self.drawn.node(name, line)
        if is_new:
            _apply(node, nodes)
        return [name]

    def _attributes(self) -> dict[str, str]:
        found = {}
        while self._sign() == "[":
            self.at += 1
            while self._sign() != "]":
                name = self._name().lower()
                if self._sign() == "=":
                    self.at += 1
                    found[name] = self._name()
                while self._sign() in (";", ","):
                    self.at += 1
            self.at += 1
        return found

    def _name(self) -> str:
        """A name or text, with what is joined to it by +."""
        if not self._is_name():
            raise Unreadable(self._line(), f"a name is missing before {self._sign() or 'the end'}")
        text = self._token().text
        self.at += 1
        while self._sign() == "+" and self._is_name(1):
            text += self._token(1).text
            self.at += 2
        return text

    def _expect(self, sign: str) -> None:
        if self._sign() != sign:
            raise Unreadable(self._line(), f"{sign!r} is missing")
        self.at += 1

    def _is_name(self, ahead: int = 0) -> bool:
        return self._token(ahead).kind in ("name", "text")

    def _word(self) -> str:
        """The word that stands here, in lower case; "" if it is in quotes or something else."""
        token = self._token()
        return token.text.lower() if token.kind == "name" else ""

    def _sign(self, ahead: int = 0) -> str:
        """The sign that stands here; "" if it is something else."""
        token = self._token(ahead)
        return token.text if token.kind == "sign" else ""

    def _token(self, ahead: int = 0) -> _Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def _line(self) -> int:
        return self._token().line


def _apply(node: drawn.Node, attributes: Mapping[str, str]) -> None:
    """Give a node what its attributes say of it."""
    if "label" in attributes:
        node.label = attributes["label"].replace("\\N", node.name)
    shape = attributes.get("shape", "").lower()
    if shape:
        node.kind = drawn.CHOICE if shape in _CHOICES else drawn.END if shape in _ENDS else drawn.BOX
        node.note = shape in _NOTES
    if attributes.get("peripheries") == "2":
        node.kind = drawn.END
