"""A graph as a Mermaid flowchart."""

from __future__ import annotations

from skills.lib.commands.drawing.edges import Graph, Node

# What Mermaid draws without a setting of its own (flowchart maxEdges).
EDGES_UNSET = 500
_SHAPES = {
    "step": ('["', '"]'),
    "gate": ('{{"', '"}}'),
    "person": ('[/"', '"/]'),
    "dispatch": ('[["', '"]]'),
    "end": ('(["', '"])'),
    "missing": ('>"', '"]'),
}
_TAKEN = "stroke:#1a7f37,stroke-width:3px"


def mermaid(graph: Graph) -> str:
    """The text of the flowchart; taken edges are set off and carry their count."""
    lines = ["flowchart TD", f"    %% {_comment(graph.name)}: {len(graph.edges)} of {len(graph.edges)} edges drawn"]
    if len(graph.edges) > EDGES_UNSET:
        lines.append(f"    %% a renderer draws this many once its setting maxEdges is {len(graph.edges)} or more")
    for at, node in enumerate(graph.nodes):
        opening, closing = _SHAPES[node.kind]
        lines.append(f"    n{at}{opening}{_label(node)}{closing}")
    lines += [f'    n{edge.source} -- "{_text(edge.label)}" --> n{edge.target}' for edge in graph.edges]
    taken = ",".join(str(at) for at, edge in enumerate(graph.edges) if edge.taken)
    if taken:
        lines.append(f"    linkStyle {taken} {_TAKEN}")
    return "\n".join(lines) + "\n"


def _label(node: Node) -> str:
    title = "no such step" if node.kind == "missing" else node.title
    return _text(node.label) + (f"<br/>{_text(title)}" if title else "")


def _text(text: str) -> str:
    """The text as a quoted Mermaid string: what is markup there stands as an entity code."""
    return "".join(char if _is_plain(char) else f"#{ord(char)};" for char in " ".join(text.split()))


def _is_plain(char: str) -> bool:
    return char.isalnum() or char in " -_.,:()/" or ord(char) > 0x9F


def _comment(text: str) -> str:
    return "".join(char if char.isalnum() or char in "-_ ." else "?" for char in text)
