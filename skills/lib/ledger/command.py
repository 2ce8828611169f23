"""Runs a command as evidence and records what a reader needs to judge it: program, search paths, last output."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

from skills.lib import compact_json, paths
from skills.lib.errors import EnvironmentProblem, UsageError, tell
from skills.lib.git import Git, GitProblem, kill
from skills.lib.ledger import processes
from skills.lib.model import values
from skills.lib.model.requirements import Command, fill
from skills.lib.model.texts import VALUE_LIMIT, check_tree, number, printable, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO, Any

# How many characters of output are kept: the last lines, which usually name the cause.
TAIL = 1_500
# How many bytes are read for that: colour codes are removed, and a character has up to four bytes.
_READ = 8 * TAIL
# How many characters of an escape sequence may be left where what is read begins.
_SEQUENCE = 100
# How many characters of one argument are shown: the run keeps a recorded value whole anyway.
SHOWN = 80
# Variables that ask for colours although the output is not a terminal.
_COLOURING = ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS")
# Seconds that git may take, and how many files are named.
PATIENCE, NAMED = 5, 50
# After so many seconds, and again after as many, it is said that a command still runs.
HEARTBEAT = 30.0
_TEST_FOLDERS = frozenset("test tests __tests__ spec specs testing".split())
# test_shop.py, shop_test.go, shop.spec.ts; ShopTest.java, TestShop.cs.
_TEST_FILE = re.compile(r"(?i:(?:^|[._-])(?:tests?|specs?)(?:[._-]|$))|(?:Tests?|Spec)\.\w+$|^Test[A-Z]")
_NAME = re.compile(r"\{[A-Za-z][\w.-]*\}")
# Escape sequences of ECMA-48: control sequences, control strings, and short ones.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]"
)


def run(
    command: Command,
    fields: Mapping[str, Any],
    project: str,
    scripts: str,
    opening: Mapping[str, str],
    run_id: str,
    home: str = "",
) -> dict[str, Any]:
    """Run a command in the project and return the evidence; ``opening`` has the search paths when the run opened.

    ``home`` is the folder of the ledger, if the command would find another by its environment.

    A command that a killed step of the same run left is ended first. Raises EnvironmentProblem if the command is ended
    from elsewhere: that proves nothing of what it checks.

    Evidence of a command also has its ``exit`` code, the last lines of its ``output`` and the path of the ``program``;
    ``search_paths`` if they have changed since the opening, and ``removed_tests`` if the working tree lacks any. If the
    command records something, ``value`` is that, and ``errors`` has the last lines of its standard error, if any.
    """
    result = _run(command, fields, project, scripts, opening, run_id, home)
    if command.records and (command.may_fail or command.severity):
        output = result["output"] if result["exit"] is not None else result["why"]
        result["value"] = {"ok": result["ok"], "exit": result["exit"], "output": output}
    return result


def _run(
    command: Command,
    fields: Mapping[str, Any],
    project: str,
    scripts: str,
    opening: Mapping[str, str],
    run_id: str,
    home: str,
) -> dict[str, Any]:
    argv = [fill(part, fields) for part in command.argv]
    # The evidence is kept with the run, and a secret must not be.
    keepable = values.keepable(dict(fields))
    safe = [_shown(part, fill(part, keepable)) for part in command.argv]
    shown = " ".join(shortened(part, SHOWN) for part in safe)
    program, helper = safe[0], ""
    if command.argv[0].endswith(".py") and os.path.basename(command.argv[0]) == command.argv[0]:
        program, helper = sys.executable, paths.helper_of_skill(os.path.join(scripts, argv[0]))
        argv = [sys.executable, helper, *argv[1:]]
    result: dict[str, Any] = {"kind": "command", "what": shown, "ok": False, "exit": None, "output": ""}
    result["program"] = printable(_program(program, project))
    now = paths.search_paths()
    changed = {name: path for name, path in now.items() if opening and path != opening.get(name)}
    if changed:
        result["search_paths"] = changed
    tell(f"lockstep: running {' '.join(shown.split())} (at most {number(command.timeout)} s)\n")
    if run_id and processes.end(project, run_id, orphans=True):
        tell("lockstep: ended what a killed step of this run had left running\n")
    printed = bool(command.records) and not command.may_fail and not command.severity
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            environment = _environment(scripts, helper, home)
            with _started(argv, project, environment, output, errors if printed else output) as process:
                code = _exit_code(process, command.timeout, project, run_id, shown)
        except OSError as error:  # its text has the first word, which may be a secret
            return {**result, "why": f"{shown} cannot be run: {error.strerror or 'the system refuses it'}"}
        except ValueError:
            return {**result, "why": f"{shown} cannot be run: a word has a character that no command can have"}
        tail = _last_lines(output, fields)
        complaints = _last_lines(errors, fields)
        value, wrong = _value(output, fields, command.records) if printed and code == 0 else (None, "")
    removed = removed_tests(project)
    if removed:
        result["removed_tests"] = [printable(path) for path in removed]
    result.update(exit=code, output=tail)
    if complaints:
        result["errors"] = complaints
    if code == 0 and not wrong:
        kept = {"value": value} if printed else {}
        return {**result, "ok": True, "why": "", **kept}
    how = f"did not end within {number(command.timeout)} s" if code is None else f"ended with {code}, not 0"
    if wrong:
        how = wrong
    elif complaints:
        tail = complaints
    ending = f"Its output ends:\n{tail}" if tail.strip() else "It printed nothing."
    return {**result, "why": f"{shown} {how}. {ending}"}


@contextlib.contextmanager
def _started(
    argv: list[str], project: str, environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """A started command; it and what it left running are killed at the end."""
    process = None
    try:
        with _interrupts() as interrupts:  # an interrupt may come as soon as these are no longer collected
            process = subprocess.Popen(
                argv,
                cwd=project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        if interrupts:
            raise KeyboardInterrupt
        yield process
    finally:
        if process is not None:
            kill(process)
            process.wait()


def _environment(scripts: str, helper: str, home: str) -> dict[str, str]:
    """The variables of a command; ``helper`` is the script of the skill that it runs, if it does."""
    given = {name: value for name, value in os.environ.items() if name not in _COLOURING}
    if helper and not helper.startswith(paths.library()):
        # Bytecode beside a project's modules may have come with it, and need not be made from them.
        given.setdefault("PYTHONPYCACHEPREFIX", paths.bytecode())
    if home:
        given["LOCKSTEP_HOME"] = home
    return {**given, "NO_COLOR": "1", "LOCKSTEP_SCRIPTS": scripts}


def _exit_code(process: subprocess.Popen[bytes], timeout: float, project: str, run_id: str, shown: str) -> int | None:
    """The exit code of a command; None if it did not end in time. Raises EnvironmentProblem if others ended it."""
    note = processes.note(project, run_id, process.pid) if run_id else ""
    try:
        code = _wait(process, timeout, shown)
    except subprocess.TimeoutExpired:
        code = None
    except BaseException:
        processes.forget(note)
        raise
    if note and not processes.forget(note):
        raise EnvironmentProblem(
            f"{shown} was ended by another process, so it shows nothing",
            remedy="run the same command again, unless the run was given up; it stands where it stood",
        )
    return code


def _wait(process: subprocess.Popen[bytes], timeout: float, shown: str) -> int:
    """The exit code. Raises TimeoutExpired; until then it is said now and then that the command still runs."""
    begin = time.monotonic()
    while True:
        left = begin + timeout - time.monotonic()
        try:
            return _waited(process, min(left, HEARTBEAT))
        except subprocess.TimeoutExpired:
            if left <= HEARTBEAT:
                raise
            tell(f"lockstep: {shown} still runs after {time.monotonic() - begin:.0f} s\n")


def _waited(process: subprocess.Popen[bytes], seconds: float) -> int:
    """The exit code, as Popen.wait gives it. Raises TimeoutExpired.

    Popen.wait looks only every 50 ms, and a check takes about 20. Linux tells at once that a process ended.
    """
    if sys.platform != "linux":
        return process.wait(seconds)
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # a Python built for older kernels; such a kernel, or one that forbids it
        return process.wait(seconds)
    try:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        has_ended = bool(ended.poll(1000 * max(seconds, 0)))
    finally:
        os.close(descriptor)
    return process.wait(None if has_ended else 0)


def _shown(part: str, filled: str) -> str:
    """An argument as a reader sees it: one whose value was left out is empty, not the name in braces."""
    return "''" if part == filled and _NAME.fullmatch(part) else filled


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect the interrupts that come meanwhile, instead of raising, so that a process being started can be ended.

    Outside of the main thread none are collected, since none are raised there.
    """
    interrupts: list[int] = []
    try:
        before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    except ValueError:
        yield interrupts
        return
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def _program(name: str, project: str) -> str:
    """The path of the program that the first word of a command names, by itself or on PATH; empty if there is none."""
    if os.path.dirname(name):
        return os.path.normpath(os.path.join(project, name))
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.normpath(os.path.join(project, folder, name))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def _last_lines(output: IO[bytes], fields: Mapping[str, Any]) -> str:
    """The last whole lines of the output, without escape sequences and secrets; a line longer than TAIL is cut."""
    longest = max((len(secret.encode("utf-8", "surrogatepass")) for secret in _secrets(fields)), default=0)
    begin = max(0, output.seek(0, 2) - _READ - longest)
    output.seek(begin)
    text = _readable(output.read(), fields)
    if begin and longest:
        # What is read may begin within a secret, and nothing tells the rest of one from other text.
        text = text[longest + _SEQUENCE :] or values.NOT_KEPT
    if begin == 0 and len(text) <= TAIL:
        return text
    # The text before the first line end is the rest of a line whose beginning is not shown: leave it out.
    whole = text[-TAIL - 1 :].partition("\n")[2]
    return whole if whole.strip() else text[-TAIL:]


def _readable(output: bytes, fields: Mapping[str, Any]) -> str:
    """Output as a terminal shows it, without secrets."""
    # A secret may have characters that are left out below, and may be printed with some that are.
    text = _without_secrets(output.decode("utf-8", "replace"), fields)
    # A terminal shows only what follows the last carriage return of a line, as in a progress bar.
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in _ESCAPES.sub("", text).split("\n")]
    return _without_secrets(printable("\n".join(lines)), fields)


def _value(output: IO[bytes], fields: Mapping[str, Any], name: str) -> tuple[Any, str]:
    """The JSON value that was printed, without secrets, and what is wrong with it in words; one of them is empty."""
    output.seek(0)
    data = output.read(4 * VALUE_LIMIT + 1)
    try:
        text = _without_secrets(data.decode("utf-8"), fields).strip()
        if len(text) > VALUE_LIMIT:
            return None, f"printed more than {VALUE_LIMIT:,} characters for {name}"
        value = compact_json.loads(text, strict=True)
        check_tree(value, name)
    except UnicodeDecodeError:
        return None, f"printed no JSON value for {name}: it is not UTF-8"
    except UsageError as error:
        return None, f"printed what cannot be recorded: {error}"
    except (ValueError, RecursionError) as error:
        return None, f"printed no JSON value for {name}: {error}"
    return value, ""


def _without_secrets(text: str, fields: Mapping[str, Any]) -> str:
    for secret in sorted(_secrets(fields), key=len, reverse=True):
        text = text.replace(secret, values.NOT_KEPT)
    return text


def _secrets(fields: Mapping[str, Any]) -> set[str]:
    """The texts of fields that are named like secrets, as they are and as they are printed."""
    found: set[str] = set()
    left = [value for name, value in fields.items() if values.is_secret(name)]
    while left:
        value = left.pop()
        if isinstance(value, str):
            found |= {value, printable(value), compact_json.dumps(value)[1:-1]}
        elif isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
    return found - {""}


def removed_tests(project: str) -> list[str]:
    """The test files of HEAD that are missing from the working tree, as paths below the project; at most NAMED.

    Empty if the project is not a checkout, or git is missing or too slow. No program that the project configures runs.
    """
    if not _is_in_checkout(project):
        return []
    # Neither reads the content of a file in the working tree: that would run the filters that the project configures.
    missing = _git(project, "ls-files", "--deleted", "-z")
    staged = _git(project, "diff-index", "--cached", "--name-only", "--diff-filter=D", "--relative", "-z", "HEAD", "--")
    found = sorted({path for path in (*missing, *staged) if is_test(path)})
    return [path for path in found if not os.path.lexists(os.path.join(project, path))][:NAMED]


def is_test(path: str) -> bool:
    """True if the name of the file, or of a folder above it, is one that test files have."""
    *folders, name = path.split("/")
    return bool(_TEST_FILE.search(name)) or any(folder.lower() in _TEST_FOLDERS for folder in folders)


def _is_in_checkout(folder: str) -> bool:
    at = os.path.realpath(folder)
    while not os.path.exists(os.path.join(at, ".git")):
        if at == os.path.dirname(at):
            return False
        at = os.path.dirname(at)
    return True


def _git(project: str, *words: str) -> list[str]:
    """The paths that git prints; none if it fails."""
    try:
        printed = Git(project, deadline=time.monotonic() + PATIENCE).output(*words)
    except GitProblem:
        return []
    return [os.fsdecode(path) for path in (printed or b"").split(b"\0") if path]
