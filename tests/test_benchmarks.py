"""The benchmarks: what the adherence benchmark finds, that it would find a fault, and that every one of them runs."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import deviations, hook_sessions
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.adherence import attempts, audit, simulation, skills
from benchmarks.adherence import figures as adherence
from benchmarks.adherence.attempts import NAMES
from benchmarks.adherence.counts import Counts
from benchmarks.adherence.lazy_ways import ATTEMPTS
from benchmarks.gates import figures as gates
from benchmarks.graphs import edges, large_workflow, workflow_of_edges
from benchmarks.recovery import figures as recovery
from benchmarks.recovery.tasks import CASES
from benchmarks.report import Figures
from skills.lib.engine import engine
from skills.lib.engine.decision import Move
from skills.lib.ledger import Ledger
from skills.lib.model.run import Request
from skills.lib.runtime import definition
from skills.lib.validation.validator import validate
from tests.extent import extent

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

SEED = 7
DEVIATING, HONEST = extent(80, 160), extent(16, 80)


@pytest.fixture(scope="module")
def deviating() -> Counts:
    return simulation.simulate(simulation.LEDGER, DEVIATING, SEED, 0.25)


def test_every_deviation_is_refused_and_the_way_back_is_given(deviating: Counts) -> None:
    assert deviating.faults == []
    assert {kind: deviating.share(kind) for kind in NAMES} == dict.fromkeys(NAMES, 1.0)
    assert (deviating.ended, deviating.disturbed_runs) == (DEVIATING, 0)


def test_no_run_reaches_its_end_without_the_evidence_of_every_step(deviating: Counts) -> None:
    assert deviating.holes == 0


def test_a_refused_agent_is_back_on_its_way_within_four_commands(deviating: Counts) -> None:
    assert {commands for many in deviating.recoveries.values() for commands in many} <= {1, 2, 3, 4}


def test_honest_runs_are_not_disturbed() -> None:
    counts = simulation.simulate(simulation.LEDGER, HONEST, SEED, 0)
    assert counts.faults == []
    assert (counts.ended, counts.disturbed_runs, counts.holes, sum(counts.made.values())) == (HONEST, 0, 0, 0)
    assert len({step.partition(":")[0] for step in counts.steps}) == 8


def test_the_plain_printer_refuses_nothing() -> None:
    counts = simulation.simulate(simulation.BASELINE, 80, SEED, 0.25)
    assert counts.share("skip a step") == 0
    assert counts.share("report without evidence") == 0
    assert counts.share("lose the output, retry") == 1
    assert counts.holes > 0


def test_a_run_prints_the_same_in_this_process_and_by_real_ones() -> None:
    runs = extent(4, 8)
    assert simulation.same_as_process(runs, SEED, 0.2) == runs


def test_an_engine_that_routes_anywhere_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    decide = engine.decide

    def careless(workflow, run, request, proof, actor="agent"):  # type: ignore[no-untyped-def]
        forgiven = Request(**{**request.fields(), "step": "next"})
        return decide(workflow, run, forgiven, proof, actor)

    monkeypatch.setattr(engine, "decide", careless)
    counts = simulation.simulate(simulation.LEDGER, 24, SEED, 0.3)
    share = counts.share("skip a step")
    assert share is not None
    assert share < 1
    assert "skip a step" in {fault.what for fault in counts.faults}


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Counts]:
    """Runs in which every deviation is of one kind, but for those while sub-agents are at work."""

    def only(name: str, runs: int = 8, host: str = simulation.LEDGER) -> Counts:
        monkeypatch.setattr(attempts, "NAMES", (name,))
        return simulation.simulate(host, runs, SEED, 0.5)

    return only


def _of_the_tree() -> dict[Path, str]:
    """The sources of the skills that the agents walk in the tree."""
    return {path: path.read_text() for skill in skills.shipped() for path in Path(skill.script).parent.glob("*.py")}


def test_a_gate_that_is_deleted_in_mid_run_stops_the_run_until_it_is_put_back(only: Callable[..., Counts]) -> None:
    before = _of_the_tree()
    counts = only(attempts.EDIT, 16)
    assert counts.faults == []
    assert (counts.share(attempts.EDIT), counts.ended, counts.holes) == (1.0, 16, 0)
    assert counts.made[attempts.EDIT] > 4
    assert set(counts.recoveries[attempts.EDIT]) == {2}
    assert _of_the_tree() == before


def test_of_two_reports_at_once_one_is_taken(only: Callable[..., Counts]) -> None:
    counts = only(attempts.AT_ONCE)
    assert counts.faults == []
    assert (counts.share(attempts.AT_ONCE), counts.ended, counts.holes) == (1.0, 8, 0)
    assert counts.made[attempts.AT_ONCE] > 20


@pytest.mark.parametrize("name", [attempts.EDIT, attempts.AT_ONCE])
def test_the_plain_printer_goes_past_a_deleted_gate_and_takes_both_verdicts(
    only: Callable[..., Counts], name: str
) -> None:
    counts = only(name, 40, simulation.BASELINE)
    assert counts.share(name) == 0
    assert counts.holes > 0


def assert_found_out(counts: Counts, kind: str) -> None:
    """The benchmark says that deviations of a kind got through, and the audit of the record says so too."""
    share = counts.share(kind)
    assert share is not None
    assert share < 0.5
    assert counts.holes > 0
    assert {"a gap in the record", kind} <= {fault.what for fault in counts.faults}


def test_a_runtime_that_takes_any_edit_of_the_graph_is_found_out(
    only: Callable[..., Counts], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(definition, "changes_that_matter", lambda *arguments: [])
    assert_found_out(only(attempts.EDIT), attempts.EDIT)


def test_a_ledger_that_takes_both_of_two_reports_is_found_out(
    only: Callable[..., Counts], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commit = Ledger.commit

    def careless(ledger, before, move, *others, **named):  # type: ignore[no-untyped-def]
        now = before and ledger.run(before.id)
        if now and now.version != before.version:
            before = before.changed(version=now.version)
            move = Move(**{**move.fields(), "run": move.run.changed(version=now.version)})
        return commit(ledger, before, move, *others, **named)

    monkeypatch.setattr(Ledger, "commit", careless)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # what this ledger breaks is logged as bugs
    assert_found_out(only(attempts.AT_ONCE), attempts.AT_ONCE)


def _walked(folder: Path, name: str) -> tuple[str, str]:
    """Walk one run of a small skill; the folder of its ledger, and the run's id."""
    skill = next(skill for skill in skills.small(str(folder / "skills")) if skill.name == name)
    project = folder / "project"
    project.mkdir()
    simulation.run(simulation.LEDGER, skill, str(project), "1", 0, Counts())
    home = str(project / ".lockstep")
    ledger = Ledger(home)
    run = ledger.every_run("parent IS NULL")[0]
    ledger.close()
    return home, run.id


@pytest.fixture
def commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    monkeypatch.delenv("LOCKSTEP_HOME")
    home, _ = _walked(tmp_path, "reviewed")

    def commit(start: dict[str, object], detail: dict[str, object]) -> list[str]:
        ledger = Ledger(home)
        before = ledger.every_run("parent IS NULL")[0]
        run = before.changed(id="forged22", version=0, turn=1, children=[], born=0, **start)
        opened = ledger.commit(None, Move(run, "opened", {}), "agent")
        ended = opened.changed(status="done", step=None, turn=2)
        ledger.commit(opened, Move(ended, "finished", {"recorded": {}, "evidence": [], **detail}), "agent")
        ledger.close()
        return [gap.replace("forged22", "RUN") for gap in audit.gaps(home)]

    return commit


def test_the_audit_is_content_with_an_honest_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME")
    home, _ = _walked(tmp_path, "reviewed")
    assert audit.gaps(home) == []


def test_the_audit_names_a_way_that_the_graph_does_not_have(commit: Callable[..., list[str]]) -> None:
    assert commit({"status": "open", "step": "write"}, {"from": "write", "to": None, "outcome": "ok"}) == [
        "RUN left write at turn 1: by ok to None, which the graph does not have",
        "RUN left write at turn 1: summary was not recorded",
        "RUN left write at turn 1: 1 proofs were due, and there are []",
    ]


def test_the_large_workflows_are_valid_and_as_large_as_asked_for() -> None:
    assert [len(large_workflow(steps).steps) for steps in (1, 40, 1000)] == [1, 40, 1000]
    assert validate(large_workflow(200)) == []
    assert 1000 <= len(edges(workflow_of_edges(1000))) < 1010


def test_a_table_shows_numbers_with_fitting_digits() -> None:
    table = Figures("Title", ["what", "count", "share"], [["a", 12_345, 0.12345], ["b", None, 1234.5]], ["A note."])
    cells = [list(column.cells) for column in table.to_table().columns]
    assert cells == [["a", "b"], ["12,345", "-"], ["0.123", "1,234"]]
    assert table.to_data() == {
        "title": "Title",
        "rows": [{"what": "a", "count": 12_345, "share": 0.12345}, {"what": "b", "count": None, "share": 1234.5}],
        "notes": ["A note."],
    }


# A table of each benchmark, with some of what stands in one of its columns.
SHOWN: dict[str, tuple[int, str, set[object]]] = {
    "steps": (0, "call", {"python -c pass", "a step, with ledger commit", "a step, stateless", "refused step"}),
    "drawing": (0, "share drawn", {"100 %"}),
    "adherence": (0, "deviation", {*NAMES, "all"}),
    "recovery": (0, "temperament", {*recovery.TEMPERAMENTS}),
    "compliance": (0, "model", {"deviating", "honest"}),
    "hook-sessions": (1, "session", {"files are removed (a part)", "all"}),
}


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes of benchmarks whose findings have tests of their own: enough for each table."""
    monkeypatch.setattr(adherence, "LEAST", 1)
    monkeypatch.setattr(adherence, "ATTEMPTS", dict(list(ATTEMPTS.items())[:2]))
    monkeypatch.setattr(deviations, "QUICK_READS", 1)
    monkeypatch.setattr(gates, "QUICK", 3)
    monkeypatch.setattr(hook_sessions, "QUICK", ("files are removed (a part)",))
    kinds = {(case.kind == "no fault", case.solvable): case for case in CASES}
    monkeypatch.setattr(recovery, "CASES", [*kinds.values()] * 4)


# What a run costs, skill by skill, and its tables are shown by tests/test_cost_benchmark.py, and what workers do by
# tests/fleet/test_disturbed.py.
@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name not in ("cost", "fleet")])
def test_a_benchmark_runs_and_prints_its_tables(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--quick", "--json", "--runs", "4"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["quick"] is True
    assert list(found["benchmarks"]) == [name]
    assert found["benchmarks"][name][0]["rows"]
    assert "What went wrong" not in [table["title"] for table in found["benchmarks"][name]]
    if name in SHOWN:
        table, column, some = SHOWN[name]
        assert some <= {row[column] for row in found["benchmarks"][name][table]["rows"]}


def test_the_sessions_that_are_given_to_the_hook() -> None:
    found = hook_sessions.sessions()
    assert [len(calls) for calls in found.values()] == [20, 31, 42, 7, 18, 17, 36]
    assert found["a version is raised and pushed"][12].given["command"] == "git add -A"
    assert {one.tool for calls in found.values() for one in calls} == {
        *("Read", "Grep", "Glob", "LS", "TodoWrite", "WebFetch", "Task", "BashOutput", "Edit", "Write", "Bash")
    }


def test_a_name_that_is_no_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["step"])
    assert left.value.code == 2
    assert (
        "step is no benchmark: steps, deep, compiled, growth, hooks, hook-sessions, validation, "
        in capsys.readouterr().err
    )
