"""Projects of a fleet for tests, and their workers: in this process, or as processes that can be killed and stopped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skills.lib import paths
from skills.lib.agent.agent import Agent
from skills.lib.fleet.fleet import Fleet
from skills.lib.fleet.worker import Worker
from skills.lib.ledger import Ledger
from tests.agent.scripted import Answering, ScriptedModel
from tests.fixtures.skill import ROOT, install
from tests.fleet.working import writing

ABOUT = "---\nname: {0}\ndescription: Use it when something is to be done step by step.\n---\n\nRun the script.\n"
# What a run of the skill "plain" records, by turn and kind.
PLAIN = {(1, "opened"): 1, (1, "submitted"): 1, (2, "moved"): 1, (3, "finished"): 1}


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def project(folder: Path, skill: str = "plain", source: str | None = None) -> Path:
    """A repository with a skill and one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    install(folder, skill, source)
    (folder / "skills" / skill / "SKILL.md").write_text(ABOUT.format(skill), encoding="utf-8")
    (folder / "README.md").write_text("A project.\n", encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "--message", "first")
    return folder


def agent(folder: Path, answer: Answering | None = None) -> Agent:
    """What opens runs of a project."""
    return Agent(str(folder), ScriptedModel(answer=answer or writing()))


def submit(folder: Path, tasks: Sequence[str], skill: str = "plain", **options: Any) -> list[str]:
    """The runs that are submitted for these tasks."""
    fleet, host = Fleet(str(folder)), agent(folder)
    return [fleet.submit(host, skill, task, **options) for task in tasks]


def work(folder: Path, answer: Answering | None = None, **options: Any) -> None:
    """Follow what is submitted in this process, until nothing is left that can go on."""
    with Worker(str(folder), ScriptedModel(answer=answer or writing()), **{"slots": 1, **options}) as worker:
        worker.work(until_empty=True)


def states(folder: Path) -> dict[str, str]:
    """The state of each run."""
    return {one.submission.run: one.state for one in Fleet(str(folder)).runs(ended=True)}


def moves(folder: Path, run: str) -> Counter[tuple[int, str]]:
    """What was recorded of a run, by turn and kind."""
    with Ledger(paths.home(str(folder)), create=False) as ledger:
        return Counter((event.turn, event.kind) for event in ledger.each_event(run))


def files(folder: Path, run: str, below: str = "made") -> dict[str, str]:
    """The files of a run's worktree at its last move, by path."""
    commit = next(one.commit for one in Fleet(str(folder)).runs(ended=True) if one.submission.run == run)
    names = git(folder, "ls-tree", "-r", "--name-only", commit, "--", below).splitlines()
    return {name: git(folder, "show", f"{commit}:{name}") for name in names}


class Workers:
    """Workers as processes of their own, by name."""

    def __init__(self, folder: Path, log: Path, **options: Any) -> None:
        self._folder, self._log, self._options = folder, log, options
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        """Start a worker, anew if it has ended."""
        with open(self._log, "ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "tests.fleet.working", str(self._folder), name, json.dumps(self._options)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self, name: str) -> None:
        """End a worker without a word."""
        self.processes[name].kill()
        self.processes[name].wait(30)

    def stop(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGCONT)

    def end(self) -> None:
        """End all workers, in order."""
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(30)


@contextmanager
def workers(folder: Path, names: Sequence[str], **options: Any) -> Iterator[Workers]:
    """Workers with these names, which are ended at the end; what they said is printed then."""
    found = Workers(folder, folder.parent / "workers.log", **options)
    try:
        for name in names:
            found.start(name)
        yield found
    finally:
        found.end()
        print((folder.parent / "workers.log").read_text(encoding="utf-8")[-4_000:])


def until(what: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait until something is so; fails if it takes longer."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.2)
