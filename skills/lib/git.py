"""Calls of git that run nothing of the project: no file system monitor, no hook, no filter, no embedded repository."""

from __future__ import annotations

import os
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# How long git may take, in seconds; listing 100,000 files takes one.
TIMEOUT = 60
_SAFE = ("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit", "-c", f"core.hooksPath={os.devnull}")


class Git:
    """git in one folder; ``options`` are further words before the command."""

    def __init__(self, folder: str, options: Sequence[str] = ()) -> None:
        self.folder = folder
        self.options = tuple(options)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command whose output is read later; OSError if git is not installed."""
        # A caller's own GIT_DIR or GIT_INDEX_FILE (a hook's) would lead to another repository.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.Popen(
            ["git", "--literal-pathspecs", *_SAFE, *self.options, *arguments],
            cwd=self.folder,
            env={**environment, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def output(self, *arguments: str) -> bytes | None:
        """What a command printed; None if it failed, took too long, or git is not installed."""
        try:
            return output_of(self.start(*arguments))
        except OSError:
            return None


def output_of(process: subprocess.Popen[bytes]) -> bytes | None:
    """What a started command printed; None if it failed or took too long."""
    try:
        printed, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    return printed if process.returncode == 0 else None
