"""lockstep trace --html: one page of a run that says all that the record does, whatever the record holds."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from syrupy.assertion import SnapshotAssertion

from skills.lib.blocks.command_line import CommandLine
from skills.lib.ledger.history import Event
from skills.lib.model.run import Run
from skills.lib.runtime import Runner
from skills.lib.views import findings
from skills.lib.views.drawing import edges
from skills.lib.views.drawing.svg import on_page
from skills.lib.views.page.file import page
from skills.lib.views.page.rendering import shown
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome
from tests.commands.conftest import Command, Walker
from tests.fixtures import skill

Install = Callable[..., Path]
Walk = Callable[[Path], Walker]

FORM = {"id": "F1", "scope": "out.txt", "check": "it has a form", "severity": "MUST", "status": "PASS", "finding": ""}
TASTE = {**FORM, "id": "T1", "check": "it reads well", "severity": "SHOULD"}
FIXED: dict[str, Any] = {"records": {"fixes": ["F1 | changed | it has a form now"]}}
VOID = {"meta"}


def read(text: str) -> html.HtmlElement:
    assert text.startswith("<!DOCTYPE html>\n")
    return html.document_fromstring(text)


def texts(root: html.HtmlElement, path: str) -> list[str]:
    """The text of what is found, white space folded; elements are apart from each other."""
    return [" ".join(" ".join(found.itertext()).split()) for found in root.xpath(path)]


def review(walk: Walker, run: Run, form: str, lost: str = "") -> Run:
    """One review of the run that stands at it: what becomes of form; taste passes, or its reviewer is lost."""
    first, second = walk.children(run)
    walk.child(first, items=[{**FORM, "status": form, "finding": "it has one" if form == "PASS" else "it has none"}])
    if lost:
        run = walk.go(run, lost=second.id, reason=lost)
    else:
        walk.child(second, items=[TASTE])
    return walk.go(walk.go(run))


@pytest.fixture
def fixed(installed: Install, walker: Walk, project: Path) -> Run:
    """A run of gated that was refused once, failed its first review, lost a reviewer on the way, and passed."""
    walk = walker(installed("gated"))
    (project / "out.txt").write_text("x\n", encoding="utf-8")
    run = walk.start()
    walk.go(run, "close")
    run = review(walk, walk.go(run), "FAIL", lost="never came back")
    run = review(walk, walk.go(run, **FIXED), "PASS")
    return walk.go(run, records={"summary": "it has a form now"})


@pytest.fixture
def accepted(installed: Install, walker: Walk, project: Path) -> Run:
    """A run of gated whose form failed to the bound, until a person at a terminal accepted it."""
    script = installed("gated")
    walk = walker(script)
    (project / "out.txt").write_text("x\n", encoding="utf-8")
    run = review(walk, walk.go(walk.start()), "FAIL")
    while run.status != "waiting":
        run = review(walk, walk.go(run, **FIXED), "FAIL")
    walk.runner = Runner(CommandLine(sys.executable, str(script), str(project)), "person")
    return walk.go(run, answer="accept", reason="known, and tracked")


def of(cli: Command, run: Run, *words: str) -> html.HtmlElement:
    shown = cli("trace", run.id, "--html", "-", *words)
    assert (shown.code, shown.err) == (0, "")
    return read(shown.out)


def test_the_page_tells_the_way_the_steps_and_who_said_it(
    cli: Command, fixed: Run, stable: Callable[[str], str], snapshot: SnapshotAssertion
) -> None:
    root = of(cli, fixed)
    assert texts(root, "//h1") == ["Run testrun1: gated"]
    steps = texts(root, "//main/details[@class='stay']/summary")
    assert [step.split(" · ")[0] for step in steps][:4] == [
        "1 write",
        "2 design-review Review: Design",
        "3 design-gate Gate: Design",
        "1 write",
    ]
    assert stable("\n".join(texts(root, "//main/details[@class='stay']"))) == snapshot


def test_each_finding_is_reported_through_the_iterations_to_its_end(cli: Command, fixed: Run) -> None:
    root = of(cli, fixed)
    rows = [texts(row, "td") for row in root.xpath("//main/div[@class='wide']/table/tbody/tr")]
    assert rows == [
        [
            "F1",
            "MUST",
            "it has a form out.txt",
            "FAIL it has none changed: it has a form now",
            "PASS it has one",
            "FAIL, then passed at iteration 2",
        ],
        [
            "reviewer-2",
            "MUST",
            "the review was made",
            "TODO not reviewed: never came back",
            "—",
            "not judged again after iteration 1",
        ],
        ["T1", "SHOULD", "it reads well out.txt", "—", "PASS", "passed"],
    ]
    assert "Iteration 1 (turn 3): fail" in texts(root, "//main/p")
    assert "Iteration 2 (turn 6): pass" in texts(root, "//main/p")


@pytest.mark.req("W-24")
def test_what_a_person_accepted_is_reported_with_the_reason(cli: Command, accepted: Run) -> None:
    root = of(cli, accepted)
    form, taste = (texts(row, "td") for row in root.xpath("//main/div[@class='wide']/table/tbody/tr"))
    assert form[3:8] == [*["FAIL it has none changed: it has a form now"] * 4, "FAIL it has none"]
    assert form[8] == "accepted by a person: known, and tracked"
    assert taste[8] == "passed"
    assert "Iteration 5 (turn 15): fail ; a person said accept: known, and tracked" in texts(root, "//main/p")
    stays = {text.split(" · ")[0]: stay for stay, text in _stays(root)}
    assert texts(stays["3 design-gate Gate: Design"], "./div[@class='event asked']//strong") == ["a person is asked"]
    assert texts(stays["3 design-gate Gate: Design"], "./dl/dd") == [
        "accept",
        "a person at a terminal",
        "known, and tracked",
    ]


def test_the_way_is_drawn_with_the_loop_and_boxes_lead_to_their_last_turn(cli: Command, fixed: Run) -> None:
    root = of(cli, fixed)
    assert texts(root, "//main/figure//*[@class='name']") == [
        "1 write",
        "2 design-review (dispatch)",
        "3 design-gate (gate)",
        "4 close",
        "done",
    ]
    labels = texts(root, "//main/figure//*[starts-with(@class, 'way taken')]/*[@text-anchor][not(@aria-hidden)]")
    assert labels == ["ok ×2", "ok ×2", "ok ×1", "fail ×1", "ok ×1"]
    links = root.xpath("//main/figure//*[local-name()='a']/@href")
    assert links == ["#turn-4", "#turn-5", "#turn-6", "#turn-7"]
    assert root.xpath("//main/figure//*[contains(@class, 'here')]") == []
    assert texts(root, "//main/figure/p") == [
        "write —ok→ design-review —ok→ design-gate —fail→ "
        "write —ok→ design-review —ok→ design-gate —ok→ close —ok→ done"
    ]


def test_evidence_refusals_and_answers_stand_at_their_step(
    cli: Command, installed: Install, walker: Walk, project: Path
) -> None:
    walk = walker(installed("tour"))
    run = walk.go(walk.start(topic="a topic"), records={"summary": "seen"})
    run = walk.go(walk.go(run, params={"mode": "quick"}), outcome="ok")
    walk.go(run, records={"file": "proof.txt"})
    (project / "proof.txt").write_text("x\n", encoding="utf-8")
    run = walk.go(run, records={"file": "proof.txt"})
    run = walk.go(run, answer="yes")
    root = of(cli, run)
    stays = {text.split(" · ")[0]: stay for stay, text in _stays(root)}
    prove = stays["5 prove"]
    assert texts(prove, ".//div[@class='event refused']//strong") == ["refused: missing-evidence", "fails"]
    assert [texts(row, "td")[:3] for row in prove.xpath("./div[@class='wide']//tbody/tr")] == [
        ["artifact", "proof.txt", "holds"],
        ["command", "test -s proof.txt", f"holds, exit 0 program {shutil.which('test')}"],
    ]
    assert texts(stays["6 ask"], ".//dd") == ["yes", "a person, as the agent reports"]
    assert texts(stays["7 close"], "./summary/strong") == ["7 close", "· here the run stands"]
    assert texts(root, "//header//dd")[2] == "open at close"


def _stays(root: html.HtmlElement) -> Iterator[tuple[html.HtmlElement, str]]:
    for stay in root.xpath("//main/details[@class='stay']"):
        yield stay, texts(stay, "./summary")[0]


def test_sub_agents_have_sections_that_the_steps_lead_to(cli: Command, fixed: Run) -> None:
    root = of(cli, fixed)
    children = root.xpath("//main/details[@class='child']")
    assert [child.get("id") for child in children] == [f"run-{fixed.id}.{number}" for number in (1, 2, 3, 4)]
    told = "quality-reviewer · design · substance · lost: never came back"
    assert texts(children[1], "./summary") == [f"{fixed.id}.2 {told}"]
    links = set(root.xpath("//main//a[not(ancestor::figure)]/@href"))
    assert links == {f"#run-{fixed.id}", *(f"#{child.get('id')}" for child in children)}
    assert not children[0].get("open")


def test_the_page_stands_alone_and_runs_nothing(cli: Command, fixed: Run) -> None:
    text = cli("trace", fixed.id, "--html", "-").out
    root = read(text)
    assert not root.xpath("//script | //link | //img | //iframe | //object | //base | //form")
    assert not [
        name for found in root.iter() for name in found.attrib if name.startswith("on") or name in ("src", "style")
    ]
    assert all(link.startswith("#") for link in root.xpath("//@href"))
    (style,) = root.xpath("//style")
    assert "url(" not in style.text
    assert "@import" not in style.text
    (policy,) = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    raw = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)[0]
    digest = base64.b64encode(hashlib.sha256(raw.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert {"color-scheme: light dark", "@media print"} <= set(
        re.findall(r"color-scheme: light dark|@media print", raw)
    )


@pytest.mark.parametrize("which", ["fixed", "accepted"])
def test_the_page_is_sound_html(which: str, cli: Command, request: pytest.FixtureRequest) -> None:
    run = request.getfixturevalue(which)
    sound(cli("trace", run.id, "--html", "-").out)


class _Balance(HTMLParser):
    """Holds each end tag to its start tag."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert len(attrs) == len({name for name, _ in attrs})
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def sound(text: str) -> None:
    """What a validator looks at first: balance, ids, references, and which element may hold which."""
    balance = _Balance()
    balance.feed(text)
    assert balance.open == []
    root = read(text)
    ids = root.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in root.xpath("//@href")} <= set(ids)
    assert not root.xpath("//p//*[self::div or self::dl or self::ul or self::table or self::details or self::p]")
    assert not root.xpath("//summary//*[self::div or self::dl or self::details or self::p]")
    assert not root.xpath(
        "//dl/*[not(self::dt or self::dd)] | //ul/*[not(self::li)] | //tr/*[not(self::td or self::th)]"
    )
    assert not root.xpath("//details[not(*[1][self::summary])]")
    assert not root.xpath("//figcaption[following-sibling::*]")
    assert len(root.xpath("//h1 | //main")) == 2


def test_a_step_that_works_and_then_asks_tells_both(cli: Command, installed: Install, walker: Walk) -> None:
    question = "person('Send {ask.draft}?', ['yes'])"
    steps = f"StepDef('ask', 'Ask', 'Draft it.', {{'ok': None}}, {question}, requires=[Field('draft')])"
    walk = walker(installed("asks", skill.source_of("asks", steps)))
    run = walk.go(walk.start(), records={"draft": "the letter"})
    run = walk.go(run, answer="yes")
    (stay,) = of(cli, run).xpath("//main/details[@class='stay']")
    assert texts(stay, "./div[@class='event asked']//dd") == ["Send the letter?", "the letter"]
    assert texts(stay, "./dl/dd") == ["yes", "a person, as the agent reports"]
    assert "a person is asked" in cli("trace", run.id).out


def completed(iteration: int, status: str, *items: tuple[str, str, str], answer: str = "") -> Event:
    """The event of a review: each item's id, severity and status; two of one id are two reviewers'."""
    listed = [
        {"id": name, "scope": "", "check": "c", "severity": severity, "status": mark, "finding": "f", "owner": at}
        for at, (name, severity, mark) in enumerate(items, 1)
    ]
    review: dict[str, Any] = {"iteration": iteration, "status": status, "items": listed}
    if answer:
        review["decision"] = {"by": "reported", "answer": answer, "reason": "so be it"}
    return Event(iteration, "r", iteration, "moved", "agent", 0.0, {}, {"reviews": {"design": review}})


@pytest.mark.parametrize(
    "reviews, ends",
    [
        ([completed(1, "pass", ("A", "MUST", "PASS"))], {"A": "passed"}),
        (
            [completed(1, "fail", ("A", "MUST", "FAIL")), completed(2, "fail", ("A", "MUST", "TODO"))],
            {"A": "open"},
        ),
        (
            [completed(at, "fail", ("A", "COULD", "FAIL"), ("B", "MUST", "FAIL")) for at in (1, 2, 3, 4)],
            {"A": "left open: COULD does not block at iteration 4", "B": "open"},
        ),
        (
            [
                completed(1, "fail", ("A", "MUST", "PASS")),
                completed(2, "fail", ("A", "MUST", "FAIL")),
                completed(3, "pass", ("A", "MUST", "PASS")),
            ],
            {"A": "FAIL, then passed at iteration 3"},
        ),
        (
            [completed(1, "fail", ("A", "MUST", "FAIL"), ("A", "MUST", "PASS"))],
            {"A (reviewer 1)": "open", "A (reviewer 2)": "passed"},
        ),
        (
            [completed(1, "fail", ("A", "MUST", "FAIL")), completed(1, "fail", ("A", "MUST", "FAIL"), answer="revise")],
            {"A": "open"},
        ),
        (
            [completed(1, "fail", ("A", "MUST", "FAIL")), completed(1, "fail", ("A", "MUST", "FAIL"), answer="accept")],
            {"A": "accepted by a person, as the agent reports: so be it"},
        ),
    ],
)
def test_how_a_finding_ended(reviews: list[Event], ends: dict[str, str]) -> None:
    (done,) = findings.rounds(reviews).values()
    assert {history.key: history.end for history in findings.histories(done)} == ends


def test_several_series_of_one_checkpoint_are_distinguished() -> None:
    events = [completed(1, "fail", ("A", "MUST", "FAIL")), completed(2, "pass", ("A", "MUST", "PASS"))]
    later = [completed(1, "pass", ("A", "MUST", "PASS")), completed(1, "fail", ("A", "MUST", "FAIL"))]
    for at, event in enumerate(later, 2):
        event.change["reviews"]["design"]["series"] = at
    told = findings.rounds([*events, *later])
    assert {name: [one.status for one in done] for name, done in told.items()} == {
        "design": ["fail", "pass"],
        "design, series 2": ["pass"],
        "design, series 3": ["fail"],
    }
    assert [[one.end for one in findings.histories(done)] for done in told.values()] == [
        ["FAIL, then passed at iteration 2"],
        ["passed"],
        ["open"],
    ]


def test_an_item_is_known_by_its_target_wherever_its_reviewer_stands() -> None:
    first = completed(1, "fail", ("A", "MUST", "FAIL"), ("A", "MUST", "PASS"))
    again = completed(2, "fail", ("A", "MUST", "PASS"), ("A", "MUST", "PASS"))
    for event, targets in ((first, ("one", "two")), (again, ("two", "one"))):
        for one, target in zip(event.change["reviews"]["design"]["items"], targets, strict=True):
            one["target"] = target
    (done,) = findings.rounds([first, again]).values()
    ends = {history.key: history.end for history in findings.histories(done)}
    assert ends == {"A (one)": "FAIL, then passed at iteration 2", "A (two)": "passed"}


@pytest.mark.parametrize("how", ["abandoned", "pending"])
def test_a_run_that_was_given_up_or_never_began_is_reported(
    how: str, cli: Command, installed: Install, walker: Walk
) -> None:
    walk = walker(installed("brood"))
    run = walk.go(walk.start(), records={"targets": ["a", "b"]})
    if how == "abandoned":
        cli("abandon", run.id, "--reason", "the ticket was closed")
    root = of(cli, run)
    child = root.xpath("//main/details[@class='child']")[0]
    assert (
        texts(child, "./summary/strong")[1]
        == {"pending": "pending", "abandoned": "abandoned: the ticket was closed"}[how]
    )
    assert ("At no step" in texts(child, ".//summary")) == (how == "abandoned")
    sound(cli("trace", run.id, "--html", "-").out)


def test_a_file_is_written_and_not_overwritten(cli: Command, fixed: Run, project: Path) -> None:
    file = project / "run.html"
    assert cli("trace", fixed.id, "--html", "run.html").err == "wrote run.html\n"
    first = file.read_text(encoding="utf-8")
    assert first.startswith('<!DOCTYPE html>\n<html lang="en">')
    file.write_text("mine", encoding="utf-8")
    again = cli("trace", fixed.id, "--html", "run.html")
    assert again.code == 3
    assert "is not overwritten" in again.err
    assert file.read_text(encoding="utf-8") == "mine"
    assert cli("trace", fixed.id, "--html", "run.html", "--force").code == 0
    assert file.read_text(encoding="utf-8") == first
    lost = cli("trace", fixed.id, "--html", "no/run.html")
    assert lost.code == 4
    assert "try:   the name of a file in a folder that is there" in lost.err
    for words in ([], ["--force"]):
        folder = cli("trace", fixed.id, "--html", ".", *words)
        assert folder.code == 2
        assert folder.err == "lockstep: . is a folder\n  try:   the name of a file in it\n"
    assert cli("trace", fixed.id, "--html", "-", "--json").code == 2


def test_a_run_whose_skill_was_removed_is_shown_all_the_same(cli: Command, fixed: Run, project: Path) -> None:
    before = cli("trace", fixed.id, "--html", "-").out
    (project / "skills" / "gated" / "scripts" / "gated_workflow.py").unlink()
    sys.modules.pop("lockstep_skill.gated.scripts.gated_workflow")
    assert cli("trace", fixed.id, "--html", "-").out == before


def test_long_values_are_folded_and_cut_unless_whole_ones_are_wanted(
    cli: Command, installed: Install, walker: Walk
) -> None:
    walk = walker(installed("part"))
    run = walk.go(walk.start(what="x"), records={"seen": "y" * 9_000})
    root = of(cli, run)
    (folded,) = root.xpath("//main//dd//details")
    assert texts(folded, "./summary") == [f"{'y' * 120}… (9,000 characters)"]
    assert texts(folded, "./div") == ["y" * 4_000]
    assert texts(root, "//main//span[@class='cut']") == ["… 5,000 characters more, which lockstep trace --values shows"]
    assert texts(of(cli, run, "--values"), "//main//dd//details/div") == ["y" * 9_000]


@pytest.mark.slow
def test_two_hundred_sub_agents_make_no_page_of_megabytes(cli: Command, project: Path) -> None:
    source = (skill.WORKFLOWS / "brood_workflow.py").read_text(encoding="utf-8")
    script = skill.install(project, "brood", source.replace("maximum=4", "maximum=200").replace("cap=4", "cap=200"))
    part = (skill.WORKFLOWS / "part_workflow.py").read_text(encoding="utf-8")
    script.with_name("part_workflow.py").write_text(part, encoding="utf-8")
    sys.modules.pop("lockstep_skill.brood.scripts.part_workflow", None)
    walk = Walker(script, project)
    run = walk.go(walk.start(), records={"targets": [f"target {number}" for number in range(200)]})
    for child in walk.children(run):
        walk.child(child, result=f"{child.id} found " + "much, " * 500)
    run = walk.go(run)
    text = cli("trace", run.id, "--html", "-").out
    assert len(text) < 900_000
    sound(text)
    root = read(text)
    assert len(root.xpath("//details[@class='child']")) == 202
    assert "at most 600 characters" in texts(root, "//footer")[0]


HOSTILE = st.text(st.characters(codec=None), min_size=1, max_size=60) | st.sampled_from(
    [
        "</div></details><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "\x00\x1b[2J\x07\x85\u202e\u2028\ufffe\ud800",
        "&lt;b&gt; &amp; ]]> <!-- --> <![CDATA[",
        "\n\nleading and trailing\n",
        '"><svg onload=alert(1)>',
        "</style><script>1</script>",
        "javascript:alert(1)",
    ]
)


class Told:
    """The records of one run that was never in a ledger."""

    def __init__(self, run: Run, events: list[Event], workflow: Workflow) -> None:
        self._run, self._events, self._workflow = run, events, workflow
        self.ledger = self

    def events(self, run_id: str) -> list[Event]:
        return self._events

    def tree(self, run: Run) -> Iterator[tuple[int, Run]]:
        yield 0, run

    def definition(self, fingerprint: str) -> dict[str, Any]:
        return self._workflow.to_data()


def hostile(text: str) -> str:
    """The page of a run in which that text stands wherever text from outside can."""
    review = {
        "iteration": 1,
        "status": "fail",
        "items": [{"id": text, "scope": text, "check": text, "severity": "MUST", "status": "FAIL", "finding": text}],
        "decision": {"by": "person", "answer": "accept", "reason": text},
    }
    evidence = [{"kind": "command", "what": text, "ok": False, "exit": 3, "why": text, "output": text}]
    told: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("opened", {"params": {"topic": text}}, {"step": "one", "params": {"topic": text}}),
        ("refused", {"code": text, "asked": text, "why": text, "evidence": evidence, "step": "one"}, {}),
        (
            "asked",
            {"from": "one", "to": "one", "outcome": "fail"},
            {"question": {"text": text}, "reviews": {text: review}},
        ),
        ("child-lost", {"child": text, "reason": text}, {}),
        (
            "moved",
            {
                "from": "one",
                "to": "two",
                "outcome": "ok",
                "answer": text,
                "by": "reported",
                "reason": text,
                "recorded": {text: text, "list": [text, text], "tree": {text: [text]}},
                "evidence": evidence,
            },
            {"step": "two", "children": [text]},
        ),
        ("finished", {"from": "two", "to": None, "outcome": "ok"}, {"step": None}),
    ]
    events = [
        Event(at, "k3f9q2mx", at, kind, "agent", 1e9, detail, change)
        for at, (kind, detail, change) in enumerate(told, 1)
    ]
    workflow = Workflow(
        "odd",
        StepDef("one", text, "Do.", {Outcome.OK: "two", Outcome.FAIL: "one"}),
        StepDef("two", text, "Do.", {Outcome.OK: None}),
        title=text,
    )
    run = Run(
        id="k3f9q2mx",
        workflow="odd",
        fingerprint="f",
        script="/s/" + text.replace("\0", "") + "/scripts/odd.py",
        status="done",
        turn=6,
        params={"topic": text},
        last={"reason": text},
    )
    return page(Told(run, events, workflow), run)  # type: ignore[arg-type]


PLAIN = read(hostile("plain words"))


@settings(max_examples=150, deadline=None)
@given(text=HOSTILE)
def test_hostile_text_comes_back_as_text_and_adds_no_element(text: str) -> None:
    source = hostile(text)
    root = read(source)
    assert _tags(root) == _tags(PLAIN)
    assert {name for found in root.iter() for name in found.attrib} <= {
        name for found in PLAIN.iter() for name in found.attrib
    }
    balance = _Balance()
    balance.feed(source)
    wanted = shown(text)
    values = [found.text_content() for found in root.xpath("//*[@class='value']")]
    expected = [found.text_content() for found in PLAIN.xpath("//*[@class='value']")]
    assert values.count(wanted) >= expected.count("plain words") > 10
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]", source)


def _tags(root: html.HtmlElement) -> Counter[str]:
    """How often each element stands; a title that says nothing takes no line of its own in the drawing."""
    return Counter(str(found.tag) for found in root.iter() if not found.xpath("ancestor::*[@class='drawing']"))


def test_the_step_that_a_run_is_at_is_marked_and_says_how_often_it_was_entered() -> None:
    workflow = Workflow("loop", StepDef("one", "One", "Do.", {Outcome.OK: None, Outcome.FAIL: "one"}))
    events = [
        Event(turn, "r", turn, "moved", "agent", 0.0, {"from": "one", "outcome": "fail", "to": "one"}, {})
        for turn in range(2, 10)
    ]
    text = on_page(edges.of_workflow(workflow, events), {"one": "#turn-9"}, "one", {"one": "9× · here now"}, "p-")
    drawing = html.fragment_fromstring(text)
    assert texts(drawing, "//*[@class='box step here']") == ["1 one 9× · here now"]
    assert texts(drawing, "//*[@class='way taken fail']/*[local-name()!='rect']") == ["", "fail ×8"]
    assert drawing.xpath("//*[@class='way taken fail']/*/@marker-end") == ["url(#p-arrowfail)"]
    assert drawing.xpath("//*[local-name()='a']/@href") == ["#turn-9"]
