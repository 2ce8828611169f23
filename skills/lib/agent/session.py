"""One run in one thread of LangGraph: begins the conversation or goes on with it."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from skills.lib.agent import children, texts
from skills.lib.agent.following import Following
from skills.lib.agent.kept.conversations import Conversations
from skills.lib.agent.kept.kept_conversation import holds_hidden
from skills.lib.agent.run_middleware import RunMiddleware
from skills.lib.runtime.peeking import Peek

# No session meets it: the limits of a step are met long before.
_STEPS = 1_000_000


class Session:
    """A run with its models, tools and conversation.

    ``model_of`` gives the model of the present step; ``child`` follows a sub-agent and says why it stopped.
    ``middleware`` is what holds the model to the run.
    """

    def __init__(
        self,
        following: Following,
        model_of: Callable[[Peek], BaseChatModel],
        tools: Sequence[BaseTool],
        conversations: Conversations,
        child: Callable[[str], str],
        middleware: type[RunMiddleware] = RunMiddleware,
    ) -> None:
        self.following, self._conversations = following, conversations
        own = middleware(following, lambda request: children.run(following, child), model_of=model_of)
        self._graph: Any = create_agent(
            model_of(following.peek()),
            [_in_a_thread(tool) for tool in tools],
            middleware=[own],
            checkpointer=conversations.saver,
        )
        self._config: RunnableConfig = {"configurable": {"thread_id": following.run}, "recursion_limit": _STEPS}

    def follow(self) -> None:
        """Go on until the run ends, waits, or the session stops."""
        following = self.following
        following.limits.begin()
        state = self._conversations.state(self._graph, self._config)
        given: dict[str, Any] | None = None
        if not state.values.get("messages"):
            has_begun = following.activity.count(following.run, kind="model") > 0
            given = {"messages": [HumanMessage(texts.LOST if has_begun else texts.BEGIN)]}
            if has_begun:
                following.note("moved-on", {"why": "the conversation is lost"})
        elif holds_hidden(state.values["messages"], following.peek().run.turn):
            following.note("moved-on", {"why": "what was hidden in the conversation is not kept"})
            given = {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage(texts.ANEW)]}
        elif not state.tasks:  # of which ``next`` leaves out those that ended just before a kill
            given = {"messages": [HumanMessage(texts.GO_ON)]}
        with self._conversations.told():
            self._graph.invoke(given, self._config, durability="sync")


def _in_a_thread(tool: BaseTool) -> BaseTool:
    """The tool as a thread can call it: one with a coroutine alone, as MCP has, gets an event loop of its own."""
    if not isinstance(tool, StructuredTool) or tool.func is not None or tool.coroutine is None:
        return tool
    coroutine: Any = tool.coroutine

    @functools.wraps(coroutine)
    def run(*given: Any, **named: Any) -> Any:
        return asyncio.run(coroutine(*given, **named))

    return tool.model_copy(update={"func": run})
