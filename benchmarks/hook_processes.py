"""Starts the hook as a host does, and repositories to start it in."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from skills.lib.hosts import hook

if TYPE_CHECKING:
    from collections.abc import Iterable

HOOK = os.path.join(os.path.dirname(os.path.abspath(hook.__file__)), "run_hook.py")


def command(python: str) -> list[str]:
    """The command by which Claude Code starts the hook."""
    return [python, "-IS", HOOK, "--host", "claude"]


def repository(project: str, names: Iterable[str] = ("a.py",)) -> None:
    """A repository with one commit of files with these names."""
    for name in names:
        path = os.path.join(project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("one = 1\n")
    person = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (["init", "-q", "-b", "topic"], ["add", "."], [*person, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", project, *words], check=True, capture_output=True)


def keep_compiled(project: str, cache: str) -> None:
    """Have the policy compiled, as the first call of a hook does on a Python that has a YAML library."""
    words = [sys.executable, "-m", "skills", "policy", "check", os.path.join(project, "lockstep.policy.yaml")]
    subprocess.run(
        words,
        env={**os.environ, "XDG_CACHE_HOME": cache},
        cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
        capture_output=True,
        check=True,
    )


def processor_time(words: list[str], event: bytes, state: str, expected: int, cache: str = "") -> float:
    """The seconds that a command, and what it starts, keep a processor busy: others on the machine count less."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(words, event, state, expected, cache)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def seconds(words: list[str], event: bytes, state: str, expected: int, cache: str = "") -> float:
    """The seconds until a command has ended. Raises RuntimeError for another exit code."""
    begin = time.perf_counter()
    done = run(words, event, state, cache)
    took = time.perf_counter() - begin
    if done.returncode != expected:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode()}")
    return took


def run(words: list[str], event: bytes, state: str, cache: str = "") -> subprocess.CompletedProcess[bytes]:
    """How a command ended that was given an event, with folders of its own for what Lockstep keeps for a user."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["LOCKSTEP_STATE"] = state
    if cache:
        environment["XDG_CACHE_HOME"] = cache
    return subprocess.run(words, input=event, capture_output=True, env=environment, check=False)
