"""Checks of Lockstep itself on this machine: its Python, its libraries, its variables, its hook."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from shlex import quote

from skills.lib import launcher, launching
from skills.lib.errors import EnvironmentProblem, LockstepError
from skills.lib.hosts.doctor.examination import FIX, SOON, DoctorContext, Result, ask, ok, problem, warning
from skills.lib.ledger import is_shared
from skills.lib.status_files import is_id

OLDEST = (3, 11)
_LIBRARIES = {"click": "click", "lxml": "lxml", "networkx": "networkx", "rich": "rich", "yaml": "PyYAML"}
# What a Python is asked: its version, and whether it has SQLite.
_ASKED = ("-ISc", "import sys; print(*sys.version_info[:2], flush=True); import sqlite3")
# A tool call that names a run, so that the hook does all its work, and then finds none.
_EVENT = b"""{"hook_event_name": "PreToolUse", "session_id": "doctor", "cwd": "/", "tool_name": "Read",
"tool_input": {"path": "--run"}}"""


def python(context: DoctorContext) -> Iterator[Result]:
    """The Python that runs this, and the one that SKILL.md names."""
    yield ok(f"Python {'.'.join(map(str, sys.version_info[:3]))}", sys.executable)
    named = context.python()
    remedy = "install Python 3.11 or later, so that python3 on the PATH is it"
    if not named:
        yield problem("there is no python3 on the PATH, and SKILL.md tells agents to call it", remedy=remedy)
        return
    found = version_of(context, named)
    if found is None:
        yield problem("python3 on the PATH does not run", named, remedy)
    elif found < OLDEST:
        shown = ".".join(map(str, found))
        yield problem(f"python3 on the PATH is {shown}; skills and plugins' hooks need 3.11 or later", named, remedy)
    elif context.ask(named, *_ASKED).code != 0:
        yield problem("python3 on the PATH was built without SQLite, which the record of runs needs", named, remedy)
    else:
        yield ok(f"python3 on the PATH is {'.'.join(map(str, found))}", named)


def version_of(context: DoctorContext, program: str) -> tuple[int, ...] | None:
    """The version of a Python; None if it does not say one."""
    words = context.ask(program, *_ASKED).out.split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return None
    return tuple(int(word) for word in words)


def libraries(context: DoctorContext) -> Iterator[Result]:
    """What the command needs beyond the standard library; a step needs none of it."""
    missing = [name for module, name in _LIBRARIES.items() if importlib.util.find_spec(module) is None]
    if missing:
        remedy = f"pip install {' '.join(missing)}"
        yield problem(f"not installed for this Python: {', '.join(missing)}", remedy=remedy)
    else:
        yield ok("all libraries are installed")


def command(context: DoctorContext) -> Iterator[Result]:
    """Whether ``lockstep`` is on the PATH: the hook's denials name it."""
    found = shutil.which("lockstep")
    if found:
        yield ok("lockstep is on the PATH", found)
    else:
        yield warning(
            "lockstep is not on the PATH, and the hook's denials name it",
            remedy=f'export PATH={quote(os.path.dirname(sys.executable))}:"$PATH"',
        )


def variables(context: DoctorContext) -> Iterator[Result]:
    """Whether Lockstep's variables can be used, if they are set."""
    names = ("LOCKSTEP_HOME", "LOCKSTEP_STATE", "LOCKSTEP_AGENTS", "LOCKSTEP_LEDGER_PROJECT")
    home, state, agents, _ = (os.environ.get(name) for name in names)
    if home and os.path.isfile(os.path.join(context.project, home)):
        yield problem("LOCKSTEP_HOME is no folder", home, "unset LOCKSTEP_HOME")
    if state and not os.path.isabs(state):
        what = "LOCKSTEP_STATE is relative, so that each working directory has its own"
        yield problem(what, state, f"export LOCKSTEP_STATE={quote(os.path.abspath(state))}")
    if agents and not (agents.isascii() and agents.isdigit() and int(agents) > 0):
        what = f"LOCKSTEP_AGENTS is {agents!r:.40}, and no whole number of 1 or more"
        yield problem(what, remedy="unset LOCKSTEP_AGENTS")
    found = [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]
    if is_shared():
        try:
            from skills.lib.ledger.postgres import address  # with psycopg

            found += [f"LOCKSTEP_LEDGER_URL={address.shown()}"]
        except EnvironmentProblem as error:
            yield problem(error.what, remedy=error.in_shell)
    yield ok("set: " + ", ".join(found) if found else "no variable of Lockstep is set")


def state_folder(context: DoctorContext) -> Iterator[Result]:
    """Whether the hook can keep which run a session follows."""
    from skills.lib.hosts.hook import sessions

    folder = os.path.abspath(sessions.folder())
    there = folder
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        yield problem(
            "the state folder cannot be made: a file is in its way",
            there,
            f"mv {quote(there)} {quote(there + '.aside')}",
        )
        return
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        yield problem(
            f"the state folder cannot be written: {error.strerror}",
            there,
            "export LOCKSTEP_STATE to a folder that can be written, where the host is started",
        )
        return
    yield ok("the state folder can be written", folder)


def short_commands(context: DoctorContext) -> Iterator[Result]:
    """Whether the launcher is as it was written, if blocks printed commands that call it."""
    place = launcher.path()
    folder = os.path.join(os.path.dirname(place), launcher.ENTRIES)
    known = sorted(os.listdir(folder)) if place and os.path.isdir(folder) else []
    runs = [name for name in known if is_id(name) and launcher.read(os.path.dirname(place), name)]
    if not runs:
        yield ok("no run has short commands")
    elif fault := launching.fault(place):
        what = f"the launcher of short commands {fault}, and the commands that blocks printed call it"
        yield problem(what, place, FIX, launcher=place)
    else:
        yield ok("the launcher of short commands is there", place)


def hook(context: DoctorContext) -> Iterator[Result]:
    """Whether the hook does its work with this Python, as a host would call it."""
    from skills.lib.hosts.install import hooks, source

    program = os.path.join(source.package(), *hooks.PROGRAM)
    yield hook_answer([sys.executable, "-IS", program, "--host", "claude"])


def runtimes(context: DoctorContext) -> Iterator[Result]:
    """The runtimes of installed skills, and those that nothing needs any more."""
    from skills.lib.hosts.install import runtime

    try:
        unneeded = runtime.unneeded(context.project)
    except LockstepError:  # the check of that manifest or ledger reports it
        unneeded = []
    if unneeded:
        what = f"runtimes that no installation and no open run needs: {', '.join(unneeded)}"
        yield ok(f"{what}; lockstep upgrade --prune removes them", runtime.folder(""))
    else:
        yield ok(f"runtimes of installed skills: {', '.join(runtime.versions()) or 'none'}", runtime.folder(""))


def hook_answer(words: Sequence[str]) -> Result:
    """Run a hook's command with an event that it must let pass, in a state folder of its own; the result of that."""
    if not os.path.isfile(words[2]):
        return problem("the hook's program is gone", words[2], "pip install --force-reinstall /path/to/lockstep")
    with tempfile.TemporaryDirectory(prefix="lockstep-doctor-") as state:
        answer = ask(words, SOON, given=_EVENT, env={"LOCKSTEP_STATE": state})
    if answer.code == 0 and not answer.out and not answer.err:
        return ok("the hook runs", words[2])
    return problem(
        f"the hook does not run: {answer.why or answer.last_words()}",
        words[2],
        "pip install --force-reinstall /path/to/lockstep, then lockstep upgrade",
    )
