"""The scripted model behaves as a provider's does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage

from tests.agent.scripted import ScriptedModel, calling, in_turn, report


def report_step(record: dict[str, str], outcome: str) -> str:
    """End the step."""
    return f"{outcome}: {record['summary']}"


REPORTED = report(record={"summary": "slow\nand slower"}, outcome="OK")
ASKED: Any = {"messages": [HumanMessage("the suite is slow")]}


def session() -> tuple[ScriptedModel, Any]:
    model = ScriptedModel(answer=in_turn(REPORTED, REPORTED, "all is\nsaid"))
    return model, create_agent(model, [report_step], system_prompt="Follow the step.")


def spoken(messages: list[Any]) -> list[str]:
    return [message.text for message in messages]


def test_an_agent_calls_the_tools_that_the_script_names() -> None:
    model, agent = session()
    messages = agent.invoke(ASKED)["messages"]
    assert spoken(messages) == [
        "the suite is slow",
        "",
        "OK: slow\nand slower",
        "",
        "OK: slow\nand slower",
        "all is\nsaid",
    ]
    assert len({message.id for message in messages}) == 6
    assert [call.tool_names for call in model.calls] == [["report_step"]] * 3
    assert [call.system for call in model.calls] == ["Follow the step."] * 3
    assert [len(call.messages) for call in model.calls] == [2, 4, 6]
    assert model.calls[0].tools[0]["parameters"]["required"] == ["record", "outcome"]


def test_an_async_agent_gives_the_same() -> None:
    assert spoken(asyncio.run(session()[1].ainvoke(ASKED))["messages"]) == spoken(
        session()[1].invoke(ASKED)["messages"]
    )


def test_a_streamed_answer_is_the_same_message() -> None:
    _, agent = session()
    *_, last = agent.stream(ASKED, stream_mode=["messages", "values"])
    assert spoken(last[1]["messages"]) == spoken(session()[1].invoke(ASKED)["messages"])
    assert last[1]["messages"][1].tool_calls[0]["args"] == {"record": {"summary": "slow\nand slower"}, "outcome": "OK"}
    assert last[1]["messages"][1].usage_metadata["output_tokens"] > 0

    async def streamed() -> Any:
        return [step async for step in session()[1].astream(ASKED, stream_mode=["messages", "values"])][-1]

    assert spoken(asyncio.run(streamed())[1]["messages"]) == spoken(last[1]["messages"])


def test_usage_is_stamped_unless_the_answer_has_its_own() -> None:
    own = AIMessage("x", usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5})
    model = ScriptedModel(answer=in_turn(own, "four words of text"))
    assert model.invoke("hello").usage_metadata == {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    usage = model.invoke("hello").usage_metadata
    assert usage is not None
    assert usage["input_tokens"] > 0
    assert usage["output_tokens"] > 0


def test_a_function_answers_by_what_it_is_given() -> None:
    def answer(messages: list[Any], tools: list[dict[str, Any]]) -> AIMessage:
        return calling(*((tool["name"], {"text": messages[-1].text}) for tool in tools), text="both")

    def one(text: str) -> str:
        """One."""
        return text

    def two(text: str) -> str:
        """Two."""
        return text

    said = ScriptedModel(answer=answer).bind_tools([one, two]).invoke("hello")
    assert [(call["name"], call["args"]) for call in said.tool_calls] == [
        ("one", {"text": "hello"}),
        ("two", {"text": "hello"}),
    ]


def test_an_exception_in_the_script_is_raised() -> None:
    model = ScriptedModel(answer=in_turn(TimeoutError("no answer"), "now"))
    with pytest.raises(TimeoutError, match="no answer"):
        model.invoke("hello")
    assert model.invoke("hello").text == "now"
    with pytest.raises(AssertionError, match="the script has 2 answers"):
        model.invoke("hello")


def test_an_awaitable_answer_is_awaited() -> None:
    async def later() -> AIMessage:
        await asyncio.sleep(0)
        return AIMessage("later")

    model = ScriptedModel(answer=lambda messages, tools: later())
    assert asyncio.run(model.ainvoke("hello")).text == "later"
