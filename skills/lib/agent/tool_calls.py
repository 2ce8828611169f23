"""A call of a tool in a conversation of LangChain: where it stands, and what it came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.types import Command

from skills.lib.agent.calls import Ended, Stamp, readable_values
from skills.lib.agent.kept.kept_conversation import STAMP, KeptConversation
from skills.lib.errors import LockstepError

# What the libraries of networks call a failure that may pass, beside the errors of Python itself.
_PASSING = frozenset(("TransportError", "Timeout", "RequestError", "NetworkError", "ConnectError"))


class Place:
    """Where a call of a tool stands: the message that asked for it, its stamp, and its place among the calls of it.

    ``arguments`` are those that the model gave, unless ``is_known`` is False.
    """

    def __init__(self, request: ToolCallRequest, conversation: KeptConversation) -> None:
        call = request.tool_call
        self.tool, self.arguments, self.id = call["name"], dict(call["args"] or {}), call["id"] or ""
        messages: Sequence[AnyMessage] = request.state["messages"] if isinstance(request.state, dict) else []
        answer = next((one for one in reversed(messages) if isinstance(one, AIMessage)), None)
        calls = list(answer.tool_calls) if answer else [call]
        self.stamp = Stamp.of(answer.response_metadata.get(STAMP)) if answer else None
        self.alone = len(calls) + len(answer.invalid_tool_calls if answer else ()) <= 1
        number = next((at for at, one in enumerate(calls) if one is call), None)
        if number is None:
            number = next((at for at, one in enumerate(calls) if one["id"] == call["id"] and one == call), 0)
        self.key = f"{self.stamp.model if self.stamp else 0}.{number}"
        whole = conversation.arguments(self.key, self.tool, self.arguments)
        self.is_known = whole is not None
        self.arguments = whole or {}

    def whole(self, request: ToolCallRequest) -> ToolCallRequest:
        """The request with the arguments that the model gave."""
        return request.override(tool_call={**request.tool_call, "args": self.arguments})

    def answered(self, ended: Ended, result: ToolMessage | None = None, whole: bool = False) -> ToolMessage:
        """The message for the model; what is not text in a tool's own stays, and its artifact if it stays ``whole``."""
        blocks = result.content if result is not None and isinstance(result.content, list) else None
        return ToolMessage(
            ended.text if blocks is None else readable_values(blocks),
            tool_call_id=self.id,
            name=self.tool,
            status="success" if ended.ok else "error",
            artifact=result.artifact if result is not None and whole else None,
        )


def ends_by_itself(tool: BaseTool) -> bool:
    """True for a tool of ours that ends what it runs after the time that a call asks for."""
    return bool((tool.metadata or {}).get("long")) and "timeout" in tool.args


def ended_by(result: ToolMessage | Command[Any]) -> Ended:
    """The result of a tool in words."""
    if isinstance(result, Command):
        return Ended("The tool changed the state of the agent.")
    data = result.artifact if isinstance(result.artifact, dict) else {}
    return Ended(str(result.text), result.status != "error", data)


def ended_by_error(error: BaseException) -> Ended:
    """What a tool that raised says to the model: what was wrong, what is valid, what to try."""
    if isinstance(error, LockstepError):
        return Ended("\n".join(error.lines()), False)
    what = f"The tool failed: {type(error).__name__}: {error}"[:4000]
    if isinstance(error, ConnectionError | TimeoutError) or any(
        base.__name__ in _PASSING for base in type(error).__mro__
    ):
        what += "\nSuch a failure may pass: try it again."
    return Ended(what, False)
