"""A refused command is not lost: the next one has what was right in it, and a placeholder for what was not."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.runtime import cli
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, placeholders
from tests.fixtures.skill import install, source_of
from tests.fixtures.strategies import hostile_texts

FIELDS = (
    'Field("why"), Field("sure", choices=("low", "high")), Field("places", "list", minimum=1), '
    'Field("data", "json", required=False), Field("count", "int", required=False, maximum=1_234_567)'
)
STEPS = (
    f'StepDef("look", "Look", "Look.", {{Outcome.OK: "last", Outcome.SKIP: "last"}}, requires=[{FIELDS}, '
    'Artifact("proof.txt")]), StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
)
PARAMS = 'params=[Arg("mode", choices=("quick", "full"), step="look"), Arg("note", required=False, step="look")]'

Make = Callable[..., Agent]


@pytest.fixture
def make(tmp_path: Path, project: Path, request: pytest.FixtureRequest) -> Make:
    """An agent of a skill with these steps."""

    def of(steps: str = STEPS, more: str = PARAMS) -> Agent:
        name = "a" + "".join(char for char in request.node.name if char.isalnum())[:40].lower()
        return Agent(install(tmp_path, name, source_of(name, steps, more)), project)

    return of


def report(agent: Agent, block: PrintedBlock, *words: str, **values: str) -> PrintedBlock:
    """Leave the step with these records, whatever the block asks for."""
    records = [part for name, value in values.items() for part in ("--record", f"{name}={value}")]
    base = shlex.split(block.next)
    return agent.run_command(shlex.join([*base[: base.index("--project") + 2], *words, *records]))


def reported(agent: Agent, block: PrintedBlock) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """The records, parameters and outcome of a block's NEXT command, read as the script reads them."""
    request = cli.parse(agent.workflow, shlex.split(block.next)[2:])
    return dict(request.records), dict(request.params), request.outcome


def test_what_was_right_in_a_refused_command_is_given_back(make: Make) -> None:
    agent = make()
    block = agent.open()
    refused = report(
        agent,
        block,
        *("--mode", "full", "--note", "it's\nso", "--outcome", "skip"),
        why="because <b> & 'c'",
        sure="medium",
        places='["a b", "c"]',
        count="2000000",
    )
    assert (refused.exit_code, refused.code) == (3, "bad-value")
    assert "count: 2000000 is out of range; put in a whole number of at most 1234567" in refused.why
    records, params, outcome = reported(agent, refused)
    assert records == {
        "why": "because <b> & 'c'",
        "sure": "FILL_sure",
        "places": '["a b", "c"]',
        "count": "FILL_count",
    }
    assert (params, outcome) == ({"mode": "full", "note": "it's\nso"}, "skip")
    agent.write("proof.txt", "x")
    end = agent.follow(refused, sure="low", count=3)
    assert (end.exit_code, end.step) == (0, "last")
    kept = agent.state(end.run).state["look"]
    assert (kept["why"], kept["places"], kept["count"], kept["note"]) == (
        "because <b> & 'c'",
        ["a b", "c"],
        3,
        "it's\nso",
    )


def test_if_only_evidence_is_missing_the_same_command_goes_on(make: Make) -> None:
    agent = make()
    refused = report(
        agent, agent.open(), "--mode", "quick", "--outcome", "ok", why="so", sure="low", places="a", data='{"b": [1]}'
    )
    assert refused.code == "missing-evidence"
    assert placeholders(refused.next) == []
    agent.write("proof.txt", "x")
    assert agent.run_command(refused.next).step == "last"


@pytest.mark.parametrize("given", ["splendid", "fail", "FILL_outcome"])
def test_an_outcome_that_there_is_not_is_to_be_filled_in(make: Make, given: str) -> None:
    agent = make()
    refused = report(agent, agent.open(), "--mode", "quick", "--outcome", given, why="so", sure="low", places="a")
    assert reported(agent, refused) == (
        {"why": "so", "sure": "low", "places": "a"},
        {"mode": "quick"},
        "FILL_outcome",
    )


def test_a_command_of_another_turn_gives_nothing_back(make: Make) -> None:
    agent = make()
    block = agent.open()
    late = agent.run_command(block.next.replace("--turn 1", "--turn 7").replace("'FILL_why'", "so"))
    assert (late.code, late.next) == ("wrong-turn", block.next)


def test_long_values_are_given_back_in_a_file(make: Make) -> None:
    agent = make()
    why = "why " * 700
    refused = report(agent, agent.open(), "--mode", "full", why=why, sure="no", places='["a"]')
    words = shlex.split(refused.next)
    path = Path(words[words.index("--record-file") + 1])
    assert path == agent.project / ".lockstep" / "context" / refused.run / "refused-1.json"
    assert json.loads(path.read_text()) == {"mode": "full", "why": why, "places": '["a"]'}


def test_the_record_file_of_a_refused_command_is_named_again(make: Make) -> None:
    agent = make()
    why, places = "why " * 700, [f"place {at} <&>" for at in range(200)]
    agent.write("report.json", json.dumps({"why": why, "places": places, "sure": "no", "data": {"a": None}}))
    file = str(agent.project / "report.json")
    refused = report(agent, agent.open(), "--mode", "full", "--record-file", file)
    assert (refused.code, len(refused.text) < 10_000) == ("bad-value", True)
    words = shlex.split(refused.next)
    assert words[words.index("--record-file") + 1] == file
    assert placeholders(refused.next) == ["sure", "outcome"]
    agent.write("proof.txt", "x")
    end = agent.follow(refused, sure="high", outcome="ok")
    assert (end.exit_code, end.step) == (0, "last")
    assert agent.state(end.run).state["look"] == {
        "why": why,
        "places": places,
        "sure": "high",
        "data": {"a": None},
        "mode": "full",
        "note": None,
    }


def test_a_value_of_the_file_is_overridden_by_the_command(make: Make) -> None:
    agent = make()
    refused = report(agent, agent.open(), "--mode", "full", "--outcome", "ok", why="x" * 3_000, sure="low", places="a")
    assert "--record-file" in refused.next
    agent.write("proof.txt", "x")
    end = agent.run_command(refused.next + " --record why=shorter")
    assert agent.state(end.run).state["look"]["why"] == "shorter"


def test_nothing_is_given_back_if_no_file_can_be_written(make: Make) -> None:
    agent = make()
    block = agent.open()
    agent.write(".lockstep/context", "a file in the way")
    refused = report(agent, block, "--mode", "full", why="x" * 3_000, sure="low", places="a")
    assert (refused.code, refused.next) == ("missing-outcome", block.next)


def test_a_secret_is_neither_printed_nor_written(make: Make) -> None:
    fields = 'Field("why"), Field("token"), Field("api_key", required=False), Field("sure", choices=("low", "high"))'
    agent = make(f'StepDef("look", "Look", "Look.", {{Outcome.OK: None}}, requires=[{fields}])', "")
    for why in ("short", "long " * 600):
        refused = report(agent, agent.open(), why=why, token="s3kr1t", api_key="s3kr1t", sure="no")
        assert refused.code == "bad-value"
        assert sorted(placeholders(refused.next)) == ["api_key", "sure", "token"]
        assert "s3kr1t" not in refused.text
    files = [file for file in (agent.project / ".lockstep").rglob("*") if file.is_file()]
    assert not any(b"s3kr1t" in file.read_bytes() for file in files)


def test_a_reason_that_was_given_with_no_answer_is_kept(make: Make) -> None:
    agent = make(
        'StepDef("ask", "Ask", "Ask.", {Outcome.OK: "last", Outcome.FAIL: "last"}, '
        'person("Go?", {"yes": "ok", "no": "fail"})), '
        'StepDef("last", "Last", "Stop.", {Outcome.OK: None})',
        "",
    )
    block = agent.open()
    refused = agent.run_command(block.next.replace("'FILL_answer'", "perhaps --reason 'it rains; \"so\"'"))
    assert (refused.code, placeholders(refused.next)) == ("bad-value", ["answer"])
    agent.follow(refused, answer="no")
    assert agent.state(block.run).state["ask"]["reason"] == 'it rains; "so"'
    again = agent.open("--new")
    unfilled = agent.run_command(again.next.replace("'FILL_answer'", "yes --reason FILL_reason"))
    assert (unfilled.code, shlex.split(unfilled.next)[-2:]) == ("unfilled", ["--answer", "yes"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hostile_texts(), st.lists(hostile_texts(), max_size=30))
def test_any_text_that_was_right_is_given_back_as_it_was(make: Make, why: str, places: list[str]) -> None:
    agent = make()
    agent.write("report.json", json.dumps({"why": why, "places": places, "sure": "no"}))
    refused = report(agent, agent.open("--new"), "--record-file", str(agent.project / "report.json"))
    if refused.exit_code == 2:  # a character that no document has
        return
    assert (refused.code, len(refused.text) < 10_000) == ("missing-parameter", True)
    records, _, _ = reported(agent, refused)
    assert records["sure"] == "FILL_sure"
    if not records["why"].startswith("FILL_"):
        assert records["why"] == why
    if not str(records["places"]).startswith("FILL_"):
        found = records["places"]
        assert (json.loads(found) if isinstance(found, str) else found) == places


def test_a_value_that_a_check_of_the_skill_refused_is_to_be_filled_in(make: Make) -> None:
    step = (
        'StepDef("look", "Look", "Look.", {Outcome.OK: "last"}, requires=[Field("why"), Field("facts", "list"), '
        'Field("sure", choices=("low", "high")), Command(["look.py", "{facts}", "{sure}"], 60)]), '
        'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
    )
    agent = make(step, "")
    check = "import sys\nsys.exit('no source' if 'ran' not in sys.argv[1] else 0)\n"
    Path(agent.script).with_name("look.py").write_text(check)
    refused = report(agent, agent.open(), why="so", facts='["F1: slow"]', sure="low")
    assert (refused.code, "no source" in refused.why) == ("missing-evidence", True)
    assert reported(agent, refused)[0] == {"why": "so", "facts": "FILL_facts", "sure": "low"}
    assert agent.run_command(refused.next).code == "unfilled"
    assert agent.follow(refused, facts=["F1: slow (ran it)"]).step == "last"


def test_a_command_that_looks_at_the_project_may_pass_with_the_same_values(make: Make) -> None:
    step = (
        'StepDef("look", "Look", "Look.", {Outcome.OK: None}, requires=[Field("path"), '
        'Command(["test", "-e", "{path}"], 60)])'
    )
    agent = make(step, "")
    refused = report(agent, agent.open(), path="made.txt")
    assert (refused.code, placeholders(refused.next)) == ("missing-evidence", [])
    agent.write("made.txt", "x")
    assert agent.run_command(refused.next).kind == "done"


def test_a_review_that_was_refused_as_a_whole_is_to_be_filled_in(make: Make) -> None:
    steps = """
        StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}),
        *review_loop("d", work="work", passed=None)
    """
    agent = make(steps, "")
    [child] = agent.follow(agent.open()).children
    item = {"id": "a", "scope": "", "check": "c", "severity": "COULD", "status": "PASS", "finding": ""}
    refused = report(agent, agent.run_command(child.command), items=json.dumps([item]))
    assert (refused.code, "Every item is a COULD" in refused.why) == ("bad-value", True)
    assert placeholders(refused.next) == ["items"]


def test_answers_that_were_refused_as_a_whole_are_to_be_filled_in(make: Make) -> None:
    steps = """
        StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}),
        *review_loop("d", work="work", passed=None,
            reviewer=Dispatch("quality-reviewer", task="Review it.", checks=[Check("fair", "MUST", "it is fair")]))
    """
    agent = make(steps, "")
    [child] = agent.follow(agent.open()).children
    answer = {"id": "wrong", "status": "PASS", "place": "a.txt:1", "finding": ""}
    refused = report(agent, agent.run_command(child.command), answers=json.dumps([answer]))
    assert refused.code == "other-items"
    assert placeholders(refused.next) == ["answers"]


def test_a_report_that_was_made_before_is_to_be_filled_in(make: Make) -> None:
    steps = (
        'StepDef("dig", "Dig", "Dig.", {Outcome.ITERATE: "dig", Outcome.OK: None}, requires=[Field("seen")], '
        'when={Outcome.ITERATE: "there is more", Outcome.OK: "it is found"}, max_iterations=5)'
    )
    agent = make(steps, "")
    again = report(agent, agent.open(), "--outcome", "iterate", seen="the log is empty")
    refused = report(agent, again, "--outcome", "iterate", seen="the log is empty")
    assert refused.code == "same-report"
    assert reported(agent, refused) == ({"seen": "FILL_seen"}, {}, "iterate")


def test_a_note_that_is_no_reason_is_to_be_filled_in(make: Make) -> None:
    agent = make()
    agent.write("proof.txt", "x")
    block = agent.follow(agent.open(), why="so", sure="low", places=["a"], mode="quick", outcome="ok")
    words = shlex.split(block.next)
    erratum = ("--erratum", "look.why=wrong", "--erratum", "look.places=b is meant")
    refused = agent.run_command(shlex.join([*words, *erratum]))
    assert (refused.code, agent.run_command(refused.next).code) == ("no-reason", "unfilled")
    assert dict(cli.parse(agent.workflow, shlex.split(refused.next)[2:]).errata) == {
        "look.why": "FILL_note",
        "look.places": "b is meant",
    }
