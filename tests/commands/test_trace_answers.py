"""lockstep trace shows how the findings of a review were answered, which verdicts fell, and what proved wrong."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from tests.commands.conftest import Command
from tests.fixtures.skill import source_of

Install = Callable[..., Path]

STEPS = """
StepDef("note", "Note", "Note.", {Outcome.OK: "work"}, requires=[Field("seen")]),
StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}),
*review_loop("d", work="work", passed="last",
    reviewer=Dispatch("quality-reviewer", task="Review it.", covers=["src/**"])),
StepDef("last", "Last", "Stop.", {Outcome.OK: None})
"""
WRONG, ODD = "it adds up wrong", "its name is odd"


@pytest.fixture
def agent(installed: Install, project: Path) -> Agent:
    """An agent of a skill with a review that covers src, in a checkout."""
    agent = Agent(installed("answers", source_of("answers", STEPS)), project)
    for name in ("a", "b"):
        agent.write(f"src/{name}.py", "one\ntwo\n")
    (project / ".git").rmdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True, timeout=60)
    return agent


def item(name: str, finding: str = "") -> dict[str, str]:
    """An item of src/NAME.py: FAIL with a finding, else PASS."""
    return {
        "id": name,
        "check": f"{name} holds",
        "severity": "MUST",
        "status": "FAIL" if finding else "PASS",
        "finding": finding or "it is as it should be",
        "place": f"src/{name}.py:1",
    }


def judged(agent: Agent, review: PrintedBlock, *items: dict[str, str]) -> PrintedBlock:
    """The step after the gate of a review with these items."""
    assert review.children, review.text + review.errors
    last = agent.follow(agent.run_command(review.children[0].command), items=list(items))
    return agent.run_command(last.next)


def report(agent: Agent, block: PrintedBlock, **values: Any) -> PrintedBlock:
    """Leave the step with these values."""
    file = agent.project / "record.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    return agent.run_command(f"{block.next.split(' --record ')[0]} --record-file {file}")


@pytest.fixture
def disputed(agent: Agent) -> PrintedBlock:
    """The question about b, which is disputed twice; a was changed."""
    work = judged(agent, agent.follow(agent.follow(agent.open(), seen="both files")), item("a", WRONG), item("b", ODD))
    agent.write("src/a.py", "one\n2\n")
    work = judged(
        agent, report(agent, work, fixes=["b | disputed | it is what was asked for"]), item("a"), item("b", ODD)
    )
    return report(agent, work, fixes=["b | disputed | it is still what was asked for"])


@pytest.fixture
def end(agent: Agent, disputed: PrintedBlock) -> PrintedBlock:
    """The last block: b was upheld and fixed, what was seen got an erratum, the verdict fell once."""
    work = agent.answer(disputed, "revise", "nobody asked for such a name")
    agent.write("src/b.py", "1\n2\n")
    review = agent.run_command(f"{work.next} --erratum 'note.seen=only a was seen'")
    last = judged(agent, review, item("a"), item("b"))
    agent.write("src/b.py", "1\n2\n3\n")
    return agent.run_command(judged(agent, agent.run_command(last.next), item("a"), item("b")).next)


def told(cli: Command, run: str, *words: str) -> list[str]:
    """The first paragraph of a trace: what it says of the run itself."""
    return cli("trace", run, *words).out.split("\n\n")[0].splitlines()


def page_of(cli: Command, run: str) -> html.HtmlElement:
    """The page of a run."""
    return html.document_fromstring(cli("trace", run, "--html", "-").out)


def cells(cli: Command, run: str) -> list[list[str]]:
    """The rows of the findings on the page of a run."""
    rows = page_of(cli, run).xpath("//main/div[@class='wide']/table/tbody/tr")
    return [[" ".join(" ".join(cell.itertext()).split()) for cell in row.iterfind("td")] for row in rows]


@pytest.mark.req("S-01")
def test_a_trace_tells_how_each_finding_was_answered(end: PrintedBlock, cli: Command) -> None:
    lines = told(cli, end.run)
    at = lines.index("Answers to the review of d")
    assert lines[at + 1 :] == [
        "  iteration 1, b disputed: it is what was asked for",
        "  iteration 1, a changed: src/a.py",
        "  iteration 2, b disputed: it is still what was asked for; taken to a person; "
        "upheld by a person: nobody asked for such a name; changed: src/b.py",
        "  iteration 3, verdict fell at turn 14: src/b.py changed",
        "Erratum to note.seen: only a was seen",
    ]
    assert any("erratum to note.seen" in line for line in lines[:at])
    assert any("the verdict on d fell: src/b.py changed" in line for line in lines[:at])
    assert "Review of d, series 2: 1 completed, verdict pass" in lines


@pytest.mark.req("S-01")
def test_the_page_tells_how_each_finding_was_answered(end: PrintedBlock, cli: Command) -> None:
    assert [row[3:] for row in cells(cli, end.run)[:2]] == [
        [
            "FAIL it adds up wrong changed: src/a.py",
            "PASS it is as it should be",
            "PASS it is as it should be",
            "FAIL, then passed at iteration 2",
        ],
        [
            "FAIL its name is odd disputed: it is what was asked for",
            "FAIL its name is odd disputed: it is still what was asked for taken to a person "
            "upheld by a person: nobody asked for such a name changed: src/b.py",
            "PASS it is as it should be",
            "FAIL, then passed at iteration 3",
        ],
    ]
    page = page_of(cli, end.run)
    assert "The verdict fell at turn 14, as files were changed: src/b.py" in page.text_content()
    [errata] = page.xpath("//main/h2[.='Errata']/following-sibling::dl[1]")
    assert [part.text_content() for part in errata] == ["note.seen", "only a was seen"]


@pytest.mark.req("S-01")
def test_a_trace_as_json_has_the_answers_by_iteration(end: PrintedBlock, cli: Command) -> None:
    run = json.loads(cli("trace", end.run, "--json").out)[0]
    first, second, third = run["rounds"]["d"]
    assert first["answers"] == {
        "b": [{"how": "disputed", "why": "it is what was asked for", "turn": 6}],
        "a": [{"how": "changed", "why": "src/a.py", "turn": 6}],
    }
    assert [answer["how"] for answer in second["answers"]["b"]] == [
        "disputed",
        "taken to a person",
        "upheld by a person",
        "changed",
    ]
    assert third["fell"] == [{"turn": 14, "files": ["src/b.py"]}]
    assert [one["iteration"] for one in run["rounds"]["d, series 2"]] == [1]
    assert run["errata"] == {"note.seen": ["only a was seen"]}


@pytest.mark.req("S-01", "S-03")
def test_a_finding_that_a_person_accepts_in_a_dispute_is_shown_as_accepted(
    agent: Agent, disputed: PrintedBlock, cli: Command
) -> None:
    assert told(cli, disputed.run)[-1].endswith("b disputed: it is still what was asked for; taken to a person")
    review = agent.answer(disputed, "accept", "the name may stay")
    end = agent.run_command(judged(agent, review, item("a")).next)
    assert "accepted by a person: the name may stay" in "\n".join(told(cli, end.run))
    assert [(row[0], row[-1]) for row in cells(cli, end.run)] == [
        ("a", "FAIL, then passed at iteration 2"),
        ("b", "accepted by a person: the name may stay"),
    ]
    assert told(cli, end.run)[-1] == "  finding at d: b (MUST, accepted by a person): its name is odd"


def test_a_long_answer_is_cut_in_the_text_and_folds_on_the_page(agent: Agent, cli: Command) -> None:
    work = judged(agent, agent.follow(agent.follow(agent.open(), seen="both files")), item("a", WRONG))
    why = "it was asked for " * 40
    run = report(agent, work, fixes=[f"a | disputed | {why}"]).run
    [line] = [line for line in told(cli, run) if "disputed" in line]
    assert (len(line) < 100, line.endswith("…")) == (True, True)
    assert why.strip() in cli("trace", run, "--values").out
    page = page_of(cli, run)
    [answer] = page.xpath("//div[@class='answer']/details/div[@class='value']")
    assert answer.text_content() == f"disputed: {why.strip()}"
