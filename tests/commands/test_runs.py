"""Runs and their records: runs, trace, resume, abandon, answer, prune, stats."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from syrupy.assertion import SnapshotAssertion

from skills.lib import launching
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.blocks import document
from skills.lib.blocks.command_line import CommandLine
from skills.lib.ledger import Ledger, verification
from skills.lib.model.run import Run
from skills.lib.runtime import loading
from skills.lib.testing import parse
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import filled
from skills.lib.workflow.types import Element
from tests.commands.conftest import Command, Walker
from tests.fixtures import small_project
from tests.fixtures.skill import ROOT, source_of
from tests.fixtures.terminal import at_terminal

Install = Callable[..., Path]
Walk = Callable[[Path], Walker]
Stable = Callable[[str], str]

ITEM = {"id": "D1", "scope": "whole", "check": "it has a form", "severity": "MUST", "status": "PASS", "finding": ""}


def ledger() -> Ledger:
    return Ledger(os.environ["LOCKSTEP_HOME"], create=False)


def reviewed(walk: Walker, project: Path, status: str) -> Run:
    """A run of gated after one review with that verdict."""
    (project / "out.txt").write_text("x\n", encoding="utf-8")
    run = walk.go(walk.start())
    for child in walk.children(run):
        finding = "" if status == "PASS" else "it has none"
        walk.child(child, items=[{**ITEM, "id": f"D{child.spec['number']}", "status": status, "finding": finding}])
    return walk.go(walk.go(run))


def asked(walk: Walker) -> Run:
    """A run of tour that waits for a person's answer."""
    run = walk.go(walk.start(topic="xyz"), records={"summary": "seen"})
    run = walk.go(run, params={"mode": "quick"})
    return walk.go(run, outcome="skip")


@pytest.fixture
def at_gate(installed: Install, walker: Walk, project: Path) -> Run:
    """A run of gated at its gate's question, after five reviews that failed."""
    walk = walker(installed("gated"))
    run = reviewed(walk, project, "FAIL")
    fixes = [f"D{number} | changed | it has a form now" for number in (1, 2)]
    while run.status != "waiting":
        before, run = run, walk.go(run, records={"fixes": fixes})
        assert run.step != before.step
        for child in walk.children(run):
            item = {**ITEM, "id": f"D{child.spec['number']}", "status": "FAIL", "finding": "it has none"}
            walk.child(child, items=[item])
        run = walk.go(walk.go(run))
    return run


def test_open_runs_are_listed_with_their_sub_agents(
    cli: Command, installed: Install, walker: Walk, stable: Stable, snapshot: SnapshotAssertion
) -> None:
    walker(installed("plain")).start()
    walk = walker(installed("brood"))
    run = walk.go(walk.start(), records={"targets": ["a", "b"]})
    walk.child(walk.children(run)[0], result="seen")
    shown = cli("runs")
    assert (shown.code, shown.err) == (0, "")
    assert stable(shown.out) == snapshot


def test_all_and_skill_choose_what_is_listed(cli: Command, installed: Install, walker: Walk, project: Path) -> None:
    walk = walker(installed("plain"))
    first = walk.go(walk.go(walk.start(), records={"thing": "x"}), outcome="ok")
    other = walker(installed("part")).start(what="x")
    ids = [run["run"] for run in json.loads(cli("runs", "--all", "--json").out)]
    assert ids == [other.id, first.id]
    assert [run["run"] for run in json.loads(cli("runs", "--json").out)] == [other.id]
    (plain,) = json.loads(cli("runs", "--all", "--skill", "plain", "--json").out)
    assert (plain["status"], plain["skill"], plain["turn"]) == ("done", "plain", 3)
    told = cli("runs", "--skill", "plain").err
    assert told == f"No run of plain is open in {project}. 1 ended: lockstep runs --all --skill plain\n"


def test_an_unknown_skill_offers_the_nearest(cli: Command, installed: Install, walker: Walk) -> None:
    script = installed("plain")
    for _ in range(2):  # before there is a ledger, and with one
        for command in ("runs", "stats"):
            shown = cli(command, "--skill", "plainn")
            assert (shown.code, shown.out) == (2, "")
            assert "there is no skill 'plainn'; did you mean plain?" in shown.err
        walker(script).start()


@pytest.mark.parametrize("name", ["brood", "planner", "planner-executor"])
def test_a_known_skill_that_was_never_run_has_an_empty_list(
    name: str, cli: Command, installed: Install, walker: Walk, project: Path
) -> None:
    installed("brood")
    walker(installed("plain")).start()
    for words in (("runs",), ("runs", "--all"), ("stats",)):
        shown = cli(*words, "--skill", name)
        is_open = " is open" if words == ("runs",) else " is recorded"
        assert (shown.code, shown.out, shown.err) == (0, "", f"No run of {name}{is_open} in {project}.\n")
        as_data = cli(*words, "--skill", name, "--json")
        assert (as_data.code, as_data.out, as_data.err) == (0, "[]\n", "")


def test_runs_of_one_skill_are_listed_with_what_each_is_about(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("part"))
    walk.start(what="the engine")
    assert "ABOUT" not in cli("runs").out
    walk.start(what="the doors")
    heading, *rows = cli("runs").out.splitlines()
    assert heading.split()[-1] == "ABOUT"
    assert [row.partition("what=")[2] for row in rows] == ["the doors", "the engine"]


def test_what_waits_for_a_person_comes_first_with_its_question(
    cli: Command, installed: Install, walker: Walk, stable: Stable, snapshot: SnapshotAssertion
) -> None:
    asked(walker(installed("tour")))
    walker(installed("plain")).start()
    shown = cli("runs")
    assert (shown.code, shown.err) == (0, "")
    assert stable(shown.out) == snapshot
    first, second = json.loads(cli("runs", "--json").out)
    assert (first["status"], first["question"]["choices"]) == ("waiting", ["yes", "no"])
    assert (second["number"], second["steps"], second["question"]) == (1, 2, None)


def test_a_limit_leaves_out_no_run_that_waits(cli: Command, installed: Install, walker: Walk) -> None:
    waiting = asked(walker(installed("tour")))
    plain = walker(installed("plain"))
    newest = [plain.start().id for _ in range(3)][-1]
    shown = cli("runs", "--limit", "2", "--json")
    assert [run["run"] for run in json.loads(shown.out)] == [waiting.id, newest]
    assert shown.err == "2 more, opened earlier, are not listed: --limit 4 lists them.\n"


def test_runs_are_listed_by_status(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("plain"))
    done = walk.go(walk.go(walk.start(), records={"thing": "x"}), outcome="ok")
    going = walk.start()
    waiting = asked(walker(installed("tour")))

    def listed(*words: str) -> list[str]:
        return [run["run"] for run in json.loads(cli("runs", "--json", *words).out)]

    assert listed("--status", "done") == [done.id]
    assert listed("--status", "waiting") == [waiting.id]
    assert listed("--status", "open", "--status", "done") == [going.id, done.id]
    assert listed("--status", "lost") == []
    assert cli("runs", "--status", "lost").err.startswith("No run is lost in ")
    assert cli("runs", "--status", "opne").code == 2


def test_rows_fit_120_columns(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("part"))
    for _ in range(2):
        walk.start(what="a long purpose in many words " * 10)
    rows = cli("runs").out.splitlines()
    assert max(map(len, rows)) <= 120
    assert rows[1].endswith("…")


def test_the_first_characters_of_an_id_are_enough(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("plain"))
    one, other = walk.start(), walk.start()
    assert (one.id, other.id) == ("testrun1", "testrun2")
    shown = cli("trace", "testrun")
    assert shown.code == 2
    assert "'testrun' begins the ids of 2 runs" in shown.err
    assert "testrun1, testrun2" in shown.err
    assert cli("abandon", other.id, "--reason", "it was a try").code == 0
    children = walker(installed("brood"))
    parent = children.go(children.start(), records={"targets": ["a", "b"]})
    assert "Run testrun3  brood" in cli("trace", "testrun3").out
    assert f"{parent.id}.2" in cli("trace", "testrun3.2").out
    assert cli("trace", "").code == 2


@pytest.mark.parametrize("command", ["runs", "stats"])
def test_a_name_is_looked_for_without_running_the_project_s_modules(
    command: str, cli: Command, installed: Install, project: Path
) -> None:
    touch = "from pathlib import Path\nPath('imported').touch()\nWORKFLOW = Workflow('inner-name', *STEPS)\n"
    installed("outer", touch)
    installed("garbled", "def (\n")
    assert cli(command, "--skill", "inner-name").code == 0
    shown = cli(command, "--skill", "iner-name")
    assert shown.code == 2
    assert "did you mean inner-name?" in shown.err
    assert not (project / "imported").exists()


def test_runs_of_a_skill_that_is_gone_are_still_shown(cli: Command, installed: Install, walker: Walk) -> None:
    script = installed("plain")
    run = walker(script).start()
    (script.parents[1] / "SKILL.md").unlink()
    script.with_name("plain_workflow.py").unlink()
    assert [one["run"] for one in json.loads(cli("runs", "--skill", "plain", "--json").out)] == [run.id]


@pytest.mark.parametrize("command", ["runs", "stats", "prune", "resume"])
def test_a_project_without_a_ledger_is_no_error_and_gets_none(command: str, cli: Command, project: Path) -> None:
    shown = cli(command)
    assert (shown.code, shown.out) == (0, "")
    assert shown.err.startswith("No")
    assert not os.path.exists(os.environ["LOCKSTEP_HOME"])


@pytest.mark.parametrize(
    "words", [["trace", "x"], ["resume", "x"], ["answer", "x", "yes"], ["abandon", "x", "--reason", "y"]]
)
def test_a_run_of_a_project_without_a_ledger_is_an_environment_error(words: list[str], cli: Command) -> None:
    shown = cli(*words)
    assert shown.code == 4
    assert "there is no ledger at" in shown.err
    assert "LOCKSTEP_HOME names its folder: copy the folder there that has the runs, or unset it" in shown.err


@pytest.mark.parametrize("command", ["runs", "stats", "prune", "resume"])
def test_a_ledger_that_may_not_be_looked_into_is_not_called_absent(command: str, cli: Command) -> None:
    home = Path(os.environ["LOCKSTEP_HOME"])
    home.parent.mkdir(exist_ok=True)
    home.symlink_to(home)  # root may not look into it either
    shown = cli(command)
    assert (shown.code, shown.out) == (4, "")
    assert f"the ledger's folder {home} cannot be read: Too many levels of symbolic links" in shown.err


@pytest.mark.parametrize("command", ["runs", "stats", "prune", "resume"])
def test_a_damaged_ledger_is_4_and_named(command: str, cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("plain"))
    walk.start()
    walk.runner.ledger.close()
    file = Path(os.environ["LOCKSTEP_HOME"]) / "runs.db"
    file.write_bytes(file.read_bytes()[:5_000])
    shown = cli(command)
    assert shown.code == 4
    assert str(file) in shown.err
    assert shown.out == ""


def test_a_ledger_that_is_gone_is_4(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("plain"))
    walk.start()
    walk.runner.ledger.close()
    (Path(os.environ["LOCKSTEP_HOME"]) / "runs.db").unlink()
    shown = cli("runs")
    assert shown.code == 4
    assert "is missing, and it was there before" in shown.err


def test_a_trace_tells_steps_outcomes_evidence_and_refusals(
    cli: Command, installed: Install, walker: Walk, project: Path, stable: Stable, snapshot: SnapshotAssertion
) -> None:
    walk = walker(installed("tour"))
    run = walk.start(topic="the [/] topic")
    walk.go(run, "close")
    run = walk.go(run, records={"summary": "what was seen"})
    run = walk.go(walk.go(run, params={"mode": "quick"}), outcome="ok")
    walk.go(run, records={"file": "proof.txt"})
    (project / "proof.txt").write_text("x\n", encoding="utf-8")
    run = walk.go(run, records={"file": "proof.txt"})
    walk.go(run, answer="yes")
    shown = cli("trace", run.id)
    assert (shown.code, shown.err) == (0, "")
    assert stable(shown.out) == snapshot


def test_a_trace_tells_another_path_and_removed_tests_of_a_command(
    cli: Command, installed: Install, walker: Walk, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_project.make(project)
    walk = walker(installed("tour"))
    run = walk.go(walk.start(topic="a topic"), records={"summary": "seen"})
    run = walk.go(walk.go(run, params={"mode": "quick"}), outcome="ok")
    (project / "proof.txt").write_text("x\n", encoding="utf-8")
    for path in ("tests/__init__.py", "tests/test_prices.py"):
        (project / path).unlink()
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}/opt/other")
    run = walk.go(run, records={"file": "proof.txt"})
    assert "program" not in cli("trace", run.id).out
    told = "another PATH than at the opening, without the tests tests/__init__.py, tests/test_prices.py"
    assert told in cli("trace", run.id).out
    page = cli("trace", run.id, "--html", "-").out
    assert f"another PATH than at the opening: {os.environ['PATH']}" in page
    (found,) = json.loads(cli("trace", run.id, "--json").out)
    proof = found["events"][-1]["detail"]["evidence"][-1]
    assert proof["removed_tests"] == ["tests/__init__.py", "tests/test_prices.py"]
    assert found["events"][0]["detail"]["search_paths"]["path"] + f"{os.pathsep}/opt/other" == os.environ["PATH"]


def test_a_trace_tells_a_program_that_is_none_of_the_system(
    cli: Command, installed: Install, walker: Walk, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = project / "bin" / "test"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    walk = walker(installed("tour"))
    run = walk.go(walk.start(topic="a topic"), records={"summary": "seen"})
    run = walk.go(walk.go(run, params={"mode": "quick"}), outcome="ok")
    (project / "proof.txt").write_text("x\n", encoding="utf-8")
    run = walk.go(run, records={"file": "proof.txt"})
    assert f"✓ command test -s proof.txt (exit 0), program {fake}" in cli("trace", run.id).out


def test_a_trace_tells_reviews_and_sub_agents(
    cli: Command, installed: Install, walker: Walk, project: Path, stable: Stable, snapshot: SnapshotAssertion
) -> None:
    run = reviewed(walker(installed("gated")), project, "FAIL")
    assert stable(cli("trace", run.id).out) == snapshot


def test_a_trace_as_json_has_every_event(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("part"))
    run = walk.go(walk.start(what="x"), records={"seen": "y"})
    (found,) = json.loads(cli("trace", run.id, "--json").out)
    assert [(event["kind"], event["turn"], event["actor"]) for event in found["events"]] == [
        ("opened", 1, "agent"),
        ("moved", 2, "agent"),
    ]
    assert found["state"] == {"look": {"seen": "y"}}
    assert (found["script"], found["definition"]) == (run.script, run.fingerprint)


def test_a_trace_shows_whole_values_on_request(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("part"))
    run = walk.go(walk.start(what="x"), records={"seen": "y" * 300})
    assert "y" * 300 not in cli("trace", run.id).out
    assert f"look.seen: {'y' * 300}" in cli("trace", run.id, "--values").out


def test_a_summary_for_a_pull_request_tells_what_was_decided_reviewed_proved_and_left_open(
    cli: Command, at_gate: Run, installed: Install, walker: Walk, stable: Stable, snapshot: SnapshotAssertion
) -> None:
    assert at_terminal("answer", at_gate.id, "accept", "--reason", "known, see #12 and @ops")[0] == 0
    shown = cli("trace", at_gate.id, "--markdown")
    assert (shown.code, shown.err) == (0, "")
    assert stable(shown.out) == snapshot
    assert cli("trace", at_gate.id, "--markdown", "--json").code == 2


def test_nothing_that_was_recorded_is_markup_in_a_summary(cli: Command, installed: Install, walker: Walk) -> None:
    topic = "<img src=x> [a](http://x) @user #12 `code` **b** | ![i](j)\n# heading \x1b[2J"
    run = walker(installed("tour")).start(topic=topic.replace("\x1b", ""))
    shown = cli("trace", run.id, "--markdown").out
    (line,) = [line for line in shown.splitlines() if line.startswith("- topic: ")]
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(shown)
    assert "<img src=x> [a](http:" not in rendered
    assert "&lt;img src=x&gt; [a](http:\u2060//x) @\u2060user #\u206012 `code` **b** | ![i](j) # heading" in rendered
    assert "@user" not in line


def test_an_unknown_run_offers_the_nearest(cli: Command, installed: Install, walker: Walk) -> None:
    run = walker(installed("plain")).start()
    shown = cli("trace", run.id[:-1] + "x")
    assert shown.code == 2
    assert f"did you mean {run.id}?" in shown.err


def test_resume_prints_the_block_of_the_only_open_run(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("part"))
    run = walk.go(walk.start(what="x"), records={"seen": "y"})
    shown = cli("resume")
    assert (shown.code, shown.err) == (0, "")
    root = parse(shown.out)
    assert (root.tag, root.get("id"), root.get("run"), root.get("turn")) == ("step", "judge", run.id, "2")
    assert cli("resume", run.id).out == shown.out
    assert len(ledger().events(run.id)) == 2


def test_resume_lists_several_open_runs(
    cli: Command, installed: Install, walker: Walk, stable: Stable, snapshot: SnapshotAssertion
) -> None:
    walker(installed("plain")).start()
    walker(installed("part")).start(what="x")
    shown = cli("resume")
    assert (shown.code, shown.err) == (0, "2 runs are open. Name the one to go on with:\n")
    assert stable(shown.out) == snapshot


@pytest.mark.req("E-08")
def test_a_run_that_the_launcher_knows_has_its_short_command(
    cli: Command, installed: Install, walker: Walk, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("LOCKSTEP_LAUNCHER")
    script = installed("plain")
    first, second = walker(script).start(), walker(script).start()
    path = str(tmp_path / "state" / "step")
    assert cli("runs").err == ""
    for run in (first, second):
        assert launching.enter(path, run.id, (sys.executable, str(script), str(project)))
    assert cli("runs").err == f"The present block of a run, for its agent: {path} RUN\n"
    assert [line.split()[-2:] for line in cli("resume").out.splitlines()[1:]] == [[path, second.id], [path, first.id]]
    assert [one["command"] for one in json.loads(cli("runs", "--json").out)] == [
        f"{path} {second.id}",
        f"{path} {first.id}",
    ]
    cli("abandon", second.id, "--reason", "done with")
    assert cli("runs").err == f"The present block of a run, for its agent: {path} {first.id}\n"
    (tmp_path / "state" / "step").unlink()
    assert cli("runs").err == ""
    assert json.loads(cli("runs", "--json").out)[0]["command"] == f"lockstep resume {first.id}"


def test_runs_of_one_workflow_are_distinguished_by_their_purpose(
    cli: Command, installed: Install, walker: Walk, project: Path
) -> None:
    walk = walker(installed("part"))
    first, second = walk.start(what="the slow query"), walk.start(what="the password is \u202e[2J " + "long " * 40)
    walk.go(first, records={"seen": "a scan"})
    notes = walker(installed("plain"))
    noted, blank = notes.start(), notes.start()
    notes.go(noted, records={"thing": "a broken pump"})
    lines = {line.split()[-1]: line for line in cli("resume").out.splitlines()}
    assert list(lines)[1:] == [noted.id, blank.id, first.id, second.id]
    assert "what=the slow query" in lines[first.id]
    assert "0 s ago" in lines[first.id]
    assert "what=the password is ?[2J long" in lines[second.id]
    assert len(lines[second.id]) < 200
    assert "thing=a broken pump" in lines[noted.id]
    assert "=" not in lines[blank.id]


def test_a_secret_parameter_is_not_shown(cli: Command, installed: Install, walker: Walk) -> None:
    source = source_of("tokens", "StepDef('one', 'One', 'Do.', {Outcome.OK: None})", 'params=[Arg("api_token")]')
    walk = walker(installed("tokens", source))
    for _ in range(2):
        walk.start(api_token="sesame")
    shown = cli("resume").out
    assert "sesame" not in shown
    assert shown.count("api_token=(not kept: named like a secret)") == 2


def test_a_list_of_another_project_s_runs_names_it_in_each_command(
    cli: Command, installed: Install, walker: Walk, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = walker(installed("part"))
    walk.start(what="x")
    last = walk.start(what="y")
    monkeypatch.chdir(project.parent)
    shown = cli("resume", "--project", str(project))
    assert shown.out.splitlines()[1].endswith(f"  lockstep resume {last.id} --project {project}")


def test_without_an_open_run_the_next_command_is_named(cli: Command, project: Path) -> None:
    shown = cli("resume")
    assert shown.err == (
        f"No run is open in {project}. Runs of another project: lockstep resume --project DIR. "
        "To begin one: the command in a skill's SKILL.md, and lockstep list shows the skills.\n"
    )


def test_where_no_run_is_open_the_last_one_to_end_is_named_with_its_command(
    cli: Command, installed: Install, walker: Walk, project: Path
) -> None:
    walk = walker(installed("plain"))
    first, second = walk.start(), walk.start()
    for run in (second, first):
        cli("abandon", run.id, "--reason", "the ticket was closed")
    assert cli("resume").err.startswith(
        f"No run is open in {project}. The last to end was {first.id} of plain, abandoned; its end is printed by: "
        f"lockstep resume {first.id}. Runs of another project: "
    )
    assert cli("resume", first.id).out.startswith(f"DONE (skill plain, run {first.id}, turn 2, status abandoned)")


@pytest.mark.parametrize("count", [0, 2])
def test_a_working_directory_that_was_removed_is_no_fault_of_a_given_project(
    cli: Command, installed: Install, walker: Walk, project: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    walk = walker(installed("part"))
    opened = [walk.start(what=word) for word in ("x", "y")]
    for run in opened[count:]:
        cli("abandon", run.id, "--reason", "the ticket was closed")
    removed = project.parent / "removed"
    removed.mkdir()
    monkeypatch.chdir(removed)
    removed.rmdir()
    shown = cli("resume", "--project", str(project))
    assert shown.code == 0
    assert f"lockstep resume {opened[1].id} --project {project}" in shown.out + shown.err


def test_resume_of_a_run_whose_skill_is_gone_is_5(cli: Command, installed: Install, walker: Walk) -> None:
    script = installed("plain")
    run = walker(script).start()
    script.with_name("plain_workflow.py").unlink()
    sys.modules.pop("lockstep_skill.plain.scripts.plain_workflow")
    shown = cli("resume", run.id)
    assert shown.code == 5
    assert "plain_workflow.py is missing" in shown.err


def test_resume_finds_a_skill_that_moved_by_its_name(
    cli: Command, installed: Install, walker: Walk, project: Path
) -> None:
    script = installed("part")
    run = walker(script).start(what="x")
    moved = project / "elsewhere" / "skills" / "part"
    moved.parent.mkdir(parents=True)
    script.parent.parent.rename(moved)
    for words in (["resume"], ["resume", run.id]):
        shown = cli(*words)
        assert (shown.code, parse(shown.out).get("run")) == (0, run.id)
        assert f"{moved}/scripts/part.py --step" in parse(shown.out).findtext("NEXT", "")
    assert ledger().every_run()[0].script == f"{moved}/scripts/part.py"
    verification.verify(ledger())


def test_it_is_said_where_a_skill_that_moved_was_found(
    cli: Command, installed: Install, walker: Walk, project: Path
) -> None:
    script = installed("plain")
    run = walker(script).start()
    moved = script.parent.parent.rename(project / "plain")
    assert cli("resume").err == (
        f"The skill plain is not where run {run.id} was opened; this one is taken: {moved}/scripts/plain.py\n"
    )
    assert cli("resume").err == ""


@pytest.mark.req("W-24")
def test_a_question_of_a_skill_that_moved_is_answered(installed: Install, walker: Walk, project: Path) -> None:
    script = installed("tour")
    run = asked(walker(script))
    script.parent.parent.rename(project / "tour")
    code, shown = at_terminal("answer", run.id, "yes", "--project", str(project))
    assert (code, "goes on at close" in shown, "this one is taken:" in shown) == (0, True, True)


def test_a_person_takes_out_a_run_that_cannot_be_read_and_the_others_go_on(
    cli: Command, installed: Install, walker: Walk, project: Path
) -> None:
    walk = walker(installed("plain"))
    kept, broken = walk.start(), walk.start()
    assert cli("prune", "--unreadable", "--dry-run").err.startswith("Nothing to remove: every run of ")
    with closing(sqlite3.connect(Path(os.environ["LOCKSTEP_HOME"]) / "runs.db")) as connection:
        connection.execute("UPDATE runs SET sum='0' WHERE id=?", (broken.id,))
        connection.commit()
    assert cli("runs").code == 4
    way_out = f"lockstep prune --unreadable --project {project}"
    assert way_out in cli("doctor", "--project", str(project)).out
    shown = cli("prune", "--unreadable", "--dry-run")
    assert (shown.code, shown.err) == (0, "1 record would be removed.\n")
    assert f"run '{broken.id}' has a wrong checksum or field" in shown.out
    assert cli("prune", "--unreadable").code == 3  # no terminal
    refused = cli("prune", "--unreadable", "--older", "7", "--dry-run")
    assert (refused.code, refused.out) == (2, "")
    assert "so --older does not go with --unreadable" in refused.err
    words = way_out.split()[1:]
    code, said = at_terminal(*words, keys=b"n\n")
    assert (code, said.endswith("Nothing was removed.\nlockstep: interrupted\n")) == (130, True)
    assert at_terminal(*words, keys=b"y\n")[0] == 0
    shown = cli("runs")
    assert (shown.code, kept.id in shown.out, broken.id in shown.out) == (0, True, False)
    assert "the ledger is whole: 1 run" in cli("doctor", "--project", str(project)).out


@pytest.mark.parametrize("command", ["abandon {} --reason late", "pause {}", "answer {} yes", "prune --older 0"])
def test_a_closed_standard_input_is_no_terminal(command: str, installed: Install, walker: Walk, project: Path) -> None:
    run = asked(walker(installed("tour")))
    words = f"{shlex.quote(sys.executable)} -P -m skills {command.format(run.id)} --project {shlex.quote(str(project))}"
    done = subprocess.run(
        f"{words} <&-", shell=True, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert done.returncode in (0, 3, 5), done.stderr
    assert "a bug in Lockstep" not in done.stderr


def test_abandoning_ends_a_run_and_its_sub_agents(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("brood"))
    run = walk.go(walk.start(), records={"targets": ["a", "b"]})
    walk.child(walk.children(run)[0], result="seen")
    shown = cli("abandon", run.id, "--reason", "the ticket was closed")
    assert shown.code == 0
    assert shown.out == f"Run {run.id} is abandoned at explore.\nSo are the runs of its sub-agents: {run.id}.2.\n"
    found = {each.id: each for each in ledger().every_run()}
    assert [found[key].status for key in (run.id, f"{run.id}.1", f"{run.id}.2")] == ["abandoned", "done", "abandoned"]
    last = ledger().events(run.id)[-1]
    assert (last.kind, last.actor, last.detail["reason"]) == ("abandoned", "agent", "the ticket was closed")
    verification.verify(ledger())
    assert cli("resume").err.startswith("No run is open")
    assert "is abandoned" in cli("resume", run.id).out


def test_several_runs_are_abandoned_at_once(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("plain"))
    ids = [walk.start().id for _ in range(3)]
    shown = cli("abandon", ids[0], ids[1], ids[0], "--reason", "both were tries")
    assert shown.code == 0
    assert [line.split()[1] for line in shown.out.splitlines()] == ids[:2]
    assert [run["run"] for run in json.loads(cli("runs", "--json").out)] == [ids[2]]


def test_no_run_is_abandoned_where_one_of_several_is_not_known(cli: Command, installed: Install, walker: Walk) -> None:
    run = walker(installed("plain")).start()
    assert cli("abandon", run.id, "nosuchrun", "--reason", "both were tries").code == 2
    assert [one["status"] for one in json.loads(cli("runs", "--json").out)] == ["open"]


def test_an_abandoned_run_moves_no_more(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("part"))
    run = walk.start(what="x")
    cli("abandon", run.id, "--reason", "why not")
    assert walk.go(run, records={"seen": "y"}).status == "abandoned"
    again = cli("abandon", run.id, "--reason", "twice")
    assert again.code == 3
    assert "is abandoned: nothing moves it any more" in again.err


def test_a_sub_agents_run_is_given_up_by_its_parent_and_not_abandoned(
    cli: Command, installed: Install, walker: Walk
) -> None:
    walk = walker(installed("brood"))
    run = walk.go(walk.start(), records={"targets": ["a"]})
    shown = cli("abandon", f"{run.id}.1", "--reason", "never came back")
    assert shown.code == 3
    assert f"--lost {run.id}.1 --reason 'never came back'" in shown.err
    assert ledger().every_run("id=?", (f"{run.id}.1",))[0].status == "pending"


@pytest.mark.parametrize("reason", ["", "  ", "FILL_reason", "a\x07b"])
def test_abandoning_takes_a_reason_in_words(reason: str, cli: Command, installed: Install, walker: Walk) -> None:
    run = walker(installed("plain")).start()
    assert cli("abandon", run.id, "--reason", reason).code == 2
    assert ledger().every_run()[0].status == "open"


def test_abandoning_asks_at_a_terminal(installed: Install, walker: Walk) -> None:
    run = walker(installed("plain")).start()
    code, shown = at_terminal("abandon", run.id, "--reason", "enough", keys=b"n\n")
    assert code == 130
    assert f"End run {run.id} of plain, at note?" in shown
    assert shown.endswith(f"Not ended: {run.id}\nlockstep: interrupted\n")
    assert ledger().every_run()[0].status == "open"
    assert at_terminal("abandon", run.id, "--reason", "enough", keys=b"y\n")[0] == 0
    assert ledger().events(run.id)[-1].actor == "person (terminal)"


@pytest.mark.req("W-24")
def test_without_an_answer_it_tells_what_waits(
    cli: Command, installed: Install, walker: Walk, stable: Stable, snapshot: SnapshotAssertion
) -> None:
    assert cli("answer").err.startswith("No run was ever opened in ")
    plain = walker(installed("plain")).start()
    assert cli("answer").err.startswith("No run waits for a person in ")
    assert cli("answer", plain.id).err == f"Run {plain.id} asks nobody anything.\n"
    run = asked(walker(installed("tour")))
    asked(walker(installed("tour")))
    shown = cli("answer")
    assert (shown.code, shown.err) == (0, "")
    assert stable(shown.out) == snapshot
    assert cli("answer", run.id).out.count("lockstep answer") == 1


def test_an_option_that_answer_does_not_have_is_no_run(cli: Command, at_gate: Run) -> None:
    assert cli("answer", "--all").err == (
        "lockstep: lockstep answer: no such option '--all'\n"
        "  valid: --reason, --project, --help\n"
        "  try:   lockstep answer --help\n"
    )


def test_an_answer_takes_a_terminal(cli: Command, at_gate: Run) -> None:
    shown = cli("answer", at_gate.id, "accept", "--reason", "known")
    assert shown.code == 3
    assert "standard input is not a terminal" in shown.err
    assert ledger().every_run("id=?", (at_gate.id,))[0].status == "waiting"


@pytest.mark.req("W-24")
def test_a_person_accepts_open_findings_with_a_reason(at_gate: Run) -> None:
    code, shown = at_terminal("answer", at_gate.id, "accept")
    assert code == 3
    assert "takes a reason" in shown
    code, shown = at_terminal("answer", at_gate.id, "accept", "--reason", "known, and tracked")
    assert code == 0
    assert "goes on at close" in shown
    last = ledger().events(at_gate.id)[-1]
    assert (last.actor, last.detail["answer"], last.detail["by"]) == ("person (terminal)", "accept", "person")
    assert last.detail["reason"] == "known, and tracked"


@pytest.mark.req("W-24")
def test_an_answer_that_is_no_choice_is_refused_with_the_choices(installed: Install, walker: Walk) -> None:
    run = asked(walker(installed("tour")))
    code, shown = at_terminal("answer", run.id, "perhaps")
    assert code == 3
    assert "valid: yes, no" in shown
    assert at_terminal("answer", run.id, "yes")[0] == 0
    code, shown = at_terminal("answer", run.id, "yes")
    assert code == 3
    assert "asks nobody anything: it is open" in shown


def test_commands_that_are_named_in_another_folder_name_the_project(
    cli: Command, installed: Install, walker: Walk, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = asked(walker(installed("tour")))
    (tmp_path / "elsewhere").mkdir()
    of_project = f"--project {project}"
    for folder, words in ((project, ""), (tmp_path / "elsewhere", f" {of_project}")):
        monkeypatch.chdir(folder)
        shown = cli("answer", "x", "yes", *words.split())
        assert shown.err.endswith(f"try:   lockstep runs --all{words}\n")
    assert (
        f"or lockstep resume {run.id} {of_project}."
        in at_terminal("answer", run.id, "yes", "--project", str(project))[1]
    )
    shown_again = at_terminal("answer", run.id, "yes", "--project", str(project))[1]
    assert f"try:   lockstep trace {run.id} {of_project}" in shown_again
    assert f"lockstep runs --all {of_project}" in at_terminal("pause", "x", "--project", str(project))[1]


@pytest.mark.req("W-24")
@pytest.mark.parametrize("answer", ["-1", "-h", "--help", "--reason", "it's = $(x)"])
def test_any_answer_can_be_given_by_the_printed_command(installed: Install, project: Path, answer: str) -> None:
    choices = ["no", answer]
    steps = f"StepDef('ask', 'Ask', 'Ask.', {{Outcome.OK: None}}, person('How?', {choices!r}, at_terminal=True))"
    agent = Agent(installed("asks", source_of("asks", steps)), project)
    waiting = agent.open()
    words = shlex.split(filled(waiting.words("ANSWER"), {"answer": answer}))
    code, shown = at_terminal(*words[words.index("answer") :])
    assert (code, f": {answer}." in shown) == (0, True)
    assert agent.events(waiting.run)[-1].detail["answer"] == answer


@pytest.mark.req("W-24")
def test_a_reason_is_quoted_in_the_printed_command(at_gate: Run, project: Path) -> None:
    run = ledger().every_run("id=?", (at_gate.id,))[0]
    command_line = CommandLine(sys.executable, run.script, str(project))
    shown = document.step_document(loading.workflow_of_script(run.script), run, command_line)
    [command] = [part.children[0] for part in shown.children if isinstance(part, Element) and part.tag == "ANSWER"]
    words = shlex.split(str(command).replace("FILL_reason", "known, and tracked").replace("FILL_answer", "accept"))
    assert at_terminal(*words[1:])[0] == 0
    assert ledger().events(run.id)[-1].detail["reason"] == "known, and tracked"


def test_a_number_is_answered_as_it_is_typed(installed: Install, project: Path) -> None:
    steps = "StepDef('ask', 'Ask', 'Ask.', {Outcome.OK: None}, person('How?', ['-1', '+1'], at_terminal=True))"
    agent = Agent(installed("asks", source_of("asks", steps)), project)
    assert at_terminal("answer", agent.open().run, "-1")[0] == 0


def ended(walk: Walker) -> Run:
    return walk.go(walk.go(walk.start(), records={"thing": "x"}), outcome="ok")


def test_a_status_line_says_what_goes_on_and_who_is_waited_for(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("tour"))
    assert (cli("runs", "--line").out, cli("runs", "--line").err) == ("", "")
    first = walk.start(topic="xyz")
    assert cli("runs", "--line").out == "tour 1/7 begin\n"
    walk.go(first, records={"summary": "seen"})
    waiting = asked(walk)
    assert cli("runs", "--line").out == f"tour {number(waiting)} {waiting.step} · waits for you · 1 more\n"
    assert cli("runs", "--line", "--skill", "gated").out == ""
    refused = cli("runs", "--line", "--json")
    assert (refused.code, refused.out) == (2, "")


def number(run: Run) -> str:
    """The place of a run's step in its graph, as n/m."""
    steps = [str(step["id"]) for step in ledger().definition(run.fingerprint)["steps"]]
    return f"{steps.index(run.step or '') + 1}/{len(steps)}"


def test_pruning_removes_ended_runs_only(cli: Command, installed: Install, walker: Walk) -> None:
    walk = walker(installed("plain"))
    gone, kept = ended(walk), walk.start()
    context = Path(os.environ["LOCKSTEP_HOME"]) / "context" / gone.id
    context.mkdir(parents=True)
    with Activity(path_in(os.environ["LOCKSTEP_HOME"])) as activity:
        for run in (gone, kept):
            activity.note(run.id, 1, 1, "model", {})
    assert "no run of" in cli("prune").err
    dry = cli("prune", "--older", "0", "--dry-run")
    assert gone.id in dry.out
    assert "1 record would be removed." in dry.err
    assert len(ledger().every_run()) == 2
    assert cli("prune", "--older", "0").err == "1 record removed.\n"
    assert [run.id for run in ledger().every_run()] == [kept.id]
    assert not context.exists()
    with Activity(path_in(os.environ["LOCKSTEP_HOME"])) as activity:
        assert (activity.count(gone.id), activity.count(kept.id)) == (0, 1)
    verification.verify(ledger())


def test_pruning_takes_sub_agents_along(
    cli: Command, installed: Install, walker: Walk, stable: Stable, snapshot: SnapshotAssertion
) -> None:
    walk = walker(installed("brood"))
    run = walk.go(walk.start(), records={"targets": ["a", "b"]})
    cli("abandon", run.id, "--reason", "enough")
    shown = cli("prune", "--older", "0")
    assert shown.err == "3 records removed.\n"
    assert stable(shown.out) == snapshot
    assert ledger().every_run() == []


def test_stats_show_where_agents_stumble(
    cli: Command, installed: Install, walker: Walk, snapshot: SnapshotAssertion
) -> None:
    walk = walker(installed("tour"))
    for _ in range(2):
        run = walk.start(topic="xyz")
        walk.go(run, "close")
        walk.go(run)
        run = walk.go(run, records={"summary": "seen"})
        walk.go(run, params={"mode": "perhaps"})
        walk.go(walk.go(run, params={"mode": "full"}), records={"confidence": "low"})
    shown = cli("stats")
    assert "Agents stumble most at begin: 2.0 refusals an entry." in shown.out
    assert shown.out == snapshot
    (found,) = json.loads(cli("stats", "--skill", "tour", "--json").out)
    assert found["steps"]["begin"]["refused"] == {"skipped-step": 2, "missing-evidence": 2}
    assert (found["runs"], found["transitions"], found["steps"]["dig"]["repeated"]) == (2, 6, 2)


def test_an_invalid_number_of_days_is_reported_in_plain_words(cli: Command) -> None:
    shown = cli("prune", "--older", "foo")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == (
        "lockstep: lockstep prune: invalid value for '--older': 'foo' is not a valid number\n"
        "  try:   lockstep prune --help\n"
    )
