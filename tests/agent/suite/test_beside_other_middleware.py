"""An agent of LangChain that follows a run has other middleware and a state of its own beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ToolRetryMiddleware
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from skills.lib.agent.middleware import LockstepMiddleware
from tests.agent.scripted import Answer, ScriptedModel, calling
from tests.agent.sessions import agent, honest, project


class Sending:
    """A run, a model that first sends something, and a tool for it that fails a number of times."""

    def __init__(self, folder: Path, failures: int = 0) -> None:
        self.project = project(folder / "p", "plain")
        self.model = ScriptedModel(answer=self._answer)
        self.middleware = LockstepMiddleware(agent(self.project, self.model).start("plain"), str(self.project))
        self.failures, self.calls = failures, 0

    def _answer(self, messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
        is_first = not any(isinstance(message, ToolMessage) for message in messages)
        return calling(("send", {"text": "hello"})) if is_first else honest()(messages, tools)

    def _send(self, text: str) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise ConnectionError("reset by peer")
        return f"sent {text}"

    def graph(self, middleware: Sequence[Any], **more: Any) -> Any:
        tool = StructuredTool.from_function(self._send, name="send", description="Send a text.")
        return create_agent(self.model, [tool], middleware=middleware, **more)

    def status(self) -> str:
        found = self.middleware.following.peek().run.status
        self.middleware.close()
        return found


def _sent(result: dict[str, Any]) -> str:
    return next(message.text for message in result["messages"] if isinstance(message, ToolMessage))


def test_a_retry_that_stands_after_it_tries_again(tmp_path: Path) -> None:
    sending = Sending(tmp_path, failures=2)
    graph = sending.graph([sending.middleware, ToolRetryMiddleware(max_retries=3, initial_delay=0.01)])
    assert _sent(graph.invoke({"messages": [("user", "Begin.")]})) == "sent hello"
    assert (sending.status(), sending.calls) == ("done", 3)


def test_a_retry_that_stands_before_it_sees_a_result(tmp_path: Path) -> None:
    sending = Sending(tmp_path, failures=2)
    graph = sending.graph([ToolRetryMiddleware(max_retries=3, initial_delay=0.01), sending.middleware])
    assert _sent(graph.invoke({"messages": [("user", "Begin.")]})) == (
        "The tool failed: ConnectionError: reset by peer\nSuch a failure may pass: try it again."
    )
    assert (sending.status(), sending.calls) == ("done", 1)


@pytest.mark.parametrize("is_before", [False, True])
@pytest.mark.parametrize("decision, calls", [("approve", 1), ("reject", 0)])
def test_a_person_decides_on_a_call(tmp_path: Path, is_before: bool, decision: str, calls: int) -> None:
    sending = Sending(tmp_path)
    asking = HumanInTheLoopMiddleware(interrupt_on={"send": True})
    both = [asking, sending.middleware] if is_before else [sending.middleware, asking]
    graph, thread = sending.graph(both, checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    assert "__interrupt__" in graph.invoke({"messages": [("user", "Begin.")]}, thread)
    assert sending.calls == 0
    graph.invoke(Command(resume={"decisions": [{"type": decision}]}), thread)
    assert (sending.status(), sending.calls) == ("done", calls)


def test_a_state_of_its_own_stays(tmp_path: Path) -> None:
    class Budgeted(AgentState[Any]):
        budget: int

    sending = Sending(tmp_path)
    graph = sending.graph([sending.middleware], state_schema=Budgeted)
    assert graph.invoke({"messages": [("user", "Begin.")], "budget": 3})["budget"] == 3
    assert sending.status() == "done"
