"""A worker of a fleet: a process that follows runs of a project, several at a time, until it is drained or ended."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from skills.lib import paths
from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration import lockstep_toml
from skills.lib.errors import EnvironmentProblem, LockstepError, RefusedError, UsageError
from skills.lib.fleet.driving import Driver, Fence
from skills.lib.fleet.folders import Folders
from skills.lib.fleet.keeping import Keeper
from skills.lib.fleet.members import Members
from skills.lib.fleet.places import QUEUE, WORKERS, Place, folder
from skills.lib.fleet.queue import Queue
from skills.lib.fleet.repository import Repository
from skills.lib.ledger import Ledger

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


log = logging.getLogger("lockstep.fleet")
SLOTS, PER_USER, PATIENCE = 2, 8, 20.0
# The variable that says of which project the folders of a worker are worktrees.
OF = "LOCKSTEP_WORKTREE_OF"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
# How many workers of one machine find a name by themselves.
_MOST = 100
# How often a worker gives a sign of life within its patience, and how often it looks after the queue, in seconds.
_SIGNS, _LOOKS = 8, 1.0
# How long a worker that ends waits for its sessions to stop, in seconds; they are taken over without it.
_GRACE = 5


class Worker:
    """Follows the submitted runs of a project. A process has one at most; ``with`` it has its name for itself.

    ``model`` is as for Agent; ``slots`` is how many runs it follows at a time, and ``per_user`` how many of one user
    all workers follow. Others take over its runs if it gives no sign of life for ``patience`` seconds. Raises
    UsageError for a bad name or number, and RefusedError for a name that another worker has.
    """

    def __init__(
        self,
        project: str,
        model: BaseChatModel | str | None = None,
        *,
        name: str = "",
        slots: int = SLOTS,
        per_user: int = PER_USER,
        patience: float = PATIENCE,
        **options: Any,
    ) -> None:
        if name and not _NAME.fullmatch(name):
            raise UsageError(f"{name!r:.80} is no name of a worker", valid="letters, digits, -, _ and ., at most 64")
        if min(slots, per_user) < 1 or patience < 1:
            raise UsageError("a worker has a slot, a run of a user and a second of patience at least")
        self.project = os.path.realpath(project)
        self._given, self._slots, self._per_user, self.patience = name, slots, per_user, patience
        self._model, self._options = model, options
        self._repository = Repository(self.project)
        self._configuration = lockstep_toml.load(self.project)
        self._place = folder(self.project)
        self.name = ""
        self._ends, self._leaves = threading.Event(), threading.Event()
        self._opened = contextlib.ExitStack()

    def __enter__(self) -> Worker:
        """Take the name, the database and the folder of the worker."""
        self.name = self._named()
        os.environ["LOCKSTEP_HOME"] = os.path.abspath(paths.home(self.project))
        os.environ[OF] = self.project
        place = os.path.join(self._place, self.name)
        self._members = Members(Place(self.project, WORKERS))
        self._opened.callback(self._members.close)
        self._folders = Folders(self._repository, place)
        self._driver = Driver(self.project, self.name, self._members, self._folders, self._repository, self._agent)
        queue = Place(self.project, QUEUE)
        self._queue = Queue(queue, self.name, self._slots, self._per_user, self._driver.drive)
        self._keeper = Keeper(self.name, self._members, self._queue)
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()

    def follow(self, run: str) -> str:
        """Follow one run at once as far as it goes, past the queue; what the queue would do with it then."""
        return self._driver.drive(run)

    def drain(self) -> None:
        """Take nothing new, and end once what runs has ended."""
        self._ends.set()

    def leave(self) -> None:
        """Stop the sessions before their next model call, and end: other workers go on with their runs."""
        self._driver.is_leaving = True
        self._leaves.set()
        self._ends.set()
        self._driver.interrupt()

    @property
    def is_ending(self) -> bool:
        """True if it takes nothing new."""
        return self._ends.is_set()

    @property
    def runs(self) -> list[str]:
        """The runs that it follows at this moment."""
        return self._driver.runs

    def work(self, until_empty: bool = False) -> None:
        """Follow runs until the worker is drained or ended; ``until_empty``, until no run is left that can go on."""
        self._members.begin(self.name)
        self._members.join(self.name, self._slots, self.patience)
        signs = threading.Thread(target=self._give_signs, name="lockstep-signs", daemon=True)
        signs.start()
        try:
            self._launch()
            while not self._ends.is_set():
                self._look()
                if until_empty and self._is_empty():
                    self.drain()
                self._ends.wait(_LOOKS)
            self._finish()
        finally:
            self._leaves.set()
            try:
                self._queue.close()
            finally:
                signs.join(self.patience)
                self._members.leave(self.name)

    def _launch(self) -> None:
        """Begin to take runs, once the queue's database is there."""
        while not self._ends.is_set():
            try:
                self._queue.launch()
                return
            except EnvironmentProblem as error:
                log.warning("%s", error.what)
                self._queue.close()
                self._ends.wait(_LOOKS)

    def _finish(self) -> None:
        """Wait for the sessions that are at work: to their end, or a moment if the worker leaves."""
        while not self._leaves.is_set() and self.runs:
            self._queue.close(seconds=1)
            self._leaves.wait(0.1)
        if self._leaves.is_set():
            self._queue.close(seconds=_GRACE)

    def _look(self) -> None:
        """Keep the queue, and remove the folders of runs that have ended. What fails now is tried again."""
        try:
            ledger = Ledger.existing(os.environ["LOCKSTEP_HOME"])
            with ledger or contextlib.nullcontext():
                self._keeper.keep(ledger)
                for run in self._folders.runs() if ledger is not None else ():
                    present = ledger.run(run) if ledger is not None and run not in self.runs else None
                    if present is not None and present.ended:
                        self._folders.remove(run)
        except LockstepError as error:
            log.warning("%s", error.what)

    def _is_empty(self) -> bool:
        """True if no submitted run can go on."""
        from skills.lib.agent.kept import submissions

        ledger = Ledger.existing(os.environ["LOCKSTEP_HOME"])
        if ledger is None:
            return True
        with ledger:
            return not any(one.status == "open" and not one.reason for one in submissions.each(ledger))

    def _give_signs(self) -> None:
        """Give signs of life, and give back or give up what is not this worker's to follow."""
        while not self._leaves.is_set():
            try:
                drains = self._members.sign(self.name, self.patience)
                if drains is None:
                    self._members.join(self.name, self._slots, self.patience)
                elif drains:
                    self.drain()
                self._driver.release_stray()
                self._driver.interrupt_lost()
                if self._queue.is_launched:
                    self._queue.take_over_own()
            except LockstepError as error:
                log.warning("%s", error.what)
            self._leaves.wait(self.patience / _SIGNS)

    def _agent(self, folder: str, fence: Fence) -> Agent:
        """The agent of a worktree."""
        return Agent(
            folder,
            self._model,
            configuration=self._configuration,
            conversations=self._folders.place,
            before_commit=fence,
            is_void=fence.is_void,
            **self._options,
        )

    def _named(self) -> str:
        """The name that is given, or the first of this machine that no worker has; it is kept until the end."""
        machine = re.sub(r"[^A-Za-z0-9-]", "-", os.uname().nodename).strip("-")[:40] or "machine"
        names = [self._given] if self._given else [f"{machine}-{number}" for number in range(1, _MOST)]
        for name in names:
            place = folder(self.project, name)
            os.makedirs(place, mode=0o700, exist_ok=True)
            lock = FileLock(os.path.join(place, "worker.lock"), mode=0o600, is_singleton=False)
            with contextlib.suppress(Timeout):
                lock.acquire(timeout=0)
                self._opened.callback(lock.release)
                return name
        raise RefusedError(
            f"a worker of the name {names[0]} is at work on this machine", remedy="give another one: --name NAME"
        )
