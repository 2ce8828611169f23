"""A graph as it is drawn in a SKILL.md: nodes and edges, whatever the notation."""

from __future__ import annotations

from dataclasses import dataclass, field

# A larger graph is no procedure that somebody follows.
MOST_NODES, MOST_EDGES = 200, 600

BOX, CHOICE, END, START = "box", "choice", "end", "start"


class Unreadable(Exception):
    """A graph cannot be read: why, and in which line of its text, counted from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line, self.why = line, why


@dataclass(slots=True)
class Node:
    """A node: how it is called, what it says, what kind it is, and the line that it first stands on.

    ``kind`` is BOX, CHOICE for a diamond, END for a double circle and the end of a state diagram, or START.
    """

    name: str
    label: str
    line: int
    kind: str = BOX
    note: bool = False


@dataclass(slots=True)
class Edge:
    """An edge with its label, "" if it has none, and its line."""

    source: str
    target: str
    label: str
    line: int


@dataclass(slots=True)
class Drawn:
    """The nodes by name, in the order in which they first stand, and the edges; ``title`` is the graph's own name."""

    title: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def node(self, name: str, line: int) -> Node:
        """The node of that name, made if it is new."""
        found = self.nodes.get(name)
        if found is None:
            if len(self.nodes) >= MOST_NODES:
                raise Unreadable(line, f"it has more than {MOST_NODES} nodes")
            found = self.nodes[name] = Node(name, name, line)
        return found

    def connect(self, source: str, target: str, label: str, line: int) -> None:
        """Add an edge between two nodes."""
        if len(self.edges) >= MOST_EDGES:
            raise Unreadable(line, f"it has more than {MOST_EDGES} edges")
        self.node(source, line)
        self.node(target, line)
        self.edges.append(Edge(source, target, " ".join(label.split()), line))
