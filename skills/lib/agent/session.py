"""One run in one thread of LangGraph: begins the conversation or goes on with it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.checkpoint.sqlite import SqliteSaver

from skills.lib.agent import children, texts
from skills.lib.agent.following import Following
from skills.lib.agent.run_middleware import RunMiddleware
from skills.lib.errors import LedgerError

CHECKPOINTS = "checkpoints.db"
# No session meets it: the limits of a step are met long before.
_STEPS = 1_000_000


class Conversations:
    """The checkpoints of all runs of a project, in a file of their owner alone."""

    def __init__(self, home: str) -> None:
        self.path = os.path.join(home, "agent", CHECKPOINTS)
        os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
        try:
            self._connection = sqlite3.connect(self.path, check_same_thread=False, timeout=30)
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self.saver = SqliteSaver(self._connection)
            self.saver.setup()
        except sqlite3.Error as error:
            remedy = "the conversations in it are of use to sessions that go on alone: move it away, no run is lost"
            raise LedgerError(f"{self.path} cannot be used: {error}", remedy=remedy) from error

    def close(self) -> None:
        self._connection.close()


class Session:
    """A run with a model, its tools and its conversation; ``child`` follows a sub-agent and says why it stopped."""

    def __init__(
        self,
        following: Following,
        model: BaseChatModel,
        tools: Sequence[BaseTool],
        conversations: Conversations,
        child: Callable[[str], str],
    ) -> None:
        self.following = following
        middleware = RunMiddleware(following, lambda request: children.run(following, child))
        self._graph: Any = create_agent(model, list(tools), middleware=[middleware], checkpointer=conversations.saver)
        self._config: RunnableConfig = {"configurable": {"thread_id": following.run}, "recursion_limit": _STEPS}

    def follow(self) -> None:
        """Go on until the run ends, waits, or the session stops."""
        following = self.following
        following.limits.begin()
        state = self._graph.get_state(self._config)
        given: dict[str, Any] | None = None
        if not state.values.get("messages"):
            has_begun = following.activity.count(following.run, kind="model") > 0
            given = {"messages": [HumanMessage(texts.LOST if has_begun else texts.BEGIN)]}
            if has_begun:
                following.note("moved-on", {"why": "the conversation is lost"})
        elif not state.tasks:  # of which ``next`` leaves out those that ended just before a kill
            given = {"messages": [HumanMessage(texts.GO_ON)]}
        self._graph.invoke(given, self._config, durability="sync")
