"""Reading Mermaid: flowcharts and state diagrams, and what is told of anything else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.layers.adopting import mermaid
from skills.lib.layers.adopting.drawn import Unreadable


def edges(text: str) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.target, edge.label) for edge in mermaid.read(text).edges]


def test_shapes_give_labels_and_kinds() -> None:
    text = (
        'flowchart TD\n A["Read (it)"] --> B{Good?}\n B -->|yes| C(((Done)))\n B -- "no, again" --> D([Fix<br/>it])\n'
    )
    drawn = mermaid.read(text)
    assert [(node.name, node.label, node.kind) for node in drawn.nodes.values()] == [
        ("A", "Read (it)", "box"),
        ("B", "Good?", "choice"),
        ("C", "Done", "end"),
        ("D", "Fix it", "box"),
    ]
    assert edges(text) == [("A", "B", ""), ("B", "C", "yes"), ("B", "D", "no, again")]


@pytest.mark.parametrize(
    "line, expected",
    [
        ("A --> B --> C", [("A", "B", ""), ("B", "C", "")]),
        ("A & B --> C & D", [("A", "C", ""), ("A", "D", ""), ("B", "C", ""), ("B", "D", "")]),
        ("A-->B;B-->C;", [("A", "B", ""), ("B", "C", "")]),
        ("A -. maybe .-> B", [("A", "B", "maybe")]),
        ("A == must ==> B", [("A", "B", "must")]),
        ("A---|x|B", [("A", "B", "x")]),
        ("A --no--> B", [("A", "B", "no")]),
        ("A ~~~ B", []),
        ("A:::done --> B:::open", [("A", "B", "")]),
        ("A e1@--> B", [("A", "B", "")]),
        ('A@{ shape: diam, label: "Ok?" } --> B', [("A", "B", "")]),
        ("read-it --> do.it", [("read-it", "do.it", "")]),
    ],
)
def test_edges_in_every_form(line: str, expected: list[tuple[str, str, str]]) -> None:
    assert edges(f"graph LR\n{line}") == expected


def test_how_it_looks_is_passed_over() -> None:
    text = (
        "---\ntitle: x\n---\n%% c\nflowchart LR\nsubgraph one [One]\ndirection TB\n"
        "A --> B\nend\nclassDef x fill:#fff\nclick A call()"
    )
    assert edges(text) == [("A", "B", "")]


def test_a_state_diagram_begins_and_ends_at_its_marks() -> None:
    drawn = mermaid.read(
        'stateDiagram-v2\n[*] --> Red\nstate "Write code" as Green\nRed --> Green : test fails\n'
        "state check <<choice>>\nGreen --> check\ncheck --> [*] : ok\ncheck --> Red : more\n"
        "note right of Red\n x\nend note"
    )
    assert [(node.label, node.kind) for node in drawn.nodes.values()] == [
        ("", "start"),
        ("Red", "box"),
        ("Write code", "box"),
        ("check", "choice"),
        ("", "end"),
    ]
    assert [(edge.source, edge.target, edge.label) for edge in drawn.edges] == [
        ("[*] start", "Red", ""),
        ("Red", "Green", "test fails"),
        ("Green", "check", ""),
        ("check", "[*] end", "ok"),
        ("check", "Red", "more"),
    ]


@pytest.mark.parametrize(
    "text, line, why",
    [
        ("", 1, "it is empty"),
        ("sequenceDiagram\nA->>B: x", 1, "sequenceDiagram is neither a flowchart nor a state diagram"),
        ("graph TD\nA --> ", 2, "a node is missing at ''"),
        ("graph TD\nA B", 2, "an edge is missing at 'B'"),
        ("graph TD\nsubgraph S\nA --> B\nend\nC --> S", 2, "an edge leads to a subgraph as a whole"),
        ("stateDiagram\nstate A {\nB --> C\n}", 2, "a state holds other states"),
        ("stateDiagram\nstate f <<fork>>", 2, "states that run side by side are no procedure of steps"),
    ],
)
def test_what_is_no_procedure_is_told_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(Unreadable) as raised:
        mermaid.read(text)
    assert (raised.value.line, raised.value.why) == (line, why)


_PIECES = [
    "A",
    "B",
    "-->",
    "---",
    "-.->",
    "==>",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "|",
    '"',
    " ",
    "\n",
    ";",
    "&",
    "@",
    ":::x",
]
_PIECES += ["subgraph", "end", "<<", ">>", "state", "[*]", ":", "note", "--", "-.", "é", "<br>"]


@settings(deadline=None)
@given(
    st.sampled_from(["flowchart TD\n", "graph LR;", "stateDiagram-v2\n", ""]),
    st.lists(st.sampled_from(_PIECES), max_size=40).map("".join) | st.text(max_size=60),
)
def test_any_text_is_a_graph_or_is_told(head: str, text: str) -> None:
    try:
        drawn = mermaid.read(head + text)
    except Unreadable as problem:
        line, ends, nodes = problem.line, set[str](), set[str]()
    else:
        line, nodes = 1, set(drawn.nodes)
        ends = {end for edge in drawn.edges for end in (edge.source, edge.target)}
    assert 1 <= line <= (head + text).count("\n") + 1
    assert ends <= nodes
