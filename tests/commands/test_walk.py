from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.ledger import Ledger
from tests.commands.conftest import Command, Walker
from tests.fixtures.terminal import at_terminal

Install = Callable[..., Path]


@pytest.fixture(autouse=True)
def own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which walks keep their ledgers."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def lines(*given: str) -> str:
    return "".join(f"{line}\n" for line in given)


def test_one_block_can_be_looked_at(cli: Command, installed: Install, snapshot: SnapshotAssertion) -> None:
    installed("tour")
    shown = cli("walk", "tour", "--step", "3")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == snapshot


def test_a_block_shows_what_each_value_must_be(cli: Command, installed: Install) -> None:
    from tests.fixtures.skill import source_of

    specs = """Field('seen', choices=('yes', 'no'), help='whether it is known'),
        Field('found', 'list', minimum=1, maximum=9), Field('note', required=False),
        Artifact('proof.json', {'type': 'object'}), Artifact('log.txt'), Command(['true'], timeout=90)"""
    steps = f"StepDef('one', 'One', 'Do.', {{'ok': None}}, requires=[{specs}])"
    installed("asks", source_of("asks", steps, "params=[Arg('sure', 'int', minimum=1, maximum=5, step='one')]"))
    shown = cli("walk", "asks", "--step", "one").out
    report = [line.strip("│ ").strip() for line in shown.partition("Report")[2].partition("Then")[0].splitlines()]
    assert [line for line in report if line] == [
        "seen (one of yes, no): whether it is known",
        "found (a JSON array of texts with 1 to 9 entries)",
        "note (a text, optional)",
        "--sure (a whole number from 1 to 5)",
        "proof.json (a file that meets its JSON Schema)",
        "log.txt (a file)",
        "true (a command that exits 0 within 90 s)",
    ]


def test_a_step_that_is_none_names_the_valid_ones(cli: Command, installed: Install) -> None:
    installed("tour")
    told = cli("walk", "tour", "--step", "9").err
    assert "valid: 1 begin, 2 plan" in told
    assert "7 close\n" in told
    assert "--step" not in told.partition("try:")[2]
    assert "no step 'clos'; did you mean close?" in cli("walk", "tour", "--step", "clos").err
    assert "depends on a run" in cli("walk", "tour", "--step", "next").err


def test_a_walk_is_blocks_and_questions(
    cli: Command, installed: Install, own_temporary: Path, snapshot: SnapshotAssertion
) -> None:
    installed("part")
    shown = cli("walk", "part", given=lines("it", "something", "fine", "perhaps", "pa"))
    assert (shown.code, shown.err) == (0, "")
    assert "part: done" in shown.out
    assert shown.out == snapshot
    assert not os.path.exists(os.environ["LOCKSTEP_HOME"])
    assert list(own_temporary.iterdir()) == []


@pytest.mark.req("W-20")
def test_a_person_plays_the_agent_to_the_end(cli: Command, installed: Install) -> None:
    installed("tour")
    first = ("ab", "a topic", "9", "", "what I see", "qui", "skip", "no", "")
    shown = cli("walk", "tour", given=lines(*first, "quick", "skip", "yes", "good", "all done", ""))
    assert shown.code == 0, shown.out[-3000:]
    assert "put in a text of 3 to 20000 characters" in shown.out
    assert "put in a whole number from 1 to 5" in shown.out
    assert "Step 2 of 7: Plan, iteration 2" in shown.out
    assert "tour: done" in shown.out
    assert "close.report: all done" in shown.out


def test_a_refusal_is_shown_and_the_person_asked_again(cli: Command, installed: Install, project: Path) -> None:
    installed("tour")
    head = ("a topic", "", "what I see", "quick", "ok", "proof.txt")
    shown = cli("walk", "tour", given=lines(*head, "b"))
    assert "Refused: missing-evidence" in shown.out
    assert "proof.txt is not a file under the project" in re.sub(r"[\s│]+", " ", shown.out)
    (project / "proof.txt").write_text("x\n", encoding="utf-8")
    assert "Is it good?" in cli("walk", "tour", given=lines(*head, "b")).out


@pytest.mark.parametrize("word", ["b", "quit"])
def test_leaving_prints_the_command_that_goes_on(
    word: str, cli: Command, installed: Install, own_temporary: Path
) -> None:
    installed("part")
    shown = cli("walk", "part", given=lines("it", "something", word))
    assert shown.code == 0
    (home,) = own_temporary.iterdir()
    (run,) = Ledger(str(home), create=False).every_run()
    assert (run.step, run.params) == ("judge", {"what": "it"})
    assert f"LOCKSTEP_HOME={home} lockstep walk part --run {run.id} --project " in shown.out
    code, again = at_terminal("walk", "part", "--run", run.id, env={"LOCKSTEP_HOME": str(home)}, keys=b"fine\npass\n")
    assert code == 0
    assert "part: done" in again


def test_the_end_of_the_input_prints_the_command_too(cli: Command, installed: Install) -> None:
    installed("part")
    shown = cli("walk", "part", given=lines("it", "something"))
    assert shown.code == 130
    assert "lockstep walk part --run " in shown.out


def test_leaving_before_a_run_is_opened_keeps_nothing(cli: Command, installed: Install, own_temporary: Path) -> None:
    installed("part")
    shown = cli("walk", "part", given=lines("b"))
    assert "Left before a run was opened." in shown.out
    assert list(own_temporary.iterdir()) == []


def test_a_choice_called_b_can_be_taken(cli: Command, installed: Install) -> None:
    from tests.fixtures.skill import source_of

    steps = "StepDef('one', 'One', 'Do.', {'ok': None}, requires=[Field('way', choices=('a', 'b'))])"
    installed("ways", source_of("ways", steps))
    assert "one.way: b" in cli("walk", "ways", given=lines("b")).out


def test_lists_are_asked_entry_by_entry_and_sub_agents_are_played_or_given_up(cli: Command, installed: Install) -> None:
    installed("brood")
    start = ("first", "second", "", "play", "seen it", "lost", "it hung", "")
    parts = ("play", "looked", "fine", "pass", "play", "looked too", "fine too", "pass", "")
    tasks = ("replace", "play", "found", "play", "mended", "", "all in all")
    shown = cli("walk", "brood", given=lines(*start, *parts, *tasks))
    assert shown.code == 0, shown.out[-3000:]
    assert "brood: done" in shown.out
    assert "close.summary: all in all" in shown.out
    assert "2 sub-agents to account for; next is testrun1.1 (explore, first)." in shown.out
    assert "reason: it hung" in shown.out
    assert "testrun1.7" in shown.out


def test_long_values_are_written_in_an_editor(cli: Command, installed: Install, tmp_path: Path) -> None:
    installed("part")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'line one\\nline two\\n' >> \"$1\"\n", encoding="utf-8")
    editor.chmod(0o755)
    given = lines("it", ":e", "b")
    shown = cli("walk", "part", given=given, env={"EDITOR": str(editor), "VISUAL": str(editor)})
    assert "line one" in shown.out
    assert "line two" in shown.out


@pytest.mark.parametrize(
    "words, remedy",
    [
        (["--record"], "leave out --record"),
        (["--run", "x"], "lockstep resume x, which prints its block"),
        (["--run", "x", "--record"], "lockstep resume x, which prints its block"),
    ],
)
def test_a_walk_that_is_kept_takes_a_terminal(words: list[str], remedy: str, cli: Command, installed: Install) -> None:
    installed("part")
    shown = cli("walk", "part", *words)
    assert shown.code == 3
    assert "standard input is not a terminal" in shown.err
    assert f"try:   {remedy}\n" in shown.err


@pytest.mark.req("W-24")
def test_a_recorded_walk_is_a_persons(installed: Install) -> None:
    installed("part")
    code, shown = at_terminal("walk", "part", "--record", keys=b"it\nsomething\nfine\npass\n")
    assert code == 0, shown
    ledger = Ledger(os.environ["LOCKSTEP_HOME"], create=False)
    (run,) = ledger.every_run()
    assert run.status == "done"
    assert {event.actor for event in ledger.events(run.id)} == {"person (terminal)"}


def test_a_run_of_another_workflow_is_refused(installed: Install, walker: Callable[[Path], Walker]) -> None:
    installed("plain")
    run = walker(installed("part")).start(what="x")
    code, shown = at_terminal("walk", "plain", "--run", run.id)
    assert code == 3
    assert "is of part, not of plain" in shown


def test_blocks_of_formatters_are_shown_without_their_tags(cli: Command, installed: Install) -> None:
    from tests.fixtures.skill import source_of

    block = "format_checklist(['first & <b>', 'second'])"
    source = source_of("formed", f"StepDef('one', 'One', ['Do.', {block}], {{'ok': None}})")
    installed("formed", "from skills.lib.workflow.formatters import format_checklist\n" + source)
    shown = cli("walk", "formed", "--step", "1").out
    assert "first & <b>" in shown
    assert "</" not in shown


def test_a_person_answers_the_findings_of_a_review(cli: Command, installed: Install, project: Path) -> None:
    installed("gated")
    (project / "out.txt").write_text("x\n", encoding="utf-8")
    found = {"id": "F1", "scope": "out.txt", "check": "it has a form", "severity": "MUST", "finding": "it has none"}
    failed, passed = (json.dumps([{**found, "status": status}]) for status in ("FAIL", "PASS"))
    first = ("", "play", failed, "play", passed, "", "")
    shown = cli("walk", "gated", given=lines(*first, "F1 | changed | it has a form now", "", "b"))
    assert shown.code == 0, shown.out[-3000:]
    assert "design.findings: - F1 (MUST) it has a form: it has none" in shown.out
    assert "fixes: a JSON array of texts" in shown.out
    assert "Left at design-review, turn 5." in shown.out
