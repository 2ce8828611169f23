"""A graph in Mermaid's and Graphviz's languages, and through Graphviz as SVG."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

from skills.lib.commands.drawing.edges import Graph, Node
from skills.lib.errors import EnvironmentProblem

# Graphviz lays out 1,000 edges in seconds; what takes longer than this, in seconds, is not going to end well.
TIMEOUT = 120
# What Mermaid draws without a setting of its own (flowchart maxEdges).
EDGES_UNSET = 500
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
_HOW = "Debian, Ubuntu: apt-get install graphviz; macOS: brew install graphviz; Windows: winget install graphviz"


def mermaid(graph: Graph) -> str:
    """The text of a Mermaid flowchart; taken edges are set off and carry their count."""
    name = "".join(char if char.isalnum() or char in "-_ ." else "?" for char in graph.name)
    lines = ["flowchart TD", f"    %% {name}: {len(graph.edges)} of {len(graph.edges)} edges drawn"]
    if len(graph.edges) > EDGES_UNSET:
        lines.append(f"    %% a renderer draws this many once its setting maxEdges is {len(graph.edges)} or more")
    for at, node in enumerate(graph.nodes):
        opening, closing = _MERMAID[node.kind]
        lines.append(f"    n{at}{opening}{_label(node, '<br/>', _in_mermaid)}{closing}")
    lines += [f'    n{edge.source} -- "{_in_mermaid(edge.label)}" --> n{edge.target}' for edge in graph.edges]
    taken = ",".join(str(at) for at, edge in enumerate(graph.edges) if edge.taken)
    if taken:
        lines.append(f"    linkStyle {taken} stroke:#1a7f37,stroke-width:3px")
    return "\n".join(lines) + "\n"


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


def svg(graph: Graph) -> str:
    """The graph as SVG; EnvironmentProblem says how to get Graphviz, or why it failed."""
    program = shutil.which("dot")
    if program is None:
        raise EnvironmentProblem(
            "SVG is drawn by Graphviz, and its command `dot` is not installed",
            valid="--format mermaid, dot and terminal need nothing else",
            remedy=_HOW,
        )
    try:
        done = subprocess.run(
            [program, "-Tsvg"], input=dot(graph), capture_output=True, encoding="utf-8", timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise EnvironmentProblem(
            f"{program} did not end within {TIMEOUT} s for {len(graph.edges)} edges", remedy="--format dot, with sfdp"
        ) from None
    except OSError as error:
        raise EnvironmentProblem(f"{program} cannot be run: {error}", remedy=_HOW) from error
    if done.returncode != 0:
        raise EnvironmentProblem(f"{program} ended with {done.returncode}: {done.stderr.strip()[:500]}", remedy=_HOW)
    return done.stdout


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
