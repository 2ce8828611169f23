"""A fleet as who submits runs and looks on sees it: no worker has to be there, and no queue."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from skills.lib import paths, terminal
from skills.lib.agent import runs
from skills.lib.agent.kept import submissions
from skills.lib.agent.money.spending import user_name
from skills.lib.errors import RefusedError, UsageError
from skills.lib.fleet.repository import Repository
from skills.lib.ledger import Ledger
from skills.lib.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skills.lib.agent.agent import Agent
    from skills.lib.agent.kept.submissions import Submission
    from skills.lib.fleet.members import Member, Members

PRIORITY = 100


class Followed(Record):
    """A submitted run: ``state`` is ``queued``, ``at work`` (in ``worker``), ``waiting``, ``parked``, or how it ended.

    ``commit`` is that of its worktree at its last move.
    """

    submission: Submission
    state: str
    worker: str = ""
    commit: str = ""


class Fleet:
    """The submitted runs of a project and its workers. Raises RefusedError outside of a git repository."""

    def __init__(self, project: str) -> None:
        self.project = os.path.realpath(project)
        self._repository = Repository(self.project)
        self._home = paths.home(self.project)

    def submit(
        self,
        agent: Agent,
        skill: str,
        task: str = "",
        parameters: Mapping[str, Any] | None = None,
        *,
        user: str = "",
        priority: int = PRIORITY,
        key: str = "",
        new: bool = False,
    ) -> str:
        """Open a run of a skill for the workers and return its id; the same again gives the same run.

        It is opened as ``Agent.start`` opens it, and works on the project as it is now, with what is not committed.
        Among the runs of a ``user`` a lower ``priority`` comes first. With a ``key`` the task is done once for ever.
        """
        self._check(user, priority)
        run = agent.start(skill, task, parameters, new=new, key=key)
        self._note(run, task, user, priority)
        return run

    def submit_again(self, run_id: str, *, user: str = "", priority: int | None = None) -> str:
        """Have the workers go on with a run: with one that waits for a person, or that a session opened here.

        Raises RefusedError for a run that has ended.
        """
        run = runs.known(self.project, run_id)
        if run.ended:
            raise RefusedError(f"run {run.id} is {run.status}: there is nothing to do", remedy="submit the task anew")
        with Ledger(self._home, create=False) as ledger:
            known = submissions.of(ledger, run.id)
        user = user or (known.user if known else "")
        number = priority if priority is not None else known.priority if known else PRIORITY
        self._check(user, number)
        self._note(run.id, known.task if known else "", user, number)
        return run.id

    def runs(self, ended: bool = False) -> list[Followed]:
        """The submitted runs with their state, in the order of their submission."""
        ledger = Ledger.existing(self._home)
        if ledger is None:
            return []
        workers = {run: member for member in self.members() if member.is_live for run in member.runs}
        with ledger:
            return [
                Followed(one, *_state(one, workers.get(one.run)), submissions.worktree(ledger, one.run))
                for one in submissions.each(ledger, ended)
            ]

    def members(self) -> list[Member]:
        """The workers; none if none was ever there."""
        return members(self.project)

    def drain(self, worker: str = "") -> list[str]:
        """Ask a worker, or all, to take nothing new; the names of those that are asked.

        Raises UsageError for a worker that is not at work.
        """
        names = [one.worker for one in self.members() if one.is_live]
        if worker and worker not in names:
            raise UsageError(f"no worker {worker!r:.80} is at work", valid=", ".join(names) or "none is")
        with _opened(self.project) as found:
            return found.drain(worker) if found is not None else []

    def _note(self, run_id: str, task: str, user: str, priority: int) -> None:
        """Record the submission, unless the run is the workers' already."""
        with Ledger(self._home, create=False) as ledger:
            run = ledger.run(run_id)
            assert run is not None
            known = submissions.of(ledger, run_id)
            if run.ended or (
                known is not None
                and not known.reason
                and (known.user, known.priority) == (user or known.user, priority)
            ):
                return
            detail: dict[str, Any] = {"user": user or user_name(), "priority": priority, "task": task}
            if not submissions.worktree(ledger, run_id):
                detail[submissions.WORKTREE] = self._repository.begin(run_id)
            submissions.note(ledger, run, detail, terminal.actor())

    def _check(self, user: str, priority: int) -> None:
        if not submissions.FIRST <= priority <= submissions.LAST:
            raise UsageError(f"priority is {priority}", valid=f"{submissions.FIRST} (first) to {submissions.LAST:,}")
        if user and (len(user) > 100 or not user.isprintable()):
            raise UsageError(f"user is {user!r:.120}", valid="a line of at most 100 characters")


def members(project: str) -> list[Member]:
    """The workers of a project; none if none was ever there."""
    with _opened(project) as found:
        return found.members() if found is not None else []


@contextmanager
def _opened(project: str) -> Iterator[Members | None]:
    """The workers' database; None if there is none yet."""
    from skills.lib.fleet.members import Members  # of the extra
    from skills.lib.fleet.places import WORKERS, Place

    place = Place(project, WORKERS)
    if not place.exists():
        yield None
        return
    found = Members(place)
    try:
        yield found
    finally:
        found.close()


def _state(one: Submission, member: Member | None) -> tuple[str, str]:
    if one.status not in ("open", "waiting"):
        return one.status, ""
    if member is not None:
        return "at work", member.worker
    if one.reason:
        return "parked", ""
    return ("waiting" if one.status == "waiting" else "queued"), ""
