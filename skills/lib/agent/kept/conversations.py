"""The conversations of a project's runs: LangGraph's checkpoints in a file that is read as data and never as code."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from skills.lib.agent.kept import own_file
from skills.lib.errors import LedgerError

FILE = "checkpoints.db"
_REMEDY = "the conversations in it are of use to sessions that go on alone: move it away, no run is lost"


class _Data(JsonPlusSerializer):
    """Reads messages and plain values alone: whoever wrote the project may have written the file, too."""

    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if data[0] not in ("null", "bytes", "bytearray", "msgpack"):
            raise ValueError(f"a value of the kind {data[0]!r:.40}")
        return super().loads_typed(data)


class Conversations:
    """The checkpoints of all runs, in a file of their owner alone. Raises LedgerError if the file is of no use."""

    def __init__(self, home: str) -> None:
        self.path = os.path.join(home, "agent", FILE)
        own_file.make(self.path, "conversations")
        self._connection = sqlite3.connect(self.path, check_same_thread=False, timeout=30)
        try:
            with self.told():
                self._connection.execute("PRAGMA trusted_schema=OFF")
                self._connection.execute("PRAGMA synchronous=NORMAL")
                self._check_tables()
                self.saver = SqliteSaver(self._connection, serde=_Data())
                self.saver.setup()
        except LedgerError:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def state(self, graph: Any, config: RunnableConfig) -> Any:
        """The state of a conversation."""
        try:
            state = graph.get_state(config)
        except Exception as error:
            raise self._broken(f"{type(error).__name__}: {error}") from error
        if not all(isinstance(one, BaseMessage) for one in state.values.get("messages") or ()):
            raise self._broken("something else than messages is in it")
        return state

    @contextmanager
    def told(self) -> Iterator[None]:
        """Raise LedgerError for what SQLite says."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._broken(str(error)) from error

    def _check_tables(self) -> None:
        """Refuse a file with what could run by itself."""
        found = self._connection.execute("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchone()
        if found:
            raise self._broken(f"it has the trigger or view {found[0]!r:.80}")

    def _broken(self, what: str) -> LedgerError:
        if any(word in what for word in ("readonly", "unable to open", "full", "disk I/O")):
            remedy = "make the file writable, or make room on its disk, and run the same command again"
            return LedgerError(f"{self.path} cannot be written: {what:.500}", remedy=remedy)
        return LedgerError(f"{self.path} cannot be used: {what:.500}", remedy=_REMEDY)
