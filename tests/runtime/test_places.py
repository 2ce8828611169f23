"""The printed commands run as they stand: from any folder, for any project's path, in any locale, by any link."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.follower import Shell
from skills.lib.testing.walks import every_walk
from tests.fixtures.skill import install, source_of

PYTHON = shlex.quote(sys.executable)

NAMES = [
    "with spaces",
    'it\'s "quoted"',
    "a & b; touch pwned",
    "<NEXT>",
    "größe 大小",
    "$(touch pwned)`touch pwned`$HOME",
    "]]>",
    "*?[!]{a,b}~",
    "back\\slash",
    "-flag",
    "tab\tand\nline",
]


def script(library: Path, name: str) -> Path:
    return library / "skills" / name / "scripts" / f"{name}.py"


@pytest.mark.req("W-13")
@pytest.mark.parametrize("name", NAMES)
def test_commands_run_for_a_project_of_any_name(library: Path, tmp_path: Path, name: str) -> None:
    project = tmp_path / name
    (project / ".git").mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    agent = Agent(script(library, "tour"), project, call=Shell(elsewhere, {"LC_ALL": "C"}))
    block = agent.open(topic="why it is slow")
    assert block.exit_code == 0, block.errors
    plan = agent.follow(block, summary=name)
    assert (plan.step, plan.context["begin.summary"]) == ("plan", name)
    refused = agent.run_command(plan.next)
    assert refused.code == "unfilled"
    assert agent.run_command(refused.show).text == plan.text
    assert agent.follow(refused, mode="full").step == "dig"
    assert list(elsewhere.iterdir()) == []
    assert sorted(path.name for path in project.iterdir()) == [".git", ".lockstep"]


@pytest.mark.parametrize("name", ["with spaces", "größe & <b>'\""])
def test_commands_run_for_a_skill_of_any_place(tmp_path: Path, name: str) -> None:
    entry = install(tmp_path / name, "tour")
    project = tmp_path / "project"
    (project / ".lockstep").mkdir(parents=True)
    agent = Agent(entry, project, call=Shell("/", {"LC_ALL": "C"}))
    assert agent.follow(agent.open(topic="why"), summary="s").step == "plan"


@pytest.mark.req("W-13")
def test_the_project_is_found_from_a_folder_below(library: Path, tmp_path: Path) -> None:
    below = tmp_path / "project" / "src" / "deep"
    below.mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    block = Shell(below)(f"{PYTHON} {script(library, 'tour')} --step 1 --topic why")
    assert f"--project {tmp_path / 'project'} " in block.next
    assert (tmp_path / "project" / ".lockstep" / "runs.db").is_file()
    assert (tmp_path / "project" / ".lockstep" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "project" / ".lockstep" / "runs.db").stat().st_mode & 0o077 == 0


@pytest.mark.req("W-13")
def test_a_link_to_the_script_leads_to_the_script(library: Path, project: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.py"
    link.symlink_to(script(library, "tour"))
    block = Shell("/")(f"{PYTHON} {link} --step 1 --topic why --project {project}")
    assert shlex.split(block.next)[1] == str(script(library, "tour"))
    again = Shell("/")(f"{PYTHON} {script(library, 'tour')} --step 1 --topic why --project {project}")
    assert again.text == block.text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tour", "gated", "brood", "plain"])
def test_a_whole_walk_in_a_shell_is_the_walk_in_process(library: Path, project: Path, name: str) -> None:
    agent = Agent(script(library, name), project, call=Shell("/", {"LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"}))
    [walk] = every_walk(agent.workflow)[-1:]
    taken = agent.play(walk)
    assert [(one.step, one.target) for one in taken] == [(leg.step, leg.target) for leg in walk.legs]


@pytest.mark.slow
def test_without_bytecode_nothing_is_written_beside_the_skill(tmp_path: Path, project: Path) -> None:
    entry = install(tmp_path, "tour")
    before = sorted(path.name for path in entry.parent.iterdir())
    cache = tmp_path / "cache"
    shell = Shell("/", {"PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(cache)})
    block = shell(f"{PYTHON} {entry} --step 1 --topic why --project {project}")
    assert block.exit_code == 0, block.errors
    assert sorted(path.name for path in entry.parent.iterdir()) == before
    assert any((cache / "lockstep" / "bytecode").rglob("tour_workflow*.pyc"))


def test_a_reader_that_goes_away_is_no_error(library: Path, project: Path) -> None:
    command = f"{PYTHON} {script(library, 'tour')} --step 1 --topic why --project {project}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {{ {command}; echo code $? >&2; }} | true"], capture_output=True, timeout=30
    )
    assert done.stderr.decode().splitlines()[-1] in ("code 0", "code 141"), done.stderr
    assert b"Traceback" not in done.stderr
    assert Agent(script(library, "tour"), project).open(topic="why").turn == 1


def test_no_output_at_all_is_no_traceback(library: Path, project: Path) -> None:
    command = f"{PYTHON} {script(library, 'tour')} --step 1 --topic why --project {project} >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=30)
    assert (done.returncode, done.stderr.count(b"standard output cannot be written: it is closed")) == (4, 1)


def test_a_full_output_is_reported(library: Path, project: Path) -> None:
    command = f"{PYTHON} {script(library, 'tour')} --step 1 --topic why --project {project} >/dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=30)
    assert done.returncode == 4
    assert done.stderr.startswith(b"lockstep: standard output cannot be written: No space left on device\n")


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_in_a_check_is_130_and_leaves_nothing_running(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("one", "One", "Do.", {Outcome.OK: None},'
        ' requires=[Command(["sh", "-c", "echo $$ > pid; sleep 60"], 50)])'
    )
    agent = Agent(install(tmp_path, "slow", source_of("slow", steps)), project)
    block = agent.open()
    process = subprocess.Popen(
        ["bash", "-c", f"exec {block.next}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    pid = project / "pid"
    deadline = time.monotonic() + 20
    while not (pid.exists() and pid.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    shown = agent.run_command(block.next.partition(" --turn")[0].replace("done", "current") + f" --project {project}")
    assert shown.text == block.text


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_a_check_is_being_started_leaves_nothing_running(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("one", "One", "Do.", {Outcome.OK: None},'
        ' requires=[Command(["sh", "-c", "echo $$ > pid; kill -INT $PPID; sleep 60"], 50)])'
    )
    agent = Agent(install(tmp_path, "slow", source_of("slow", steps)), project)
    block = agent.open()
    for _ in range(6):
        done = subprocess.run(["bash", "-c", f"exec {block.next}"], capture_output=True, timeout=20)
        assert (done.returncode, done.stdout) == (130, b"")
        with pytest.raises(ProcessLookupError):
            os.kill(int((project / "pid").read_text()), 0)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("delay", [0.0, 0.005, 0.01, 0.02, 0.03])
def test_an_interrupt_at_any_time_is_no_traceback(library: Path, project: Path, delay: float) -> None:
    arguments = [
        sys.executable,
        str(script(library, "tour")),
        "--step",
        "1",
        "--topic",
        "why",
        "--project",
        str(project),
    ]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    # Until the script's head has handed over, the interpreter speaks for itself.
    ours = b"/skills/lib/" in err
    assert process.returncode in ((0, 130) if ours else (0, 1, 130, -signal.SIGINT)), err
    assert not (ours and b"Traceback" in err), err
    assert out == b"" or PrintedBlock(0, out.decode()).step == "begin"


def test_a_project_that_moved_goes_on(library: Path, tmp_path: Path) -> None:
    project = tmp_path / "before"
    (project / ".lockstep").mkdir(parents=True)
    agent = Agent(script(library, "tour"), project)
    block = agent.open(topic="why")
    project.rename(tmp_path / "after")
    agent.project = tmp_path / "after"
    command = filled(block.next, {"summary": "s"}).replace(str(project), str(agent.project))
    plan = agent.run_command(command)
    assert plan.step == "plan"
    assert f"--project {agent.project} " in plan.next
    assert not project.exists()


def test_a_skill_that_moved_goes_on(tmp_path: Path, project: Path) -> None:
    before = install(tmp_path / "before", "tour")
    agent = Agent(before, project)
    plan = agent.follow(agent.open(topic="why"), summary="s")
    (tmp_path / "before").rename(tmp_path / "after")
    after = tmp_path / "after" / before.relative_to(tmp_path / "before")
    dig = agent.run_command(filled(plan.next, {"mode": "full"}).replace(str(before), str(after)))
    assert dig.step == "dig"
    assert shlex.split(dig.next)[1] == str(after)
    assert agent.follow(dig, confidence="high").step == "choose"


def test_a_project_that_is_the_ledger_s_folder_is_not_ignored_as_a_whole(library: Path, project: Path) -> None:
    (project / "README").write_text("a project\n", encoding="utf-8")
    shell = Shell("/", {"LOCKSTEP_HOME": "."})
    block = shell(f"{PYTHON} {script(library, 'tour')} --step 1 --topic why --project {project}")
    assert (block.step, (project / "runs.db").is_file()) == ("begin", True)
    assert not (project / ".gitignore").exists()


def test_a_relative_home_stands_in_the_project(library: Path, project: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"LOCKSTEP_HOME": "records"})
    block = shell(f"{PYTHON} {script(library, 'tour')} --step 1 --topic why --project {project}")
    assert (project / "records" / "runs.db").is_file()
    shell.folder = "/"
    assert shell(filled(block.next, {"summary": "s"})).step == "plan"
