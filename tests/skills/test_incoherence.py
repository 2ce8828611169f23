"""incoherence, walked by the printed commands as an agent, its sub-agents and a user walk it."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skills.lib.runtime import loading
from skills.lib.skillfile.commands import commands_in
from skills.lib.skillfile.document import load_skill
from skills.lib.skillfile.specification import check_specification
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.testing.follower import Shell
from skills.lib.testing.transitions import ProjectCopies
from skills.lib.workflow.core import StepContext
from tests.skills.follower import SKILLS, reached
from tests.skills.follower import Block as Printed

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

FOLDER = SKILLS / "incoherence"
SCRIPTS = FOLDER / "scripts"
LETTERS = "ABCDEFGHIJ"

README = """# Fetch
Needs Python 3.11 or later.
A request waits 30 seconds, then fails.
A failed request is tried again three times.
Answers are cached in the folder that `cache_dir` names.
"""
CLIENT = """TIMEOUT = 10
RETRIES = 5
def fetch(url, wait=TIMEOUT):
    log("waiting", wait)
    return open_url(url, wait)
"""
CONFIG = """# Settings
timeout: in milliseconds
cache_dir: where answers are kept
Up to version 1 it needs Python 3.8.
"""
TIMEOUT = 'README.md:3 "waits 30 seconds" | client.py:1 "TIMEOUT = 10" | the stated timeout is not the real one'
RETRIES = 'README.md:4 "three times" | client.py:2 "RETRIES = 5" | the stated number is not the real one'
UNIT = 'docs/config.md:2 "in milliseconds" | client.py:3 "wait=TIMEOUT" | one side counts seconds'
CACHE = 'README.md:5 "Answers are cached" | client.py:5 "return open_url" | nothing is cached; searched for cache'
LOG = 'README.md:3 "then fails" | client.py:4 "waiting" | it is not said whether the wait is logged'
PYTHON = 'README.md:2 "3.11" | docs/config.md:4 "3.8" | two minimum versions'
SAME = 'docs/config.md:3 "cache_dir" | client.py:5 "return open_url" | nothing reads the setting'

DOCS = "A | README.md; client.py | defaults, numbers and promises"
SETTINGS = "D | docs/config.md; client.py | units, names and versions"
SURVEY: dict[str, Any] = {
    "scope": "What a reader of the documents believes, against what the client does.",
    "sources": ["README.md | docs | promises", "docs | docs | settings", "client.py | code | what is so"],
}
CHOICE: dict[str, Any] = {
    "dimensions": [DOCS, SETTINGS],
    "skipped": [f"{letter} | only one side here" for letter in LETTERS if letter not in "AD"],
}
FOUND = {"A": [TIMEOUT, RETRIES, CACHE, LOG, PYTHON], "D": [UNIT, SAME]}
CANDIDATES: dict[str, Any] = {
    "joined": [
        *("I1 | A1", "I2 | A2", "I3 | A3, D2 | and docs/config.md:3", "I4 | D1", "I5 | A4", "I6 | A5"),
    ],
}
VERDICTS = {
    "I1": "drift",
    "I2": "contradiction",
    "I3": "gap",
    "I4": "contradiction",
    "I5": "ambiguity",
    "I6": "false-alarm",
}
ANALYSIS: dict[str, Any] = {
    "listed": [
        "I1 | README promises 30 s, the client waits 10 s",
        "I2 | README says three retries, the client makes five",
        "I3 | gap | MUST | README promises a cache, and there is none",
        "I4 | contradiction | MUST | the settings say milliseconds, the client counts seconds",
        "I5 | ambiguity | COULD | it is open whether waiting is logged",
    ],
    "dismissed": ["I6 | false-alarm | docs/config.md:4 speaks of version 1"],
}


def entry(issue: str) -> str:
    """The text by which a user decides an issue."""
    return (
        f"{issue}: two places disagree\nREADME.md says this, client.py that.\na) Change the one\nb) Change the other\n"
        + ("Recommended: a, since readers rely on it")
    )


FIRST_BATCH = {"entries": [entry(issue) for issue in ("I1", "I2", "I3", "I4")]}
FIRST_ANSWER = "I1: a. I2: b, make it three. What would a cache cost (I3)? The unit later, after the release."
FIRST: dict[str, Any] = {
    "resolutions": [
        "I1 | a | it has 10",
        "I2 | b",
        "I3 | again | what would a cache cost?",
        "I4 | deferred | after the release",
    ]
}
SECOND_BATCH = {"entries": [entry("I3"), entry("I5")]}
SECOND: dict[str, Any] = {
    "resolutions": [
        "I3 | own | drop the cache from README.md and docs/config.md",
        "I5 | rejected | nobody reads the log",
    ]
}
PLAN: dict[str, Any] = {
    "items": [
        "W1 | I1 | README.md | README.md says that it waits 10 seconds",
        "W2 | I2 | client.py | client.py says RETRIES = 3",
        "W3 | I3 | README.md, ./docs/config.md | rg cache finds nothing | no word of a cache",
    ]
}
# What each reconciler does: file, old words, new words; and how it accounts for it.
EDITS = {
    "W1": [("README.md", "waits 30 seconds", "waits 10 seconds")],
    "W2": [("client.py", "RETRIES = 5", "RETRIES = 3")],
    "W3": [
        ("README.md", "Answers are cached in the folder that `cache_dir` names.", "Answers are not kept."),
        ("docs/config.md", "cache_dir: where answers are kept\n", ""),
    ],
}
CHANGES = {
    "W1": ['README.md:3 "waits 10 seconds" | was "waits 30 seconds"'],
    "W2": ['client.py:2 "RETRIES = 3" | was "RETRIES = 5"'],
    "W3": [
        'README.md:5 "Answers are not kept." | was "Answers are cached in the folder that `cache_dir` names."',
        'docs/config.md:3 "Up to version 1" | was "cache_dir: where answers are kept"',
    ],
}
WAVE_1: dict[str, Any] = {
    "outcomes": ['W1 | applied | README.md:3 "waits 10 seconds"', 'W2 | applied | client.py:2 "RETRIES = 3"'],
    "ran": "none: there are no tests",
}
WAVE_2: dict[str, Any] = {"outcomes": ['W3 | applied | README.md:5 "not kept"'], "ran": "rg cache found nothing"}
SUMMARY = "Six candidates: three settled, one deferred, one rejected, one none."
DONE = {"path": "contradictions.md", "summary": SUMMARY}
README_NOW, CLIENT_NOW = 'README.md:3 "waits 10 seconds"', 'client.py:2 "RETRIES = 3"'
SKIPPED = "\n".join(f"- not looked at: {letter} | only one side here" for letter in LETTERS if letter not in "AD")
REPORT = f"""# Contradictions

## Summary

{SUMMARY}

## Issues

- I1 (applied): README promises 30 s, the client waits 10 s; {TIMEOUT}; a | Change the one; it has 10; W1: {README_NOW}
- I2 (applied): README says three retries, the client makes five; {RETRIES}; b | Change the other; W2: {CLIENT_NOW}
- I3 (applied): README promises a cache, and there is none; {CACHE}; and docs/config.md:3; own | drop the cache from \
README.md and docs/config.md; W3: README.md:5 "not kept"
- I4 (deferred): the settings say milliseconds, the client counts seconds; {UNIT}; after the release
- I5 (rejected): it is open whether waiting is logged; {LOG}; nobody reads the log
- I6 (false-alarm): {PYTHON}; docs/config.md:4 speaks of version 1

## Coverage

- looked at: {DOCS}
- looked at: {SETTINGS}
{SKIPPED}

## Open

- I4: deferred
- still says the old thing: W1 | docs/old.md:4 says it too
- run: rg cache found nothing
"""


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopies:
    """The repository, and its copies at the points from which several tests go on."""
    return ProjectCopies(tmp_path_factory.mktemp("incoherence"))


@pytest.fixture
def project(copies: ProjectCopies, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository with five contradictions and a false alarm."""
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    copies.clear()
    (copies.project / ".git").mkdir()
    (copies.project / "docs").mkdir()
    for path, text in (("README.md", README), ("client.py", CLIENT), ("docs/config.md", CONFIG)):
        (copies.project / path).write_text(text, encoding="utf-8")
    return copies.project


@pytest.fixture
def agent(project: Path) -> Agent:
    """An agent in that repository."""
    return Agent(SCRIPTS / "incoherence.py", project)


def id_of(target: str) -> str:
    """The id or letter that a target begins with."""
    return target.partition(" ")[0]


def play(
    agent: Agent, block: PrintedBlock, part: Callable[[Agent, PrintedBlock, str], PrintedBlock], lost: str = ""
) -> PrintedBlock:
    """Have every sub-agent do its part, give up on the one named, and run what the last of them says."""
    last = block
    for child in block.children:
        if id_of(child.target) != lost:
            last = part(agent, agent.run_command(child.command), id_of(child.target))
            assert last.kind == "done", last.text
    for child in block.children:
        if id_of(child.target) == lost:
            last = agent.lose(block, child.id, "it ran out of time")
    return agent.run_command(last.next)


def explorer(agent: Agent, block: PrintedBlock, letter: str) -> PrintedBlock:
    """Sweep, and write down what differs; A finds nothing missing, D looks a second time."""
    compared = ["README.md:1 | it fetches | agrees | client.py:3"]
    if letter == "A":
        return agent.follow(block, compared=compared, findings=FOUND[letter])
    block = agent.follow(block, compared=compared, findings=FOUND[letter][:1], gaps=["docs/config.md | the cache"])
    assert block.step == "gaps"
    assert block.context["sweep.compared"] == f"- {compared[0]}"
    return agent.follow(block, compared=compared, more=FOUND[letter][1:])


def nothing_found(agent: Agent, block: PrintedBlock, letter: str) -> PrintedBlock:
    """An explorer that finds nothing, on its first look or on both."""
    compared = ["README.md:3 | waits | agrees | client.py:1"]
    if letter == "A":
        return agent.follow(block, compared=compared, findings=[], unread="the pictures")
    block = agent.follow(block, compared=compared, findings=[], gaps=["docs | the old pages"], unread="the pictures")
    return agent.follow(block, compared=["none | docs has one page"], left="the drawings")


def diver(agent: Agent, block: PrintedBlock, issue: str) -> PrintedBlock:
    """Trace a candidate and give the verdict that is due to it."""
    evidence = ['README.md:3 "waits 30 seconds" | the promise', 'client.py:1 "TIMEOUT = 10" | what is used']
    alarm = VERDICTS[issue] == "false-alarm"
    return agent.follow(
        block,
        evidence=evidence,
        verdict=VERDICTS[issue],
        severity="COULD" if alarm else "SHOULD",
        why=f"{issue} is so because of the two lines that are quoted in the evidence.",
        options=[] if alarm else ["a | change the one | README.md | none", "b | change the other | client.py | little"],
        recommended="none" if alarm else "a: because readers rely on it",
    )


def reconciler(agent: Agent, block: PrintedBlock, item: str) -> PrintedBlock:
    """Really edit the files of an item, and account for it."""
    for path, was, now in EDITS[item]:
        file = agent.project / path
        assert was in file.read_text(encoding="utf-8")
        agent.write(path, file.read_text(encoding="utf-8").replace(was, now))
    note = {"note": "docs/old.md:4 says it too"} if item == "W1" else {}
    return agent.follow(block, status="applied", changes=CHANGES[item], **note)


@pytest.fixture
def exploring(agent: Agent, copies: ProjectCopies) -> PrintedBlock:
    """The block that dispatches the explorers."""
    return reached(copies, "exploring", agent, lambda: agent.follow(agent.follow(agent.open(), **SURVEY), **CHOICE))


@pytest.fixture
def diving(agent: Agent, exploring: PrintedBlock, copies: ProjectCopies) -> PrintedBlock:
    """The block that dispatches the deep dives."""
    return reached(copies, "diving", agent, lambda: agent.follow(play(agent, exploring, explorer), **CANDIDATES))


@pytest.fixture
def answered(agent: Agent, diving: PrintedBlock, copies: ProjectCopies) -> PrintedBlock:
    """The block that records the user's first answer."""

    def reach() -> PrintedBlock:
        asking = agent.follow(agent.follow(play(agent, diving, diver), **ANALYSIS), **FIRST_BATCH)
        return agent.follow(asking, answer=FIRST_ANSWER)

    return reached(copies, "answered", agent, reach)


@pytest.fixture
def planning(agent: Agent, answered: PrintedBlock, copies: ProjectCopies) -> PrintedBlock:
    """The block that plans what the user decided over two batches."""

    def reach() -> PrintedBlock:
        batch = agent.follow(answered, **FIRST)
        return agent.follow(agent.follow(agent.follow(batch, **SECOND_BATCH), answer="Drop it. No."), **SECOND)

    return reached(copies, "planning", agent, reach)


def refused(block: PrintedBlock) -> str:
    """Why a report was refused."""
    assert (block.exit_code, block.code) == (3, "missing-evidence"), block.text
    return block.why


@pytest.mark.req("W-03", "W-04", "W-18")
def test_a_run_leads_from_a_scope_to_settled_contradictions(
    agent: Agent, planning: PrintedBlock, project: Path
) -> None:
    block = planning
    wave_1 = agent.follow(block, **PLAN)
    assert [id_of(child.target) for child in wave_1.children] == ["W1", "W2"]
    collect = play(agent, wave_1, reconciler)
    wave_2 = agent.follow(collect, **WAVE_1)
    assert [id_of(child.target) for child in wave_2.children] == ["W3"]
    report = agent.follow(play(agent, wave_2, reconciler), **WAVE_2)
    assert report.context["collect.endings"] == "- I1 | applied | W1\n- I2 | applied | W2\n- I3 | applied | W3"
    assert report.context["collect.notes"] == "- W1 | docs/old.md:4 says it too"
    done = agent.follow(report, **DONE)
    assert done.kind == "done"
    assert done.result == {"report.summary": SUMMARY, "report.path": "contradictions.md", "report.report": DONE["path"]}
    assert (project / "contradictions.md").read_text() == REPORT
    assert [one.step for one in agent.taken(done.run)] == [
        *("survey", "dimensions", "explore", "candidates", "deep-dive", "verdicts"),
        *("batch", "present", "collect-answers", "batch", "present", "collect-answers"),
        *("plan", "reconcile", "collect", "reconcile", "collect", "report"),
    ]
    assert (project / "README.md").read_text() == (
        "# Fetch\nNeeds Python 3.11 or later.\nA request waits 10 seconds, then fails.\n"
        "A failed request is tried again three times.\nAnswers are not kept.\n"
    )
    assert (project / "client.py").read_text().splitlines()[:2] == ["TIMEOUT = 10", "RETRIES = 3"]
    assert "cache" not in (project / "docs/config.md").read_text()
    assert max(len(block.text) for block in agent.blocks) <= 10_000


@pytest.mark.req("W-18")
def test_what_the_agent_sees(agent: Agent, planning: PrintedBlock, snapshot: SnapshotAssertion) -> None:
    wave = agent.follow(planning, **PLAN)
    item = agent.run_command(wave.children[0].command)
    present = next(block for block in agent.blocks if block.kind == "waiting")
    answers = next(block for block in agent.blocks if block.step == "collect-answers")
    for name, block in {"present": present, "collect-answers": answers, "apply": item}.items():
        assert Printed(block.exit_code, block.text).stable() == snapshot(name=name)
        assert len(block.text) <= 10_000, name


@pytest.mark.req("W-04")
def test_an_explorer_sees_its_own_page_of_the_catalogue_alone(agent: Agent, exploring: PrintedBlock) -> None:
    documents, settings = [agent.run_command(child.command) for child in exploring.children]
    assert documents.context["dimension"].startswith(DOCS + "\n\nA Documentation against code\n")
    assert "a default that is not the real one" in settings.context["dimension"]
    assert "a default that is not the real one" not in documents.text
    assert documents.context["sources"].count("- ") == 3


def test_findings_are_numbered_by_dimension(agent: Agent, exploring: PrintedBlock) -> None:
    candidates = play(agent, exploring, explorer)
    assert candidates.context["explore.found"].splitlines()[4:6] == [f"- A5 | {PYTHON}", f"- D1 | {UNIT}"]


@pytest.mark.req("W-03")
def test_if_nobody_finds_anything_the_report_follows_at_once(agent: Agent, exploring: PrintedBlock) -> None:
    report = play(agent, exploring, nothing_found)
    assert report.step == "report"
    assert report.context["explore.unread"] == "- A | the pictures\n- D | the pictures; the drawings"
    assert "verdicts.issues" not in report.context
    done = agent.follow(report, summary="Documents and settings were compared with the code, and agree.")
    assert done.kind == "done"
    text = (agent.project / done.result["report.report"]).read_text()
    assert "## Issues\n\nNo candidate came up.\n" in text
    assert "- unread: A | the pictures\n- unread: D | the pictures; the drawings\n" in text


def test_the_report_replaces_nothing(agent: Agent, exploring: PrintedBlock, project: Path) -> None:
    report = play(agent, exploring, nothing_found)
    assert "README.md is there already" in refused(agent.follow(report, **{**DONE, "path": "README.md"}))
    assert "outside the project" in refused(agent.follow(report, **{**DONE, "path": "../x.md"}))
    assert (project / "README.md").read_text() == README


@pytest.mark.req("W-04")
def test_a_lost_explorer_leaves_its_dimension_unread_and_the_others_count(
    agent: Agent, exploring: PrintedBlock
) -> None:
    candidates = play(agent, exploring, explorer, lost="D")
    assert candidates.step == "candidates"
    assert "D1" not in candidates.context["explore.found"]
    numbered = [f"I{at} | A{at}" for at in range(1, 6)]
    verdicts = play(agent, agent.follow(candidates, joined=numbered), diver)
    report = agent.follow(verdicts, listed=[], dismissed=[f"I{at} | false-alarm | both hold" for at in range(1, 6)])
    assert report.step == "report"
    assert "D | nobody looked: it ran out of time" in report.context["explore.unread"]


@pytest.mark.req("W-04")
def test_a_run_in_which_nobody_looked_ends_as_failed(agent: Agent, exploring: PrintedBlock) -> None:
    explore = exploring
    for child in explore.children:
        left = agent.lose(explore, child.id, "no sub-agents today")
    done = agent.run_command(left.next)
    assert (done.kind, done.words("STATE")) == ("done", "Incoherence failed at explore, after 3 transitions.")


@pytest.mark.parametrize(
    "compared, why",
    [
        (["README.md:1 | it fetches | agrees | client.py:3"], ""),
        (["README.md:3 | waits 30 s | differs | client.py:1 has 10"], "what differs is a finding"),
        (["none | the paths of the task do not exist"], ""),
        (["README.md:3 `waits 30 seconds` | it waits | unclear | client.py:1 `= 10`"], ""),
        (["x"], "it does not begin with path:line"),
        (["none | no"], "say why there is none"),
        (["README.md | settings | agrees"], "it does not begin with path:line"),
        (["README.md:3 | waits | agrees"], "it has not all its parts"),
        (["README.md:3 | waits | so so | client.py:1"], "it has not all its parts"),
        (["README.md:9 | waits | agrees | client.py:1"], "the file has 5 lines"),
        (["README.md:3 `waits 10` | waits | agrees | client.py:1"], "`waits 10` is not in that line"),
    ],
)
def test_a_sweep_compares_places_that_exist(
    agent: Agent, exploring: PrintedBlock, compared: list[str], why: str
) -> None:
    sweep = agent.run_command(exploring.children[0].command)
    block = agent.follow(sweep, compared=compared, findings=[TIMEOUT])
    if why:
        assert why in refused(block)
    else:
        assert (block.kind, block.result["sweep.findings"]) == ("done", f"- {TIMEOUT}")


def test_a_gap_is_a_file_that_exists(agent: Agent, exploring: PrintedBlock) -> None:
    sweep = agent.run_command(exploring.children[0].command)
    block = agent.follow(sweep, compared=["none | nothing is stated here"], findings=[], gaps=["READ.md | more"])
    assert "no such file" in refused(block)


def test_evidence_names_a_place_of_the_candidate_by_its_number(agent: Agent, diving: PrintedBlock) -> None:
    judge = agent.run_command(diving.children[0].command)
    judged = {"verdict": "false-alarm", "severity": "COULD", "why": "Both hold, since each speaks of another case."}
    block = agent.follow(judge, evidence=["1 | the promise", "3 | what is used"], **judged)
    assert "the candidate has 2 places; quote another one" in refused(block)
    block = agent.follow(judge, evidence=["1 | the promise", "2 |"], **judged)
    assert "write 2 | what it shows" in refused(block)
    assert agent.follow(judge, evidence=["1 | the promise", "2 | what is used"], **judged).kind == "done"


def test_an_answer_is_recorded_with_what_its_option_says(agent: Agent, answered: PrintedBlock) -> None:
    batch = agent.follow(answered, **FIRST)
    assert batch.context["collect-answers.log"].splitlines() == [
        "- I1 | resolved | a | Change the one; it has 10",
        "- I2 | resolved | b | Change the other",
        "- I4 | deferred | after the release",
    ]


def test_a_title_alone_is_of_what_was_judged_an_issue(agent: Agent, diving: PrintedBlock) -> None:
    verdicts = play(agent, diving, diver)
    listed = [*ANALYSIS["listed"], "I6 | two minimum versions"]
    assert "it was judged false-alarm; to call it an issue, write I1 | verdict" in refused(
        agent.follow(verdicts, listed=listed, dismissed=[])
    )
    corrected = [*ANALYSIS["listed"], "I6 | drift | COULD | two minimum versions"]
    assert agent.follow(verdicts, listed=corrected, dismissed=[]).step == "batch"


@pytest.mark.req("W-04")
def test_a_lost_deep_dive_leaves_its_candidate_unjudged(agent: Agent, diving: PrintedBlock) -> None:
    verdicts = play(agent, diving, diver, lost="I2")
    files = {value.get("name"): value.get("file") for value in verdicts.root.iterfind("CONTEXT/value")}
    judged = Path(files["judged"]).read_text() if files["judged"] else verdicts.context["deep-dive.judged"]
    assert "verdict: unjudged\n  why: nobody looked: it ran out of time" in judged
    listed = [entry for entry in ANALYSIS["listed"] if not entry.startswith("I2")]
    dismissed = [*ANALYSIS["dismissed"], "I2 | unjudged | its sub-agent was lost"]
    assert agent.follow(verdicts, listed=listed, dismissed=dismissed).step == "batch"


@pytest.mark.req("W-04")
def test_a_run_in_which_nobody_judged_a_candidate_ends_as_failed(agent: Agent, diving: PrintedBlock) -> None:
    dive = diving
    for child in dive.children:
        left = agent.lose(dive, child.id, "no sub-agents today")
    done = agent.run_command(left.next)
    assert (done.kind, done.words("STATE")) == ("done", "Incoherence failed at deep-dive, after 5 transitions.")
    assert done.words("RESULT").count("verdict: unjudged") == len(dive.children)


@pytest.mark.req("W-04")
def test_the_work_of_a_lost_reconciler_is_tried_again_by_one_that_learns_why(
    agent: Agent, planning: PrintedBlock
) -> None:
    collect = play(agent, agent.follow(planning, **PLAN), reconciler, lost="W2")
    again = "W2 | again | nothing was changed"
    wave = agent.follow(collect, outcomes=[WAVE_1["outcomes"][0], again], ran="none")
    assert [id_of(child.target) for child in wave.children] == ["W2", "W3"]
    told = agent.run_command(wave.children[0].command)
    assert told.context["item"].endswith("Tried before: nothing was changed")
    report = agent.follow(play(agent, wave, reconciler), outcomes=[WAVE_1["outcomes"][1], *WAVE_2["outcomes"]], ran="-")
    assert report.step == "report"


def test_what_is_open_after_the_last_wave_is_unfinished(agent: Agent, planning: PrintedBlock) -> None:
    block = agent.follow(planning, **PLAN)
    for _ in range(6):
        items = [id_of(child.target) for child in block.children]
        assert items == ["W1", "W2"]
        for child in block.children:
            block = agent.lose(block, child.id, "it ran out of time")
        block = agent.follow(agent.run_command(block.next), outcomes=[f"{item} | again | x" for item in items], ran="-")
    assert block.step == "report"
    assert block.context["collect.endings"] == "- I1 | unfinished | W1\n- I2 | unfinished | W2\n- I3 | unfinished | W3"


@pytest.mark.req("W-03")
def test_issues_come_four_at_a_time_until_none_is_open(agent: Agent, answered: PrintedBlock) -> None:
    batch = agent.follow(answered, **FIRST)
    assert batch.step == "batch"
    assert batch.context["collect-answers.due"] == "- I3\n- I5"
    assert batch.context["collect-answers.asked"] == "- I3 | again | what would a cache cost?"
    assert "the user asked about I3: give an entry of it" in refused(agent.follow(batch, entries=[entry("I5")]))
    assert "'I1' is no issue due here; there are: I3, I5" in refused(
        agent.follow(batch, entries=[entry("I1"), entry("I3"), entry("I5")])
    )
    waiting = agent.follow(batch, **SECOND_BATCH)
    assert waiting.kind == "waiting"
    assert "- I3: two places disagree\n  README.md says this" in waiting.words("QUESTION")


@pytest.mark.req("W-03")
def test_if_the_user_resolves_nothing_the_report_follows(agent: Agent, answered: PrintedBlock) -> None:
    deferred = [f"I{at} | deferred | later" for at in (1, 2, 3, 4)]
    batch = agent.follow(answered, resolutions=deferred)
    assert batch.context["collect-answers.due"] == "- I5"
    answers = agent.follow(agent.follow(batch, entries=[entry("I5")]), answer="no")
    report = agent.follow(answers, resolutions=["I5 | rejected | to stay so"])
    assert report.step == "report"
    assert "collect.endings" not in report.context
    agent.follow(report, **DONE)
    text = (agent.project / "contradictions.md").read_text()
    assert re.findall(r"(?m)^- (I\d) \((\S+)\)", text) == [
        *[(f"I{at}", "deferred") for at in (1, 2, 3, 4)],
        *[("I5", "rejected"), ("I6", "false-alarm")],
    ]


MADE = f"""I1: README promises 30 s, the client waits 10 s (drift, SHOULD)
{TIMEOUT}
I1 is so because of the two lines that are quoted in the evidence.
a) change the one (README.md); costs: none
b) change the other (client.py); costs: little
Recommended: a, because readers rely on it"""


def test_entries_are_made_of_what_was_judged(agent: Agent, diving: PrintedBlock) -> None:
    batch = agent.follow(play(agent, diving, diver), **ANALYSIS)
    answers = agent.follow(agent.follow(batch, entries=[entry("I2")]), answer="As you recommend.")
    texts = answers.context["batch.shown"]
    assert [line[2:4] for line in texts.splitlines() if line.startswith("- I")] == ["I1", "I2", "I3", "I4"]
    assert texts.startswith("- " + MADE.replace("\n", "\n  "))
    assert entry("I2").splitlines()[1] in texts


def test_an_issue_that_came_without_options_needs_an_entry(agent: Agent, diving: PrintedBlock) -> None:
    verdicts = play(agent, diving, diver, lost="I1")
    assert "it was judged unjudged" in refused(agent.follow(verdicts, **ANALYSIS))
    first = "I1 | drift | SHOULD | README promises 30 s, the client waits 10 s"
    batch = agent.follow(verdicts, **{**ANALYSIS, "listed": [first, *ANALYSIS["listed"][1:]]})
    assert "I1 was judged without options: give an entry of it" in refused(agent.follow(batch))
    assert agent.follow(batch, entries=[entry("I1")]).kind == "waiting"


WRONG = [
    (3, "I9 | deferred | later", "issue I4: missing; each stands exactly once"),
    (3, "I9 | deferred | later", "'I9' is no issue here; there are: I1, I2, I3, I4"),
    (3, "I5 | deferred | later", "'I5' is no issue here"),
    (3, "I1 | deferred | later", "issue I1 stands 2 times"),
    (0, "I1 | d | do it", "'d' is no option of I1: use a, b, own"),
    (0, "I1 | own", "it has 2 parts, and takes 3"),
    (0, "I1", "it has 1 parts, and takes 3"),
    (0, "I1 | settled | a | do it", "its second part is one of own, deferred, rejected, again"),
    (2, "I3 | again", "it has 2 parts, and takes 3"),
]


def test_answers_that_do_not_cover_the_batch_are_refused(agent: Agent, answered: PrintedBlock) -> None:
    block = answered
    for position, wrong, why in WRONG:
        given = list(FIRST["resolutions"])
        given[position] = wrong
        block = agent.follow(block, resolutions=given)
        assert why in refused(block)
    assert agent.follow(block, **FIRST).step == "batch"


def test_a_change_that_is_not_in_the_file_is_refused(agent: Agent, planning: PrintedBlock) -> None:
    wave = agent.follow(planning, **PLAN)
    said = agent.follow(agent.run_command(wave.children[0].command), status="applied", changes=CHANGES["W1"])
    assert '"waits 10 seconds" does not stand there' in refused(said)
    assert agent.follow(said, status="blocked", changes=[], note="the file is generated").kind == "done"


def workflow_module() -> Any:
    """The module that holds the parent's graph and handlers."""
    return loading.load_module(str(SCRIPTS / "incoherence_workflow.py"))


@pytest.mark.parametrize(
    "files, closed, wave",
    [
        (["a", "b", "c"], [], ["W1", "W2", "W3"]),
        (["a", "a", "a"], [], ["W1"]),
        (["a", "a", "a"], ["W1"], ["W2"]),
        (["a", "a, b", "b"], [], ["W1"]),
        (["a", "a, b", "b"], ["W1"], ["W2"]),
        (["a", "a, b", "c"], [], ["W1", "W3"]),
        (["docs/a", "./docs//a", "docs/x/../a (new)"], [], ["W1"]),
        (["a (new)", "a", "b"], [], ["W1", "W3"]),
    ],
)
def test_no_file_is_in_two_items_of_a_wave(files: list[str], closed: list[str], wave: list[str]) -> None:
    items = [f"W{at} | I{at} | {named} | change | seen" for at, named in enumerate(files, 1)]
    log = [f"{item} | failed | x" for item in closed]
    found = workflow_module().wave(StepContext(run_state={"plan": {"items": items}, "collect": {"log": log}}))
    assert [id_of(item) for item in found] == wave


CHECKED = [
    ("sources", ["docs | docs | x", "nowhere.md | docs | x"], "'nowhere.md | docs | x': no such file"),
    ("sources", ["../x | docs | x"], "outside the project"),
    ("findings", ["README.md says 30 s and client.py 10 s"], "it is not: path:line"),
    ("findings", [TIMEOUT.replace(":3", ":4")], '"waits 30 seconds" does not stand there; it stands in line 3'),
    ("findings", [TIMEOUT.replace(":3", ":9")], "README.md:9: the file has 5 lines"),
    ("findings", [TIMEOUT.replace("README.md", "/etc/passwd")], "outside the project"),
    ("findings", [TIMEOUT.replace("README.md", "docs")], "it is a folder"),
    ("findings", [TIMEOUT.replace("waits 30 seconds", "waits thirty")], "quote the line letter for letter"),
    ("findings", [TIMEOUT.replace("waits 30 seconds", "30")], "quote 3 characters or more"),
    ("findings", ['README.md:3 "waits" | README.md:3 "waits" | x'], "the same words in the same line"),
    ("findings", [TIMEOUT + "x" * 600], "at most 600"),
    ("evidence", ['client.py:1 "TIMEOUT = 10"'], "it is not: path:line"),
    ("evidence", ['client.py:2 "TIMEOUT = 10" | used'], "it stands in line 1"),
]


@pytest.fixture
def check(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The check script, called in the project: what it prints, nothing if all is well."""
    from skills.lib import compact_json

    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    module: Any = loading.load_module(str(SCRIPTS / "check_incoherence.py"))

    def run(*arguments: str | list[str], code: int | None = None) -> str:
        texts = [argument if isinstance(argument, str) else compact_json.readable(argument) for argument in arguments]
        found = module.main(texts)
        printed = capsys.readouterr().out
        assert found == (bool(printed) if code is None else code), printed
        return printed

    return run


@pytest.mark.parametrize("name, entries, why", CHECKED)
def test_entries_without_what_they_claim_are_refused(
    check: Callable[..., str], name: str, entries: list[str], why: str
) -> None:
    candidate = [f"I1 | {TIMEOUT} | A1"] if name == "evidence" else []
    assert why in check(name, *candidate, entries)


def test_quotations_may_be_written_the_usual_ways(check: Callable[..., str], project: Path) -> None:
    (project / "t.md").write_text('| say "so" | 30 |\nit goes\n  on here\n', encoding="utf-8")
    good = [
        't.md:1 "say "so" | 30" | `client.py:1` "TIMEOUT = 10" | a quotation with a bar and quotes',
        './t.md:2-3 "it goes on here" | client.py:1 "TIMEOUT" | a quotation over two lines',
    ]
    assert check("findings", good) == ""


@pytest.mark.parametrize(
    "chosen, skipped, why",
    [
        ([DOCS], [f"{letter} | no" for letter in LETTERS[1:9]], "dimension J: missing"),
        ([DOCS, DOCS], [f"{letter} | no" for letter in LETTERS[1:]], "dimension A stands 2 times"),
        ([DOCS, "Z | x | y"], [f"{letter} | no" for letter in LETTERS[1:]], "'Z' is no dimension"),
        (["A | docs"], [f"{letter} | no" for letter in LETTERS[1:]], "it has 2 parts, and takes 3"),
        ([DOCS], [*[f"{letter} | no" for letter in LETTERS[1:9]], "J"], "it has 1 parts, and takes 2"),
    ],
)
def test_every_dimension_is_chosen_or_skipped(
    check: Callable[..., str], chosen: list[str], skipped: list[str], why: str
) -> None:
    assert why in check("dimensions", chosen, skipped)


@pytest.mark.parametrize(
    "joined, dropped, why",
    [
        (["I2 | A1"], ["A2 | taste"], "number them I1"),
        (["I1 | A1"], [], "finding A2: missing"),
        (["I1 | A1, A2"], ["A2 | taste"], "finding A2 stands 2 times"),
        (["I1 | A1, A2, A3"], [], "'A3' is no finding"),
        (["I1 | A1"], ["A2"], "it has 1 parts, and takes 2"),
        (["I1"], ["A1 | x y", "A2 | x y"], "it has 1 parts, and takes 2"),
    ],
)
def test_every_finding_becomes_a_candidate_or_is_dropped(
    check: Callable[..., str], joined: list[str], dropped: list[str], why: str
) -> None:
    assert why in check("candidates", [f"A1 | {TIMEOUT}", f"A2 | {RETRIES}"], joined, dropped)


OPTIONS = ["a | x | README.md | none", "b | y | client.py | little"]


@pytest.mark.parametrize(
    "verdict, options, recommended, why",
    [
        ("drift", OPTIONS, "a: because", ""),
        ("false-alarm", [], "none", ""),
        ("false-alarm", OPTIONS, "none", "a false alarm has nothing to settle"),
        ("gap", OPTIONS[:1], "a: because", "the options are a; give two to four"),
        ("gap", OPTIONS[::-1], "a: because", "the options are b, a"),
        ("gap", OPTIONS, "c: because", "recommended begins with the letter of an option"),
        ("gap", ["a | x", OPTIONS[1]], "b: because", "it has 2 parts, and takes 4"),
    ],
)
def test_a_verdict_comes_with_options(
    check: Callable[..., str], verdict: str, options: list[str], recommended: str, why: str
) -> None:
    printed = check("judgement", verdict, options, recommended)
    assert why in printed
    assert bool(printed) == bool(why)


@pytest.mark.parametrize(
    "issues, dismissed, why",
    [
        (["I1 | drift | SHOULD | x"], [], "candidate I2: missing"),
        (["I1 | x", "I2"], [], "it has 1 parts, and takes 2"),
        (["I1 | x", "I2 | x"], [], "it was judged unjudged; to call it an issue, write I1 | verdict"),
        (
            ["I1 | drift | SHOULD | x", "I2 | false-alarm | COULD | x"],
            [],
            "one of ambiguity, gap, drift, contradiction",
        ),
        (["I1 | drift | HIGH | x", "I2 | gap | MUST | x"], [], "its third part is one of MUST, SHOULD, COULD"),
        (["I1 | drift | SHOULD | x"], ["I2 | drift | x"], "one of false-alarm, duplicate, unjudged"),
    ],
)
def test_every_candidate_gets_a_verdict(
    check: Callable[..., str], issues: list[str], dismissed: list[str], why: str
) -> None:
    given = [f"I1 | {TIMEOUT} | A1", f"I2 | {RETRIES} | A2"]
    judged = json.dumps([{"candidate": given[0], "verdict": "drift"}, {"candidate": given[1], "verdict": "unjudged"}])
    assert why in check("verdicts", given, judged, issues, dismissed)


@pytest.mark.parametrize(
    "change, why",
    [
        (("I1: two", "I9: two"), "'I9' is no issue due here"),
        (("b) Change the other\n", ""), "its options are a; give two to four"),
        (("b) ", "c) "), "its options are a, c"),
        (("Recommended: a", "Take a"), "one line that begins with Recommended:"),
        (("Recommended: a", "Recommended: c"), "one line that begins with Recommended:"),
        (("disagree", "disagree" * 90), "at most 650"),
    ],
)
def test_an_entry_that_nobody_could_decide_by_is_refused(
    check: Callable[..., str], change: tuple[str, str], why: str
) -> None:
    known = (["I1"], "{collect-answers.due}", ["I1 | drift | SHOULD | x"], JUDGED, "{collect-answers.asked}")
    assert json.loads(check("batch", *known, [entry("I1")], code=0)) == [entry("I1")]
    assert why in check("batch", *known, [entry("I1").replace(*change)])


JUDGED: Any = [{"candidate": f"I1 | {TIMEOUT} | A1", "verdict": "unjudged", "why": "nobody looked"}]
LOGGED = ["I1 | resolved | a | x", "I2 | deferred | x"]


@pytest.mark.parametrize(
    "items, why",
    [
        (["W1 | I1 | README.md, docs/new.md (new) | x | y"], ""),
        (["W2 | I1 | README.md | x | y"], "number them W1"),
        (["W1 | I1, I2 | README.md | x | y"], "'I2' is no resolved issue"),
        (["W1 | I1 | README.md"], "it has 3 parts, and takes 4"),
        (["W1 | I1 | READ.md | x | y"], "one that is to be written is marked: READ.md (new)"),
        (["W1 | I1 | README.md (new) | x | y"], "README.md exists, and is marked (new)"),
        (["W1 | I1 | docs | x | y"], "docs is a folder"),
        (["W1 | I1 | ../x.md (new) | x | y"], "outside the project"),
    ],
)
def test_a_plan_covers_what_was_resolved_with_files_that_exist(
    check: Callable[..., str], items: list[str], why: str
) -> None:
    printed = check("plan", LOGGED, items)
    assert why in printed
    assert bool(printed) == bool(why)


@pytest.mark.parametrize(
    "status, changes, why",
    [
        ("applied", ['README.md:3 "waits 30" | was "waits 10"', "client.py | unchanged: it is right"], ""),
        ("applied", ['README.md:3 "waits 30" | was ""', "gone.py | deleted: unused"], "client.py: named by the item"),
        ("applied", ['README.md:3 "waits 30" | was "waits 30"', "client.py | unchanged: x"], "is what stood there"),
        ("applied", ['README.md:3 "waits 30" | was "then fails"', "client.py | unchanged: x"], "still stands"),
        ("applied", ["README.md | unchanged: x", "client.py | unchanged: x"], "the status is blocked"),
        ("applied", ['docs/config.md:2 "timeout" | was ""'], "docs/config.md is not a file of the item"),
        ("applied", ["README.md | deleted: x", "client.py | unchanged: x"], "README.md is still there"),
        ("applied", ["README.md | done"], "it is not: path:line"),
        ("blocked", ["README.md | unchanged: x"], "a blocked item has no changes"),
        ("blocked", [], ""),
    ],
)
def test_a_change_is_seen_in_every_file_of_the_item(
    check: Callable[..., str], status: str, changes: list[str], why: str
) -> None:
    printed = check("changes", "W1 | I1 | README.md, client.py | x | y\nTried before: W1 | again | z", status, changes)
    assert why in printed
    assert bool(printed) == bool(why)


@pytest.mark.parametrize(
    "outcomes, why",
    [
        (["W1 | failed | the file is generated"], "item of this wave W2: missing"),
        (["W1 | done | x", "W2 | again | x"], "one of applied, again, failed"),
        (["W1 | applied | it is done", "W2 | again | x"], 'it does not begin with path:line "quote"'),
        (['W1 | applied | README.md:3 "waits 10"', "W2 | again | x"], '"waits 10" does not stand there'),
    ],
)
def test_every_item_of_a_wave_comes_to_something(check: Callable[..., str], outcomes: list[str], why: str) -> None:
    assert why in check("wave", ["W1", "W2"], outcomes)


def test_the_manual_numbers_the_steps_as_the_graphs_have_them() -> None:
    rows = re.findall(
        r"^\| (\d+) \| (incoherence[a-z-]*) \| ([a-z-]+) \|", (FOLDER / "resources/positions.md").read_text(), re.M
    )
    assert [int(number) for number, _, _ in rows] == list(range(1, 20))
    for name, stem in {
        "incoherence": "incoherence",
        "incoherence-explore": "incoherence_explore",
        "incoherence-deep-dive": "incoherence_deep_dive",
        "incoherence-reconcile": "incoherence_reconcile",
    }.items():
        workflow = loading.workflow_of_script(str(SCRIPTS / f"{stem}.py"))
        assert (workflow.name, [step.id for step in workflow.steps]) == (
            name,
            list(dict.fromkeys(at for _, of, at in rows if of == name)),
        )


@pytest.mark.req("W-15")
def test_skill_file_meets_the_specification_and_its_command_opens_a_run(project: Path) -> None:
    assert check_specification(FOLDER) == []
    (command,) = commands_in(load_skill(FOLDER))
    assert command.command == 'python3 "SKILL_DIR/scripts/incoherence.py" --step 1'
    words = command.command.replace("SKILL_DIR", str(FOLDER)).replace("python3", shlex.quote(sys.executable), 1)
    assert Shell(project)(words).step == "survey"
