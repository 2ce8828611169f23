"""The queue of a fleet on DBOS: which run is next, by user and priority, and which worker follows it.

It holds nothing that the ledger does not have. A workflow of DBOS is one try to follow a run: it ends when the run
ends, waits for a person or was left, and the keeper puts the run in again once there is something to do. So a run that
waits for days takes no place in the queue.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, WorkflowStatusString
from dbos import Queue as Registered
from dbos._queue import queue_worker_thread  # DBOS itself starts it with pauses of one length only
from sqlalchemy.exc import SQLAlchemyError

from skills.lib.errors import EnvironmentProblem
from skills.lib.fleet.places import Place, close
from skills.lib.fleet.polling import SHORTEST, Pace
from skills.lib.record import Record

NAME = "lockstep"
# Another one would leave what is in the queue of this one to nobody: it changes if the workflow below does.
VERSION = "lockstep-2"
# What a try to follow a run comes to: it is over, nobody can go on now, or the same worker tries again after a pause.
OVER, AGAIN = "over", "again"
# The pauses before a provider that gave no answer is tried again, in seconds.
PAUSES = (30.0, 60.0, 120.0, 240.0, 480.0)
_ACTIVE = [WorkflowStatusString.ENQUEUED.value, WorkflowStatusString.PENDING.value, WorkflowStatusString.DELAYED.value]
_ENDED = [WorkflowStatusString.SUCCESS.value, WorkflowStatusString.ERROR.value, WorkflowStatusString.CANCELLED.value]
# So many workflows that have ended are removed at a time.
_REMOVED = 500
# How long the poller may take to stop, and waits before it begins again if the queue was removed, in seconds.
_STOPS, _BEGINS = 10.0, 1.0
_queue: Queue | None = None


@DBOS.workflow(name="run_skill", max_recovery_attempts=None)
def run_skill(run: str) -> str:
    """Follow a run; one whose provider gives no answer is tried again after a pause.

    To follow it is no step of DBOS, which would be written down: the ledger says where the run stands.
    """
    queue = _queue
    assert queue is not None
    assert DBOS.workflow_id is not None
    with queue.at_work(DBOS.workflow_id):
        for pause in PAUSES:
            if queue.drive(run) != AGAIN:
                return OVER
            DBOS.sleep(pause)
        return queue.drive(run)


class Entry(Record):
    """A try to follow a run that is in the queue, or at work in the worker ``executor``."""

    id: str
    run: str
    is_at_work: bool
    executor: str


class Queue:
    """The queue as one worker sees it; a process has one at most. ``drive`` follows a run.

    Raises EnvironmentProblem if the database cannot be used.
    """

    def __init__(self, place: Place, worker: str, slots: int, per_user: int, drive: Callable[[str], str]) -> None:
        self._place, self._worker, self._slots, self._per_user = place, worker, slots, per_user
        self.drive = drive
        self._engine: sa.Engine | None = None
        self._pace, self._poller = Pace(), threading.Thread()
        # The ids of the workflows that run here, and of those that the database alone says so of.
        self._running: set[str] = set()
        self._idle: set[str] = set()
        self._is_launched = False
        global _queue
        _queue = self

    def launch(self) -> None:
        """Begin to take runs, those first that this worker followed when it ended."""
        with self._told():
            config = DBOSConfig(
                name=NAME,
                executor_id=self._worker,
                application_version=VERSION,
                serializer=DBOSPortableJSONSerializer(),
                log_level="CRITICAL",
            )
            self._place.make()
            self._engine = config["system_database_engine"] = self._place.engine()
            if self._place.schema:
                config["dbos_system_schema"] = self._place.schema
            dbos = DBOS(config=config)
            DBOS.listen_queues([])
            DBOS.launch()
            queue = DBOS.register_queue(
                NAME,
                worker_concurrency=self._slots,
                partition_concurrency=self._per_user,
                polling_interval_sec=SHORTEST,
                on_conflict="always_update",
            )
            self._pace = Pace()
            self._poller = threading.Thread(
                target=_poll, args=(self._pace, dbos, queue), name="lockstep-poller", daemon=True
            )
            self._poller.start()
            self._is_launched = True

    @property
    def is_launched(self) -> bool:
        """True between ``launch`` and ``close``."""
        return self._is_launched

    def close(self, seconds: int = 0) -> None:
        """Take nothing new, and wait so long for what is at work."""
        self._is_launched = False
        self._pace.set()
        if self._poller.is_alive():
            self._poller.join(_STOPS)
        DBOS.destroy(workflow_completion_timeout_sec=seconds)
        if self._engine is not None:
            close(self._engine)

    @contextlib.contextmanager
    def at_work(self, workflow: str) -> Iterator[None]:
        """Have a workflow known as one that runs here; after it there is room for another one."""
        self._running.add(workflow)
        if len(self._running) >= self._slots:
            self._pace.slow()
        try:
            yield
        finally:
            self._running.discard(workflow)
            self._seek()

    def entries(self) -> list[Entry]:
        """What is in the queue or at work, in all workers. The tables are made anew if somebody removed them."""
        try:
            return self._entries()
        except SQLAlchemyError as error:
            if not _is_without_tables(error):
                raise self._problem(error) from error
        self.close()
        self.launch()
        with self._told():
            return self._entries()

    def put(self, run: str, user: str, priority: int) -> None:
        """Put a run into the queue; a lower number comes first among those of a user."""
        with self._told():
            DBOS.enqueue_workflow_with_options(
                {
                    "workflow_name": "run_skill",
                    "queue_name": NAME,
                    "workflow_id": f"{run}:{uuid.uuid4().hex[:12]}",
                    "app_version": VERSION,
                    "priority": priority,
                    "queue_partition_key": user,
                },
                run,
            )
        self._seek()

    def take_over(self, entries: Sequence[Entry]) -> None:
        """Put what the workers at work on it do not go on with into the queue again."""
        with self._told():
            DBOS.resume_workflows([entry.id for entry in entries], queue_name=NAME)

    def take_over_own(self) -> None:
        """Put into the queue again what is at work here by the database alone, now and the last time.

        DBOS does not begin what it took if it lost the connection as the database committed that.
        """
        with self._told():
            found = DBOS.list_workflows(
                status=WorkflowStatusString.PENDING.value,
                executor_id=self._worker,
                name="run_skill",
                load_input=False,
                load_output=False,
            )
        idle = {one.workflow_id for one in found} - self._running
        stranded, self._idle = sorted(idle & self._idle), idle - self._idle
        if stranded:
            with self._told():
                DBOS.resume_workflows(stranded, queue_name=NAME)

    def remove(self, entries: Sequence[Entry]) -> None:
        """Take entries out of the queue."""
        with self._told():
            DBOS.delete_workflows([entry.id for entry in entries])

    def forget(self, age: float) -> None:
        """Remove some of what ended more than ``age`` seconds ago: the ledger has all that is of use."""
        before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - age))
        with self._told():
            found = DBOS.list_workflows(
                status=_ENDED, end_time=before, limit=_REMOVED, load_input=False, load_output=False
            )
            if found:
                DBOS.delete_workflows([one.workflow_id for one in found])

    def _seek(self) -> None:
        """Have the poller look at once if there is room for a run."""
        if len(self._running) < self._slots:
            self._pace.quicken()

    def _entries(self) -> list[Entry]:
        found = DBOS.list_workflows(status=_ACTIVE, name="run_skill", load_input=False, load_output=False)
        at_work = WorkflowStatusString.PENDING.value
        return [
            Entry(one.workflow_id, one.workflow_id.partition(":")[0], one.status == at_work, one.executor_id or "")
            for one in found
        ]

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise self._problem(error) from error

    def _problem(self, error: SQLAlchemyError) -> EnvironmentProblem:
        what = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        return EnvironmentProblem(
            f"the queue {self._place.shown} cannot be used: {what:.300}",
            remedy="see that it is there and can be written; no run is lost, the ledger has them",
        )


def _poll(pace: Pace, dbos: DBOS, queue: Registered) -> None:
    """Take runs until ``pace`` is set. DBOS's poller ends if it does not find the queue, which a worker makes anew."""
    while not pace.is_set():
        queue_worker_thread(pace, dbos, queue)
        pace.wait(_BEGINS)


def _is_without_tables(error: SQLAlchemyError) -> bool:
    text = str(error)
    return "no such table" in text or "UndefinedTable" in text or "InvalidSchemaName" in text
