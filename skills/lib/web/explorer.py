"""What the pages of one project share: its ledger, the list of its runs, the levels of its readers."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skills.lib import paths, terminal
from skills.lib.agent.configuration import lockstep_toml
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.agent.watching.visibility import Levels
from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger, history
from skills.lib.views import statistics
from skills.lib.views.records import Records
from skills.lib.web.access import Access, Session
from skills.lib.web.run_list import RunList

if TYPE_CHECKING:
    from skills.lib.agent.watching.session_stats import SessionStats
    from skills.lib.views.statistics import WorkflowRefusals


class Explorer:
    """One project behind the pages; any number of threads may use it.

    ``kind`` is what the ledger calls whoever acts here: a person, unless an agent's host started this server.
    """

    def __init__(self, project: str, access: Access) -> None:
        self.project = project
        self.access = access
        self.kind = "agent" if any(name in os.environ for name in terminal.AGENTS) else "web"
        # A step that is served sends what it prints elsewhere, for the whole process.
        self.acting = threading.Lock()
        configuration = lockstep_toml.load(project)
        self._levels = Levels(configuration.visibility, configuration.tool_types)
        self._lock = threading.RLock()
        self._ledger: Ledger | None = None
        self._activity: Activity | None = None
        self._runs: RunList | None = None
        self._statistics: tuple[int, list[WorkflowRefusals], dict[str, SessionStats]] | None = None

    @property
    def home(self) -> str:
        """The folder of the ledger."""
        return paths.home(self.project)

    def level(self, session: Session) -> str:
        """What this person sees of runs: FULL, SUMMARY or HIDDEN."""
        return self._levels.of_reader(session.role)

    def records(self) -> Records | None:
        """The project's records, for one page; None as long as no run was ever opened."""
        with self._lock:
            if self._ledger is None:
                self._ledger = Ledger.existing(self.home)
            return Records(self._ledger, self.project) if self._ledger is not None else None

    def runs(self) -> RunList | None:
        """The list of runs as it is now; None as long as no run was ever opened."""
        with self._lock:
            if self._runs is None:
                records = self.records()
                self._runs = RunList(records, self._ran_by_agent) if records is not None else None
                return self._runs
        self._runs.refresh()
        return self._runs

    def look(self) -> list[tuple[str, int]]:
        """What happened to runs since somebody last looked: each run with the number of its last event."""
        if self._runs is None:
            return [] if self.runs() is None else [("", 0)]
        return self._runs.refresh()

    def activity(self) -> Activity | None:
        """What happened in the sessions of agents; None if there never was one."""
        with self._lock:
            if self._activity is None and os.path.exists(path_in(self.home)):
                self._activity = Activity(path_in(self.home))
            return self._activity

    def activity_mark(self) -> tuple[int, int]:
        """What changes whenever something happens in a session."""
        found = []
        for name in (path_in(self.home), f"{path_in(self.home)}-wal"):
            try:
                about = os.stat(name)
                found.append(about.st_mtime_ns + about.st_size)
            except OSError:
                found.append(0)
        return found[0], found[1]

    def statistics(self) -> tuple[list[WorkflowRefusals], dict[str, SessionStats]]:
        """The figures of all workflows, counted again if anything happened."""
        records = self.records()
        if records is None:
            return [], {}
        last = history.last(records.ledger.database)
        with self._lock:
            if self._statistics is None or self._statistics[0] != last:
                try:
                    of_sessions = statistics.of_sessions(records)
                except LedgerError:  # the ledger's own figures do not need it
                    of_sessions = {}
                self._statistics = last, statistics.refusals(records.ledger), of_sessions
            return self._statistics[1:]

    def close(self) -> None:
        """Close what was opened."""
        with self._lock:
            for one in (self._ledger, self._activity):
                if one is not None:
                    one.close()
            self._ledger = self._activity = self._runs = None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """A context in which no other form of this server is carried out."""
        with self.acting:
            yield

    def _ran_by_agent(self, run_id: str) -> bool:
        try:
            activity = self.activity()
            return activity is not None and activity.count(run_id) > 0
        except LedgerError:
            return False
