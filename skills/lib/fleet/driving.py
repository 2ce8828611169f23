"""Follows one run in a worktree, for a worker that has its lease."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from skills.lib import paths
from skills.lib.agent import stops
from skills.lib.agent.agent import Agent
from skills.lib.agent.kept import submissions
from skills.lib.agent.kept.lease import is_held
from skills.lib.errors import EnvironmentProblem, LedgerError, LockstepError
from skills.lib.fleet.folders import Folders, RunFolder
from skills.lib.fleet.members import Lease, Members
from skills.lib.fleet.queue import AGAIN, OVER
from skills.lib.fleet.repository import Repository
from skills.lib.ledger import Ledger
from skills.lib.model.run import Run

if TYPE_CHECKING:
    from skills.lib.engine.decision import Move

log = logging.getLogger("lockstep.fleet")
# How often a run is taken without a move before it is parked: what it does may end its workers.
_TRIES = 5


class LeaseLost(EnvironmentProblem):
    """Another worker follows the run by now: nothing of this session counts any more."""


class Driver:
    """Follows runs of one project for one worker. ``agent`` makes the agent of a project's folder.

    Any number of threads may use it, each with a run of its own.
    """

    def __init__(
        self,
        project: str,
        worker: str,
        members: Members,
        folders: Folders,
        repository: Repository,
        agent: Callable[[str, Fence], Agent],
    ) -> None:
        self._home, self._worker = paths.home(project), worker
        self._members, self._folders, self._repository, self._agent = members, folders, repository, agent
        self._lock = threading.Lock()
        self._at_work: dict[str, tuple[Lease, Agent] | None] = {}
        self.is_leaving = False

    def drive(self, run: str) -> str:
        """Follow a run until it ends, waits, or cannot go on here; what the queue is to do with this try."""
        with self._entered(run) as is_first:  # before it is taken: a lease of no run that is entered is a stray one
            lease = self._members.take(run, self._worker) if is_first and not self.is_leaving else None
            if lease is None:
                return OVER
            counts = True
            try:
                with Ledger(self._home, create=False) as ledger:
                    found = self._followed(ledger, lease)
                counts = False
                return found
            except LeaseLost:
                log.warning("run %s: another worker follows it by now", run)
                return OVER
            except LedgerError as error:  # busy, or away for a moment: the next try counts
                log.warning("run %s: %s", run, error.what)
                return OVER
            finally:
                with contextlib.suppress(LedgerError):  # the next sign of life does it
                    self._members.release(lease, counts)

    def interrupt(self) -> None:
        """Stop all sessions before their next model call."""
        for lease, agent in self._sessions():
            agent.interrupt(lease.run)

    def interrupt_lost(self) -> None:
        """Stop the sessions of runs that other workers follow by now, and of those that were parked on any machine."""
        sessions = self._sessions()  # first: of one that begins meanwhile the lease is known
        if not sessions:
            return
        held = self._members.held(self._worker)
        for lease, agent in sessions:
            if held.get(lease.run) != lease.token:
                agent.interrupt(lease.run)
        with Ledger(self._home, create=False) as ledger:
            for lease, agent in sessions:
                found = submissions.of(ledger, lease.run)
                if found is not None and found.reason:
                    agent.interrupt(lease.run)

    def release_stray(self) -> None:
        """Give back the leases of runs that are not followed here.

        One is left over if the database was away as its session ended, or as it was taken.
        """
        held = self._members.held(self._worker)  # first: a run that is entered later gets another token
        followed = self.runs
        for run, token in held.items():
            if run not in followed:
                self._members.release(Lease(run, self._worker, token, 0))

    def _sessions(self) -> list[tuple[Lease, Agent]]:
        with self._lock:
            return [found for found in self._at_work.values() if found is not None]

    @property
    def runs(self) -> list[str]:
        """The runs that are followed at this moment."""
        with self._lock:
            return sorted(self._at_work)

    @contextlib.contextmanager
    def _entered(self, run: str) -> Iterator[bool]:
        """True if no other thread of this worker follows the run."""
        with self._lock:
            is_first = run not in self._at_work
            if is_first:
                self._at_work[run] = None
        try:
            yield is_first
        finally:
            if is_first:
                with self._lock:
                    del self._at_work[run]

    def _followed(self, ledger: Ledger, lease: Lease) -> str:
        run, submission = ledger.run(lease.run), submissions.of(ledger, lease.run)
        if run is None or submission is None or submission.reason or run.ended or run.status == "waiting":
            return OVER
        if is_held(self._home, run.id):
            log.warning("run %s: a session of this machine drives it", run.id)
            return AGAIN
        if lease.tries > _TRIES:
            why = f"{_TRIES} sessions ended at {run.step} without a word: what the step does may end them"
            return self._park(ledger, lease, why)
        try:
            folder = self._folders.prepare(run.id, submissions.worktree(ledger, run.id))
            fence = Fence(ledger, self._members, lease, folder, self._repository, lambda: self.is_leaving)
            agent = self._agent(folder.tree.project, fence)
            with self._lock:
                self._at_work[run.id] = (lease, agent)
            with agent.activity() as activity:
                if submission.task and not activity.count(run.id, kind="task"):  # submitted on another machine
                    activity.note(run.id, 0, 0, "task", {"text": submission.task, "skill": run.workflow})
            log.info("run %s: %s, at %s", run.id, run.workflow, run.step)
            outcome = agent.drive(run.id)
        except (LeaseLost, LedgerError):
            raise
        except LockstepError as error:
            return self._park(ledger, lease, _in_a_line(error))
        except Exception as error:
            log.exception("run %s", run.id)
            return self._park(ledger, lease, f"{type(error).__name__}: {error}")
        log.info("run %s: %s", run.id, outcome.status)
        if outcome.status != "stopped":
            if outcome.status != "waiting":
                self._folders.remove(run.id)
            return OVER
        return self._stopped(ledger, lease, agent, outcome.reason)

    def _stopped(self, ledger: Ledger, lease: Lease, agent: Agent, reason: str) -> str:
        """What becomes of a run whose session stopped before its end."""
        if self.is_leaving:
            return OVER
        self._require(lease)
        with agent.activity() as activity:
            rows = activity.rows(lease.run, kind="stopped")
        code = rows[-1].data.get("code", "") if rows else ""
        if code == stops.PAUSED:
            return OVER
        if code == stops.MODEL:
            return AGAIN
        return self._park(ledger, lease, reason)

    def _park(self, ledger: Ledger, lease: Lease, reason: str) -> str:
        """Note that a run waits until somebody submits it again. Raises LeaseLost if it is another worker's by now."""
        self._require(lease)
        log.warning("run %s is parked: %s", lease.run, reason)
        run = ledger.run(lease.run)
        assert run is not None
        submissions.park(ledger, run, reason, "script", self._worker)
        return OVER

    def _require(self, lease: Lease) -> None:
        """Raise LeaseLost if another worker follows the run by now."""
        if not self._members.has(lease):
            raise LeaseLost(f"another worker follows run {lease.run} by now")


def _in_a_line(error: LockstepError) -> str:
    """What was wrong, what is valid and what to try, in one line."""
    return "; ".join(" ".join(line.split()) for line in error.lines())


class Fence:
    """What stands before each move of a run: its lease, its last move, and the commit of its files."""

    def __init__(
        self,
        ledger: Ledger,
        members: Members,
        lease: Lease,
        folder: RunFolder,
        repository: Repository,
        is_leaving: Callable[[], bool],
    ) -> None:
        self._ledger, self._members, self._lease, self._is_leaving = ledger, members, lease, is_leaving
        self._folder, self._repository = folder, repository
        self._made = set(folder.made)
        self._lock = threading.Lock()

    def is_void(self) -> bool:
        """True if another worker goes on with the run, so that what the session says of its end is of no account."""
        return self._is_leaving() or not self._members.has(self._lease)

    def __call__(self, run: Run | None, move: Move) -> dict[str, Any]:
        """The commit of the files, which the move keeps. Raises LeaseLost if the run is another worker's by now."""
        root, step = self._lease.run, move.run.step or move.run.status
        with self._lock:  # sub-agents move side by side
            if not self._members.keeps(self._lease):
                raise LeaseLost(f"another worker follows run {root} by now")
            message = f"lockstep {move.run.id}: {move.kind}, {step}, turn {move.run.turn}"
            commit = self._repository.snapshot(self._folder.tree.folder, self._folder.index, root, message)
            if submissions.worktree(self._ledger, root) not in self._made:
                raise LeaseLost(f"another worker moved run {root}")
            self._made.add(commit)
            self._folder.note(commit)
        return {submissions.WORKTREE: commit, "who": self._lease.worker}
