"""A program that embeds Lockstep: settings as arguments, keys of runs, looking without writing, who did what."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib import status_files
from skills.lib.blocks.command_line import CommandLine
from skills.lib.errors import LedgerError, RefusedError, UsageError
from skills.lib.ledger import Ledger, keyed_id, verification
from skills.lib.model.requirements import Command
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import AgentRole, Dispatch, Outcome
from skills.lib.runtime import Response, Runner, script
from skills.lib.testing.agent import Agent
from tests.fixtures.embedding import ASKING, LOOP, runner_in, step_on
from tests.fixtures.kinds import Kind
from tests.fixtures.processes import race

Factory = Callable[[str], Agent]
PARTS = Workflow(
    "parts",
    StepDef(
        "split",
        "Split",
        ["Send them."],
        {Outcome.OK: None},
        Dispatch(AgentRole.GENERAL_PURPOSE, tasks=["a", "b"], context="One part each."),
    ),
)


FAILED = {"id": "a", "check": "it holds", "severity": "MUST", "status": "FAIL", "finding": "it does not hold"}


def opened(response: Response) -> Run:
    assert response.exit_code == 0, response.text
    assert response.run is not None
    return response.run


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but SQLite's own, with its content."""
    found = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("runs.db")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_the_ledgers_folder_is_an_argument(tmp_path: Path) -> None:
    project, kept = tmp_path / "project", tmp_path / "kept"
    project.mkdir()
    with_home, in_project = runner_in(project, home=str(kept)), runner_in(project, home="inside")
    run = opened(with_home.start(LOOP, {}))
    moved = opened(step_on(with_home, run))
    other = opened(in_project.start(LOOP, {}))
    assert sorted(os.listdir(kept / "open")) == [run.id]
    assert sorted(os.listdir(project / "inside" / "open")) == [other.id]
    assert not (project / ".lockstep").exists()
    assert with_home.ledger.runs([run.id]) == [moved]
    with_home.abandon(run.id, "it is not wanted")
    assert os.listdir(kept / "open") == []
    for runner in (with_home, in_project):
        runner.close()


def test_a_command_that_proves_something_finds_the_given_ledger(tmp_path: Path) -> None:
    says = Command(
        [sys.executable, "-c", "import json, os; print(json.dumps(os.environ.get('LOCKSTEP_HOME')))"], records="home"
    )
    workflow = Workflow("telling", StepDef("tell", "Tell", ["Tell."], {Outcome.OK: None}, requires=[says]))
    for home, told in (("kept", str(tmp_path / "kept")), ("", None)):
        runner = runner_in(tmp_path, home=home)
        run = opened(runner.start(workflow, {}))
        ended = opened(runner.advance(workflow, run.id, Request("next", run=run.id, turn=1)))
        assert ended.state["tell"]["home"] == told
        runner.close()


def test_a_long_block_names_files_in_the_given_folder(tmp_path: Path) -> None:
    shown = StepDef("read", "Read", ["Read it."], {Outcome.OK: None}, needs=["topic"])
    workflow = Workflow("long", shown, params=LOOP.params)
    runner = runner_in(tmp_path, home="kept")
    response = runner.start(workflow, {"topic": "word " * 10_000})
    run = opened(response)
    assert len(response.text) > 40_000
    text = script.render_response(response, runner)
    assert len(text) < 10_000
    assert f"{tmp_path}/kept/context/{run.id}/" in text
    assert not (tmp_path / ".lockstep").exists()
    runner.close()


def test_projects_that_share_a_given_folder_do_not_go_on_with_each_others_runs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (runner_in(tmp_path / name, home=str(tmp_path / "shared")) for name in ("one", "two"))
    run = opened(one.start(LOOP, {}))
    refused = step_on(two, run)
    assert refused.element.attributes["code"] == "other-project"
    with pytest.raises(RefusedError, match="belongs to the project"):
        two.peek(run.id)
    assert opened(two.start(LOOP, {})).id != run.id
    one.close()
    two.close()


def test_how_many_sub_agents_work_at_once_is_an_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_AGENTS", "2")
    one, two = runner_in(tmp_path, max_parallel=1), runner_in(tmp_path)
    parent = opened(one.start(PARTS, {}))
    begun = [Request("1", run=child) for child in parent.children]
    assert one.advance(PARTS, parent.children[0], begun[0]).exit_code == 0
    refused = one.advance(PARTS, parent.children[1], begun[1])
    assert refused.element.attributes["code"] == "agents-busy"
    assert two.advance(PARTS, parent.children[1], begun[1]).exit_code == 0
    monkeypatch.setenv("LOCKSTEP_AGENTS", "none")
    with pytest.raises(UsageError, match="LOCKSTEP_AGENTS is 'none'"):
        two.start(PARTS, {}, new=True)
    assert len(two.ledger.every_run()) == 3
    assert opened(one.start(PARTS, {}, new=True)).children
    for wrong in (0, -1, True, "2"):
        with pytest.raises(UsageError, match="max_parallel"):
            runner_in(tmp_path, max_parallel=wrong)
    one.close()
    two.close()


def test_the_same_key_is_the_same_run(tmp_path: Path, kind: Kind) -> None:
    runner = runner_in(tmp_path)
    run = opened(runner.start(LOOP, {"topic": "a"}, key="ticket 7"))
    assert len(run.id) == 16
    assert status_files.is_id(run.id)
    assert opened(runner.start(LOOP, {"topic": "a"}, key="ticket 7")) == run
    moved = opened(step_on(runner, run))
    again = runner.start(LOOP, {"topic": "a"}, key="ticket 7")
    assert opened(again) == moved
    assert again.element.attributes["id"] == "back"
    other = opened(runner.start(LOOP, {"topic": "a"}, key="ticket 8"))
    assert other.id != run.id
    runner.abandon(run.id, "it is not wanted")
    assert opened(runner.start(LOOP, {"topic": "a"}, key="ticket 7")).status == "abandoned"
    assert [event.detail.get("key") for event in runner.ledger.events() if event.kind == "opened"] == [
        "ticket 7",
        "ticket 8",
    ]
    verification.verify(runner.ledger)
    runner.close()


def test_a_key_is_refused_for_another_workflow_and_for_other_parameters(tmp_path: Path, kind: Kind) -> None:
    runner = runner_in(tmp_path)
    run = opened(runner.start(LOOP, {"topic": "a"}, key="ticket 7"))
    for workflow, parameters, why in ((LOOP, {"topic": "b"}, "other parameters"), (PARTS, {}, "the workflow loop")):
        refused = runner.start(workflow, parameters, key="ticket 7")
        assert (refused.exit_code, refused.element.attributes["code"]) == (3, "other-opening")
        assert why in refused.text
        assert f"--step current --run {run.id}" in refused.text
    assert runner.ledger.every_run() == [run]
    for key, new in (("a\nb", False), ("x" * 201, False), ("ticket 7", True)):
        with pytest.raises(UsageError):
            runner.start(LOOP, {"topic": "a"}, new, key=key)
    runner.close()


def test_two_processes_with_one_key_open_one_run(tmp_path: Path, kind: Kind) -> None:
    for number in range(10):

        def start(at: int, number: int = number) -> int:
            runner = runner_in(tmp_path)
            run = opened(runner.start(LOOP, {}, key=f"key {number}"))
            runner.close()
            return 0 if run.id == keyed_id(f"key {number}") else 1

        assert race(4, start) == [0] * 4
    with Ledger(runner_in(tmp_path).home, create=False) as ledger:
        assert [event.kind for event in ledger.events()] == ["opened"] * 10
        verification.verify(ledger)


def test_a_key_whose_run_was_lost_from_the_ledger_is_damage(tmp_path: Path, kind: Kind) -> None:
    runner = runner_in(tmp_path)
    run = opened(runner.start(LOOP, {}, key="ticket 7"))
    opened(runner.start(LOOP, {}, key="ticket 8"))
    runner.ledger.database.execute("DELETE FROM runs WHERE id=?", (run.id,))
    with pytest.raises(LedgerError, match="is damaged"):
        runner.start(LOOP, {}, key="ticket 7")
    runner.close()


@given(st.text(max_size=50))
def test_each_key_has_an_id_of_its_own(key: str) -> None:
    if key.isprintable():
        assert status_files.is_id(keyed_id(key))
        assert keyed_id(key) != keyed_id(key + "x")


def test_peeking_says_what_a_run_is_at(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    response = runner.start(LOOP, {"topic": "a"})
    run = opened(response)
    found = runner.peek(run.id)
    assert found.step is not None
    assert (found.run, found.step.id, found.tools, found.block) == (run, "there", (), response.text)
    assert found.ways == {"ok": "back", "skip": None}
    [required] = found.requirements
    assert (required["$kind"], required["name"]) == ("Field", "note")
    step_on(runner, run)
    found = runner.peek(run.id, LOOP)
    assert (found.run.turn, found.tools, found.ways) == (2, ("read",), {"ok": "there"})
    runner.abandon(run.id, "it is not wanted")
    ended = runner.peek(run.id)
    assert (ended.run.status, ended.step, ended.ways) == ("abandoned", None, {})
    assert "it is not wanted" in ended.block
    with pytest.raises(UsageError, match="has no run 'unknown'"):
        runner.peek("unknown")
    runner.close()


def test_peeking_writes_nothing_and_begins_nothing(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    run = opened(runner.start(PARTS, {}))
    (tmp_path / ".lockstep" / "open" / run.id).unlink()
    before, events = files(tmp_path), runner.ledger.events()
    assert runner.peek(run.id).block.startswith("<step ")
    for child in run.children:
        found = runner.peek(child)
        assert (found.run.status, found.step, found.block) == ("pending", None, "")
    assert (files(tmp_path), runner.ledger.events()) == (before, events)
    begun = runner.advance(PARTS, run.children[0], Request("1", run=run.children[0]))
    assert runner.peek(run.children[0]).block == begun.text
    runner.close()


def test_peeking_names_every_field_that_a_failed_review_wants(agent: Factory) -> None:
    gated = agent("gated")
    looking = Runner(CommandLine("python", gated.script, str(gated.project)))
    work = gated.open()

    gated.write("out.txt", "done")
    before = looking.peek(work.run).requirements
    assert [(spec["$kind"], spec["path"]) for spec in before] == [("Artifact", "out.txt")]
    for child in gated.follow(work).children:
        last = gated.follow(gated.run_command(child.command), items=[FAILED])
    assert gated.run_command(gated.run_command(last.next).next).step == "write"
    *others, fixes = looking.peek(work.run).requirements
    assert tuple(others) == before
    assert (fixes["$kind"], fixes["name"], fixes["type"], fixes["required"]) == ("Field", "fixes", "list", True)
    assert "disputed" in fixes["help"]
    looking.close()


def test_peeking_says_which_outcomes_there_are_to_choose_from(tmp_path: Path) -> None:
    choose = StepDef(
        "choose", "Choose", [], {Outcome.OK: "last", Outcome.SKIP: None}, when={Outcome.OK: "if it is good"}
    )
    workflow = Workflow("choosing", choose, StepDef("last", "Last", [], {Outcome.OK: None}))
    runner = runner_in(tmp_path)
    run = opened(runner.start(workflow, {}))
    assert runner.peek(run.id).outcomes == {"ok": "if it is good", "skip": ""}
    assert opened(runner.advance(workflow, run.id, Request("next", turn=1, outcome="ok"))).step == "last"
    assert runner.peek(run.id).outcomes == {}
    asking = opened(runner.start(ASKING, {}))
    found = runner.peek(asking.id)
    assert (found.run.status, found.outcomes, found.requirements) == ("waiting", {}, ())
    runner.close()


def test_peeking_names_the_sub_agents_of_the_step(agent: Factory) -> None:
    waves = agent("waves")
    looking = Runner(CommandLine("python", waves.script, str(waves.project)))
    block = waves.open()
    assert looking.peek(block.run).children == ()
    explore = waves.follow(block, areas=["a", "b"])
    waves.finish(explore.children[0].command)
    waves.run_command(explore.children[1].command)
    assert looking.peek(block.run).children == (
        {"id": f"{block.run}.1", "status": "done", "target": "a"},
        {"id": f"{block.run}.2", "status": "open", "target": "b"},
    )
    looking.close()


def test_peeking_says_that_a_person_paused_the_run(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    run = opened(runner.start(LOOP, {}))
    assert not runner.peek(run.id).is_paused
    with Ledger(runner.home, create=False) as ledger:
        ledger.note(run.id, run.turn, "paused", "person (terminal)", {})
    assert runner.peek(run.id).is_paused
    opened(step_on(runner, run))
    assert not runner.peek(run.id).is_paused
    runner.close()


def test_peeking_at_a_run_of_each_kind_prints_its_block(agent: Factory) -> None:
    """Of the waves: a step, sub-agents at work and ended, a question, and the end."""
    waves = agent("waves")
    looking = Runner(CommandLine("python", waves.script, str(waves.project)))

    def same(run: str) -> str:
        shown = looking.state(waves.workflow, run)
        assert looking.peek(run).block == shown.text
        return shown.element.tag

    block = waves.open()
    explore = waves.follow(block, areas=["a", "b"])
    assert same(block.run) == "step"
    first, second = explore.children
    waves.run_command(first.command)
    assert same(first.id) == "step"
    waves.finish(first.command)
    assert same(first.id) == "done"
    ask = waves.run_command(waves.finish(second.command).next)
    waiting = waves.follow(ask, questions=["Tea?"])
    assert same(block.run) == "waiting"
    assert waves.follow(waiting, answer="good").kind == "done"
    assert same(block.run) == "done"
    looking.close()


def test_an_answer_and_a_move_say_who_made_them(tmp_path: Path) -> None:
    runner = runner_in(tmp_path)
    run = opened(runner.start(LOOP, {}, by="planner", kind="script"))
    moved = opened(step_on(runner, run, by="worker-3"))
    late = Request("next", run=run.id, turn=1, outcome="ok", records={"note": "another"})
    assert runner.advance(LOOP, run.id, late, by="worker-4").exit_code == 3
    runner.abandon(moved.id, "it is not wanted", by="Ada", kind="web")
    asking = opened(runner.start(ASKING, {}))
    answer = Request("next", run=asking.id, turn=1, answer="yes")
    refused = runner.advance(ASKING, asking.id, answer, by="Ada")
    assert refused.element.attributes["code"] == "person-needed"
    assert opened(runner.advance(ASKING, asking.id, answer, by="Ada", kind="api")).status == "done"
    noted = [(event.kind, event.actor, event.detail.get("who")) for event in runner.ledger.events()]
    assert noted == [
        ("opened", "script", "planner"),
        ("moved", "agent", "worker-3"),
        ("refused", "agent", "worker-4"),
        ("abandoned", "person (web)", "Ada"),
        ("opened", "agent", None),
        ("refused", "agent", "Ada"),
        ("finished", "person (api)", "Ada"),
    ]
    assert runner.ledger.runs([asking.id])[0].state["ask"]["answered_by"] == "person"
    for by, kind in (("", "person"), ("", "terminal"), ("a\nb", ""), ("x" * 201, "")):
        with pytest.raises(UsageError):
            runner.advance(LOOP, run.id, Request("current"), by=by, kind=kind)
    verification.verify(runner.ledger)
    runner.close()
