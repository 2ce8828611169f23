"""Calls of git that run nothing of the project: no monitor, hook, filter, embedded repository, fetch, own ``git``."""

from __future__ import annotations

import os
import stat
import time

from skills.lib.errors import EnvironmentProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

# How long all calls of one Git may take together, in seconds; listing 100,000 files takes one.
TIMEOUT = 30.0
# How many bytes of output are read: the list of a million files has half of that.
OUTPUT_LIMIT = 1 << 28
# How long a call takes, in seconds, before it is looked whether git waits for a FIFO, and how long that look takes.
PATIENCE, LOOK = 1.5, 2.0
# How long the pipe of a killed git is waited for, in seconds.
_AFTER_KILL = 1.0
_SAFE = ("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit", "-c", f"core.hooksPath={os.devnull}")
# A partial clone fetches what it lacks by a program that the project names. Git before 2.44 knows only the protocols.
# A replacement would show another commit in the place of the one that is asked for.
_ENVIRONMENT = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}


class GitProblem(EnvironmentProblem):
    """git took too long, or printed what it never prints."""


class Git:
    """git in one folder; ``options`` are further words before the command, ``settings`` override the configuration.

    ``variables`` are added to its environment. Its calls have to end by ``deadline``, a time of ``time.monotonic``: by
    default TIMEOUT seconds from now.
    """

    def __init__(
        self,
        folder: str,
        options: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        deadline: float | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.options = tuple(options)
        self.settings = dict(settings or {})
        self.variables = dict(variables or {})
        self.deadline = time.monotonic() + TIMEOUT if deadline is None else deadline
        self._search_path = _search_path(folder)

    def start(self, *arguments: str, given: bytes = b"") -> subprocess.Popen[bytes]:
        """Start a command whose output is read later; ``given`` is its standard input.

        Raises OSError if git is not installed outside of the project.
        """
        import contextlib
        import subprocess
        import tempfile

        with contextlib.ExitStack() as opened:
            read_from: Any = subprocess.DEVNULL
            if given:
                read_from = opened.enter_context(tempfile.TemporaryFile())
                read_from.write(given)
                read_from.seek(0)
            return subprocess.Popen(
                self._words(arguments),
                env=self._environment(),
                stdin=read_from,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _words(self, arguments: Sequence[str]) -> list[str]:
        """The command line of a call. Raises FileNotFoundError if git is not installed outside of the project."""
        words = ["-C", self.folder, "--literal-pathspecs", *_SAFE, *_settings(self.settings)[0], *self.options]
        return [_program(self._search_path), *words, *arguments]

    def _environment(self) -> dict[str, str]:
        # A caller's own GIT_DIR or GIT_INDEX_FILE (a hook's) would lead to another repository.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        path = os.pathsep.join(self._search_path)
        return {**kept, "PATH": path, **_ENVIRONMENT, **_settings(self.settings)[1], **self.variables}

    def output(self, *arguments: str) -> bytes | None:
        """What a command printed; None if it failed, or git is not installed. Raises GitProblem as ``read`` does."""
        try:
            if os.name == "nt":
                return self.read(self.start(*arguments))
            pid, pipe = _spawned(self._words(arguments), self._environment())
        except OSError:
            return None
        code = None
        try:
            printed = _read(pipe, self.deadline, self)
            code = _code(pid, self.deadline)
            if code is None:
                raise self._late()
        finally:
            _kill(pid)
            os.close(pipe)
            if code is None:
                _code(pid, time.monotonic() + _AFTER_KILL)
        return printed if code == 0 else None

    def read(self, process: subprocess.Popen[bytes]) -> bytes | None:
        """What a started command printed; None if it failed.

        Raises GitProblem if it is still at work at the deadline, or prints more than OUTPUT_LIMIT.
        """
        import subprocess

        assert process.stdout is not None
        try:
            if os.name == "nt":  # a pipe cannot be waited for there
                printed = process.communicate(timeout=max(self.deadline - time.monotonic(), 0.01))[0]
            else:
                printed = _read(process.stdout.fileno(), self.deadline, self)
            code = process.wait(max(self.deadline - time.monotonic(), 0.01))
        except subprocess.TimeoutExpired:
            raise self._late() from None
        finally:
            end(process)
        return printed if code == 0 else None

    def _late(self) -> GitProblem:
        return GitProblem(
            f"git did not answer in time in {self.folder}",
            remedy=f"run git status in {self.folder} and see what it waits for: a slow disk, a command that it is "
            "configured to run, a FIFO in the place of a file such as .gitignore",
        )

    def require_files(self) -> None:
        """GitProblem if something that git reads is a FIFO or a device, for which it waits without end."""
        for path in _waiting(self.folder):
            raise GitProblem(
                f"git waits for {path}, which is not a regular file", remedy="remove it, or put a file in its place"
            )

    @property
    def program(self) -> str:
        """The path of git."""
        return _program(self._search_path)

    def garbled(self) -> GitProblem:
        """The error for output that is not what git prints."""
        return GitProblem(
            f"git printed what cannot be read in {self.folder}: {self.program}",
            remedy="see that the git that comes first on PATH is git itself",
        )


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command that was started in a process group of its own, with everything that it has started."""
    if os.name == "nt":
        try:  # noqa: SIM105
            process.kill()
        except PermissionError:
            pass
    else:
        _kill(process.pid)


def _kill(pid: int) -> None:
    """Kill a process that leads a group, with its group."""
    from _signal import SIGKILL  # type: ignore[import-not-found]  # ``signal`` brings enum and re

    try:  # noqa: SIM105  contextlib costs the hook 2 ms
        os.killpg(pid, SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a started command with everything that it has started, and close its pipe."""
    import subprocess

    if process.stdout is None or process.stdout.closed:
        return
    kill(process)
    process.stdout.close()
    try:  # noqa: SIM105
        process.wait(_AFTER_KILL)
    except subprocess.TimeoutExpired:
        pass


def _spawned(words: list[str], environment: Mapping[str, str]) -> tuple[int, int]:
    """Start a program in a session of its own; its process id, and the pipe from its standard output.

    ``subprocess`` does the same, and costs the hook 15 ms. Raises OSError.
    """
    from _signal import SIGPIPE

    pipe, end_of_pipe = os.pipe()
    try:
        actions = [
            (os.POSIX_SPAWN_DUP2, end_of_pipe, 1),
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        pid = os.posix_spawn(
            words[0], words, environment, file_actions=actions, setsid=True, setsigdef=[SIGPIPE]
        )  # fmt: skip
    except BaseException:
        os.close(pipe)
        raise
    finally:
        os.close(end_of_pipe)
    return pid, pipe


def _code(pid: int, deadline: float) -> int | None:
    """The exit code of a child; None if it is still at work at the deadline."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(0.0005)


def _read(pipe: int, deadline: float, git: Git) -> bytes:
    """The output to its end. Raises GitProblem at the deadline, and beyond OUTPUT_LIMIT."""
    import select

    parts: list[bytes] = []
    size = 0
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    patience = PATIENCE
    while (left := deadline - time.monotonic()) > 0:
        if not poll.poll(min(left, patience) * 1000):
            git.require_files()
            patience = left
            continue
        part = os.read(pipe, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > OUTPUT_LIMIT:
            raise GitProblem(
                f"git printed more than {OUTPUT_LIMIT:,} bytes: {git.program}",
                remedy="see that the git that comes first on PATH is git itself",
            )
    raise git._late()


def _waiting(folder: str) -> Iterator[str]:
    """The FIFOs and devices among the files that git reads, as far as LOOK seconds take the search."""
    until = time.monotonic() + LOOK
    top = folder
    while not os.path.lexists(os.path.join(top, ".git")) and top != os.path.dirname(top):
        top = os.path.dirname(top)
    folders = [os.path.join(top, ".git"), top]
    while folders and time.monotonic() < until:
        at = folders.pop()
        try:
            entries = list(os.scandir(at))
        except OSError:
            continue
        inside = f"{os.sep}.git{os.sep}" in at + os.sep
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
                continue
            is_read = inside or entry.name.startswith(".git")
            if is_read and not entry.is_file(follow_symlinks=False) and _is_waited_for(entry.path):
                yield entry.path


def _is_waited_for(path: str) -> bool:
    """True for a FIFO or a device."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _settings(settings: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The settings as words, and as variables if the name has an ``=``: a word would set another one."""
    words = [word for name, value in settings.items() if "=" not in name for word in ("-c", f"{name}={value}")]
    odd = [(name, value) for name, value in settings.items() if "=" in name]
    variables = {"GIT_CONFIG_COUNT": str(len(odd))} if odd else {}
    for at, (name, value) in enumerate(odd):
        variables.update({f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value})
    return words, variables


def _search_path(folder: str) -> list[str]:
    """The absolute folders of PATH that are not in the project, nor in a repository around it."""
    tops = [os.path.realpath(folder)]
    at = os.path.dirname(tops[0])
    while at != os.path.dirname(at):
        if os.path.exists(os.path.join(at, ".git")):
            tops.append(at)
        at = os.path.dirname(at)
    found = []
    for one in os.environ.get("PATH", os.defpath).split(os.pathsep):
        real = os.path.realpath(one) if os.path.isabs(one) else ""
        if real and not any(real == top or real.startswith(top.rstrip(os.sep) + os.sep) for top in tops):
            found.append(one)
    return found


def _program(folders: Sequence[str]) -> str:
    """The path of git. Raises FileNotFoundError if no folder has it."""
    for folder in folders:
        path = os.path.join(folder, "git.exe" if os.name == "nt" else "git")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError("git")
