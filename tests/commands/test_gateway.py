from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skills.lib.gateway import consent
from tests.commands.conftest import Command

pytestmark = pytest.mark.req("P-07", "P-08")

ROOT = Path(__file__).resolve().parent.parent.parent
FILE = "commands:\n  stop: {about: Fail., argv: ['{python}', -c, 'import sys; print(1); sys.exit(9)']}\n"


@pytest.fixture
def files(project: Path) -> Path:
    (project / "docs").mkdir()
    (project / "docs" / "a.md").write_text("text \x1b[31m\n", encoding="utf-8")
    (project / "scripts").mkdir()
    code = "import sys, os\nprint(sys.argv[1:], os.environ.get('TZ'), sys.stdin.read())\n"
    (project / "scripts" / "show.py").write_text(code, encoding="utf-8")
    return project


def test_a_command_runs_and_says_how_it_ended(cli: Command, files: Path) -> None:
    shown = cli("gateway", "run", "list_files", "path=docs")
    assert (shown.code, shown.out, shown.err) == (0, "a.md\n", "list_files: exit 0 after 0.0 s\n")


def test_the_output_is_cleaned_for_a_terminal_and_exact_as_json(cli: Command, files: Path) -> None:
    assert cli("gateway", "run", "read_file", "path=docs/a.md").out == "text ?[31m\n"
    data = json.loads(cli("gateway", "run", "read_file", "path=docs/a.md", "--json").out)
    assert data == {
        "command": "read_file",
        "argv": ["read_file", f"{files}/docs/a.md"],
        "exit": 0,
        "output": "text \x1b[31m\n",
        "errors": "",
        "is_cut": False,
        "printed": 11,
        "seconds": data["seconds"],
        "why": "",
    }


def test_a_dry_run_shows_the_argument_list_and_runs_nothing(cli: Command, files: Path) -> None:
    words = ("gateway", "run", "make_directory", "path=new", "--dry-run")
    assert cli(*words).out == f"'make_directory'\n'{files}/new'\n"
    assert json.loads(cli(*words, "--json").out)["argv"] == ["make_directory", f"{files}/new"]
    assert not (files / "new").exists()


def test_a_dry_run_refuses_what_a_run_would(cli: Command, files: Path) -> None:
    shown = cli("gateway", "run", "make_directory", "path=../new", "--dry-run")
    assert (shown.code, "outside of" in shown.err) == (3, True)


def test_a_key_that_is_given_again_adds_an_argument(cli: Command, files: Path) -> None:
    words = ("args=--a=b", "args=c d", "--env", "TZ=UTC", "--stdin")
    shown = cli("gateway", "run", "python_run", "script=scripts/show.py", *words, given="in")
    assert (shown.code, shown.out) == (0, "['--a=b', 'c d'] UTC in\n")


def test_a_command_that_fails_is_1_and_its_exit_code_is_told(cli: Command, files: Path) -> None:
    (files / "lockstep.gateway.yaml").write_text(FILE, encoding="utf-8")
    consent.give(str(files), FILE.encode())
    shown = cli("gateway", "run", "stop")
    assert (shown.code, shown.out) == (1, "1\n")
    assert shown.err.startswith("stop: exit 9 after ")


@pytest.mark.parametrize(
    "words, code, told",
    [
        (["run", "raed_file"], 2, "did you mean read_file?"),
        (["run", "read_file", "README.md"], 2, "'README.md' is not KEY=VALUE"),
        (["run", "list_files", "--env", "TZ"], 2, "'TZ' is not NAME=VALUE, which --env takes"),
        (["run", "read_file", "path=-x"], 3, "does not match its pattern"),
        (["run", "read_file", "path=absent"], 4, "No such file or directory"),
        (["run", "python_run", "script=scripts/show.py", "--env", "PATH=x"], 3, "takes no variable 'PATH'"),
        (["run", "python_run", "script=scripts/write_file.py", "args=README.md"], 2, "--stdin < FILE"),
        (["trust"], 2, "has no lockstep.gateway.yaml"),
    ],
)
def test_what_does_not_run_is_told(cli: Command, files: Path, words: list[str], code: int, told: str) -> None:
    shown = cli("gateway", *words)
    assert (shown.code, shown.out) == (code, "")
    assert told in shown.err


def test_a_closed_standard_input_is_told(files: Path) -> None:
    words = ("gateway", "run", "python_run", "script=scripts/show.py", "--stdin")
    command = shlex.join([sys.executable, "-P", "-m", "lockstep", *words]) + " <&-"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=files, timeout=60)
    assert (found.returncode, found.stdout) == (4, "")
    assert "standard input is closed" in found.stderr


def test_an_agent_names_no_other_project(cli: Command, files: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("x", encoding="utf-8")
    refused = cli("gateway", "run", "read_file", "path=a.txt", "--project", str(other))
    assert (refused.code, refused.out) == (3, "")
    assert f"{other} is not the project of the working directory, which is {files}" in refused.err
    assert cli("gateway", "run", "list_files", "path=docs", "--project", str(files)).out == "a.md\n"


def test_the_commands_are_listed_with_their_parameters(cli: Command, files: Path) -> None:
    shown = cli("gateway", "list")
    copies = "copy_file       source destination  Copy a file of up to 1 GB to another path, or into a folder.\n"
    assert copies in shown.out
    data = json.loads(cli("gateway", "list", "--json").out)
    assert data["trusted"] is True
    assert data["commands"][1]["command"] == "read_file"
    assert data["commands"][1]["parameters"]["path"]["required"] is True


def test_a_file_without_consent_is_told(cli: Command, files: Path) -> None:
    (files / "lockstep.gateway.yaml").write_text(FILE, encoding="utf-8")
    shown = cli("gateway", "list")
    assert "stop" not in shown.out
    assert "lockstep gateway trust" in shown.err
    refused = cli("gateway", "trust")
    assert (refused.code, "is a person's: standard input is not a terminal" in refused.err) == (3, True)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_that_runs_too(files: Path, number: signal.Signals) -> None:
    (files / "scripts" / "wait.py").write_text(
        "import os, sys, time\nopen('docs/pid.tmp', 'w').write(str(os.getpid()))\n"
        "os.rename('docs/pid.tmp', 'docs/pid')\ntime.sleep(60)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "skills", "gateway", "run", "python_run", "script=scripts/wait.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(command, cwd=files, env=environment, stderr=subprocess.DEVNULL)
    noted = files / "docs" / "pid"
    until = time.monotonic() + 30
    while not noted.exists() and time.monotonic() < until:
        time.sleep(0.05)
    pid = int(noted.read_text(encoding="utf-8"))
    running.send_signal(number)
    assert running.wait(30) == 128 + number
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
