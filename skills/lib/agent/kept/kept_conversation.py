"""A conversation as it is kept, and whole as a model sees it: without secrets, and nothing in it of what is hidden."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langgraph.types import Command

from skills.lib.agent.calls import Stamp
from skills.lib.agent.redaction import has_mark
from skills.lib.agent.watching.concealment import PLACEHOLDER, Concealment
from skills.lib.guard.offering import ESSENTIAL
from skills.lib.runtime.reporting import REPORT

# Where a message carries its stamp.
STAMP = "lockstep"
_HIDDEN: dict[str, Any] = {PLACEHOLDER: True}
# What a model thought, sealed by its provider: it cannot be changed, only left out.
_THOUGHTS = ("thinking", "reasoning", "redacted_thinking")
# Where a block of a call has its arguments: Anthropic's messages, OpenAI's responses.
_ARGUMENTS = {"tool_use": "input", "function_call": "arguments"}


class KeptConversation:
    """Takes out of messages what is not kept, and puts back what is hidden for the next call of the model."""

    def __init__(self, concealment: Concealment) -> None:
        self._concealment = concealment
        # The whole messages by their calls: those of models by the row of the call, those of tools by its id.
        self._whole: dict[int | str, AnyMessage] = {}

    def keep(self, message: AIMessage, stamp: Stamp) -> None:
        """Take out of a model's message what is not kept; the arguments of its calls stay in memory."""
        hidden = [self._concealment.is_hidden(call["name"], call["args"]) for call in message.tool_calls]
        if any(hidden):
            self._concealment.note_hidden(stamp.turn)
        hides = self._concealment.hides(stamp.turn)
        if hides:
            self._whole[stamp.model] = message.model_copy(deep=True)
        redact = self._concealment.redactor.value
        kept: dict[str, Any] = {}
        for number, call in enumerate(message.tool_calls):
            given = dict(call["args"])
            call["args"] = _HIDDEN if hidden[number] else redact(given)
            if call["args"] != given or has_mark(given):
                self._concealment.remember(f"{stamp.model}.{number}", given)
                kept[str(call["id"])] = call["args"]
        message.invalid_tool_calls = redact(message.invalid_tool_calls)
        message.content = self._content(message.content, hides, kept)
        own = {name: one for name, one in message.additional_kwargs.items() if name != "tool_calls" or not kept}
        message.additional_kwargs = dict.fromkeys(own, PLACEHOLDER) if hides else redact(own)

    def arguments(self, key: str, tool: str, kept: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments with which a call is carried out; None if they are not known any more.

        The list of todos is a file of the session, which has no secrets; a report is redacted as it is made.
        """
        whole = self._concealment.whole(key, kept)
        return kept if tool in ESSENTIAL or (whole is None and tool == REPORT) else whole

    def kept_result(self, message: ToolMessage, tool: str, arguments: Mapping[str, Any]) -> ToolMessage:
        """The result of a call as it is kept."""
        redact = self._concealment.redactor.value
        message.content, message.artifact = redact(message.content), redact(message.artifact)
        if not self._concealment.is_hidden(tool, arguments):
            return message
        self._whole[message.tool_call_id] = message
        return message.model_copy(update={"content": PLACEHOLDER, "artifact": None})

    def kept_command(self, command: Command[Any], tool: str, arguments: Mapping[str, Any]) -> Command[Any]:
        """The command of a tool to its graph, with its messages as they are kept."""
        update = command.update
        if not isinstance(update, dict) or not isinstance(update.get("messages"), list):
            return command
        messages = [
            self.kept_result(one, tool, arguments) if isinstance(one, ToolMessage) else one
            for one in update["messages"]
        ]
        return Command(
            graph=command.graph, update={**update, "messages": messages}, resume=command.resume, goto=command.goto
        )

    def whole(self, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        """The messages with what is hidden in them."""
        return [self._whole.get(_key(one), one) for one in messages] if self._whole else list(messages)

    def _content(self, content: Any, hides: bool, kept: Mapping[str, Any]) -> Any:
        if isinstance(content, str):
            return PLACEHOLDER if hides and content else self._concealment.redactor.text(content)
        blocks = []
        for block in content:
            one = self._block(block, hides, kept) if isinstance(block, dict) else self._content(block, hides, kept)
            blocks += [] if one is None else [one]
        return blocks

    def _block(self, block: dict[str, Any], hides: bool, kept: Mapping[str, Any]) -> dict[str, Any] | None:
        """A block of a message as it is kept; None if it is left out."""
        kind = str(block.get("type", ""))
        if name := _ARGUMENTS.get(kind, ""):
            arguments = kept.get(str(block.get("call_id") or block.get("id")))
            if arguments is None:
                return block
            text = isinstance(block.get(name), str)
            return {**block, name: json.dumps(arguments) if text else arguments}
        redacted: dict[str, Any] = self._concealment.redactor.value(block)
        if kind in _THOUGHTS:
            return None if hides or redacted != block else block
        return {**block, "text": PLACEHOLDER} if hides and "text" in block else redacted


def holds_hidden(messages: Sequence[BaseMessage], turn: int) -> bool:
    """True if something hidden was taken out of the messages of a turn, which no model can go on with."""
    stamps = [Stamp.of(one.response_metadata.get(STAMP)) if isinstance(one, AIMessage) else None for one in messages]
    first = next((at for at, stamp in enumerate(stamps) if stamp and stamp.turn == turn), len(messages))
    return any(
        one.content == PLACEHOLDER
        or (isinstance(one, AIMessage) and any(PLACEHOLDER in call["args"] for call in one.tool_calls))
        for one in messages[first:]
    )


def _key(message: AnyMessage) -> int | str:
    if isinstance(message, ToolMessage):
        return message.tool_call_id
    stamp = Stamp.of(message.response_metadata.get(STAMP)) if isinstance(message, AIMessage) else None
    return stamp.model if stamp else 0
