"""A command ends at its limits with everything that it has started, and its output is bounded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skills.lib.errors import EnvironmentProblem, RefusedError, UsageError
from skills.lib.gateway import safe_py_runner
from skills.lib.gateway.processes import limited, run
from skills.lib.gateway.specs import Limits
from tests.gateway.conftest import Setup

pytestmark = pytest.mark.req("P-07")


def script(setup: Setup, text: str, name: str = "job.py") -> str:
    (setup.project / "scripts" / name).write_text(text, encoding="utf-8")
    return f"scripts/{name}"


def with_limits(setup: Setup, limits: str, suffix: str = ".py") -> None:
    setup.trust(f"runners: {{{suffix}: {{limits: {{{limits}}}}}}}\n")


def is_alive(pid: int) -> bool:
    """True if a process is still there after two seconds: one that is killed takes a moment to end."""
    until = time.monotonic() + 2
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return runs(pid)


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def test_a_script_runs_in_the_project_with_its_arguments_and_input(setup: Setup) -> None:
    name = script(setup, "import os, sys\nprint(os.getcwd(), sys.argv[1:], sys.stdin.read())\nsys.exit(7)\n")
    result = safe_py_runner(name, ["a b", "--c=d"], stdin_text="häl\nlo")
    assert (result.command, result.exit, result.ok, result.errors) == ("python_run", 7, False, "")
    assert result.output == f"{setup.project} ['a b', '--c=d'] häl\nlo\n"


def test_ten_megabytes_of_output_are_read_and_both_ends_kept(setup: Setup) -> None:
    name = script(setup, "import sys\nsys.stdout.write('first\\n' + 'x' * 10_000_000 + '\\nlast')\n")
    result = safe_py_runner(name)
    assert (result.exit, result.is_cut, result.printed) == (0, True, 10_000_011)
    assert result.output.startswith("first\nxxx")
    assert result.output.endswith("xxx\nlast")
    assert "\n[9,900,011 bytes are left out here]\n" in result.output
    assert len(result.output) < 100_100


def test_output_without_end_is_ended_at_the_time_limit(setup: Setup) -> None:
    with_limits(setup, "seconds: 2, output: 1k")
    name = script(setup, "while True: print('y' * 1000)\n")
    begin = time.monotonic()
    result = safe_py_runner(name)
    assert (result.exit, result.is_cut, len(result.output) < 1_100) == (None, True, True)
    assert time.monotonic() - begin < 20
    assert "ended at its time limit" in result.ending()


def test_a_script_that_sleeps_is_ended_and_what_it_printed_is_kept(setup: Setup) -> None:
    with_limits(setup, "seconds: 2")
    name = script(setup, "import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    result = safe_py_runner(name)
    assert (result.exit, result.output) == (None, "begun\n")
    assert 1.9 < result.seconds < 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a process that left its group is found by /proc")
@pytest.mark.parametrize("session", [False, True])
def test_nothing_that_a_script_has_started_is_left(setup: Setup, session: bool) -> None:
    name = script(
        setup,
        "import subprocess, sys\n"
        f"one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session={session})\n"
        "print(one.pid)\n",
    )
    begin = time.monotonic()
    result = safe_py_runner(name)
    assert (result.exit, is_alive(int(result.output))) == (0, False)
    assert time.monotonic() - begin < 30  # the one that is left holds the output open


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a process that left its group is found by /proc")
def test_many_processes_that_start_others_are_all_ended(setup: Setup) -> None:
    name = script(
        setup,
        "import os, time\n"
        "leader = os.getpid()\n"
        "begun, tell = os.pipe()\n"
        "for _ in range(5):\n"  # 32 processes, each in a session of its own
        "    if os.fork() == 0: os.setsid()\n"
        "print(os.getpid(), flush=True)\n"
        "if os.getpid() == leader:\n"
        "    count = 0\n"
        "    while count < 31: count += len(os.read(begun, 31))\n"
        "else:\n"
        "    os.write(tell, b'x')\n"
        "    time.sleep(60)\n",
    )
    result = safe_py_runner(name)
    pids = [int(word) for word in result.output.split()]
    assert (result.exit, len(pids)) == (0, 32)
    assert [pid for pid in pids if is_alive(pid)] == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system counts a user's processes in /proc")
def test_the_number_of_processes_is_bounded_for_all_users_but_root() -> None:
    python = sys.executable if os.getuid() else "/usr/bin/python3"  # another user may not run that of root
    code = (
        "import os, sys, time\nmade = 0\n"
        "for _ in range(60):\n"
        "    try: pid = os.fork()\n"
        "    except OSError: break\n"
        "    if pid == 0: time.sleep(20)\n"
        "    made += 1\n"
        "print(made, flush=True)\n"
        "os.killpg(0, 9)\n"
    )
    words = limited([python, "-I", "-c", code], Limits(seconds=9, output=1_000, processes=20))
    user = None if os.getuid() else 64_321
    try:
        done = subprocess.run(
            [python, *words[1:]], capture_output=True, text=True, timeout=30, start_new_session=True, user=user, cwd="/"
        )
    except OSError as error:
        pytest.skip(f"another user may not run {python}: {error}")
    if "Permission denied" in done.stderr:
        pytest.skip("another user may not read this file of limits")
    assert 10 < int(done.stdout) <= 20, done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux bounds what a process writes to")
def test_memory_is_bounded(setup: Setup) -> None:
    with_limits(setup, "memory: 200M")
    name = script(setup, "data = bytearray(400_000_000)\nprint(len(data))\n")
    result = safe_py_runner(name)
    assert (result.exit, result.output) == (1, "")
    assert "MemoryError" in result.errors
    assert safe_py_runner(script(setup, "data = bytearray(50_000_000)\nprint(len(data))\n")).output == "50000000\n"


def test_the_time_of_the_processor_is_bounded(setup: Setup) -> None:
    with_limits(setup, "cpu: 1, seconds: 60")
    result = safe_py_runner(script(setup, "while True: pass\n"))
    assert result.exit is not None
    assert result.exit < 0


def test_node_runs_under_a_limit_of_memory(setup: Setup) -> None:
    with_limits(setup, "memory: 512M", ".js")
    result = setup.gateway.run("script_run", {"script": "scripts/echo.js", "args": ["a"]})
    assert (result.exit, json.loads(result.output)[0]) == (0, ["a"])


def test_a_script_gets_no_variable_that_nobody_listed(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "PYTHONPATH", "LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "LOCKSTEP_HOME"):
        monkeypatch.setenv(name, "/nowhere/at/all" if name != "LD_PRELOAD" else "")
    result = safe_py_runner("skills/x/run.py", env_vars={"SKILL_OUTPUT": "viz.html"})
    environment = json.loads(result.output)[2]
    assert environment["SKILL_OUTPUT"] == "viz.html"
    assert environment["SKILL_DIR"] == str(setup.project / "skills" / "x")
    assert environment["NO_COLOR"] == "1"
    assert not {"API_KEY", "PYTHONPATH", "LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "LOCKSTEP_HOME"} & set(environment)


@pytest.mark.parametrize(
    "name", ["PYTHONPATH", "LD_PRELOAD", "PATH", "NODE_OPTIONS", "BASH_ENV", "HOME", "API_KEY", ""]
)
def test_a_variable_that_is_not_listed_is_refused(setup: Setup, name: str) -> None:
    with pytest.raises(RefusedError, match="takes no variable") as caught:
        safe_py_runner("scripts/echo.py", env_vars={name: "x"})
    assert caught.value.valid == "LANG, LC_ALL, TZ, NO_COLOR, COLUMNS, SKILL_INPUT, SKILL_OUTPUT, SKILL_STEP"


def test_a_project_lists_variables_and_passes_some_on(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_DB", "db")
    setup.trust("runners: {.py: {env_vars: [COURSE_ID], inherit: [COURSE_DB], env: {MODE: strict}}}\n")
    result = safe_py_runner("scripts/echo.py", env_vars={"COURSE_ID": "7", "TZ": "UTC"})
    environment = json.loads(result.output)[2]
    assert [environment[name] for name in ("COURSE_ID", "COURSE_DB", "MODE", "TZ")] == ["7", "db", "strict", "UTC"]


@pytest.mark.parametrize(
    "name, error",
    [
        ("echo.py", RefusedError),
        ("../around/x.py", RefusedError),
        ("docs/x.py", RefusedError),
        ("skills/run.py", RefusedError),
        ("skills/x/tmp/run.py", RefusedError),
        ("skills/x/TMP/run.py", RefusedError),
        ("out/x.py", RefusedError),
        ("scripts/link.py", RefusedError),
        ("/etc/x.py", RefusedError),
        ("scripts/echo.js", RefusedError),
        ("scripts/absent.py", UsageError),
        ("scripts", RefusedError),
    ],
)
def test_a_script_elsewhere_is_not_run(setup: Setup, name: str, error: type[Exception]) -> None:
    for place in ("docs/x.py", "skills/run.py", "skills/x/tmp/run.py", "skills/x/TMP/run.py"):
        (setup.project / place).parent.mkdir(parents=True, exist_ok=True)
        (setup.project / place).write_text("open('ran', 'w')\n", encoding="utf-8")
    (setup.around / "around" / "x.py").write_text("open('ran', 'w')\n", encoding="utf-8")
    (setup.project / "scripts" / "link.py").symlink_to(setup.around / "around" / "x.py")
    with pytest.raises(error):
        safe_py_runner(name)
    assert not (setup.project / "ran").exists()


def test_a_script_in_a_folder_of_a_skill_is_found_with_either_separator(setup: Setup) -> None:
    assert safe_py_runner("skills\\x\\run.py").ok
    assert safe_py_runner("skills/x/run.py").ok


def test_a_suffix_without_a_runner_is_refused(setup: Setup) -> None:
    script(setup, "puts 1\n", "job.rb")
    with pytest.raises(UsageError, match=r"no runner is for \.rb") as caught:
        setup.gateway.run("script_run", {"script": "scripts/job.rb"})
    assert caught.value.valid == ".py, .js, .sh"


def test_the_sandbox_stands_before_the_program(setup: Setup) -> None:
    (setup.around / "around" / "bin").mkdir()
    box = setup.around / "around" / "bin" / "box"
    box.write_text('#!/bin/sh\necho "boxed $1"\nshift\nexec "$@"\n', encoding="utf-8")
    box.chmod(0o755)
    name = script(setup, "print('inside')\n")
    words = f"sandbox: ['{box}', '--in={{project}}']"
    for text in (f"runners: {{.py: {{{words}}}}}\n", f"{words}\n"):
        setup.trust(text)
        assert safe_py_runner(name).output == f"boxed --in={setup.project}\ninside\n"
    setup.trust(f"{words}\nrunners: {{.py: {{sandbox: []}}}}\n")
    assert safe_py_runner(name).output == "inside\n"
    words = "['{python}', scripts/job.py]"
    assert setup.trust(f"commands: {{own: {{argv: {words}, sandbox: ['{box}', x]}}}}\n").run("own", {}).output == (
        "boxed x\ninside\n"
    )


def test_a_program_that_is_missing_is_an_error_with_a_remedy(setup: Setup) -> None:
    gateway = setup.trust("commands: {lint: {argv: [no-such-linter]}}\n")
    with pytest.raises(EnvironmentProblem, match="no-such-linter is not found on PATH"):
        gateway.run("lint", {})


def test_a_runner_takes_no_interpreter_from_the_project(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = setup.project / "bin"
    planted.mkdir()
    (planted / "sh").write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    (planted / "sh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{planted}:bin:{os.environ['PATH']}")
    assert setup.gateway.run("script_run", {"script": "scripts/echo.sh", "args": ["x"]}).output == "x\0"
    assert not (setup.project / "ran").exists()
    setup.trust("runners: {.sh: {argv: [bin/sh, '{script}']}}\n")  # which a person may name
    assert setup.gateway.run("script_run", {"script": "scripts/echo.sh"}).ok
    assert (setup.project / "ran").exists()
    with pytest.raises(RefusedError, match="has programs that run"):
        setup.gateway.run("copy_file", {"source": "README.md", "destination": "bin/sh"})


def test_a_process_that_ended_leaves_no_note_and_its_own_exit_code(setup: Setup) -> None:
    state = Path(os.environ["XDG_STATE_HOME"]) / "lockstep" / "commands"
    before = set(state.iterdir()) if state.exists() else set()
    ended = run([sys.executable, "-c", "raise SystemExit(3)"], ".", dict(os.environ), Limits(9, 1_000), b"", ".")
    assert (ended.exit, ended.output, ended.is_cut) == (3, b"", False)
    assert (set(state.iterdir()) if state.exists() else set()) == before
