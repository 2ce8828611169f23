"""The page of a run: headline, the way through the graph, reviews, steps, and the same for each sub-agent."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lxml import html

from skills import __version__
from skills.lib.commands.console.screen import one_line
from skills.lib.commands.queries.runs import Records, iso, left_undone, moment, skill_of, status_line, undone
from skills.lib.commands.tracing.markup import Piece, el, facts, table, value
from skills.lib.commands.tracing.visits import Visits, of_events
from skills.lib.errors import SkillError
from skills.lib.model.steps import Workflow
from skills.lib.model.texts import shortened
from skills.lib.model.types import Outcome
from skills.lib.views import findings
from skills.lib.views.drawing import edges, picture

if TYPE_CHECKING:
    from skills.lib.ledger.history import Event
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Handler

# How much of one value the page holds, in characters: of a run with few sub-agents, and of one with many.
LIMIT, LIMIT_MANY, MANY = 4_000, 600, 20
# How many graphs are drawn; the way of further runs is in words alone.
DRAWN = 12
# How many turns the label of an edge names.
TURNS = 6
# How much of a sub-agent's target its line shows.
TARGET = 120
_CSS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.css")
_COLOURS = {"done": "good", "open": "wait", "waiting": "wait", "abandoned": "bad", "lost": "bad"}


def page(records: Records, run: Run, whole: bool = False) -> str:
    """The text of the page: one document without scripts or anything from elsewhere.

    With ``whole`` every value is in it as it is; else the longest are cut, the more so the more sub-agents there are.
    """
    return _Page(records, run, whole).text()


class _Page:
    """What the sections of one page share: the records, how much is shown, and how many graphs may still be drawn."""

    def __init__(self, records: Records, run: Run, whole: bool) -> None:
        self.records = records
        self.run = run
        self.tree = [one for _, one in records.tree(run)]
        self.tasks = {one.id: _task(one) for one in self.tree}
        self.limit = None if whole else LIMIT if len(self.tree) <= MANY else LIMIT_MANY
        self.left_to_draw = DRAWN

    def text(self) -> str:
        title = f"Run {self.run.id}: {skill_of(self.run)}"
        with open(_CSS, encoding="utf-8") as file:
            css = file.read()
        digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        style = html.Element("style")
        style.text = css
        head = el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", http_equiv="Content-Security-Policy", content=policy),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("meta", name="referrer", content="no-referrer"),
            el("title", title),
            style,
        )
        body = el(
            "body",
            el("header", el("h1", title), self._headline(self.run), id=_anchor(self.run.id)),
            el("main", self._sections()),
        )
        body.append(el("footer", self._end(), class_="faint"))
        document = el("html", head, body, lang="en")
        text = html.tostring(document, doctype="<!DOCTYPE html>", encoding="unicode")
        assert isinstance(text, str)
        return text + "\n"

    def _sections(self) -> Iterator[Piece]:
        yield from self._about(self.run, "h2")
        if len(self.tree) > 1:
            yield el("h2", f"Sub-agents ({len(self.tree) - 1})", id="sub-agents")
            for child in self.tree[1:]:
                yield self._child(child)

    def _child(self, child: Run) -> html.HtmlElement:
        summary = el("summary", el("strong", child.id), f" {_task(child)} · ", self._status(child))
        return el(
            "details", summary, self._headline(child), self._about(child, "h3"), class_="child", id=_anchor(child.id)
        )

    def _headline(self, run: Run) -> html.HtmlElement:
        events = self.records.events(run.id)
        pairs: list[tuple[str, Piece]] = [
            ("skill", skill_of(run)),
            ("workflow", run.workflow),
            ("status", self._status(run)),
            ("turn", str(run.turn)),
        ]
        if events:
            pairs.append(("opened", _time(events[0].at)))
            pairs.append(("last event", _time(events[-1].at)))
        if run.parent:
            pairs.append(("sub-agent of", el("a", run.parent, href=f"#{_anchor(run.parent)}")))
            wanted = ("agent", "model", "checkpoint", "target", "task", "context")
            pairs += [(name, value(run.spec[name], self.limit)) for name in wanted if run.spec.get(name)]
        pairs += [(f"--{name.replace('_', '-')}", value(given, self.limit)) for name, given in run.params.items()]
        return facts(pairs)

    def _status(self, run: Run) -> html.HtmlElement:
        return el("strong", status_line(run), class_=_COLOURS.get(run.status))

    def _about(self, run: Run, heading: str) -> Iterator[Piece]:
        """The sections of one run: what it left undone, its way, its reviews, its steps."""
        events = self.records.events(run.id)
        history = of_events(events)
        workflow = self._workflow(run)
        left = left_undone(run, self.records)
        if left:
            yield el(heading, "Not done" if run.ended else "Not done so far")
            yield el("ul", [el("li", undone(entry)) for entry in left])
        if run.errata:
            yield el(heading, "Errata")
            yield facts([(name, value(notes, self.limit)) for name, notes in run.errata.items()])
        if history.visits:
            yield el(heading, "The way")
            yield self._way(workflow, events, history.trail(run.status))
        for checkpoint, done in findings.rounds(events).items():
            yield el(heading, f"Review of {checkpoint}")
            yield from self._review(done)
        if history.visits or history.beside:
            yield el(heading, "Step by step")
            yield from Visits(self.limit, workflow, self.tasks).sections(history)

    def _workflow(self, run: Run) -> Workflow | None:
        """The graph as it was when the run last took it up; None if the run never began."""
        if not run.fingerprint:
            return None
        try:
            return Workflow.restored(self.records.ledger.definition(run.fingerprint), _function)
        except SkillError:  # written by another version of Lockstep
            return None

    def _way(self, workflow: Workflow | None, events: list[Event], trail: str) -> html.HtmlElement:
        made = el("figure", el("p", _in_words(trail), class_="trail"))
        if workflow is not None and len(workflow.steps) > 1 and self.left_to_draw:
            self.left_to_draw -= 1
            made.insert(0, drawn(edges.of_workflow(workflow, events), trail))
            made.append(el("figcaption", "In brackets: the turns to which the run came that way."))
        return made

    def _review(self, done: list[findings.Round]) -> Iterator[Piece]:
        for one in done:
            good = "good" if one.status == "pass" else "bad"
            verdict = el("strong", one.status, class_=good)
            yield el("p", f"Iteration {one.iteration} (turn {one.turn}): ", verdict, *self._decision(one))
            for turn, files in one.fell:
                yield el("p", f"The verdict fell at turn {turn}, as files were changed: ", value(files, self.limit))
        headings = ["finding", "severity", "what was checked", *(f"iteration {one.iteration}" for one in done), "end"]
        yield table(headings, [self._item(item, done) for item in findings.histories(done)])

    def _decision(self, one: findings.Round) -> Iterator[Piece]:
        if one.decision:
            yield f"; {findings.who(one.decision)} said {one.decision.get('answer')}"
            if one.decision.get("reason"):
                yield f": {one.decision['reason']}"

    def _item(self, history: findings.ItemHistory, done: list[findings.Round]) -> list[Piece | list[Piece]]:
        item = history.item
        scope = [el("div", str(item["scope"]), class_="faint")] if item.get("scope") else []
        cells: list[Piece | list[Piece]] = [
            history.key,
            str(item["severity"]),
            [value(item["check"], self.limit), *scope],
        ]
        for entry, one in zip(history.entries, done, strict=True):
            if entry is None:
                cells.append("—")
                continue
            good = "good" if entry["status"] == "PASS" else "bad"
            found = [value(entry["finding"], self.limit)] if entry.get("finding") else []
            given = one.answers.get(entry["id"], ())
            found += [el("div", value(answer.text, self.limit), class_="answer") for answer in given]
            cells.append([el("strong", entry["status"], class_=good), *found])
        return [*cells, el("span", history.end, class_="good" if history.settled else "bad")]

    def _end(self) -> Iterator[Piece]:
        yield el("p", f"Made by Lockstep {__version__} from the project's ledger, whose checksums held.")
        if self.limit is not None:
            yield el("p", f"Of each value at most {self.limit:,} characters are shown; --values has them whole.")
        if not self.left_to_draw:
            yield el("p", f"The first {DRAWN} graphs are drawn; of the other runs the way is told in words.")


def drawn(graph: edges.Graph, trail: str) -> html.HtmlElement:
    """The picture of a graph; a screen reader is given the trail, which says the way in words."""
    lines, _ = picture.draw(graph, _label)
    texts = [el("span", text, class_=style) if style else text for line in lines for text, style in [*line, ("\n", "")]]
    about = f"The graph of {graph.name}, with the way that the run took: {trail}"
    return el("pre", texts, class_="wide graph", role="img", aria_label=about)


def _label(edge: edges.Edge) -> str:
    """The outcome of an edge, and after it the turns to which it led."""
    if not edge.turns:
        return edge.outcome
    named = ", ".join(str(turn) for turn in edge.turns[:TURNS]) + (", …" if edge.taken > TURNS else "")
    return f"{edge.outcome} ({named})"


def _function(_: str) -> Handler:
    """A stand-in for each function of a workflow that is only drawn."""
    return lambda context: Outcome.OK


def _task(run: Run) -> str:
    """What a sub-agent is, and what it was sent out for."""
    parts = [one_line(run.spec[name]) for name in ("agent", "checkpoint", "target") if run.spec.get(name)]
    return " · ".join(shortened(part, TARGET) for part in parts)


def _in_words(trail: str) -> Iterator[Piece]:
    """The trail with each arrow kept on one line."""
    for at, word in enumerate(trail.split(" ")):
        yield " " if at else ""
        yield el("span", word, class_="arrow") if word.endswith("→") else word


def _anchor(run_id: str) -> str:
    return f"run-{run_id}"


def _time(at: float) -> html.HtmlElement:
    return el("time", moment(at), datetime=iso(at))
