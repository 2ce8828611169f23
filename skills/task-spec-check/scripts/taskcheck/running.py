"""Runs the commands that are to prove something, and tells from their output whether they ran a test."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import NamedTuple

from skills.lib.checks import always_passes
from skills.lib.git import kill

# How long one command may take, in seconds; how much of its output is read, and how much is kept, in characters.
SECONDS, READ, KEPT = 600.0, 2_000_000, 600
# Programs that show or change files and test nothing, and Python modules that do.
_READERS = frozenset(
    "[ awk basename busybox cat chmod cmp comm cp cut diff dirname du echo egrep fgrep file find git grep head "
    "less ln ls md5sum mkdir more mv nl od printf readlink realpath rg rm sed sha1sum sha256sum sort stat strings "
    "tac tail tee test touch tree true uniq wc which xargs xxd".split()
)
_PYTHON = re.compile(r"(?:python[\d.]*|pypy[\d.]*)(?:\.exe)?")
# Options of Python itself: what runs a module or code, and those that have a value behind them.
_RUNS = re.compile(r"-[bBdEhiIOqsSuvx]*([cm])")
_WITH_VALUE = frozenset(("-W", "-X", "--check-hash-based-pycs"))
_READING_MODULES = frozenset("py_compile compileall ast tokenize json.tool dis pydoc".split())
# Python modules that run tests, whose option -c is no code.
_RUNNERS = frozenset("coverage green nose2 pytest tox unittest".split())
_SHELLS = frozenset("bash csh dash fish ksh sh zsh cmd powershell pwsh".split())
# Options behind which a program takes code from the command line.
_INLINE = {"node": ("-e", "--eval", "-p", "--print"), "ruby": ("-e",), "perl": ("-e", "-E"), "php": ("-r",)}
_WRAPPERS = frozenset("env nice nohup setsid stdbuf sudo time timeout xvfb-run".split())
# What runners print of tests that passed: pytest, cargo, unittest, go, node, mocha, jest and vitest, rspec, phpunit,
# maven, dotnet, ctest, swift, TAP.
_PASSED = re.compile(
    r"""(?mx)
    \b[1-9]\d*\ passed\b | ^Ran\ [1-9]\d*\ tests?\b | ^ok\s+\S+\s+[\d.]+s\b | ^---\ PASS: | ^\W*\ ?pass\ [1-9]\d*$
    | \b[1-9]\d*\ passing\b | \bTests:?\s.*\b[1-9]\d*\ passed\b | \b[1-9]\d*\ examples?,\ 0\ failures
    | ^OK\ \([1-9]\d*\ tests? | ^\[?\w*\]?\s*Tests\ run:\ [1-9]\d*,\ Failures:\ 0,\ Errors:\ 0 | \bPassed:\s+[1-9]\d*
    | ^100%\ tests\ passed | \bExecuted\ [1-9]\d*\ tests?\b | ^ok\ [1-9]\d*\b
    """
)
_SKIPPED = re.compile(
    r"(?i)\b(?:[1-9]\d* (?:skipped|xfailed|xpassed|deselected|todo|pending|ignored)|skipped=[1-9]|# SKIP)|--- SKIP"
)
_EXPECTED = re.compile(r"(?i)expected failures=[1-9]")
# Exit codes of a program that could not begin: not found, not executable; for pytest wrong usage, nothing collected.
_NOT_BEGUN = frozenset((126, 127))
_NOT_BEGUN_PYTEST = frozenset((3, 4, 5))


class Ran(NamedTuple):
    """How a command ended; ``exit`` is None if it did not end in time, or could not be started."""

    argv: tuple[str, ...]
    exit: int | None
    output: str
    why: str

    @property
    def tail(self) -> str:
        """The end of the output."""
        return self.output[-KEPT:].strip()


def run(argv: list[str], seconds: float = SECONDS) -> Ran:
    """Run one command in the working directory, without a shell and without input."""
    words = tuple(argv)
    # A file, not a pipe: what the command leaves running in the background must not hold this up.
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        except (OSError, ValueError) as error:
            return Ran(words, None, "", f"cannot be run: {error}")
        why = ""
        code: int | None = None
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            why = f"did not end within {seconds:.15g} s"
        finally:
            kill(process)
            process.wait()
        output.seek(max(0, output.seek(0, 2) - READ))
        text = output.read().decode("utf-8", "replace")
    if code is not None and (code in _NOT_BEGUN or (code in _NOT_BEGUN_PYTEST and is_pytest(words))):
        why = f"ended with {code}: it ran nothing"
    if code and _names_no_module(words, text):
        why = "names no module, so it ran nothing"
    return Ran(words, code, text, why)


def _names_no_module(argv: tuple[str, ...], output: str) -> bool:
    """True if Python found no module of a name that the command gives."""
    unknown = re.findall(r"No module named '?([\w.]+)", output)
    return any(name in word.replace("/", ".") for name in unknown for word in argv)


def is_pytest(argv: tuple[str, ...]) -> bool:
    """True for a call of pytest."""
    return any(os.path.basename(word) in ("pytest", "py.test") for word in argv)


def proves_nothing(argv: list[str]) -> str:
    """Why a command shows nothing about the work, whatever it prints; empty if it may."""
    words = _unwrapped(argv)
    program = os.path.basename(words[0]) if words else ""
    if always_passes(argv):
        return "it ends with 0 whatever was done"
    if program in _SHELLS and any(re.fullmatch(r"-\w*c|/c|-Command", word) for word in words[1:]):
        return "a shell's script hides which command failed: give the command as a list of arguments"
    for at, word in enumerate(words):
        why = _inline(os.path.basename(word), words[at + 1 :])
        if why:
            return why
    if program in _READERS:
        return f"{program} only looks at files: give the place as code, file or absence"
    if os.path.isabs(words[0]) if words else False:
        return _strange_program(words[0])
    return ""


def _inline(program: str, arguments: list[str]) -> str:
    """Why an interpreter runs nothing of the project; empty if it may, or if the program is none."""
    how, module, rest = _of_python(arguments) if _PYTHON.fullmatch(program) else ("", "", [])
    if how == "m" and module in _READING_MODULES:
        return "it reads the file and runs nothing of it"
    has_code = how == "c" or (how == "m" and module not in _RUNNERS and "-c" in rest)
    if has_code or any(word in _INLINE.get(program, ()) for word in arguments):
        return "code on the command line is what the checker wrote, not what the project has"
    return ""


def _of_python(arguments: list[str]) -> tuple[str, str, list[str]]:
    """What Python is to run: ``m`` a module, ``c`` code, or a script; its name or text; and the arguments of it."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        option = _RUNS.match(arguments[at])
        if option:
            given = [arguments[at][option.end() :]] if option.end() < len(arguments[at]) else arguments[at + 1 : at + 2]
            rest = arguments[at + 1 :] if option.end() < len(arguments[at]) else arguments[at + 2 :]
            return option[1], "".join(given), rest
        at += 2 if arguments[at] in _WITH_VALUE else 1
    return "", "".join(arguments[at : at + 1]), arguments[at + 1 :]


def of_runner(argv: tuple[str, ...]) -> list[str]:
    """The words that a runner of tests is given: without Python and ``coverage run``, and the module that they run."""
    words = list(argv)
    for at, word in enumerate(argv):
        if _PYTHON.fullmatch(os.path.basename(word)):
            words = _of_python(words[at + 1 :])[2]
            break
    if "coverage" in argv and "run" in words and "-m" in words[words.index("run") :]:
        words = words[words.index("-m", words.index("run")) + 2 :]
    return words


def _strange_program(path: str) -> str:
    """Why a program that is named by its whole path is not one of the project or the system; empty if it is."""
    folder = os.path.dirname(os.path.realpath(path))
    known = [os.path.realpath(one) for one in os.environ.get("PATH", os.defpath).split(os.pathsep) if one]
    project = os.path.realpath(".")
    is_known = os.path.dirname(path) in known or folder in known or path.startswith(project + os.sep)
    return "" if is_known else f"{path} is no program of the project or on PATH"


def _unwrapped(argv: list[str]) -> list[str]:
    words = list(argv)
    while words and os.path.basename(words[0]) in _WRAPPERS:
        words = words[1:]
        while words and (re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]) or words[0][:1] == "-" or words[0][:1].isdigit()):
            words = words[1:]
    return words


def ran_a_test(output: str) -> bool:
    """True if a runner printed that tests passed."""
    return bool(_PASSED.search(output)) and not re.search(r"(?m)^Ran 0 tests|no tests to run|\b0 passed\b", output)


def left_some_out(output: str, by_name: bool) -> bool:
    """True if a runner printed that it skipped tests, or that some failed as expected.

    If they were selected ``by_name``, those that it did not select are none.
    """
    skipped = [found[0] for found in _SKIPPED.finditer(output)]
    return any(not (by_name and found.endswith("deselected")) for found in skipped) or bool(_EXPECTED.search(output))


def is_reported(name: str, output: str) -> bool:
    """True if a line names a test as passed."""
    lines = [line for line in output.splitlines() if name in line]
    good = re.compile(r"(?i)\b(?:pass(?:ed)?|ok)\b|[✓✔]")
    bad = re.compile(r"(?i)\b(?:skip\w*|xfail\w*|fail\w*|todo|error)\b")
    return any(good.search(line.replace(name, "")) and not bad.search(line.replace(name, "")) for line in lines)
