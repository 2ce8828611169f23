"""The middleware of an execution: each entry of a step has a conversation of its own (L3)."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware import hook_config
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from skills.lib.agent.calls import Stamp
from skills.lib.agent.kept.kept_conversation import STAMP
from skills.lib.agent.planning.following import ExecutionFollowing
from skills.lib.agent.run_middleware import RunMiddleware

# Where the first message of a conversation says to which turn of the run it belongs.
_TURN = "lockstep_turn"


class ExecutionMiddleware(RunMiddleware):
    """Clears the conversation where a step is entered, and takes an optimizer's last text as its report."""

    following: ExecutionFollowing

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Begin a new conversation for an entry of a step, with the skill memory; that of the last entry is removed."""
        first = next(iter(state["messages"]), None)
        text = self.following.prepare(first.response_metadata.get(_TURN) if first is not None else None)
        if not text:
            return None
        turn = self.following.peek().run.turn
        begin = HumanMessage(text, response_metadata={_TURN: turn})
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), begin]}

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Go on to the evaluator after an optimizer's last text; in other steps as in any session."""
        last = state["messages"][-1] if state["messages"] else None
        if isinstance(last, AIMessage):
            told = self.following.end_by_text(last.text, Stamp.of(last.response_metadata.get(STAMP)))
            if told is not None:
                return {"jump_to": "model", **({"messages": [HumanMessage(told)]} if told else {})}
        return super().after_agent(state, runtime)
