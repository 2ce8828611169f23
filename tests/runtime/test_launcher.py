"""Short commands: the launcher in the user's folder goes on with a run by its id, and takes the report as JSON."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from skills.lib import launcher
from skills.lib.blocks.command_line import CommandLine
from skills.lib.commands.console.app import lockstep
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.testing.follower import Shell
from tests.fixtures.agents import Skill

STEPS = """
    StepDef("look", "Look", "Look.", {Outcome.OK: "mend", Outcome.FAIL: None},
            requires=[Field("cause"), Field("seen", "list"), Field("hint", required=False)]),
    StepDef("mend", "Mend", "Mend.", {Outcome.OK: "rest"}),
    StepDef("rest", "Rest", "Rest.", {Outcome.OK: None}, requires=[Field("api_key", required=False)]),
"""
HOSTILE = 'it\'s "so"\n$(touch pwned) `touch pwned` \\ <b> & ]]> ü\nRECORD\nEOF'


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state folder, with a name that a shell could misread; commands are short."""
    folder = tmp_path / "o'brien $HOME hömé" / "state"
    monkeypatch.setenv("LOCKSTEP_STATE", str(folder))
    monkeypatch.delenv(launcher.SWITCH)
    return folder


@pytest.fixture
def opened(skill: Skill, project: Path, state: Path) -> tuple[Agent, PrintedBlock]:
    made = skill(STEPS.replace('Field("api_key", required=False)', 'Field("left", required=False)'))
    agent = Agent(made.script, project, call=Shell(project))
    return agent, agent.open()


def entry_of(state: Path, run: str) -> Path:
    return state / "runs" / run


@pytest.mark.req("E-08")
def test_next_is_one_here_document_with_a_skeleton_of_the_report(
    opened: tuple[Agent, PrintedBlock], state: Path
) -> None:
    _, block = opened
    path = "'" + str(state / "step").replace("'", "'\"'\"'") + "'"
    report = '{"cause": "FILL_cause", "seen": ["FILL_seen"]}'
    assert block.next == f"{path} {block.run} 1 --outcome FILL_outcome - <<'{block.run}'\n{report}\n{block.run}\n"
    assert "--record-file" not in block.text


@pytest.mark.req("E-08")
@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh"])
def test_each_shell_hands_the_report_over_as_it_is(
    opened: tuple[Agent, PrintedBlock], shell: str, project: Path
) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not here")
    agent, block = opened
    command = block.command({"cause": HOSTILE, "seen": [HOSTILE, "two"], "hint": "x", "outcome": "ok"})
    done = subprocess.run([shell, "-c", command], cwd="/", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert agent.state(block.run).state["look"] == {"cause": HOSTILE, "seen": [HOSTILE, "two"], "hint": "x"}
    assert not list(project.glob("pwned"))


def test_a_short_command_is_the_long_one(opened: tuple[Agent, PrintedBlock]) -> None:
    """A retry in the other form counts once."""
    agent, block = opened
    short = agent.follow(block, cause="c", seen=["s"], outcome="ok")
    words = ["--step", "next", "--run", block.run, "--turn", "1", "--project", str(agent.project), "--outcome", "ok"]
    file = agent.project / "report.json"
    file.write_text('{"cause": "c", "seen": ["s"]}')
    again = agent.run_command(" ".join([sys.executable, agent.script, *words, "--record-file", str(file)]))
    assert again.text == short.text
    assert agent.state(block.run).turn == 2


def test_the_forms_of_the_launcher(opened: tuple[Agent, PrintedBlock]) -> None:
    agent, block = opened
    head = block.next.partition(" 1 --outcome")[0]
    for form in (head, f"{head} current", f"{head} resume"):
        assert agent.run_command(form).text == agent.show(block.run).text
    refused = agent.run_command(f"{head} 1 rest --record cause=c --record seen=s --outcome ok")
    assert refused.code == "skipped-step"
    assert refused.show == f"{head} current"
    after = agent.run_command(f"{head} 1 mend --record cause=c --record seen=s --outcome ok")
    assert (after.step, after.next) == ("mend", f"{head} 2")


@pytest.mark.parametrize(
    "report, says",
    [
        ('{"cause": "one\ntwo", "seen": []}', "write a line end inside a text as \\n"),
        ('{"cause": "c", "seen": ["s"],}', "no comma before }"),
        ('{"cause": "c" "seen": []}', 'write a quote inside a text as \\"'),
        ('{"cause": "a "b" c", "seen": []}', 'write a quote inside a text as \\"'),
        ("{'cause': 'c'}", "in double quotes"),
        ('{"cause": "c", "seen": ["s"]} {}', "give one object, and nothing after it"),
    ],
)
def test_a_report_that_is_no_json_is_kept_and_told(
    opened: tuple[Agent, PrintedBlock], report: str, says: str, project: Path
) -> None:
    agent, block = opened
    head = block.next.partition(" - <<")[0].replace("FILL_outcome", "ok")
    told = agent.run_command(f"{head} - <<'END'\n{report}\nEND\n")
    assert told.exit_code == 2
    assert says in told.errors
    assert "line " in told.errors
    kept = project / ".lockstep" / "context" / block.run / "refused-1.json"
    assert kept.read_text() == f"{report}\n"
    assert agent.run_command(f"{head.partition(' 1 ')[0]} current").text == agent.show(block.run).text
    again = told.errors.partition("then run:\n")[2].strip().splitlines()[0].strip()
    kept.write_text('{"cause": "c", "seen": ["s"]}')
    assert agent.run_command(again).step == "mend"


def test_a_report_that_may_hold_a_secret_is_not_kept(skill: Skill, project: Path, state: Path) -> None:
    agent = Agent(skill(STEPS).script, project, call=Shell(project))
    block = agent.open()
    head = block.next.partition(" --outcome")[0]
    told = agent.run_command(f'{head} - <<\'END\'\n{{"api_key": "s3cr3t\nEND\n')
    assert told.exit_code == 2
    assert not list((project / ".lockstep").glob("context/*/*"))


def test_an_unfilled_value_is_refused_and_the_others_are_given_back(opened: tuple[Agent, PrintedBlock]) -> None:
    agent, block = opened
    refused = agent.follow(block, cause=HOSTILE, outcome="ok")
    assert "still stands as FILL_seen" in refused.why
    assert agent.follow(refused, seen=["s"]).step == "mend"
    assert agent.state(block.run).state["look"]["cause"] == HOSTILE


def test_sub_agents_get_short_commands(skill: Skill, project: Path, state: Path) -> None:
    """A sub-agent's script is another one, so its run has an entry of its own."""
    steps = """StepDef("out", "Out", "Out.", {Outcome.OK: None},
                       Dispatch("explore", script="part.py", targets=["a", "b"]))"""
    made = skill(steps, part='StepDef("first", "First", "Look.", {Outcome.OK: None}, requires=[Field("result")])')
    agent = Agent(made.script, project, call=Shell(project))
    block = agent.open()
    first, second = block.children
    assert first.command.endswith(f"/step' {first.id} current")
    last = agent.follow(agent.run_command(first.command), result="r")
    assert last.kind == "done"
    lost = agent.lose(block, second.id, "it's gone")
    assert agent.follow(lost).kind == "done"


def test_an_entry_is_for_its_owner_and_written_once(opened: tuple[Agent, PrintedBlock], state: Path) -> None:
    agent, block = opened
    entry = entry_of(state, block.run)
    assert entry.read_text() == f"{sys.executable}\n{agent.script}\n{agent.project}\n"
    assert oct((state / "step").stat().st_mode)[-3:] == "700"
    assert oct((state / "runs").stat().st_mode)[-3:] == "700"
    before = entry.stat().st_ino
    agent.follow(block, cause="c", seen=["s"], outcome="ok")
    assert entry.stat().st_ino == before


def test_a_command_says_what_is_missing(opened: tuple[Agent, PrintedBlock], state: Path, project: Path) -> None:
    agent, block = opened
    head, entry = block.next.partition(" 1 --outcome")[0], entry_of(state, block.run)
    python, script, _ = lines = entry.read_text().splitlines()

    def told(*changed: str) -> str:
        entry.write_text("\n".join([*changed, ""]))
        block = agent.run_command(head)
        assert block.exit_code == 4
        return block.errors

    assert "/gone/python, the Python of run" in told("/gone/python", *lines[1:])
    again = f"PYTHON '{script}' --step current --run {block.run} --project '{project}'"
    assert again in told("/gone/python", *lines[1:])
    assert "/gone.py, the script of run" in told(python, "/gone.py", str(project))
    assert "/gone, the project of run" in told(python, script, "/gone")
    entry.unlink()
    unknown = agent.run_command(head)
    assert (unknown.exit_code, f"lockstep resume {block.run}" in unknown.errors) == (4, True)
    wrong = agent.run_command(head.replace(block.run, "'../../x'"))
    assert wrong.exit_code == 2
    assert agent.show(block.run).next == block.next  # the long command writes the entry again


def test_a_missing_launcher_is_written_by_the_long_command(opened: tuple[Agent, PrintedBlock], state: Path) -> None:
    agent, block = opened
    (state / "step").unlink()
    assert agent.show(block.run).next == block.next
    assert agent.follow(block, cause="c", seen=["s"], outcome="ok").step == "mend"


def test_a_moved_project_is_followed_and_a_copied_one_keeps_long_commands(
    opened: tuple[Agent, PrintedBlock], project: Path, state: Path
) -> None:
    agent, block = opened
    copy = project.with_name("copy")
    shutil.copytree(project, copy)
    other = Agent(agent.script, copy, call=Shell(copy))
    assert other.show(block.run).next.startswith(sys.executable)
    assert entry_of(state, block.run).read_text().splitlines()[2] == str(project)
    project.rename(project.with_name("away"))
    assert other.show(block.run).next == block.next
    assert entry_of(state, block.run).read_text().splitlines()[2] == str(copy)


@pytest.mark.parametrize("how", ["off", "relative", "newline", "a file"])
def test_commands_are_long_where_no_launcher_can_be(
    skill: Skill, project: Path, state: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "off":
        monkeypatch.setenv(launcher.SWITCH, "off")
    elif how == "a file":  # as a folder that cannot be written
        state.parent.mkdir()
        state.write_text("")
    else:
        monkeypatch.setenv("LOCKSTEP_STATE", {"relative": "state", "newline": f"{state}\nx"}[how])
    agent = Agent(skill(STEPS).script, project, call=Shell(project))
    block = agent.open()
    assert block.next.startswith(f"{sys.executable} {agent.script} --step next --run {block.run}")
    assert "--record-file FILE" in block.text
    assert agent.follow(block, cause=HOSTILE, seen=["s"], outcome="ok").step == "mend"


def test_plain_text_keeps_its_flags(skill: Skill, project: Path, state: Path) -> None:
    """Lines of plain text are indented, and a here-document would not end."""
    made = skill(STEPS, more='output="text"')
    block = Agent(made.script, project, call=Shell(project)).open()
    assert " 1 --record cause='FILL_cause' --record seen='FILL_seen' --outcome FILL_outcome" in block.text


def test_the_interpreter_that_calls_the_script_is_the_one_that_goes_on(
    opened: tuple[Agent, PrintedBlock], state: Path, tmp_path: Path
) -> None:
    agent, block = opened
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    command = [str(other), agent.script, "--step", "current", "--run", block.run, "--project", str(agent.project)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert entry_of(state, block.run).read_text().splitlines()[0] == str(other)


def test_runs_that_are_removed_have_no_entry(opened: tuple[Agent, PrintedBlock], state: Path) -> None:
    agent, block = opened
    agent.follow(block, cause="c", seen=["s"], outcome="fail")
    (state / "runs" / "elsewher").write_text(f"{sys.executable}\n{agent.script}\n/elsewhere\n")
    project = ["--project", str(agent.project)]
    assert CliRunner().invoke(lockstep, ["prune", "--older", "0", "--yes", *project]).exit_code == 0
    assert os.listdir(state / "runs") == ["elsewher"]


def test_a_launcher_that_is_a_link_or_an_old_one_is_replaced(
    opened: tuple[Agent, PrintedBlock], state: Path, tmp_path: Path
) -> None:
    agent, _ = opened
    text = (state / "step").read_text()
    planted = tmp_path / "planted"
    planted.write_text("#!/bin/sh\nexit 7\n")
    planted.chmod(0o700)
    (state / "step").unlink()
    (state / "step").symlink_to(planted)
    agent.open("--new")
    assert (state / "step").read_text() == text
    assert not (state / "step").is_symlink()
    newer = text.replace("Lockstep launcher 1", "Lockstep launcher 2")
    (state / "step").write_text(newer)
    agent.open("--new")
    assert (state / "step").read_text() == newer
    (state / "step").write_text("#!/bin/sh\n")
    agent.open("--new")
    assert (state / "step").read_text() == text


@pytest.mark.req("E-08")
def test_the_first_block_says_what_restores_the_launcher(opened: tuple[Agent, PrintedBlock], state: Path) -> None:
    agent, block = opened
    [notice] = block.notices
    words, _, command = notice.partition(": ")
    assert words == "If the shell does not find the program of NEXT, this prints the block again and restores it"
    assert command.split()[-4:] == ["resume", block.run, "--project", str(agent.project)]
    (state / "step").unlink()
    assert Shell(agent.project)(command).next == block.next
    assert (state / "step").is_file()
    assert agent.follow(block, cause="c", seen=["s"], outcome="ok").notices == []


def test_an_exported_skill_without_the_command_restores_it_by_its_script(
    opened: tuple[Agent, PrintedBlock], state: Path
) -> None:
    agent, block = opened
    command = CommandLine(sys.executable, agent.script, str(agent.project)).restoring(agent.state(block.run))
    assert command.startswith(f"{sys.executable} {agent.script} --step current")
    (state / "step").unlink()
    assert agent.run_command(command).next == block.next
    assert (state / "step").is_file()
