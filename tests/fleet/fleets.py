"""Projects of a fleet for tests, and their workers: in this process, or as processes that can be killed and stopped."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skills.lib import paths
from skills.lib.agent.agent import Agent
from skills.lib.agent.kept import submissions
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


def worker(folder: Path, answer: Answering | None = None, **options: Any) -> Worker:
    """A worker in this process."""
    return Worker(str(folder), ScriptedModel(answer=answer or writing()), **options)


def work(folder: Path, answer: Answering | None = None, **options: Any) -> None:
    """Follow what is submitted in this process, until nothing is left that can go on."""
    with worker(folder, answer, **{"slots": 1, **options}) as found:
        found.work(until_empty=True)


def states(folder: Path) -> dict[str, str]:
    """The state of each run."""
    return {one.submission.run: one.state for one in Fleet(str(folder)).runs(ended=True)}


def is_over(folder: Path) -> bool:
    """True if workers have nothing to follow any more; cheaper than ``states``."""
    with Ledger(paths.home(str(folder)), create=False) as ledger:
        return not any(one.is_for_workers for one in submissions.each(ledger))


def ended(folder: Path) -> int:
    """How many submitted runs have ended, or are parked."""
    with Ledger(paths.home(str(folder)), create=False) as ledger:
        return sum(not one.is_for_workers for one in submissions.each(ledger, ended=True))


def moves(folder: Path, run: str) -> Counter[tuple[int, str]]:
    """What was recorded of a run, by turn and kind."""
    with Ledger(paths.home(str(folder)), create=False) as ledger:
        return Counter((event.turn, event.kind) for event in ledger.each_event(run))


def files(folder: Path, run: str, below: str = "made") -> dict[str, str]:
    """The files of a run's worktree at its last move, by path."""
    with Ledger(paths.home(str(folder)), create=False) as ledger:
        commit = submissions.worktree(ledger, run)
    names = git(folder, "ls-tree", "-r", "--name-only", commit, "--", below).splitlines()
    return {name: git(folder, "show", f"{commit}:{name}") for name in names}


def fault(folder: Path, run: str, task: str) -> str:
    """What is not as in an undisturbed run of the skill "plain"; "" if all is."""
    found = moves(folder, run)
    if found != PLAIN:
        return f"run {run} recorded {dict(found)}"
    made = files(folder, run)
    expected = {"made/again.txt": f"again of {task}", "made/note.txt": f"note of {task}"}
    return "" if made == expected else f"run {run} made {made}"


def faults(folder: Path, tasks: Mapping[str, str]) -> list[str]:
    """What is not as in undisturbed runs of the skill "plain"; ``tasks`` has the task of each run.

    The events are read once, and git is started once: all trees are compared by what git names them.
    """
    recorded: dict[str, Counter[tuple[int, str]]] = {run: Counter() for run in tasks}
    commits = dict.fromkeys(tasks, "0" * 40)
    with Ledger(paths.home(str(folder)), create=False) as ledger:
        for event in ledger.each_event():
            if event.run in recorded:
                recorded[event.run][event.turn, event.kind] += 1
                commits[event.run] = event.detail.get(submissions.WORKTREE, commits[event.run])
    given = "".join(f"{commit}:made\n" for commit in commits.values())
    words = ["git", "-C", str(folder), "cat-file", "--batch-check=%(objectname)"]
    names = subprocess.run(words, input=given, capture_output=True, text=True, check=True, timeout=300).stdout
    trees = dict(zip(commits, names.splitlines(), strict=True))
    suspects = [run for run, task in tasks.items() if recorded[run] != PLAIN or trees[run] != _tree(task)]
    return [fault(folder, run, tasks[run]) or f"run {run} made the tree {trees[run]}" for run in suspects]


def _tree(task: str) -> str:
    """What git names the folder that an undisturbed run of the skill "plain" makes."""
    entries = b""
    for step in ("again", "note"):
        entries += f"100644 {step}.txt\0".encode() + _object("blob", f"{step} of {task}\n".encode()).digest()
    return _object("tree", entries).hexdigest()


def _object(kind: str, content: bytes) -> hashlib._Hash:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False)


class Workers:
    """Workers as processes of their own, by name; ``log`` takes what they say.

    They are forks of one program that has imported what they need, so that a start costs no seconds.
    """

    def __init__(self, folder: Path, log: Path, **options: Any) -> None:
        self._options = options
        self._pids: dict[str, int] = {}
        with open(log, "ab") as file:
            self._program = subprocess.Popen(
                [sys.executable, "-m", "tests.fleet.working", str(folder)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            )

    @property
    def names(self) -> list[str]:
        """The workers that were started."""
        return sorted(self._pids)

    def start(self, name: str, **options: Any) -> None:
        """Start a worker, anew if it has ended."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        print(json.dumps({"name": name, **self._options, **options}), file=self._program.stdin, flush=True)
        self._pids[name] = int(self._program.stdout.readline())

    def is_at_work(self, name: str) -> bool:
        """True if the process of the worker is there."""
        try:
            os.kill(self._pids[name], 0)
        except ProcessLookupError:
            return False
        return True

    def send(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a worker that is there."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pids[name], number)

    def kill(self, name: str) -> None:
        """End a worker without a word."""
        self.send(name, signal.SIGKILL)
        until(lambda: not self.is_at_work(name), 30)

    def end(self) -> None:
        """End all workers, and the program that starts them."""
        self.stop()
        self._program.communicate(timeout=30)

    def stop(self) -> None:
        """End all workers, in order; those that take too long without a word."""
        for name in self.names:
            self.send(name, signal.SIGCONT)
            self.send(name, signal.SIGTERM)
        end = time.monotonic() + 30
        for name in self.names:
            while self.is_at_work(name):
                if time.monotonic() > end:
                    self.kill(name)
                time.sleep(0.05)
        self._pids.clear()


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


def until(what: Callable[[], bool], seconds: float = 300.0) -> None:
    """Wait until something is so; fails if it takes longer."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.2)


class Storm:
    """Kills a worker and starts it again, and stops another one for a while, again and again."""

    def __init__(self, running: Workers, every: float, stopped_for: float, seed: int) -> None:
        self._running, self._every, self._stopped_for = running, every, stopped_for
        self._chance = random.Random(seed)
        self.kills = self.stops = 0

    def rage(self, is_over: Callable[[], bool], seconds: float = 600.0) -> None:
        """Go on until it is over; fails if it takes longer than that."""
        begin = time.monotonic()
        while not is_over():
            assert time.monotonic() - begin < seconds, "it took too long"
            killed, stopped = self._chance.sample(self._running.names, 2)
            self._running.send(stopped, signal.SIGSTOP)
            self._running.kill(killed)
            self._running.start(killed)
            time.sleep(self._stopped_for)
            self._running.send(stopped, signal.SIGCONT)
            self.kills, self.stops = self.kills + 1, self.stops + 1
            end = time.monotonic() + self._every - self._stopped_for
            while time.monotonic() < end and not is_over():
                time.sleep(1.0)
