"""The commands that go on: absolute, quoted for the shell, naming the real interpreter."""

from __future__ import annotations

import os
import sys

from skills.lib import compact_json, launcher
from skills.lib.errors import UsageError
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.run import Run
    from skills.lib.model.types import Element

_SCRIPTS = f"{os.sep}scripts{os.sep}"
# The folder of the package ``skills``, and the step script in it that serves runs without a script of their own.
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STORED = os.path.join(PACKAGE, "stored_run.py")
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def quote(argument: str) -> str:
    """Quote one argument for a POSIX shell (own code: ``import shlex`` costs 2.5 ms, most of it ``re``)."""
    if argument and _SAFE.issuperset(argument) and argument[0] != "=":  # zsh reads =ls as a path
        return argument
    return "'" + argument.replace("'", "'\"'\"'") + "'"


def join(arguments: Sequence[str]) -> str:
    """Join arguments into one command line for the shell of this system."""
    if os.name == "nt":
        from subprocess import list2cmdline  # 6 ms that no other system needs

        return list2cmdline(arguments)
    return " ".join([quote(argument) for argument in arguments])


def lockstep_command() -> tuple[str, ...]:
    """How ``lockstep`` is called here: the installed command beside the interpreter, else by its package's path.

    An exported skill does not hold the command; then only its name is returned.
    """
    beside = os.path.join(os.path.dirname(sys.executable), "lockstep.exe" if os.name == "nt" else "lockstep")
    if os.path.exists(beside):
        return (beside,)
    whole = os.path.join(PACKAGE, "__main__.py")
    return (sys.executable, whole) if os.path.exists(whole) else ("lockstep",)


def here(script: str, project: str) -> CommandLine:
    """The command line of a script for this interpreter, whose commands a shell reads; short where they can be."""
    return CommandLine(sys.executable, script, project, lockstep_command(), launcher.path())


def with_report(command: str, run_id: str, report: Mapping[str, Any]) -> str:
    """The command with a report as JSON in a here-document, which a shell passes on as it is.

    The run's id ends it: no line of JSON is one, and no text from elsewhere knows it.
    """
    return f"{command} - <<'{run_id}'\n{compact_json.readable(dict(report))}\n{run_id}\n"


class CommandLine(Record):
    """How to call this step script again: interpreter, script, project; ``lockstep`` is the words of that command.

    With a ``launcher``, its path, the commands of runs that it serves are short.

    An empty script is that of a program whose workflows are in no file: the commands of its runs name STORED. A
    relative project is taken from the working directory of now: a command is good in any.
    """

    python: str
    script: str
    project: str
    lockstep: Sequence[str] = ("lockstep",)
    launcher: str = ""

    def _check(self) -> None:
        if not os.path.isabs(self.project):
            try:
                self._set(project=os.path.abspath(self.project))
            except OSError as error:
                what = f"the project {self.project!r:.200} is relative, and the working directory cannot be used"
                raise UsageError(f"{what}: {error.strerror}", remedy="give the project's absolute path") from error

    def with_program(self, text: Element | str) -> Element | str:
        """A text of a step, with ``lockstep`` at the beginning of its commands in backquotes as it is called here.

        Elements, and XML that is rendered already, stay as they are.
        """
        return text.replace("`lockstep ", f"`{join(self.lockstep)} ") if type(text) is str else text

    def script_of(self, run: Run) -> str:
        """The script that walks a run: its own, or where that was moved to with this script."""
        return self.place_of(run.script) or self.script

    def place_of(self, script: str) -> str:
        """Where a script is now: a skill moves with its folder, which may be renamed; empty if it is not found."""
        if not script or script == self.script or os.path.exists(script):
            return script
        name = os.path.basename(script)
        places = [os.path.join(os.path.dirname(self.script), name)]
        skill, mark, _ = self.script.rpartition(_SCRIPTS)
        was, _, below = script.rpartition(_SCRIPTS)
        if mark and below:
            sibling = os.path.join(os.path.dirname(skill), os.path.basename(was))
            places = [f"{folder}{_SCRIPTS}{below}" for folder in (sibling, skill)] + places
        return next((place for place in places if os.path.exists(place)), "")

    def is_known(self, script: str) -> bool:
        """True for a script of the called one's skill, of a skill beside it in a folder ``skills``, or a shipped one.

        Whoever wrote the ledger may have named any other.
        """
        if script == self.script:
            return True
        own, mark, _ = self.script.rpartition(_SCRIPTS)
        folders = [own] if mark else [os.path.dirname(self.script)]
        beside = os.path.dirname(own)
        folders += [beside] if os.path.basename(beside) == "skills" else []
        folders.append(PACKAGE)
        is_plain = os.path.normpath(script) == script
        return is_plain and any(script.startswith(folder + os.sep) for folder in folders if folder)

    def step(self, step: str, run: Run, *words: str, turn: bool = True) -> str:
        """The command that asks for ``step`` in ``run``, with further words as arguments.

        For a run whose script is not known it is the one by which a person looks at it.
        """
        script = self.script_of(run)
        if not script or not (self.script or self.is_known(script)):
            script = STORED
        elif not self.is_known(script):
            return self.person("resume", run.id)
        at = [str(run.turn)] if turn else []
        if self.launcher and self._is_served(run.id, script):
            shown = [] if turn and step != "current" else ["current"]
            return join([self.launcher, run.id, *at, *shown, *words])
        arguments = [self.python, script, "--step", step, "--run", run.id, *(["--turn", *at] if turn else [])]
        return join([*arguments, "--project", self.project, *words])

    def _is_served(self, run_id: str, script: str) -> bool:
        """True if the launcher serves a run, or can be made to by now."""
        place = (self.python, script, self.project)
        if launcher.serves(self.launcher, run_id, *place):
            return True
        from skills.lib import launching  # once for each run

        return launching.enter(self.launcher, run_id, place)

    def is_short(self, command: str) -> bool:
        """True if a command calls the launcher."""
        return bool(self.launcher) and command.startswith(quote(self.launcher) + " ")

    def restoring(self, run: Run) -> str:
        """The command that prints the block of a run without the launcher, and writes that again."""
        if self.lockstep != ("lockstep",):
            return self.person("resume", run.id)
        long = CommandLine(self.python, self.script, self.project, self.lockstep)  # an exported skill has no lockstep
        return long.step("current", run, turn=False)

    def start(self, *words: str) -> str:
        """The command that opens a run; empty if there is no script that could."""
        return self.script and join([self.python, self.script, "--step", "1", "--project", self.project, *words])

    def start_phase(self, phase: str, workflow: str, *words: str) -> str:
        """The command that opens a run of a phase, with its layers."""
        return join(
            [*self.lockstep, *("phase", phase, "--start", "--skill", workflow, "--project", self.project, "--"), *words]
        )

    def look(self, step: str) -> str:
        """The command that prints ``step`` without a ledger."""
        return join([self.python, self.script, "--step", step, "--project", self.project, "--stateless"])

    def answer(self, run: Run, reason: bool) -> str:
        """The command with which a person answers at a terminal, behind -- as it may begin with a dash."""
        why = " --reason 'FILL_reason'" if reason else ""
        return f"{self.person('answer', run.id)}{why} -- 'FILL_answer'"

    def person(self, *words: str) -> str:
        """A ``lockstep`` command for a person at a terminal in this project."""
        return join([*self.lockstep, *words, "--project", self.project])
