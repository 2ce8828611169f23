"""``shell`` runs programs without a shell, within limits, and leaves nothing running."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from skills.lib.agent.tools import supervisor
from skills.lib.agent.tools.command_lines import read_line
from skills.lib.errors import UsageError
from skills.lib.gateway.processes import run as run_limited
from skills.lib.gateway.specs import Limits
from tests.agent.tools.conftest import Session, is_alive

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux shows the processes of others")

BOMB = Limits(seconds=40, output=20_000, processes=20)


def run(session: Session, command: str, **more: int) -> tuple[int | None, str, str]:
    data = session.result("shell", command=command, **more).data
    return data["exit"], data["output"], data["errors"]


def test_a_command_runs_in_the_project_and_its_ending_is_told(session: Session) -> None:
    assert run(session, "pwd") == (0, f"{session.project}\n", "")
    code, output, errors = run(session, "ls /nowhere")
    assert (code, output) == (2, "")
    assert "/nowhere" in errors
    text = session.call("shell", command="sh -c 'echo a; echo b >&2; exit 3'")
    assert text.startswith("a\nb\n[exit 3 after ")


@pytest.mark.parametrize(
    "command, output",
    [
        ("cat src/a.py | grep def | wc -l", "2\n"),
        ("yes | head -2", "y\ny\n"),
        ("echo 'a | b' \"c > d\" e\\ f", "a | b c > d e f\n"),
        ("echo src/*.py", "src/a.py\n"),
        ("echo '*.py' \"$\"", "*.py $\n"),
        ("sh -c 'echo lost >&2; echo kept' 2>/dev/null", "kept\n"),
        ("sh -c 'echo one >&2' 2>&1 | cat", "one\n"),
        ("sh -c 'echo one >&2' |& cat", "one\n"),
        ("cat < README.md", "# Readme\n"),
        ("cat README.md - # a comment", "# Readme\n"),
        ("env NAME=value sh -c 'echo $NAME'", "value\n"),
    ],
)
def test_pipes_quotes_patterns_and_redirections(session: Session, command: str, output: str) -> None:
    assert run(session, command) == (0, output, "")


def test_output_goes_to_files_of_the_project(session: Session) -> None:
    run(session, "echo one > out.txt")
    run(session, "echo two >> out.txt")
    assert session.text("out.txt") == "one\ntwo\n"
    run(session, "sh -c 'echo a; echo b >&2' > both.txt 2>&1")
    run(session, "sh -c 'echo a; echo b >&2' &> and.txt")
    assert (session.text("both.txt"), session.text("and.txt")) == ("a\nb\n", "a\nb\n")
    run(session, "sh -c 'echo a; echo b >&2' 2>&1 > late.txt | cat")
    assert session.text("late.txt") == "a\n"
    for target in ("../x", "/tmp/x", ".git/config", "lockstep.policy.yaml", "scripts/x"):
        assert "echo" not in session.fault("shell", command=f"echo x > {target}")
    assert "outside of" in session.fault("shell", command="cat < ../secret.txt")
    assert sorted(one.name for one in session.project.parent.iterdir()) == ["project", "secret.txt"]


def test_a_failure_before_a_pipe_is_told(session: Session) -> None:
    assert run(session, "false | true") == (0, "", "[false before the pipe: exit 1]\n")
    assert run(session, "true | false")[0] == 1


@pytest.mark.parametrize(
    "command, try_",
    [
        ("ls && ls", "call shell once for each command"),
        ("ls; ls", "call shell once for each command"),
        ("ls || ls", "call shell once for each command"),
        ("ls\nls", "call shell once for each command"),
        ("sleep 9 &", "run it without &"),
        ("echo $HOME", "write it out"),
        ("echo $(ls)", "call shell once"),
        ("echo `ls`", "call shell once"),
        ("echo {a,b}", "write it out"),
        ("echo ~/x", "write the path out"),
        ("echo ~/'a b'", "write the path out"),
        ("(ls)", "call shell once"),
        ("if true; then ls; fi", "call shell once"),
        ("FOO=1 ls", "`env FOO=1 ls`"),
        ("cat << E\nx\nE", "put the text into a file by write"),
        ("cat <<< x", "put the text into a file by write"),
        ("ls 3> x", "redirect 0, 1 or 2"),
        ("ls > *.txt", "name one file"),
        ("ls *.nothing", "quote it"),
        ("! ls", "look at the exit code"),
        ("cd src", "name paths from there"),
        ("source .venv/bin/activate", "by their paths"),
        ("export A=1", "env NAME=value PROGRAM"),
        ("no-such-program", "use another program or tool for the same"),
    ],
)
def test_what_only_a_shell_does_is_refused_with_what_to_do(session: Session, command: str, try_: str) -> None:
    message = session.fault("shell", command=command)
    assert try_ in message.partition("  try:   ")[2]


def test_a_program_that_is_not_there_is_told_with_the_nearest_name(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "measure").touch(0o755)
    monkeypatch.setenv("PATH", str(programs))
    assert "there is no program mesure on PATH; did you mean measure?" in session.fault("shell", command="mesure x")


def test_a_command_that_fails_is_told_which_file_was_probably_meant(session: Session) -> None:
    text = session.call("shell", command="cat src/b.py README.mdd")
    assert text.endswith("[there is no 'src/b.py'; did you mean src/a.py?]\n")
    assert "did you mean" not in session.call("shell", command="cat ../secret.tx /etc/passwdd")


def test_a_script_is_told_with_the_command_that_runs_it(session: Session) -> None:
    (session.project / "run.py").write_text("print(1)\n", encoding="utf-8")
    assert "`python ./run.py`" in session.fault("shell", command="./run.py")
    assert "`python run.py`" in session.fault("shell", command="run.py")


def test_a_command_that_takes_too_long_is_told_with_the_longest_time(session: Session) -> None:
    assert session.call("shell", command="sleep 9", timeout=1).endswith("[give it longer: timeout=600 is the most]\n")


@pytest.mark.parametrize("command", [" ", "'", "> x", "|", "ls |", "| ls", "&& ls", "echo \\", "[[ a ]]", "\0"])
def test_what_is_no_command_is_refused(session: Session, command: str) -> None:
    assert session.fault("shell", command=command)


def test_a_name_that_begins_with_a_dash_is_no_option(session: Session) -> None:
    (session.project / "-n").touch()
    assert run(session, "echo -*") != (0, "", "")
    assert run(session, "echo *") == (0, "./-n README.md src\n", "")


@settings(max_examples=300, deadline=None)
@given(
    words=st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs", "Cc", "Zs"])), min_size=1)
)
@example(words=["", "a b", "'", '"', "\\", "$x", "`", "*", "~", "{a,b}", "!x", "#", "<>|&;()"])
def test_quoted_words_reach_a_program_as_they_are(words: list[str]) -> None:
    [part] = read_line("echo " + shlex.join(words), "/")
    assert part.argv == ("echo", *words)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=150, deadline=None)
@given(line=st.text(st.sampled_from("ab \t'\"\\$#~{},!=*?[]-./%:"), max_size=14))
def test_what_is_accepted_is_what_bash_makes_of_it(line: str) -> None:
    """If a line is taken for one command, its words are those that bash gives the program.

    In NAME=~, bash alone puts a home folder.
    """
    assume("=~" not in line and ":~" not in line)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a", "ab", "b.a"):
            Path(folder, name).touch()
        try:
            parts = read_line(f"show {line}", folder)
        except UsageError:
            return
        script = f'show() {{ for word in "$@"; do printf \'%s\\0\' "$word"; done; }}\nshow {line}\n'
        done = subprocess.run(
            ["bash", "--norc", "-c", script],
            cwd=folder,
            capture_output=True,
            timeout=30,
            check=False,
            env={"HOME": "/h"},
        )
    [part] = parts
    words = done.stdout.decode().split("\0")[:-1]
    assert [word.removeprefix("./") for word in part.argv[1:]] == [one.removeprefix("./") for one in words]


def test_a_program_gets_few_variables_and_knows_that_an_agent_runs_it(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("COURSE_ID", "7")
    assert run(session, "printenv OPENAI_API_KEY")[:2] == (1, "")
    assert run(session, "printenv LOCKSTEP_AGENT")[:2] == (0, "1\n")
    assert run(session, "printenv COURSE_ID")[0] == 1
    assert run(Session(session.project, inherit=["COURSE_ID"]), "printenv COURSE_ID") == (0, "7\n", "")


def test_standard_input_is_empty(session: Session) -> None:
    assert run(session, "cat") == (0, "", "")


def test_output_is_cut_in_the_middle(session: Session) -> None:
    text = session.call("shell", command=f"{sys.executable} -c \"print('first' + 'x' * 10_000_000 + 'last')\"")
    assert text.startswith("firstxxx")
    assert "bytes are left out here]" in text
    assert "10,000,010 bytes were printed" in text
    assert len(text) < 21_000


@pytest.mark.slow
def test_a_gigabyte_of_output_is_read_in_bounded_memory(session: Session) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code, output, _ = run(session, "head -c 1000000000 /dev/zero")
    assert (code, len(output) < 21_000) == (0, True)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_at_its_time_limit_a_command_ends(session: Session) -> None:
    result = session.result("shell", command="sleep 60", timeout=1)
    assert result.data["exit"] is None
    assert result.text.startswith("[ended at its time limit after ")


@LINUX
@pytest.mark.slow
def test_at_its_time_limit_a_command_ends_with_all_that_it_started(session: Session) -> None:
    (session.project / "job.py").write_text(
        "import os, time\nif os.fork() == 0: os.setsid()\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n",
        encoding="utf-8",
    )
    begin = time.monotonic()
    result = session.result("shell", command=f"{sys.executable} job.py | cat", timeout=8)
    assert result.data["exit"] is None
    assert time.monotonic() - begin < 20
    pids = [int(word) for word in result.data["output"].split()]
    assert len(pids) == 2
    assert [pid for pid in pids if is_alive(pid)] == []


@LINUX
def test_what_is_left_in_the_background_ends_with_the_command(session: Session) -> None:
    code, output, _ = run(session, "sh -c 'sleep 60 & echo $!'")
    assert code == 0
    assert not is_alive(int(output))


CALLER = """
import sys
from skills.lib.agent.tools import project_tools
shell = next(one for one in project_tools(sys.argv[1]) if one.name == "shell")
try:
    shell.call({"command": sys.executable + " job.py | cat"})
except KeyboardInterrupt:
    sys.exit(130)
"""


@LINUX
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_command_dies_with_its_caller(session: Session, sign: signal.Signals) -> None:
    (session.project / "job.py").write_text(
        "import os, time\nif os.fork() == 0: os.setsid()\nopen(f'pid-{os.getpid()}', 'w').close()\ntime.sleep(60)\n",
        encoding="utf-8",
    )
    caller = subprocess.Popen([sys.executable, "-c", CALLER, str(session.project)], start_new_session=True)
    until = time.monotonic() + 30
    while len(list(session.project.glob("pid-*"))) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    pids = [int(one.name.removeprefix("pid-")) for one in session.project.glob("pid-*")]
    assert len(pids) == 2
    os.kill(caller.pid, sign)
    caller.wait(30)
    assert [pid for pid in pids if is_alive(pid)] == []


@LINUX
def test_the_processes_of_a_command_are_bounded(session: Session) -> None:
    """Linux does not hold root to it."""
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[0])"
    allowed = int(run(session, f"{sys.executable} -c '{code}'")[1])
    assert 1_000 <= allowed < 200_000


@LINUX
def test_a_bomb_of_processes_ends_at_their_limit(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "for _ in range(60):\n"
        "    try: pid = os.fork()\n"
        "    except OSError: sys.exit(9)\n"  # of anybody but root
        "    if pid == 0: time.sleep(60)\n"
        "    print(pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    begun = time.monotonic()
    ended = run_limited([sys.executable, "-c", code], str(tmp_path), dict(os.environ), BOMB, b"", str(tmp_path))
    pids = [int(word) for word in ended.output.split()]
    assert (ended.exit, ended.why) == (
        (None, "ended: it started more than 20 processes") if not os.geteuid() else (9, "")
    )
    assert time.monotonic() - begun < 30
    assert [pid for pid in pids if is_alive(pid)] == []


@LINUX
@pytest.mark.slow
def test_a_bomb_of_processes_ends_at_the_time_limit(session: Session) -> None:
    (session.project / "bomb.py").write_text(
        "import os, time\n"
        "for _ in range(7):\n"  # 128 processes, each in a session of its own
        "    if os.fork() == 0: os.setsid()\n"
        "print(os.getpid(), flush=True)\n"
        "time.sleep(60)\n",
        encoding="utf-8",
    )
    output = session.result("shell", command=f"{sys.executable} bomb.py", timeout=10).data["output"]
    pids = [int(word) for word in output.split()]
    assert len(pids) == 128
    assert [pid for pid in pids if is_alive(pid)] == []


def test_a_file_that_is_no_program_is_told(session: Session) -> None:
    script = session.project / "run.sh"
    script.write_text("echo a\n", encoding="utf-8")
    assert "./run.sh is a script, and no program" in session.fault("shell", command="./run.sh")
    script.chmod(0o755)
    code, _, errors = run(session, "./run.sh")
    assert (code, "cannot be run" in errors) == (126, True)
    script.write_text("#!/bin/sh\necho a\n", encoding="utf-8")
    assert run(session, "./run.sh") == (0, "a\n", "")


def test_hostile_names_reach_a_program_as_they_are(session: Session) -> None:
    names = [b"-rf", b"a\nb", b"$(touch x)", b"; ls", b"\xff", b"*"]
    for name in names:
        with open(os.fsencode(session.project / "src") + b"/" + name, "wb"):
            pass
    code, output, _ = run(
        session, f"{sys.executable} -c 'import os; print(sorted(map(os.fsencode, os.sys.argv[1:])))' src/*"
    )
    assert code == 0
    assert eval(output) == sorted(b"src/" + name for name in [*names, b"a.py"])


def test_a_redirection_does_not_wait_for_a_fifo(session: Session) -> None:
    os.mkfifo(session.project / "fifo")
    assert run(session, "echo a > fifo")[0] == 126


LOOKS_ALWAYS = """
import os, runpy, signal, sys

found = runpy.run_path(sys.argv[1])
found["main"].__globals__["EVERY"] = 0.0002
sys.exit(found["main"]())
"""


def test_a_look_for_the_caller_does_not_end_a_command_that_is_over() -> None:
    """The handler of a timer is gone while Python ends: a timer that still ran ended it with the signal."""
    program = shutil.which("true") or ""
    about = {"caller": os.getpid(), "strays": "", "parts": [{"argv": ["true"], "program": program, "redirections": []}]}
    given = json.dumps(about).encode()
    words = [sys.executable, "-I", "-S", "-c", LOOKS_ALWAYS, str(supervisor.__file__)]
    codes = [subprocess.run(words, input=given, timeout=30, check=False).returncode for _ in range(5)]
    assert codes == [0, 0, 0, 0, 0]
