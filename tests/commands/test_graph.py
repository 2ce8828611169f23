from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from syrupy.assertion import SnapshotAssertion

from skills.lib.views.drawing import edges, picture
from skills.lib.views.drawing.languages import dot, mermaid
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome
from tests.commands.conftest import Command, Walker
from tests.fixtures import skill

Install = Callable[..., Path]
SVG = "http://www.w3.org/2000/svg"
WAYS = (Outcome.OK, Outcome.FAIL, Outcome.SKIP, Outcome.ITERATE)


def workflow(*routes: dict[Outcome, int | None]) -> Workflow:
    """Steps s0, s1, …, each with its routes by number."""
    return Workflow(
        "drawn",
        *[
            StepDef(f"s{at}", f"S{at}", "Do.", {way: None if to is None else f"s{to}" for way, to in ways.items()})
            for at, ways in enumerate(routes)
        ],
    )


def large(count: int) -> Workflow:
    """A graph of that many edges: four from each step, forward and back."""
    steps = count // 4
    ways = [
        {Outcome.OK: at + 1 if at + 1 < steps else None, Outcome.FAIL: at // 2, Outcome.SKIP: at, Outcome.ITERATE: None}
        for at in range(steps)
    ]
    return workflow(*ways)


@pytest.mark.req("W-17")
@pytest.mark.parametrize("form", ["terminal", "mermaid", "dot"])
@pytest.mark.parametrize("name", ["tour", "gated", "brood"])
def test_a_workflow_is_drawn(
    name: str, form: str, cli: Command, installed: Install, snapshot: SnapshotAssertion
) -> None:
    installed(name)
    shown = cli("graph", name, "--format", form)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == snapshot


def test_the_c_locale_gets_ascii(cli: Command, installed: Install, snapshot: SnapshotAssertion) -> None:
    installed("tour")
    shown = cli("graph", "tour", env={"LC_ALL": "C"})
    assert shown.out.isascii()
    assert shown.out == snapshot


@pytest.mark.req("W-17")
def test_the_edges_of_a_run_are_counted_and_set_off(
    cli: Command, installed: Install, walker: Callable[[Path], Walker], snapshot: SnapshotAssertion
) -> None:
    walk = walker(installed("tour"))
    run = walk.go(walk.start(topic="xyz"), records={"summary": "seen"})
    run = walk.go(run, params={"mode": "full"})
    run = walk.go(walk.go(run, records={"confidence": "low"}), records={"confidence": "high"})
    walk.go(run, outcome="iterate")
    shown = cli("graph", "tour", "--run", run.id).out
    assert "default ×1" in shown
    assert shown == snapshot
    marked = cli("graph", "tour", "--run", run.id, env={"FORCE_COLOR": "1"}).out
    assert "\x1b[1;32m" in marked
    as_mermaid = cli("graph", "tour", "--run", run.id, "--format", "mermaid").out
    assert as_mermaid.count("×1") == 5
    assert "linkStyle " in as_mermaid
    assert cli("graph", "tour", "--run", run.id, "--format", "dot").out.count("penwidth=3") == 5


def test_a_run_of_another_workflow_is_refused(
    cli: Command, installed: Install, walker: Callable[[Path], Walker]
) -> None:
    installed("tour")
    run = walker(installed("part")).start(what="x")
    shown = cli("graph", "tour", "--run", run.id)
    assert shown.code == 3
    assert "is of part, not of tour" in shown.err


def test_an_invalid_graph_is_drawn_with_what_is_wrong_in_it(cli: Command, installed: Install) -> None:
    installed("bad", skill.source_of("bad", "StepDef('one', 'One', 'Do.', {'ok': 'tow', 'fail': 'one'})"))
    shown = cli("graph", "bad")
    assert shown.code == 0
    assert "tow (no such step)" in shown.out
    assert "2 of 2 edges drawn" in shown.out


def test_a_skill_of_several_workflows_asks_which(cli: Command, installed: Install) -> None:
    script = installed("pair", skill.source_of("first", "StepDef('one', 'One', 'Do.', {'ok': None})"))
    other = skill.source_of("second", "StepDef('two', 'Two', 'Do.', {'ok': None})")
    script.with_name("second_workflow.py").write_text(other, encoding="utf-8")
    shown = cli("graph", "pair")
    assert shown.code == 2
    assert "valid: first, second" in shown.err
    assert "1 two" in cli("graph", "second").out


def test_a_drawing_that_does_not_fit_becomes_a_list(
    cli: Command, installed: Install, snapshot: SnapshotAssertion
) -> None:
    installed("tour")
    shown = cli("graph", "tour", env={"COLUMNS": "30"})
    assert "edges listed: a drawing would be" in shown.out
    assert shown.out == snapshot


def test_a_list_is_ascii_in_the_c_locale(cli: Command, installed: Install, walker: Callable[[Path], Walker]) -> None:
    walk = walker(installed("plain"))
    run = walk.go(walk.start(), records={"thing": "x"})
    shown = cli("graph", "plain", "--run", run.id, env={"LC_ALL": "C", "COLUMNS": "10"}).out
    assert "    ok x1 -> 2 again\n" in shown
    assert shown.isascii()


def test_a_file_is_written_and_not_overwritten(cli: Command, installed: Install, project: Path) -> None:
    installed("plain")
    file = project / "plain.mmd"
    assert cli("graph", "plain", "--format", "mermaid", "-o", "plain.mmd").code == 0
    first = file.read_text(encoding="utf-8")
    assert first.startswith("flowchart TD\n")
    refused = cli("graph", "plain", "--format", "dot", "-o", "plain.mmd")
    assert refused.code == 3
    assert file.read_text(encoding="utf-8") == first
    assert cli("graph", "plain", "--format", "dot", "-o", "plain.mmd", "--force").code == 0
    assert file.read_text(encoding="utf-8").startswith('digraph "plain" {\n')


@pytest.mark.parametrize(
    "name, form", [("a.svg", "svg"), ("a.SVG", "svg"), ("a.mmd", "mermaid"), ("a.gv", "dot"), ("a.txt", "terminal")]
)
def test_a_file_is_drawn_as_its_suffix_says_unless_a_format_is_given(
    cli: Command, installed: Install, project: Path, name: str, form: str
) -> None:
    installed("plain")
    assert cli("graph", "plain", "-o", name).code == 0
    assert cli("graph", "plain", "--format", form, "-o", "same").code == 0
    assert (project / name).read_bytes() == (project / "same").read_bytes()
    assert cli("graph", "plain", "--format", "dot", "-o", name, "--force").code == 0
    assert (project / name).read_text().startswith("digraph ")


def test_a_file_that_cannot_be_written_is_an_environment_error(cli: Command, installed: Install) -> None:
    installed("plain")
    assert cli("graph", "plain", "-o", "nowhere/plain.txt").code == 4


@pytest.mark.parametrize("name", ["tour", "gated", "brood"])
def test_svg_has_a_box_for_each_step_and_a_line_and_a_label_for_each_way(
    name: str, cli: Command, installed: Install, tmp_path: Path
) -> None:
    installed(name)
    shown = cli("graph", name, "--format", "svg", env={"PATH": str(tmp_path)})
    assert (shown.code, shown.err) == (0, "")
    drawing = etree.fromstring(shown.out)
    as_dot = cli("graph", name, "--format", "dot").out
    boxes = [found for found in drawing.iter(f"{{{SVG}}}rect") if found.get("class") != "halo"]
    assert len(boxes) == len(re.findall(r"^  n\d+ \[", as_dot, re.MULTILINE))
    pairs = Counter(re.findall(r"^  n(\d+) -> n(\d+)", as_dot, re.MULTILINE))
    lines = drawing.findall(f"{{{SVG}}}g/{{{SVG}}}path")
    labels = [text.text for text in drawing.iter(f"{{{SVG}}}text") if text.get("text-anchor") and not text.get("class")]
    assert len(lines) == len(labels) == len(pairs)
    said = Counter(word for label in labels for word in (label or "").split(", "))
    assert said == Counter(re.findall(r' -> n\d+ \[label="(.*?)"', as_dot))


def test_svg_sets_off_what_a_run_took(
    cli: Command, installed: Install, walker: Callable[[Path], Walker], snapshot: SnapshotAssertion
) -> None:
    walk = walker(installed("plain"))
    run = walk.go(walk.start(), records={"thing": "x"})
    shown = cli("graph", "plain", "--run", run.id, "--format", "svg").out
    assert shown.count('class="way taken ok"') == 2  # the line and its label
    assert "×1" in shown
    assert shown == snapshot


def test_svg_holds_any_title_and_name(cli: Command, installed: Install) -> None:
    title = "</text><script>alert(1)</script> \\x1b[2J & \u202e"
    installed("odd", skill.source_of("odd", f"StepDef('one', {title!r}, 'Do.', {{'ok': None}})"))
    shown = cli("graph", "odd", "--format", "svg").out
    drawing = etree.fromstring(shown)
    assert {etree.QName(element).localname for element in drawing.iter()} == {
        *("svg", "title", "style", "defs", "marker", "path", "g", "rect", "text")
    }
    assert "\x1b" not in shown


def test_markup_of_the_languages_in_titles_is_text(cli: Command) -> None:
    drawn = edges.of_workflow(Workflow("sly", StepDef("one", 'a"]; <b> \\ #35;', "Do.", {Outcome.OK: None})))
    assert '["1 one<br/>a#34;#93;#59; #60;b#62; #92; #35;35#59;"]' in mermaid(drawn)
    assert 'label="1 one\\na\\"]; <b> \\\\ #35;"' in dot(drawn)


@pytest.mark.parametrize("count", [1_000, 10_000])
def test_large_graphs_keep_every_edge_and_are_quick(count: int) -> None:
    begun = time.perf_counter()
    drawn = edges.of_workflow(large(count))
    texts = mermaid(drawn), dot(drawn)
    listed = [line.plain for line in picture.in_terminal(drawn, 120, unicode=True)]
    assert time.perf_counter() - begun < 5
    assert texts[0].count(" --> ") == count
    assert texts[1].count(" -> ") == count
    assert sum(line.startswith("    ") for line in listed) == count
    assert listed[-1].startswith(f"{count} of {count} edges listed")


def test_what_mermaid_does_not_draw_as_it_is_set_is_told(cli: Command, installed: Install) -> None:
    rows = [f"StepDef('s{at}', '{'long ' * 15}{at}', 'Do.', {{'ok': 's{at + 1}', 'fail': None}}" for at in range(600)]
    steps = ", ".join([f"{row}, when={{'ok': 'it is', 'fail': 'not'}})" for row in rows])
    installed("vast", skill.source_of("vast", f"{steps}, StepDef('s600', 'End', 'Do.', {{'ok': None}})"))
    shown = cli("graph", "vast", "--format", "mermaid")
    needs = r"A renderer of Mermaid draws this once it is set to maxEdges 1201 and maxTextSize (\d+)"
    said = re.fullmatch(needs + r"\. --format svg needs none\.\n", shown.err)
    assert said is not None
    assert len(shown.out) < int(said[1])
    assert "maxEdges 1201" in shown.out.splitlines()[1]
    assert cli("graph", "vast", "--format", "svg").err == ""


def test_wide_characters_and_emoji_keep_the_boxes_closed() -> None:
    titles = ["🚀 Start", "日本語", "👩‍👩‍👧‍👦 family", "❤️ and 🇩🇪", "cafe\u0301"]
    steps = [StepDef(f"s{at}", title, "Do.", {Outcome.OK: f"s{at + 1}"}) for at, title in enumerate(titles)]
    graph = edges.of_workflow(Workflow("wide", *steps, StepDef(f"s{len(titles)}", "End", "Do.", {Outcome.OK: None})))
    boxes = [
        line.plain for line in picture.in_terminal(graph, 100, unicode=True) if "│" in line.plain or "╮" in line.plain
    ]
    assert {line.cell_len for line in picture.in_terminal(graph, 100, unicode=True) if line.plain.endswith("│")} == {
        len(boxes[0])
    }


def test_an_order_that_was_declared_is_kept() -> None:
    drawn = edges.of_workflow(
        workflow({Outcome.OK: 1, Outcome.FAIL: 2}, {Outcome.OK: 2}, {Outcome.OK: None, Outcome.FAIL: 0})
    )
    assert [node.key for node in drawn.nodes] == ["s0", "s1", "s2", "done"]


def test_steps_declared_out_of_order_are_drawn_in_the_order_of_a_run() -> None:
    declared = workflow({Outcome.OK: 2}, {Outcome.OK: None}, {Outcome.OK: 1})
    assert [node.key for node in edges.of_workflow(declared).nodes] == ["s0", "s2", "s1", "done"]


LINES = {
    "│": "NS", "─": "WE", "╭": "SE", "╮": "SW", "╰": "NE", "╯": "NW",
    "├": "NSE", "┤": "NSW", "┼": "NSWE", "▶": "W", "◀": "E",
}  # fmt: skip
MOVES = {"N": (-1, 0), "S": (1, 0), "W": (0, -1), "E": (0, 1)}
OPPOSITE = {"N": "S", "S": "N", "W": "E", "E": "W"}


class Picture:
    """A drawing as a reader sees it: boxes between two walls, labels, lines, heads of arrows."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.left, self.right = lines[0].index("╭"), lines[0].rindex("╮")
        self.boxes: dict[int, str] = {}
        key, name = -1, ""
        self.below: dict[int, tuple[str, str]] = {}
        for row in range(len(lines)):
            walls = self.cell(row, self.left) + self.cell(row, self.right)
            if walls == "╭╮":
                self.below = {at: (above, under or self.name(row + 1)) for at, (above, under) in self.below.items()}
                key, name = row, self.name(row + 1)
            elif walls == "╰╯":
                for inside in range(key, row):
                    self.boxes[inside] = name
                if self.cell(row + 2, (self.left + self.right + 1) // 2) == "▼":
                    self.below[row + 1] = (name, "")

    def cell(self, row: int, column: int) -> str:
        line = self.lines[row] if row < len(self.lines) else ""
        return line[column] if column < len(line) else " "

    def name(self, row: int) -> str:
        words = self.lines[row][self.left + 1 : self.right].split()
        return words[1] if words[0].isdigit() else words[0]

    def edges(self) -> Counter[tuple[str, str, str]]:
        """Every edge that a label and the line behind it show."""
        found: Counter[tuple[str, str, str]] = Counter()
        for row, (source, target) in self.below.items():
            words = self.lines[row][(self.left + self.right + 1) // 2 + 2 : self.right]
            found.update((source, word.strip(), target) for word in words.split(","))
        for row, source in self.boxes.items():
            line = self.lines[row]
            if self.cell(row, self.right) == "├":
                label = re.match("─ ([^─]+) ─", line[self.right + 1 :])
                assert label is not None, line
                found += self._led_to(source, label[1], row, self.right + label.end() - 1, "E")
            if self.cell(row, self.left) == "┤":
                label = re.search("─ ([^─]+) ─$", line[: self.left])
                assert label is not None, line
                found += self._led_to(source, label[1], row, label.start() + 1, "W")
        return found

    def _led_to(self, source: str, label: str, row: int, column: int, way: str) -> Counter[tuple[str, str, str]]:
        (head,) = reach(self.lines, row, column, way)
        return Counter((source, word, self.boxes[head[0]]) for word in label.split(", "))


def reach(lines: list[str], row: int, column: int, heading: str) -> set[tuple[int, int]]:
    """The arrow heads to which the line leads that goes on from a cell in that direction; crossings go straight on."""
    heads: set[tuple[int, int]] = set()
    seen: set[tuple[int, int, str]] = set()
    queue = [(row, column, heading)]
    while queue:
        row, column, heading = queue.pop()
        if (row, column, heading) in seen:
            continue
        seen.add((row, column, heading))
        row, column = row + MOVES[heading][0], column + MOVES[heading][1]
        cell = lines[row][column] if column < len(lines[row]) else " "
        if cell in "▶◀":
            heads.add((row, column))
        elif cell == "┼":
            queue.append((row, column, heading))
        elif cell in LINES and OPPOSITE[heading] in LINES[cell]:
            queue += [(row, column, way) for way in LINES[cell] if way != OPPOSITE[heading]]
    return heads


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    count = draw(st.integers(1, 14))
    target = st.none() | st.integers(0, count - 1)
    return workflow(*[draw(st.dictionaries(st.sampled_from(WAYS), target, min_size=1)) for _ in range(count)])


@given(workflows())
@settings(max_examples=150, deadline=None)
def test_a_reader_of_the_drawing_finds_every_edge_and_no_other(drawn: Workflow) -> None:
    graph = edges.of_workflow(drawn)
    *lines, count = [line.plain for line in picture.in_terminal(graph, 10_000, unicode=True)]
    expected = Counter(
        (step.id, outcome.value, target or "done") for step in drawn.steps for outcome, target in step.next.items()
    )
    assert Picture(lines).edges() == expected
    assert count == f"{expected.total()} of {expected.total()} edges drawn"


@pytest.mark.parametrize("count", [14, 40])
def test_a_long_workflow_with_loops_fits_an_ordinary_terminal(count: int) -> None:
    ways: list[dict[Outcome, int | None]] = [
        {Outcome.OK: at + 1 if at + 1 < count else None, Outcome.FAIL: max(0, at - 3)} for at in range(count)
    ]
    lines = [line.plain for line in picture.in_terminal(edges.of_workflow(workflow(*ways)), 80, unicode=True)]
    assert lines[-1] == f"{2 * count} of {2 * count} edges drawn"
    assert Picture(lines[:-1]).edges().total() == 2 * count
