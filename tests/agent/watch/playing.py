"""A model that gives prepared answers in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.messages import BaseMessage

from tests.agent.scripted import Answer, ScriptedModel

Step = Answer | Callable[[list[BaseMessage]], Answer]


def played(*answers: Step) -> ScriptedModel:
    """A model that gives these answers in turn; a function is called with the messages."""
    left: Iterator[Step] = iter(answers)

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
        one = next(left)
        return one(messages) if callable(one) else one

    return ScriptedModel(answer=answer)
