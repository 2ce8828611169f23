"""A graph in Mermaid's and Graphviz's languages."""

from __future__ import annotations

from collections.abc import Callable

from skills.lib.views.drawing.edges import Graph, Node

# What Mermaid draws as it is set (maxEdges of a flowchart; maxTextSize, in characters).
EDGES_UNSET, TEXT_UNSET = 500, 50_000
_MERMAID = {
    "step": ('["', '"]'),
    "gate": ('{{"', '"}}'),
    "person": ('[/"', '"/]'),
    "dispatch": ('[["', '"]]'),
    "end": ('(["', '"])'),
    "missing": ('>"', '"]'),
}
_DOT = {
    "step": 'shape=box, style="rounded"',
    "gate": "shape=diamond",
    "person": "shape=parallelogram",
    "dispatch": "shape=box3d",
    "end": "shape=doublecircle",
    "missing": 'shape=box, style="dashed", color="#cf222e"',
}


def mermaid(graph: Graph) -> str:
    """The text of a Mermaid flowchart; taken edges are set off and carry their count."""
    name = "".join(char if char.isalnum() or char in "-_ ." else "?" for char in graph.name)
    lines = ["flowchart TD", f"    %% {name}: {len(graph.edges)} of {len(graph.edges)} edges drawn"]
    for at, node in enumerate(graph.nodes):
        opening, closing = _MERMAID[node.kind]
        lines.append(f"    n{at}{opening}{_label(node, '<br/>', _in_mermaid)}{closing}")
    lines += [f'    n{edge.source} -- "{_in_mermaid(edge.label)}" --> n{edge.target}' for edge in graph.edges]
    taken = ",".join(str(at) for at, edge in enumerate(graph.edges) if edge.taken)
    if taken:
        lines.append(f"    linkStyle {taken} stroke:#1a7f37,stroke-width:3px")
    text = "\n".join(lines) + "\n"
    limit = over_mermaid(len(graph.edges), len(text))
    return text.replace("\n", f"\n    %% {limit}\n", 1) if limit else text


def over_mermaid(edges: int, characters: int) -> str:
    """Which settings a renderer of Mermaid needs to draw that much; empty if it draws it as it is set."""
    needed = [
        *([f"maxEdges {edges}"] if edges > EDGES_UNSET else []),
        *([f"maxTextSize {characters + 200}"] if characters > TEXT_UNSET else []),
    ]
    return f"a renderer of Mermaid draws this once it is set to {' and '.join(needed)}" if needed else ""


def dot(graph: Graph) -> str:
    """The text of a Graphviz graph; taken edges are set off and carry their count."""
    lines = [
        f'digraph "{_in_dot(graph.name)}" {{',
        f"  // {len(graph.edges)} of {len(graph.edges)} edges drawn",
        '  node [fontname="Helvetica"]; edge [fontname="Helvetica"];',
    ]
    for at, node in enumerate(graph.nodes):
        label = _label(node, "\\n", _in_dot)
        lines.append(f'  n{at} [label="{label}", {_DOT[node.kind]}];')
    for edge in graph.edges:
        taken = ', color="#1a7f37", penwidth=3' if edge.taken else ""
        lines.append(f'  n{edge.source} -> n{edge.target} [label="{_in_dot(edge.label)}"{taken}];')
    return "\n".join([*lines, "}"]) + "\n"


def _label(node: Node, line_end: str, quoted: Callable[[str], str]) -> str:
    """The label of a node, and below it its title if it has one."""
    title = "no such step" if node.kind == "missing" else node.title
    return quoted(node.label) + (f"{line_end}{quoted(title)}" if title else "")


def _in_dot(text: str) -> str:
    """The text as it stands inside a quoted string of Graphviz."""
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')


def _in_mermaid(text: str) -> str:
    """The text as it stands inside a quoted string of Mermaid: characters of its markup are entity codes."""
    plain = " -_.,:()/"
    return "".join(
        char if char.isalnum() or char in plain or ord(char) > 0x9F else f"#{ord(char)};"
        for char in " ".join(text.split())
    )
