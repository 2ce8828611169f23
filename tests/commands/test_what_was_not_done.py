"""What a run left undone is told alike by its last block, lockstep runs and trace, the explorer and the MCP reply."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import html
from starlette.testclient import TestClient

from skills.lib.hosts.mcp import runner
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.validation import registration
from skills.lib.web import app
from skills.lib.web.access import Access
from tests.commands.conftest import Command
from tests.fixtures.skill import source_of
from tests.web.conftest import ORIGIN, PORT, Browser

Install = Callable[..., Path]

STEPS = """
StepDef("scan", "Scan", "Scan.", {Outcome.OK: "ask"},
    Dispatch("explore", task="look", targets=["one", "two"])),
StepDef("ask", "Ask", "", {Outcome.OK: "work"}, person("Fine?", ["yes"])),
StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}),
*review_loop("d", work="work", passed="pick"),
StepDef("pick", "Pick", "Pick.", {Outcome.OK: "more", Outcome.SKIP: None},
    when={Outcome.OK: "there is more", Outcome.SKIP: "there is none"}),
StepDef("more", "More", "More.", {Outcome.OK: "e-review"}),
*review_loop("e", work="more", passed=None)
"""
PARAMS = 'params=[Arg("unproved", default="", waives="the proof")]'


@pytest.fixture
def agent(installed: Install, project: Path) -> Agent:
    """An agent of a skill in which much can be left undone."""
    return Agent(installed("undone", source_of("undone", STEPS, PARAMS)), project)


@pytest.fixture
def end(agent: Agent) -> PrintedBlock:
    """The last block of a run that left something of each kind undone."""
    block = agent.open(unproved="the machine is down")
    agent.finish(block.children[0].command)
    agent.lose(block, block.children[1].id, "it hangs")
    work = agent.follow(agent.run_command(block.next), answer="yes")
    review = agent.follow(work)
    found = [
        {"id": "a", "check": "it holds", "severity": "MUST", "status": "PASS", "finding": "it holds"},
        {"id": "b", "check": "it is fair", "severity": "COULD", "status": "FAIL", "finding": "a name is dull"},
    ]
    last = agent.follow(agent.run_command(review.children[0].command), items=found)
    pick = agent.run_command(last.next)
    return agent.follow(pick, outcome="skip")


WHAT = [
    ("sub-agent", "scan", "testrun1.2 (two) was given up: it hangs"),
    ("answer", "ask", "answered by the agent for a person: yes"),
    ("gate", "e-gate", "the gate of e was never entered"),
    ("finding", "d", "b (COULD, open): a name is dull"),
    ("evidence", "", "the proof was waived: the machine is down"),
]
LINES = [f"{kind} at {step}: {what}" if step else f"{kind}: {what}" for kind, step, what in WHAT]
NAMED = [{"kind": kind, "step": step, "what": what} for kind, step, what in WHAT]


@pytest.mark.req("S-03")
def test_the_last_block_tells_what_was_not_done(end: PrintedBlock) -> None:
    told = [(entry.get("kind"), entry.get("step"), entry.text) for entry in end.root.iterfind("NOT_DONE/entry")]
    assert (end.root.get("status"), told) == ("done", WHAT)


def test_an_abandoned_run_tells_which_findings_are_open(agent: Agent, cli: Command) -> None:
    block = agent.open()
    for child in block.children:
        agent.finish(child.command)
    review = agent.follow(agent.follow(agent.run_command(block.next), answer="yes"))
    found = [{"id": "a", "check": "it holds", "severity": "MUST", "status": "FAIL", "finding": "it leaks", "scope": ""}]
    last = agent.follow(agent.run_command(review.children[0].command), items=found)
    assert agent.run_command(last.next).step == "work"
    what = "a (MUST, open): it leaks"
    shown = cli("abandon", block.run, "--reason", "the ticket was closed")
    assert shown.out.splitlines() == [
        "Run testrun1 is abandoned at work.",
        "Not done by testrun1",
        "  answer at ask: answered by the agent for a person: yes",
        f"  finding at d: {what}",
    ]
    done = PrintedBlock(0, cli("resume", block.run).out)
    told = [(entry.get("kind"), entry.get("step"), entry.text) for entry in done.root.iterfind("NOT_DONE/entry")]
    assert (done.root.get("status"), told[-1]) == ("abandoned", ("finding", "d", what))
    trace = cli("trace", block.run).out
    assert f"finding at d: {what}" in trace
    assert json.loads(cli("runs", "--all", "--json").out)[0]["not_done"][-1]["what"] == what


@pytest.mark.req("S-03")
def test_the_list_of_runs_tells_what_was_not_done(end: PrintedBlock, cli: Command) -> None:
    shown = cli("runs", "--all").out.splitlines()
    assert shown[1].split()[:6] == ["testrun1", "undone", "done,", "5", "not", "done"]
    at = shown.index("Not done by testrun1")
    assert sorted(shown[at + 1 :]) == sorted(f"  {line}" for line in LINES)
    assert shown[at + 1] == "  gate at e-gate: the gate of e was never entered"
    assert json.loads(cli("runs", "--all", "--json").out)[0]["not_done"] == NAMED


@pytest.mark.req("S-03")
def test_a_trace_tells_what_was_not_done(end: PrintedBlock, cli: Command) -> None:
    shown = cli("trace", end.run).out.split("\n\n")[0].splitlines()
    assert shown[shown.index("Not done") + 1 :] == [f"  {line}" for line in LINES]
    assert json.loads(cli("trace", end.run, "--json").out)[0]["not_done"] == NAMED
    page: html.HtmlElement = html.document_fromstring(cli("trace", end.run, "--html", "-").out)
    [after] = page.xpath("//main/h2[.='Not done']/following-sibling::*[1]")
    assert [entry.text for entry in after.iterfind("li")] == LINES


def test_the_explorer_tells_what_was_not_done(end: PrintedBlock, project: Path) -> None:
    access = Access("")
    with TestClient(app.create(str(project), access, PORT), base_url=ORIGIN) as client:
        browser = Browser(client, access, "END_USER")
        assert browser.json("/runs")["runs"][0]["not_done"] == len(NAMED)
        assert f"{len(NAMED)} not done" in browser.get("/").text


@pytest.mark.req("S-03")
def test_the_reply_to_an_mcp_client_tells_what_was_not_done(end: PrintedBlock, project: Path) -> None:
    reply = runner.serve({"tool": "run_state", "run": end.run, "project": str(project)})
    assert reply["data"]["not_done"] == NAMED
    assert all(what in reply["text"] for _, _, what in WHAT)


def test_a_run_that_goes_on_tells_what_was_waived_so_far(agent: Agent, cli: Command) -> None:
    run = agent.open(unproved="the machine is down").run
    assert "Not done so far\n  evidence: the proof was waived: the machine is down\n" in cli("trace", run).out
    assert json.loads(cli("runs", "--json").out)[0]["not_done"] == NAMED[-1:]
    assert "Not done so far" in cli("trace", run, "--html", "-").out


def dull(agent: Agent, words: str) -> PrintedBlock:
    """The last block of a run with thirty findings that block nothing, each in these words."""
    block = agent.open()
    for child in block.children:
        agent.finish(child.command)
    work = agent.follow(agent.run_command(block.next), answer="yes")
    item = {"check": "it holds", "severity": "COULD", "status": "FAIL"}
    found = [{**item, "id": f"i{at}", "finding": f"{words} {at}"} for at in range(30)]
    found.append({**found[0], "id": "a", "severity": "MUST", "status": "PASS"})
    review = agent.follow(work)
    last = agent.follow(agent.run_command(review.children[0].command), items=found)
    return agent.follow(agent.run_command(agent.run_command(last.next).next), outcome="skip")


def test_a_list_of_runs_has_the_gravest_of_much_that_was_not_done(agent: Agent, cli: Command) -> None:
    end = dull(agent, "dull")
    assert cli("runs", "--all").out.splitlines()[-6:] == [
        "  gate at e-gate: the gate of e was never entered",
        *[f"  finding at d: i{at} (COULD, open): dull {at}" for at in range(4)],
        f"  and 27 more: lockstep trace {end.run}",
    ]
    assert "i29 (COULD, open): dull 29" in cli("trace", end.run).out


def test_the_last_block_has_the_gravest_of_much_that_was_not_done(agent: Agent, cli: Command) -> None:
    end = dull(agent, "d" * 280)
    told = [(entry.get("kind"), entry.text or "") for entry in end.root.iterfind("NOT_DONE/entry")]
    assert told[0] == ("gate", "the gate of e was never entered")
    assert (told[1][1][:24], told[-2][0], told[-1][0]) == ("i0 (COULD, open): dddddd", "finding", "more")
    assert told[-1][1].startswith(f"{32 - len(told) + 1} more, shown by: ")
    assert told[-1][1].endswith(f" trace {end.run} --project {agent.project}")
    assert len(end.text) < 5_000
    assert len(json.loads(cli("runs", "--all", "--json").out)[0]["not_done"]) == 32


SPLIT = """
StepDef("first", "First", "Split.", {Outcome.OK: "second"}, requires=[Field("statements", "statements")]),
StepDef("second", "Second", "Split.", {Outcome.OK: "verify"}, requires=[Field("statements", "statements")]),
StepDef("verify", "Verify", "Verify.", {Outcome.OK: None}, needs=["first.statements", "second.statements"],
    requires=[Field("answers", "answers")])
"""
SCRIPTED = """
StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}),
*review_loop("d", work="work", passed=None, reviewer=Dispatch("quality-reviewer", script="part.py",
    targets=["one", "two"], checks=[Check("holds", "MUST", "it holds")]))
"""


def test_reviewers_that_stated_nothing_are_reported_once_in_all_rounds(installed: Install, project: Path) -> None:
    script = installed("stated", source_of("stated", SCRIPTED))
    part = installed("part", source_of("part", SPLIT))
    for file in part.parent.glob("*.py"):
        file.rename(script.parent / file.name)
    agent = Agent(script, project)
    block = agent.follow(agent.open())
    for status in ("FAIL", "PASS"):
        for child in block.children:
            split = agent.run_command(child.command)
            for _ in range(2):
                split = agent.follow(split, statements="none: it is too small")
            answers = [{"id": "holds", "status": status, "place": "one.py:1", "finding": "it is now as it was asked"}]
            last = agent.follow(split, answers=answers)
        block = agent.run_command(last.next)
        if status == "FAIL":
            fixes = [f"{name} | changed | it was put right" for name in ("holds-1", "holds-1.2")]
            block = agent.follow(block, fixes=fixes)
    told = [entry.text for entry in block.root.iterfind("NOT_DONE/entry")]
    nothing = "nothing at all was stated to check at first, second: it is too small"
    assert told == [f"sub-agent testrun1.1: {nothing}", f"sub-agent testrun1.2: {nothing}"]


AROUND = """
StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}),
StepDef("d-review", "Review", "Have it reviewed.", {Outcome.OK: "pick"},
    Dispatch("quality-reviewer", task="Review it.", checkpoint="d")),
StepDef("pick", "Pick", "Pick.", {Outcome.OK: "gate", Outcome.SKIP: None},
    when={Outcome.OK: "to the gate", Outcome.SKIP: "around it"}),
StepDef("gate", "Gate", "", {Outcome.OK: "next", Outcome.FAIL: "work"}, Gate("d")),
StepDef("next", "Next", "Next.", {Outcome.OK: None, Outcome.ITERATE: "work"}, max_iterations=3,
    when={Outcome.OK: "all", Outcome.ITERATE: "more"})
"""


@pytest.mark.req("S-03")
@pytest.mark.parametrize(
    "rounds, told",
    [
        (0, "the gate of d was never entered, though it was reviewed"),
        (1, "the gate of d was not entered again after the last review"),
    ],
)
def test_a_gate_that_a_passed_review_never_reached_is_reported(
    installed: Install, project: Path, monkeypatch: pytest.MonkeyPatch, rounds: int, told: str
) -> None:
    monkeypatch.setattr(registration, "demanded", False)
    agent = Agent(installed("around", source_of("around", AROUND)), project)
    block = agent.open()
    item = {"id": "a", "check": "it holds", "severity": "MUST", "status": "PASS", "finding": "it holds"}
    for left in range(rounds, -1, -1):
        review = agent.follow(block)
        last = agent.follow(agent.run_command(review.children[0].command), items=[item])
        pick = agent.run_command(last.next)
        if left:
            block = agent.follow(agent.follow(agent.follow(pick, outcome="ok")), outcome="iterate")
    end = agent.follow(pick, outcome="skip")
    assert [entry.text for entry in end.root.iterfind("NOT_DONE/entry")] == [told]
