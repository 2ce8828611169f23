"""A graph in Graphviz's language, and through Graphviz as SVG."""

from __future__ import annotations

import shutil
import subprocess

from skills.lib.commands.drawing.edges import Graph, Node
from skills.lib.errors import EnvironmentProblem

# Graphviz lays out 1,000 edges in seconds; what takes longer than this, in seconds, is not going to end well.
TIMEOUT = 120
_SHAPES = {
    "step": 'shape=box, style="rounded"',
    "gate": "shape=diamond",
    "person": "shape=parallelogram",
    "dispatch": "shape=box3d",
    "end": "shape=doublecircle",
    "missing": 'shape=box, style="dashed", color="#cf222e"',
}
_HOW = "Debian, Ubuntu: apt-get install graphviz; macOS: brew install graphviz; Windows: winget install graphviz"


def dot(graph: Graph) -> str:
    """The text of the graph; taken edges are set off and carry their count."""
    lines = [
        f'digraph "{_text(graph.name)}" {{',
        f"  // {len(graph.edges)} of {len(graph.edges)} edges drawn",
        '  node [fontname="Helvetica"]; edge [fontname="Helvetica"];',
    ]
    for at, node in enumerate(graph.nodes):
        lines.append(f'  n{at} [label="{_label(node)}", {_SHAPES[node.kind]}];')
    for edge in graph.edges:
        taken = ', color="#1a7f37", penwidth=3' if edge.taken else ""
        lines.append(f'  n{edge.source} -> n{edge.target} [label="{_text(edge.label)}"{taken}];')
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


def _label(node: Node) -> str:
    title = "no such step" if node.kind == "missing" else node.title
    return _text(node.label) + (f"\\n{_text(title)}" if title else "")


def _text(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
