"""The command gateway: named commands with checked values, run without a shell."""

from __future__ import annotations

import os
import sys
import time
from functools import cache

from skills.lib import paths
from skills.lib.errors import RefusedError, UsageError, did_you_mean, nearest
from skills.lib.gateway import checking, consent, operations, processes, variables
from skills.lib.gateway.fields import GatewayFileError
from skills.lib.gateway.operations import OPERATIONS, RUN_SCRIPT, Job, TimeIsUp
from skills.lib.gateway.places import GATEWAY_FILE, Places, is_below, shipped_scripts
from skills.lib.gateway.reading import read_gateway_file
from skills.lib.gateway.specs import WRITE, Command, GatewayFile, Runner, Setting, filled, program_words
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.gateway.processes import Ended

# How many bytes a script is given on standard input, and how many characters one variable has.
STDIN_LIMIT, VARIABLE_LIMIT = 10_000_000, 32_000
# What stands in a result for bytes that are not UTF-8.
_UNREAD = "\ufffd"


class GatewayResult(Record):
    """The result of a command of the gateway.

    ``exit`` is None if it was ended at a limit, and ``why`` says at which. ``output`` and ``errors`` are bounded:
    ``is_cut`` is true if more was printed, and ``printed`` is how many bytes. ``argv`` is the argument list that was
    run.
    """

    command: str
    argv: Sequence[str]
    exit: int | None
    output: str
    errors: str = ""
    is_cut: bool = False
    printed: int = 0
    seconds: float = 0.0
    why: str = ""

    @staticmethod
    def of(command: str, argv: Sequence[str], ended: Ended) -> GatewayResult:
        """The result of a program that ended."""
        return GatewayResult(
            command=command,
            argv=argv,
            exit=ended.exit,
            output=ended.output.decode("utf-8", "replace"),
            errors=ended.errors.decode("utf-8", "replace"),
            is_cut=ended.is_cut,
            printed=ended.printed,
            seconds=ended.seconds,
            why=ended.why,
        )

    @property
    def ok(self) -> bool:
        """True if the command ended with 0."""
        return self.exit == 0

    def ending(self) -> str:
        """How the command ended, in one line."""
        how = self.why if self.exit is None else f"exit {self.exit}"
        cut = f", cut: {self.printed:,} bytes were printed" if self.is_cut else ""
        shown = self.output[:-1] if self.is_cut else self.output
        unread = f", not UTF-8: bytes that could not be read are shown as {_UNREAD}" if _UNREAD in shown else ""
        return f"{how} after {self.seconds:.1f} s{cut}{unread}"

    def text(self) -> str:
        """The output, the errors and the ending, for a reader."""
        parts = [part if part.endswith("\n") else part + "\n" for part in (self.output, self.errors) if part]
        return "".join([*parts, f"[{self.ending()}]\n"])


class Prepared(Record):
    """A checked call: the argument list that would be run, where and how; nothing has run yet."""

    command: Command
    argv: Sequence[str]
    folder: str
    values: Mapping[str, tuple[str, ...]]
    setting: Setting
    environment: Mapping[str, str]
    stdin: bytes


class Gateway:
    """The commands of Lockstep, and those of a project to which a person has consented.

    Raises GatewayFileError if the project's file cannot be used, and RefusedError for a folder that is no project: the
    user's home, one that holds it, or one in which everybody may make files.
    """

    def __init__(self, project: str) -> None:
        self.project = os.path.realpath(project)
        if paths.holds_projects(self.project) or is_below(os.path.realpath(os.path.expanduser("~")), self.project):
            raise RefusedError(
                f"{self.project} is a home, holds one, or is open to everybody: what works there would reach too much",
                remedy="go to the root of one project, a folder below, or name it by --project DIR",
            )
        shipped = shipped_file()
        data = consent.read(self.project)
        self.is_untrusted = data is not None and not consent.is_given(self.project, data)
        self.file = shipped
        if data is not None and not self.is_untrusted:
            self.file = _joined(shipped, project_file(self.project, data))
        self.places = Places(self.project, _executed(self.file, self.project))

    def command(self, name: str) -> Command:
        """The command of a name. Raises UsageError, or RefusedError if a person has not consented to the others."""
        found = self.file.commands.get(name)
        if found is not None:
            return found
        if self.is_untrusted:
            raise RefusedError(
                f"the gateway has no command {name!r:.80} of its own, and no person has consented to {GATEWAY_FILE}",
                valid=", ".join(self.file.commands),
                remedy="ask the user to run lockstep gateway trust",
            )
        raise UsageError(
            f"the gateway has no command {name!r:.80}{did_you_mean(nearest(name, tuple(self.file.commands)))}",
            valid=", ".join(self.file.commands),
            remedy=f"lockstep gateway list; {GATEWAY_FILE} may have more",
        )

    def prepare(
        self,
        name: str,
        given: Mapping[str, object],
        env_vars: Mapping[str, str] | None = None,
        stdin_text: str | None = None,
    ) -> Prepared:
        """Check a call, and return what it would run. Raises UsageError or RefusedError.

        In this order: the command is known, each value matches its pattern as a whole and begins with no ``-``, paths
        lie below a root, and the assembled line has nothing that is blocked.
        """
        command = self.command(name)
        checked = checking.values_of(command, given)
        values = checking.resolved(command, checked, self.places)
        constants = {"python": sys.executable, "project": self.project}
        setting, script = command.setting, ""
        if command.does == RUN_SCRIPT:
            script = values["script"][0]
            _require_content(script, stdin_text)
            runner = self._runner(script)
            setting = runner.setting
            # Lockstep's own scripts need what it is installed with, whatever runs those of the project.
            words = (shipped_file().runners[".py"] if _is_shipped(script) else runner).argv
            argv = [filled(word, {**constants, "script": script}) for word in words] + [*values.get("args", ())]
        elif command.does:
            argv = [command.does, *_all(values)]
        else:
            argv = checking.words(command, values, constants)
        # The values are looked at as they were given: where the project lies is not the caller's to say.
        line = checking.words(command, checked, {}) if command.argv else [command.does, *_all(checked)]
        checking.require_not_blocked(command, " ".join(line))
        if not command.does or script:
            argv = self._with_program(argv, setting, constants, command.of_project)
        return Prepared(
            command=command,
            argv=argv,
            folder=self._folder(command),
            values=values,
            setting=setting,
            environment=self._environment(command, setting, env_vars or {}, script),
            stdin=_stdin(command, stdin_text),
        )

    def run(
        self,
        name: str,
        given: Mapping[str, object],
        env_vars: Mapping[str, str] | None = None,
        stdin_text: str | None = None,
    ) -> GatewayResult:
        """Check a call and run it. Raises UsageError, RefusedError or EnvironmentProblem if it was not run."""
        call = self.prepare(name, given, env_vars, stdin_text)
        operation = OPERATIONS.get(call.command.does)
        if operation is not None:
            return self._operate(call)
        ended = processes.run(call.argv, call.folder, call.environment, call.setting.limits, call.stdin, self.project)
        return GatewayResult.of(name, call.argv, ended)

    def run_python(
        self,
        script: str,
        args: Sequence[str] = (),
        env_vars: Mapping[str, str] | None = None,
        stdin_text: str | None = None,
    ) -> GatewayResult:
        """Run a Python script of the project; the same as the command ``python_run``."""
        return self.run("python_run", {"script": script, "args": list(args)}, env_vars, stdin_text)

    def _operate(self, call: Prepared) -> GatewayResult:
        command, limits = call.command, call.setting.limits
        begin = time.monotonic()

        def writable(path: str) -> str:
            return self.places.resolve(path, WRITE, command.roots)

        values = {name: texts[0] for name, texts in call.values.items()}
        job = Job(values, limits.seconds, limits.output, writable)
        try:
            data = OPERATIONS[command.does](job)
        except TimeIsUp:
            return GatewayResult(command.name, call.argv, None, "", seconds=round(time.monotonic() - begin, 3))
        return GatewayResult(
            command=command.name,
            argv=call.argv,
            exit=0,
            output=data[: limits.output].decode("utf-8", "replace"),
            is_cut=len(data) > limits.output,
            printed=max(len(data), job.size),
            seconds=round(time.monotonic() - begin, 3),
        )

    def _folder(self, command: Command) -> str:
        """The working folder of a command. Raises GatewayFileError if it is none."""
        folder = self.places.root(command.folder)
        if not os.path.isdir(folder):
            raise GatewayFileError(f"{command.where}: the folder {folder} of {command.name} is not there")
        return folder

    def _runner(self, script: str) -> Runner:
        suffix = os.path.splitext(script)[1].lower()
        runner = self.file.runners.get(suffix)
        if runner is None:
            raise UsageError(
                f"no runner is for {suffix or 'a file without a suffix'}", valid=", ".join(self.file.runners)
            )
        return runner

    def _with_program(
        self, argv: Sequence[str], setting: Setting, constants: Mapping[str, str], of_project: bool
    ) -> list[str]:
        """The argument list with the path of its program, and of the sandbox before it if there is one."""
        folders = processes.search_path(self.project, own=of_project)
        sandbox = [filled(word, constants) for word in setting.sandbox]
        made: list[str] = []
        for part in (sandbox, argv):
            made += [processes.program(part[0], self.project, folders), *part[1:]] if part else []
        return made

    def _environment(self, command: Command, setting: Setting, given: Mapping[str, str], script: str) -> dict[str, str]:
        for name, value in given.items():
            if name not in setting.env_vars:
                raise RefusedError(
                    f"{command.name} takes no variable {name!r:.80}{did_you_mean(nearest(name, setting.env_vars))}",
                    valid=", ".join(setting.env_vars) or "none",
                )
            if not isinstance(value, str) or "\0" in value or len(value) > VARIABLE_LIMIT:
                raise UsageError(f"the variable {name} is no text of at most {VARIABLE_LIMIT:,} characters")
        fixed = dict(setting.env)
        skill = self.places.skill_of(script) if script else ""
        if skill:
            fixed["SKILL_DIR"] = skill
        inherit = setting.inherit
        if _is_shipped(script):
            fixed["LOCKSTEP_PROJECT"], inherit = self.project, (*inherit, *variables.OF_LOCKSTEP)
        # Also folders in the project: a script is its own, and may call what its virtual environment has.
        search_path = processes.search_path(self.project, own=True)
        return variables.environment(inherit, fixed, given, search_path)


@cache
def shipped_file() -> GatewayFile:
    """The gateway file that comes with Lockstep."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gateway.yaml")
    with open(path, "rb") as file:
        return read_gateway_file(file.read(), path, operations=operations.names())


def project_file(project: str, data: bytes) -> GatewayFile:
    """A project's own gateway file, checked. Raises GatewayFileError."""
    file = read_gateway_file(data, os.path.join(project, GATEWAY_FILE), shipped=shipped_file())
    places = Places(project)
    for command in file.commands.values():
        if not any(os.path.isdir(places.root(root)) for root in command.roots):
            raise GatewayFileError(f"{command.where}: none of the roots of {command.name} is a folder")
    return file


def _joined(shipped: GatewayFile, own: GatewayFile) -> GatewayFile:
    return GatewayFile({**shipped.commands, **own.commands}, {**shipped.runners, **own.runners})


def _is_shipped(script: str) -> bool:
    return os.path.dirname(script) == shipped_scripts()


def _all(values: Mapping[str, Sequence[str]]) -> list[str]:
    return [text for texts in values.values() for text in texts]


def _executed(file: GatewayFile, project: str) -> list[str]:
    """The files of a project that commands, runners and sandboxes name: no command writes them."""
    lists: list[Sequence[str | Sequence[str]]] = [command.argv for command in file.commands.values()]
    lists += [runner.argv for runner in file.runners.values()]
    lists += [command.setting.sandbox for command in file.commands.values()]
    lists += [runner.setting.sandbox for runner in file.runners.values()]
    found = [word for argv in lists for word in program_words(argv) if "{" not in word and not word.startswith("-")]
    return [word for word in found if os.path.isfile(os.path.join(project, word))]


def _require_content(script: str, stdin_text: str | None) -> None:
    """UsageError if a file would be emptied by a call that forgot its content."""
    if stdin_text is None and _is_shipped(script) and os.path.basename(script) == "write_file.py":
        raise UsageError(
            "write_file.py writes its standard input, and none is given",
            remedy='give the content as stdin_text; "" makes an empty file',
            in_shell="--stdin < FILE, or a pipe and --stdin; --stdin < /dev/null makes an empty file",
        )


def _stdin(command: Command, text: str | None) -> bytes:
    if text is None:
        return b""
    if not isinstance(text, str):
        raise UsageError(f"{command.name}: stdin_text is no text")
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{command.name}: stdin_text is no text in UTF-8") from None
    if len(data) > STDIN_LIMIT:
        raise UsageError(f"{command.name}: stdin_text has {len(data):,} bytes, at most {STDIN_LIMIT:,} are taken")
    if data and command.does in OPERATIONS:
        raise UsageError(f"{command.name} reads no standard input")
    return data
