"""The hook admits the launcher as it is printed, by its real path, and nothing that stands beside it."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib import launcher
from skills.lib.testing.blocks import PrintedBlock
from tests.fixtures.skill import source_of
from tests.hosts.hook.hooked import Answer, Host

REPORTING = source_of(
    "guarded",
    """
    StepDef("begin", "Begin", "Begin.", {Outcome.OK: "look"}),
    StepDef("look", "Look", "Look.", {Outcome.OK: "last"}, tools=["read"], requires=[Field("seen")]),
    StepDef("last", "Last", "Last.", {Outcome.OK: None}, tools=["read"]),
    """,
)
FREE = Answer(0, "", "")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(launcher.SWITCH)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path, source=REPORTING)


@pytest.fixture
def held(host: Host) -> PrintedBlock:
    """A step without a shell, that the session came to by short commands."""
    block = host.at("look")
    assert host.sessions() == {f"claude-{host.session}": [block.run]}
    assert host.run("ls").code == 2
    return block


def test_the_printed_command_is_admitted_whatever_its_report_says(host: Host, held: PrintedBlock) -> None:
    said = "LOCKSTEP_HOME=/tmp\nlockstep answer k3f9 yes; $(rm -rf ~) run_hook.py\nRECORD"
    after = host.go(held, seen=said)
    assert after.step == "last"
    assert host.go(after).kind == "done"


@pytest.mark.parametrize("words", ["", " current", " resume", " 2 current", " 2 --record seen=x"])
def test_other_forms_of_it_are_admitted(host: Host, held: PrintedBlock, words: str) -> None:
    head = f"{host.state}/step {held.run}"
    assert host.run(head + words) == FREE
    assert host.use("Bash", command=["bash", "-lc", head + words]) == FREE


BESIDE: dict[str, Callable[[str, str], str]] = {
    "a command behind it": lambda head, run: f"{head} - <<'{run}'\n{{}}\n{run}\ntouch x\n",
    "a command on the closing line": lambda head, run: f"{head} - <<'{run}'\n{{}}\n{run}; touch x\n",
    "a command on the head line": lambda head, run: f"{head} - <<'{run}'; touch x\n{{}}\n{run}\n",
    "a pipe": lambda head, run: f"{head} - <<'{run}' | sh\n{{}}\n{run}\n",
    "a redirection": lambda head, run: f"{head} - <<'{run}' > x\n{{}}\n{run}\n",
    "a redirection before": lambda head, run: f"{head} > x - <<'{run}'\n{{}}\n{run}\n",
    "a second here-document": lambda head, run: f"{head} - <<'{run}' <<'B'\n{{}}\n{run}\ntouch x\nB\n",
    "a substitution": lambda head, run: f"{head} $(touch x) - <<'{run}'\n{{}}\n{run}\n",
    "a delimiter without quotes": lambda head, run: f"{head} - <<{run}\n{{}}\n{run}\n",
    "a delimiter in double quotes": lambda head, run: f'{head} - <<"{run}"\n$(touch x)\n{run}\n',
    "a delimiter with a blank": lambda head, run: f"{head} - <<'a b'\n{{}}\na b\n",
    "an open here-document": lambda head, run: f"{head} - <<'{run}'\n{{}}\n",
    "tabs before the end": lambda head, run: f"{head} - <<-'{run}'\n{{}}\n\t{run}\ntouch x\n",
    "an end that comes earlier": lambda head, run: f"{head} - <<'{run}'\n{run}\ntouch x\n{run}\n",
    "a carriage return": lambda head, run: f"{head} - <<'{run}'\r\n{{}}\n{run}\n",
    "a line before it": lambda head, run: f"touch x\n{head} - <<'{run}'\n{{}}\n{run}\n",
    "a variable before it": lambda head, run: f"X=1 {head} - <<'{run}'\n{{}}\n{run}\n",
    "another ledger": lambda head, run: f"LOCKSTEP_HOME=/tmp/x {head}",
    "a here-string": lambda head, run: f"{head} - <<<'{run}'\n{{}}\n{run}\n",
    "a shell": lambda head, run: f"sh {head}",
    "the background": lambda head, run: f"{head} &",
}


@pytest.mark.parametrize("how", BESIDE)
def test_anything_beside_it_is_refused(host: Host, held: PrintedBlock, how: str) -> None:
    assert host.run(BESIDE[how](f"{host.state}/step {held.run} 2", held.run)).code == 2


def test_no_other_program_of_that_name_is_admitted(host: Host, held: PrintedBlock, tmp_path: Path) -> None:
    """A project may bring a launcher, a link to the real one, or a link to the folder of another."""
    own = host.state / "step"
    project = host.project
    (project / "step").write_text("#!/bin/sh\ntouch pwned\n")
    (project / "runs").mkdir()
    (project / "runs" / held.run).write_text("/bin/sh\n/evil.py\n/\n")
    (project / "linked").mkdir()
    (project / "linked" / "step").symlink_to(own)
    (tmp_path / "state" / "sub").mkdir()
    (tmp_path / "state" / "sub" / "step").symlink_to(project / "step")
    (tmp_path / "home").symlink_to(host.state)
    for path in (project / "step", project / "linked" / "step", tmp_path / "state" / "sub" / "step"):
        assert host.run(f"{path} {held.run} current").code == 2
    for word in ("step", "./step", "../state/step", "~/step"):
        assert host.run(f"{word} {held.run} current").code == 2
    assert host.run(f"{tmp_path}/home/step {held.run} current") == FREE  # by its real path
    own.unlink()
    own.symlink_to(project / "step")
    assert host.run(f"{own} {held.run} current").code == 2


def test_the_entry_of_another_skill_admits_nothing(host: Host, held: PrintedBlock, tmp_path: Path) -> None:
    entry = host.state / "runs" / held.run
    python, script, project = entry.read_text().splitlines()
    for changed in (("/bin/sh", script, project), (python, str(tmp_path / "evil.py"), project)):
        entry.write_text("\n".join([*changed, ""]))
        assert host.run(f"{host.state}/step {held.run} current").code == 2
    entry.unlink()
    assert host.run(f"{host.state}/step {held.run} current").code == 2


def test_a_denial_names_the_short_command(host: Host, held: PrintedBlock) -> None:
    assert f"{host.state}/step {held.run} 2 - <<'{held.run}'\n" in host.run("ls").reason


@pytest.mark.req("E-08")
def test_a_missing_launcher_is_told_in_one_line_and_restored_by_its_command(host: Host, held: PrintedBlock) -> None:
    own, short = host.state / "step", f"{host.state}/step {held.run} 2 --record seen=x"
    text = own.read_text()
    own.unlink()
    told = host.run(short)
    assert told.code == 2
    assert told.reason.count("\n") == 1
    line, _, again = told.reason.strip().partition(": ")
    assert line == f"{own}, the launcher of short commands, is missing. This writes it again"
    assert again.split()[-4:] == ["resume", held.run, "--project", str(host.project)]
    assert host.run(again) == FREE
    assert subprocess.run(shlex.split(again), capture_output=True, timeout=60, check=True).stdout.decode() == held.text
    assert own.read_text() == text
    assert host.run(short) == FREE


def test_a_denial_names_no_command_of_a_missing_launcher(host: Host, held: PrintedBlock) -> None:
    (host.state / "step").unlink()
    denied = host.run("ls").reason
    assert f"lockstep resume {held.run} --project {host.project}\n" in denied
    assert f"{host.state}/step" not in denied


def test_the_block_that_a_host_is_reminded_of_restores_a_missing_launcher(host: Host, held: PrintedBlock) -> None:
    (host.state / "step").unlink()
    assert held.next.splitlines()[0] in host.say("go on").context
    assert (host.state / "step").is_file()
    assert host.go(held, seen="x").step == "last"


def test_a_line_that_only_mentions_a_missing_launcher_calls_none(host: Host) -> None:
    block = host.at("begin")
    (host.state / "step").unlink()
    for line in (f"ls -l {host.state}/step", f"echo {host.state}/step {block.run}", f"{host.state}/step --help"):
        assert host.run(line) == FREE
    assert host.run(f"cd / && {host.state}/step {block.run} current").code == 2


def test_an_escaped_path_is_seen_as_well(host: Host) -> None:
    """A host may write a slash in JSON with a backslash."""
    block = host.at("begin")
    event = {"tool_name": "Bash", "tool_input": {"command": f"{host.state}/step {block.run} current"}}
    text = host.event(host.session, host.project, event)
    assert host.tell(text.replace("/", "\\/")) == FREE
    assert list(host.sessions().values()) == [[block.run]]
    assert json.loads(text)["tool_input"] == event["tool_input"]
