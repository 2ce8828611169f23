"""Reading DOT: what of a graph says how a procedure goes, and what is told of a graph that is none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.layers.adopting import dot
from skills.lib.layers.adopting.drawn import Unreadable


def edges(text: str) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.target, edge.label) for edge in dot.read(text).edges]


def test_nodes_have_labels_and_kinds() -> None:
    drawn = dot.read('digraph p { a [label="Read\\nit"]; b [shape=diamond]; c [shape=doublecircle]; a -> b -> c; }')
    assert [(node.name, node.label, node.kind) for node in drawn.nodes.values()] == [
        ("a", "Read\nit", "box"),
        ("b", "b", "choice"),
        ("c", "c", "end"),
    ]
    assert drawn.title == "p"


def test_defaults_hold_for_the_nodes_that_follow() -> None:
    drawn = dot.read("digraph { a; node [shape=diamond]; b; subgraph cluster_x { node [shape=box]; c } d }")
    assert [node.kind for node in drawn.nodes.values()] == ["box", "choice", "box", "choice"]


def test_edges_join_chains_and_groups() -> None:
    assert edges("digraph { a -> {b c} -> d [label=x] }") == [
        ("a", "b", "x"),
        ("a", "c", "x"),
        ("b", "d", "x"),
        ("c", "d", "x"),
    ]


def test_ports_comments_html_and_joined_texts_are_read() -> None:
    text = (
        'strict digraph "g" { // one\n /* two\n */\n# line 3\n a:n -> b:s:e [label=<<b>no</b> way>]; "x" + "y" -> a }'
    )
    assert edges(text) == [("a", "b", "no way"), ("xy", "a", "")]


def test_edges_that_are_not_seen_are_left_out_and_backward_ones_turned() -> None:
    assert edges("digraph { a -> b [style=invis]; a -> c [dir=back] }") == [("c", "a", "")]


@pytest.mark.parametrize(
    "text, line, why",
    [
        ("graph { a -- b }", 1, "it is no directed graph: it does not begin with digraph"),
        ("digraph {\n a -- b }", 2, "-- is no edge of a directed graph"),
        ("digraph {\n a -> }", 2, "a name is missing before }"),
        ("digraph {\n a -> b\n", 3, "a name is missing before the end"),
        ('digraph { a [label="x] }', 1, "'\"' has no meaning there in DOT"),
        ("digraph { a } b", 1, "something follows the end of the graph"),
        ("digraph { a [label=<b] }", 1, "a label in angle brackets is not closed"),
        ("", 1, "it is no directed graph: it does not begin with digraph"),
    ],
)
def test_what_is_no_graph_is_told_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(Unreadable) as raised:
        dot.read(text)
    assert (raised.value.line, raised.value.why) == (line, why)


def test_a_graph_of_many_nodes_and_a_deep_one_are_no_procedure() -> None:
    with pytest.raises(Unreadable, match="more than 200 nodes"):
        dot.read(f"digraph {{ {' '.join(f'n{at};' for at in range(300))} }}")
    with pytest.raises(Unreadable, match="nested more than 20 deep"):
        dot.read("digraph " + "{" * 5_000)


_PIECES = ["digraph", "{", "}", "[", "]", "->", "--", '"', "a", "b", "=", ";", "label", "shape", "diamond", "<", ">"]
_PIECES += ["subgraph", "\n", " ", "+", ":", "\\", "//", "/*", "#", "node", "edge", "1.5", "é"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join) | st.text(max_size=60))
def test_any_text_is_a_graph_or_is_told(text: str) -> None:
    try:
        drawn = dot.read(f"digraph g {{ {text}")
    except Unreadable as problem:
        line, ends, nodes = problem.line, set[str](), set[str]()
    else:
        line, nodes = 1, set(drawn.nodes)
        ends = {end for edge in drawn.edges for end in (edge.source, edge.target)}
    assert 1 <= line <= text.count("\n") + 1
    assert ends <= nodes
