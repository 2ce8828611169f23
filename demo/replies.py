"""A chat model for the demo of the agent: it replays answers, five of which leave the skill."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

TASK = "mean([]) ends with an error, and the tests say that it is 0"
OLD = "    return sum(values) / len(values)"
NEW = "    return sum(values) / len(values) if values else 0"
# How long it thinks, in seconds, so that a person can read along.
PAUSE = 0.6
_STEP = re.compile(r'<step [^>]*\bid="(\w+)"')


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """A call of a tool, as a message has it."""
    return {"name": tool, "args": arguments, "id": f"{tool}-{len(str(arguments))}", "type": "tool_call"}


def report(**record: str) -> dict[str, Any]:
    """A report of the present step."""
    return call("report_step", record=record)


SEEN = "mean([]) divides by len([]), which is 0: ZeroDivisionError (stats.py:3)"
CAUSE = "stats.py:3 divides by the count of the values, and the count of none is 0"
CHANGED = "stats.py:3 returns 0 if there are no values"
# What the model answers at each step, one answer after another: its words, and the tools that it calls.
ANSWERS: dict[str, list[tuple[str, list[dict[str, Any]]]]] = {
    "see": [
        ("I look at the program first.", [call("read", path="stats.py"), call("read", path="test_stats.py")]),
        ("I see it already, so I change it right away.", [call("edit", path="stats.py", old=OLD, new=NEW)]),
        ("Done! The fault is mended.", []),
        ("Then by the book.", [report(seen=SEEN, expected="mean([]) is 0 (test_stats.py:9)")]),
    ],
    "cause": [
        (
            "The cause is clear: the function divides by the count of its values, and there are none. In short, a case "
            "was forgotten. I consider this step done and go on to the change.",
            [],
        ),
        ("I report it.", [report(cause=CAUSE, kind="division by zero")]),
        ("Of the choices it is a missing case.", [report(cause=CAUSE, kind="missing case")]),
    ],
    "change": [
        ("One line.", [call("edit", path="stats.py", old=OLD, new=NEW)]),
        (
            "I report the change, and save a turn by reporting the end with it.",
            [report(changed=CHANGED), report(report="All done.")],
        ),
        ("One at a time, then.", [report(changed=CHANGED)]),
    ],
    "report": [
        (
            "The tests have passed, so I can report.",
            [
                report(
                    report="mean([]) ended with ZeroDivisionError, because stats.py:3 divides by the count of the "
                    "values. It returns 0 for no values now, as test_stats.py:9 demands; the tests pass."
                )
            ],
        ),
    ],
}


class Replies(BaseChatModel):
    """Gives the next of its answers to the step in the system message; ``stuck_at`` is the answer that never comes."""

    stuck_at: tuple[str, int] | None = None
    model_name: str = "replayed answers"

    @property
    def _llm_type(self) -> str:
        return "replies"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        """The same model: its answers are there already."""
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        system = "\n".join(message.text for message in messages if message.type == "system")
        step = _STEP.findall(system)[-1]
        given = [message.response_metadata.get("lockstep", {}) for message in messages if message.type == "ai"]
        number = sum(stamp.get("step") == step for stamp in given)
        time.sleep(600 if (step, number) == self.stuck_at else PAUSE)
        words, calls = ANSWERS[step][number]
        calls = [{**one, "id": f"{one['id']}-{step}-{number}-{at}"} for at, one in enumerate(calls)]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(words, tool_calls=calls))])
