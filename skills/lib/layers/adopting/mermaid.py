"""Reads a flowchart or a state diagram in Mermaid: what of it says how a procedure goes."""

from __future__ import annotations

import re

from skills.lib.layers.adopting.drawn import BOX, CHOICE, END, START, Drawn, Unreadable

_FLOWCHART = re.compile(r"(?:flowchart(?:-elk)?|graph)(?:\s+(?:TB|TD|BT|RL|LR))?\s*;?", re.IGNORECASE)
_STATES = re.compile(r"stateDiagram(?:-v2)?", re.IGNORECASE)
_COMMENT = re.compile(r"%%.*")
_BREAK = re.compile(r"<br\s*/?>|\\n", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
# Lines that say how a graph looks and not how it goes.
_LOOKS = re.compile(r"(?:classDef|class|style|linkStyle|click|direction|accTitle|accDescr)\b", re.IGNORECASE)

_NAME = re.compile(r"[^\W_](?:[\w.]|-(?![-.>=]))*|_\w+")
# Shapes by how they begin and end, the longer ones first.
_SHAPES = (
    ("(((", ")))", END),
    ("((", "))", BOX),
    ("([", "])", BOX),
    ("[(", ")]", BOX),
    ("[[", "]]", BOX),
    ("[/", "/]", BOX),
    ("[/", "\\]", BOX),
    ("[\\", "\\]", BOX),
    ("[\\", "/]", BOX),
    ("{{", "}}", BOX),
    ("{", "}", CHOICE),
    ("(", ")", BOX),
    ("[", "]", BOX),
    (">", "]", BOX),
)
_ABOUT = re.compile(r"@\{(?P<inside>[^{}]*)\}")
_SHAPE = re.compile(r"\bshape\s*:\s*\"?(?P<shape>[\w-]+)")
_LABEL = re.compile(r"\blabel\s*:\s*(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>[^,]*))")
_CLASS = re.compile(r":::[\w-]+")
_EDGE_ID = re.compile(r"[\w-]+@(?=[-=.<ox~])")
_EDGE = re.compile(
    r"""(?P<invisible>~{3,})
    |<?[ox]?(?:
        (?P<plain>--+[->ox]|==+[=>ox]|-\.+-[>ox]?)
        |(?P<open>--|==|-\.)\s*(?P<label>(?:"[^"]*"|[^\n"])+?)\s*(?P<close>--+[->ox]|==+[=>ox]|\.+-[>ox]?)
    )""",
    re.VERBOSE,
)
_PIPED = re.compile(r"\|(?P<label>\"[^\"]*\"|[^|\n]*)\|")
_STATE = r"(?:\[\*\]|[\w.-]+)(?::::[\w-]+)?"
_TRANSITION = re.compile(
    rf"(?P<source>{_STATE})\s*-->\s*(?P<target>{_STATE})\s*(?::\s*(?P<label>.*))?",
)
_NAMED_STATE = re.compile(r"state\s+\"(?P<label>[^\"]*)\"\s+as\s+(?P<name>[\w.-]+)\s*(?P<brace>\{)?")
_KIND_OF_STATE = re.compile(r"state\s+(?P<name>[\w.-]+)\s*(?:<<(?P<kind>\w+)>>|\[\[(?P<older>\w+)\]\])")
_COMPOSITE = re.compile(r"state\s+(?P<name>[\w.-]+)\s*\{")
_DESCRIBED = re.compile(r"(?P<name>[\w.-]+)\s*:\s*(?P<label>.+)")


def read(text: str) -> Drawn:
    """The nodes and edges of a flowchart or a state diagram. Raises Unreadable for anything else."""
    lines = _lines(text)
    if not lines:
        raise Unreadable(1, "it is empty")
    number, head = lines[0]
    if match := _FLOWCHART.match(head):
        rest = head[match.end() :].strip()
        return _flowchart([*([(number, rest)] if rest else []), *lines[1:]])
    if _STATES.fullmatch(head):
        return _states(lines[1:])
    raise Unreadable(number, f"{head.split()[0][:40]} is neither a flowchart nor a state diagram")


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines that say something, with their numbers: without comments and the frontmatter."""
    lines = [(at, _COMMENT.sub("", line).strip()) for at, line in enumerate(text.split("\n"), 1)]
    lines = [(at, line) for at, line in lines if line]
    if lines and lines[0][1] == "---":
        closing = next((at for at, (_, line) in enumerate(lines[1:], 1) if line == "---"), None)
        if closing is None:
            raise Unreadable(lines[0][0], "its frontmatter is not closed")
        lines = lines[closing + 1 :]
    return lines


def _flowchart(lines: list[tuple[int, str]]) -> Drawn:
    drawn = Drawn()
    groups: set[str] = set()
    for number, line in lines:
        words = line.rstrip(";").split()
        if not words or words[0] == "end" or _LOOKS.match(line):
            continue
        if words[0] == "subgraph":
            groups.add(re.split(r"[\[\s]", " ".join(words[1:]), maxsplit=1)[0])
            continue
        _Statement(drawn, line, number).read()
    if groups & {end for edge in drawn.edges for end in (edge.source, edge.target)} - {""}:
        raise Unreadable(lines[0][0], "an edge leads to a subgraph as a whole")
    return drawn


class _Statement:
    """One line of a flowchart, read from left to right."""

    def __init__(self, drawn: Drawn, text: str, line: int) -> None:
        self.drawn, self.text, self.line, self.at = drawn, text, line, 0

    def read(self) -> None:
        while self._more():
            sources = self._nodes()
            while self._more() and not self._takes(";"):
                shown, label = self._edge()
                targets = self._nodes()
                for source in sources if shown else ():
                    for target in targets:
                        self.drawn.connect(source, target, label, self.line)
                sources = targets

    def _nodes(self) -> list[str]:
        """Nodes that are joined by &."""
        names = [self._node()]
        while self._more() and self._takes("&"):
            self._more()
            names.append(self._node())
        return names

    def _node(self) -> str:
        match = _NAME.match(self.text, self.at)
        if match is None:
            raise Unreadable(self.line, f"a node is missing at {self.text[self.at : self.at + 20]!r}")
        self.at = match.end()
        node = self.drawn.node(match[0], self.line)
        about = _ABOUT.match(self.text, self.at)
        if about:
            self.at = about.end()
            shape, label = _SHAPE.search(about["inside"]), _LABEL.search(about["inside"])
            if shape:
                node.kind = {"diam": CHOICE, "diamond": CHOICE, "decision": CHOICE, "dbl-circ": END}.get(
                    shape["shape"], BOX
                )
            if label:
                node.label = _words(label["quoted"] or label["plain"] or "")
        else:
            for begins, ends, kind in _SHAPES:
                if self.text.startswith(begins, self.at) and (found := self._inside(begins, ends)) is not None:
                    node.label, node.kind = _words(found), kind
                    break
        if named := _CLASS.match(self.text, self.at):
            self.at = named.end()
        return node.name

    def _inside(self, begins: str, ends: str) -> str | None:
        """The text of a shape, and go past it; None if it is not closed so."""
        start = self.at + len(begins)
        if self.text.startswith('"', start):
            quote = self.text.find('"', start + 1)
            close = self.text.find(ends, quote + 1) if quote >= 0 else -1
            if close < 0 or self.text[quote + 1 : close].strip():
                return None
        else:
            close = self.text.find(ends, start)
            if close < 0:
                return None
        self.at = close + len(ends)
        return self.text[start:close]

    def _edge(self) -> tuple[bool, str]:
        """Whether the edge is shown, and its label."""
        if named := _EDGE_ID.match(self.text, self.at):
            self.at = named.end()
        match = _EDGE.match(self.text, self.at)
        if match is None:
            raise Unreadable(self.line, f"an edge is missing at {self.text[self.at : self.at + 20]!r}")
        self.at = match.end()
        label = match["label"] or ""
        self._more()
        if piped := _PIPED.match(self.text, self.at):
            self.at = piped.end()
            label = piped["label"]
        self._more()
        return match["invisible"] is None, _words(label)

    def _more(self) -> bool:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at < len(self.text)

    def _takes(self, sign: str) -> bool:
        found = self.text.startswith(sign, self.at)
        self.at += len(sign) * found
        return found


def _states(lines: list[tuple[int, str]]) -> Drawn:
    drawn = Drawn()
    in_note = False
    for number, line in lines:
        if in_note or line.lower() == "end note":
            in_note = in_note and line.lower() != "end note"
        elif line.lower().startswith("note "):
            in_note = ":" not in line
        elif line not in ("--", "}") and not _LOOKS.match(line):
            _state_line(drawn, line, number)
    return drawn


def _state_line(drawn: Drawn, line: str, number: int) -> None:
    if match := _TRANSITION.fullmatch(line):
        source, target = (_CLASS.sub("", match[end]) for end in ("source", "target"))
        if source == "[*]":
            source = "[*] start"
            drawn.node(source, number).kind = START
        if target == "[*]":
            target = "[*] end"
            drawn.node(target, number).kind = END
        for name in ("[*] start", "[*] end"):
            if name in drawn.nodes:
                drawn.nodes[name].label = ""
        drawn.connect(source, target, _words(match["label"] or ""), number)
    elif match := _NAMED_STATE.fullmatch(line):
        if match["brace"]:
            raise Unreadable(number, "a state holds other states")
        drawn.node(match["name"], number).label = _words(match["label"])
    elif match := _KIND_OF_STATE.fullmatch(line):
        node = drawn.node(match["name"], number)
        if (match["kind"] or match["older"]).lower() != "choice":
            raise Unreadable(number, "states that run side by side are no procedure of steps")
        node.kind = CHOICE
    elif _COMPOSITE.fullmatch(line):
        raise Unreadable(number, "a state holds other states")
    elif match := _DESCRIBED.fullmatch(line):
        drawn.node(match["name"], number).label = _words(match["label"])
    elif re.fullmatch(r"(?:state\s+)?[\w.-]+", line):
        drawn.node(line.split()[-1], number)
    else:
        raise Unreadable(number, f"{line[:40]!r} has no meaning in a state diagram")


def _words(text: str) -> str:
    """A label without quotes, tags and line breaks."""
    text = _TAG.sub("", _BREAK.sub(" ", text.strip().strip('"').strip("`")))
    return " ".join(text.replace("&quot;", '"').replace("#quot;", '"').split())
