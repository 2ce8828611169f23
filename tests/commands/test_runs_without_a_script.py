"""Runs whose workflow is in no file: shown, advanced, answered and ended everywhere, from the ledger's definition.

And runs of a ledger that anybody may have written: no code runs because it names a script.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skills.lib import paths, user_key
from skills.lib.blocks.command_line import CommandLine, lockstep_command
from skills.lib.engine.decision import Move
from skills.lib.errors import HandlerError, UsageError
from skills.lib.ledger import Ledger, verification
from skills.lib.model.run import Request, Run
from skills.lib.runtime import Response, Runner
from skills.lib.testing import parse
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.workflow.core import Outcome, StepContext, Workflow
from tests.commands.conftest import Command, Walker
from tests.fixtures.skill import ROOT, source_of
from tests.fixtures.terminal import at_terminal

Install = Callable[..., Path]

STEPS: list[dict[str, Any]] = [
    {
        "id": "plan",
        "title": "Plan",
        "actions": ["Plan it."],
        "next": {"ok": "agree"},
        "requires": [{"$kind": "Field", "name": "plan"}],
    },
    {
        "id": "agree",
        "title": "Agree",
        "actions": ["Ask."],
        "needs": ["plan.plan"],
        "next": {"ok": "send", "fail": "plan"},
        "handler": {"$kind": "Person", "question": "Is it good?", "choices": {"yes": "ok", "no": "fail"}},
    },
    {
        "id": "send",
        "title": "Send",
        "actions": ["Send."],
        "next": {"ok": "close"},
        "handler": {
            "$kind": "Dispatch",
            "agent": "explore",
            "task": "Look.",
            "requires": [{"$kind": "Field", "name": "cause"}],
        },
    },
    {"id": "close", "title": "Close", "actions": ["Sum up."], "needs": ["send.results"], "next": {"ok": None}},
]


def weigh(context: StepContext) -> Outcome:
    return Outcome.OK


def planned(*steps: dict[str, Any], functions: dict[str, Any] | None = None, commands: bool = False) -> Workflow:
    data = {"name": "planned", "title": "Planned", "steps": list(steps or STEPS)}
    return Workflow.from_data(data, functions or {}, commands)


def runner_in(project: Path) -> Runner:
    """The runner of a program that has no step script."""
    return Runner(CommandLine(sys.executable, "", str(project), lockstep_command()))


def opened(project: Path, workflow: Workflow, **parameters: Any) -> PrintedBlock:
    """The first block of a run that a program opens."""
    with closing(runner_in(project)) as runner:
        return _block(runner.start(workflow, parameters))


def _block(response: Response) -> PrintedBlock:
    from skills.lib.blocks import xml

    return PrintedBlock(response.exit_code, xml.render(response.element))


def shell(command: str) -> PrintedBlock:
    """What a printed command prints, run by another process."""
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=60)
    return PrintedBlock(done.returncode, done.stdout, done.stderr)


def run_of(run_id: str) -> Run:
    with Ledger(os.environ["LOCKSTEP_HOME"], create=False) as ledger:
        found = ledger.run(run_id)
        verification.verify(ledger)
    assert found is not None
    return found


def test_each_command_of_a_run_without_a_script_is_served_by_another_process(project: Path) -> None:
    block = opened(project, planned())
    assert run_of(block.run).script == ""
    asked = shell(block.command({"plan": "the plan"}))
    assert (asked.exit_code, asked.kind) == (0, "waiting"), asked.errors
    sent = shell(asked.command({"answer": "yes"}))
    assert (sent.kind, sent.step) == ("step", "send")
    child = shell(sent.children[0].command)
    assert [field.get("name") for field in child.root.iterfind("RECORD/field")] == ["result", "cause"]
    ended = shell(child.command({"result": "seen", "cause": "a scan"}))
    assert ended.kind == "done"
    last = shell(ended.next)
    assert (last.kind, last.step) == ("step", "close")
    assert shell(last.next).kind == "done"
    assert run_of(block.run).status == "done"


def test_the_same_command_again_prints_the_same_block_and_a_wrong_one_is_refused(project: Path) -> None:
    block = opened(project, planned())
    command = block.command({"plan": "the plan"})
    assert shell(command).text == shell(command).text
    refused = shell(block.command({"plan": "another"}))
    assert (refused.exit_code, refused.code) == (3, "wrong-turn")
    assert shell(refused.next).exit_code in (0, 3)
    assert opened(project, planned()).exit_code == 3  # the twin went on


def test_a_run_without_a_script_is_resumed_answered_traced_listed_and_abandoned(cli: Command, project: Path) -> None:
    block = opened(project, planned())
    for words in (["resume"], ["resume", block.run]):
        shown = cli(*words)
        assert (shown.code, shown.err) == (0, "")
        assert parse(shown.out).get("id") == "plan"
    asked = shell(parse(cli("resume", block.run).out).findtext("NEXT", "").replace("'FILL_plan'", "good"))
    assert asked.kind == "waiting"
    code, shown_there = at_terminal("answer", block.run, "yes", "--project", str(project))
    assert code == 0, shown_there
    assert (run_of(block.run).step, run_of(block.run).state["agree"]["answered_by"]) == ("send", "person")
    assert "planned" in cli("runs").out
    assert "script none" in cli("trace", block.run).out
    assert cli("trace", block.run, "--html", "-").code == 0
    assert cli("stats").code == 0
    assert cli("doctor", "--project", str(project)).out.count("its script is gone") == 0
    assert cli("abandon", block.run, "--reason", "the ticket was closed").code == 0
    assert run_of(block.run).status == "abandoned"
    shown = cli("resume", block.run)
    assert (shown.code, parse(shown.out).tag) == (0, "done")


def test_a_run_without_a_script_is_served_without_the_libraries(project: Path) -> None:
    block = opened(project, planned())
    bare = [sys.executable, "-I", "-S", str(ROOT / "skills" / "__main__.py")]
    for words in (["resume", block.run], ["abandon", block.run, "--reason", "it is enough"]):
        command = [*bare, *words, "--project", str(project)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
    assert run_of(block.run).status == "abandoned"


def test_a_run_whose_script_was_removed_goes_on_from_the_ledger(
    cli: Command, installed: Install, walker: Callable[[Path], Walker], project: Path
) -> None:
    import shutil

    script = installed("part")
    run = walker(script).start(what="x")
    shutil.rmtree(script.parents[1])
    shown = cli("resume", run.id)
    assert shown.code == 0, shown.err
    after = shell(parse(shown.out).findtext("NEXT", "").replace("'FILL_seen'", "seen"))
    assert (after.exit_code, after.step) == (0, "judge"), after.errors


def test_a_function_of_the_program_is_called_there_alone(project: Path) -> None:
    step = {"id": "weigh", "next": {"ok": None}, "handler": {"$call": "weigh"}}
    workflow = planned(step, functions={"weigh": weigh})
    block = opened(project, workflow)
    failed = shell(block.next)
    assert failed.exit_code == HandlerError.exit_code
    assert "weigh is a function of the program that opened the run" in failed.errors
    assert "step weigh" in failed.errors
    assert (run_of(block.run).status, run_of(block.run).turn) == ("open", 1)
    with closing(runner_in(project)) as runner:
        ended = runner.advance(workflow, block.run, Request("done", run=block.run, turn=1))
    assert ended.run is not None
    assert ended.run.status == "done"


def test_a_program_that_looks_is_told_the_conversation_and_model_of_the_step(project: Path) -> None:
    step = {"id": "weigh", "next": {"ok": None}, "handler": {"$call": "weigh"}, "fresh": True, "model": "small"}
    block = opened(project, planned(step, functions={"weigh": weigh}))
    with closing(runner_in(project)) as runner:
        found = runner.peek(block.run)
    assert found.step is not None
    assert (found.step.fresh, found.step.model, found.block.strip()) == (True, "small", block.text)


def test_a_command_that_only_the_ledger_names_is_not_run(project: Path) -> None:
    made = project / "made"
    step = {"id": "make", "next": {"ok": None}, "requires": [{"$kind": "Command", "argv": ["touch", str(made)]}]}
    block = opened(project, planned(step, commands=True))
    refused = shell(block.next)
    assert (refused.exit_code, refused.text) == (4, "")
    assert "step make of run" in refused.errors
    assert not made.exists()
    with closing(runner_in(project)) as runner:
        ended = runner.advance(planned(step, commands=True), block.run, Request("done", run=block.run, turn=1))
    assert (ended.exit_code, made.exists()) == (0, True)


def test_a_workflow_from_data_is_the_run_of_a_sub_agent(project: Path) -> None:
    send = {"id": "send", "next": {"ok": None}, "handler": {"$kind": "Dispatch", "agent": "explore", "script": "part"}}
    part = {"id": "look", "next": {"ok": None}, "requires": [{"$kind": "Field", "name": "seen"}]}
    block = opened(project, planned(send))
    [child] = block.children
    unknown = shell(child.command)
    assert unknown.exit_code == 5
    assert "begin it in the program that has the workflow" in unknown.errors
    with closing(runner_in(project)) as runner:
        begun = _block(runner.advance(planned(part), child.id, Request("1", run=child.id)))
    assert begun.step == "look"
    ended = shell(begun.command({"seen": "all"}))
    assert ended.kind == "done", ended.errors
    last = shell(ended.next)
    assert (last.step, last.run) == ("send", block.run)
    assert shell(last.next).kind == "done"
    assert run_of(block.run).state["send"]["results"][0]["values"] == {"seen": "all"}


def test_a_scripted_sub_agents_run_of_a_run_without_a_script_begins_in_the_program_alone(
    project: Path, installed: Install
) -> None:
    send = {
        "id": "send",
        "next": {"ok": None},
        "handler": {"$kind": "Dispatch", "agent": "explore", "script": "part.py"},
    }
    workflow = planned(send)
    [child] = opened(project, workflow).children
    with closing(runner_in(project)) as runner:
        by_parent = runner.advance(workflow, child.id, Request("1", run=child.id))
    assert by_parent.refusal is not None
    assert (by_parent.refusal.code, by_parent.refusal.why) == (
        "other-workflow",
        f"Run {child.id} walks a workflow of its own, 'part.py', and planned is the one that started it. "
        "It begins with its own.",
    )
    script = installed("part")
    by_script = shell(f"{sys.executable} {script} --step 1 --run {child.id} --project {project}")
    assert (by_script.exit_code, by_script.code, by_script.next) == (3, "other-workflow", "")
    assert by_script.why == (
        f"Run {child.id} was started by a run that has no script, so no script serves it. "
        "It begins in the program that has its workflow, 'part.py'."
    )
    part = {"id": "look", "next": {"ok": None}}
    with closing(runner_in(project)) as runner:
        begun = runner.advance(planned(part), child.id, Request("1", run=child.id))
    assert begun.refusal is None
    assert shell(_block(begun).next).kind == "done"


# The run that a run comes from


def test_a_run_names_the_run_that_it_comes_from(cli: Command, project: Path) -> None:
    first = opened(project, planned(STEPS[0] | {"next": {"ok": None}}))
    with closing(runner_in(project)) as runner:
        second = runner.start(planned(), {}, origin=first.run).run
        again = runner.start(planned(), {}, origin=first.run).run
        third = runner.start(planned(), {}, origin=second.id if second else "").run
        assert second is not None
        assert again is not None
        assert third is not None
        assert again.id == second.id != third.id
        assert runner.ledger.opening(second.id)["origin"] == first.run
        with pytest.raises(UsageError, match="has no run 'zzzzzzzz'"):
            runner.start(planned(), {}, origin="zzzzzzzz")
    assert f"from run {first.run}" in cli("trace", second.id).out
    assert "from run" not in cli("trace", first.run).out


# A ledger that somebody else wrote

TOUCHES = """
from pathlib import Path
Path({file!r}).touch()
"""
ASKS = (
    "StepDef('ask', 'Ask', 'Ask.', {Outcome.OK: 'last'}, person('Which?', {'yes': 'ok'}, at_terminal=True)), "
    "StepDef('last', 'Last', 'Stop.', {Outcome.OK: None})"
)


@pytest.fixture
def cloned(
    installed: Install,
    walker: Callable[[Path], Walker],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> tuple[Run, Path, Path]:
    """A waiting run of a project's skill that another user opened; the skill's script, and what its graph touches."""
    touched = tmp_path / "touched"
    script = installed("asks", source_of("asks", ASKS))
    run = walker(script).start()
    graph = script.with_name("asks_workflow.py")
    graph.write_text(graph.read_text() + TOUCHES.format(file=str(touched)))
    sys.modules.pop("lockstep_skill.asks.scripts.asks_workflow")
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "another user"))
    return run, script, touched


def test_no_graph_is_loaded_because_a_ledger_names_it(
    cli: Command, cloned: tuple[Run, Path, Path], project: Path
) -> None:
    run, script, touched = cloned
    for words in (["resume"], ["resume", run.id]):
        shown = cli(*words)
        assert (shown.code, shown.out) == (4, "")
        assert f"nothing shows that the skill of run {run.id} was run on this machine" in shown.err
        assert f"{script} --step current --run {run.id} --project {project}" in shown.err
    code, told = at_terminal("answer", run.id, "yes", "--project", str(project))
    assert (code, "nothing shows" in told) == (4, True)
    bare = [sys.executable, "-I", "-S", str(ROOT / "skills" / "__main__.py"), "resume", run.id]
    done = subprocess.run([*bare, "--project", str(project)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (4, "")
    assert not touched.exists()


def test_a_run_is_resumed_once_this_user_ran_its_skill(
    cli: Command, cloned: tuple[Run, Path, Path], project: Path
) -> None:

    run, script, touched = cloned
    user_key.make()
    command = [sys.executable, str(script), "--step", "current", "--run", run.id, "--project", str(project)]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    assert touched.exists()
    assert cli("resume", run.id).code == 0


def test_the_end_of_a_run_is_shown_without_loading_its_skill(cli: Command, cloned: tuple[Run, Path, Path]) -> None:
    run, _, touched = cloned
    assert cli("abandon", run.id, "--reason", "it is enough").code == 0
    shown = cli("resume", run.id)
    assert (shown.code, parse(shown.out).tag) == (0, "done")
    assert not touched.exists()


def test_a_shipped_skill_is_resumed_whoever_opened_the_run(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = ROOT / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py"
    walk = Walker(script, project)
    names = [arg.name for arg in walk.workflow.run_params() if arg.required]
    run = walk.start(**dict.fromkeys(names, "why it is slow"))
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "another user"))
    shown = cli("resume", run.id)
    assert (shown.code, parse(shown.out).get("run")) == (0, run.id)


def forged(project: Path, run: Run, **fields: Any) -> None:
    """Change a run in the ledger as anybody can who has the code: with right checksums."""
    with Ledger(paths.home(str(project)), create=False) as ledger:
        ledger.commit(run, Move(run.changed(**fields), "moved", {}), "agent")


def test_a_link_to_a_shipped_script_lets_no_graph_beside_the_link_run(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = ROOT / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py"
    walk = Walker(script, project)
    run = walk.start(
        **dict.fromkeys([arg.name for arg in walk.workflow.run_params() if arg.required], "why it is slow")
    )
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "another user"))
    (project / "s").mkdir()
    (project / "s" / script.name).symlink_to(script)
    (project / "s" / "problem_analysis_workflow.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    forged(project, run, script=str(project / "s" / script.name))
    shown = cli("resume", run.id)
    assert (shown.code, shown.out) == (4, "")
    assert not (tmp_path / "ran").exists()


def test_the_end_of_a_planted_sub_agents_run_loads_no_graph_of_its_parent(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    send = STEPS[2] | {"next": {"ok": None}}
    block = opened(project, planned(send))
    [child] = block.children
    ended = shell(shell(child.command).command({"result": "seen", "cause": "a scan"}))
    assert ended.kind == "done"
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "another user"))
    script = project / "skills" / "evil" / "scripts" / "evil.py"
    script.parent.mkdir(parents=True)
    script.touch()
    script.with_name("evil_workflow.py").write_text(TOUCHES.format(file=str(tmp_path / "ran")))
    for run_id in (block.run, child.id):
        forged(project, run_of(run_id), script=str(script))
    shown = cli("resume", child.id)
    assert (shown.code, shown.err) == (0, "")
    assert not (tmp_path / "ran").exists()
    assert parse(shown.out).tag == "done"
    assert f"stored_run.py --step current --run {block.run}" in parse(shown.out).findtext("NEXT", "")


def test_names_in_a_planted_ledger_lead_to_no_file_outside_of_it(cli: Command, project: Path, tmp_path: Path) -> None:
    block = opened(project, planned())
    with Ledger(paths.home(str(project)), create=False) as ledger:
        run = ledger.run(block.run)
    assert run is not None
    (tmp_path / "notes.txt").write_text("mine")
    up = f"x/{'../' * 12}{str(tmp_path)[1:]}/notes"
    state = {up: {up: "evil " * 5_000}, "send": {"results": "evil " * 5_000}}
    forged(project, run, state=state, status="done", step=None, turn=3, last={"step": up, "turn": 2, "outcome": "ok"})
    assert cli("resume", run.id).code == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not list(tmp_path.glob("**/2-x"))
