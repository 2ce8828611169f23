"""What providers answer, over both protocols, plain and streamed, sync and async."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tests.agent.wires.conftest import KEY, Provider
from tests.agent.wires.protocols import Said

# What a provider's library says of a reason that it does not know is of no use to a user, and it goes on.
pytestmark = [pytest.mark.req("A-14"), pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")]

ADD = ("call_1", "add", '{"a": 2, "b": 3}')
FIVE = Said("It is 5.")


def test_a_tool_is_called_and_its_result_answered(provider: Callable[..., Provider]) -> None:
    it = provider(Said("I add.", (ADD,)), FIVE)
    messages = it.messages()
    assert [message.text for message in messages] == ["What is 2 + 3?", "I add.", "5", "It is 5."]
    assert it.added == [(2, 3)]
    assert [body.get("stream", False) for body in it.wire.bodies] == [it.mode.streams] * 2
    asked = it.wire.asked[1]
    assert KEY in (asked.headers.get("authorization", "").removeprefix("Bearer "), asked.headers.get("x-api-key"))
    if it.mode.protocol == "openai":
        assert asked.path == "/v1/chat/completions"
        assert asked.body["messages"][2]["tool_call_id"] == "call_1"
    else:
        assert asked.path == "/v1/messages"
        assert asked.body["messages"][2]["content"][0]["tool_use_id"] == "call_1"


def test_usage_and_model_are_read_from_the_answer(provider: Callable[..., Provider]) -> None:
    said = provider(FIVE).messages()[-1]
    assert isinstance(said, AIMessage)
    assert said.usage_metadata is not None
    assert {**said.usage_metadata} | {"input_token_details": {}, "output_token_details": {}} == {
        "input_tokens": 11,
        "output_tokens": 7,
        "total_tokens": 18,
        "input_token_details": {},
        "output_token_details": {},
    }
    assert said.response_metadata["model_name"] == "test-model"


def test_parallel_calls_are_each_carried_out(provider: Callable[..., Provider]) -> None:
    it = provider(Said(calls=(ADD, ("call_2", "add", '{"a": 4, "b": 5}'))), FIVE)
    results = [message for message in it.messages() if isinstance(message, ToolMessage)]
    assert [(result.tool_call_id, result.text) for result in results] == [("call_1", "5"), ("call_2", "9")]


def test_calls_with_one_id_get_an_id_each(provider: Callable[..., Provider]) -> None:
    it = provider(Said(calls=(ADD, ("call_1", "add", '{"a": 4, "b": 5}'))), Said(calls=(ADD,)), FIVE)
    messages = it.messages()
    results = {message.tool_call_id: message.text for message in messages if isinstance(message, ToolMessage)}
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    assert sorted(it.added) == [(2, 3), (2, 3), (4, 5)]
    assert len(results) == 3
    assert [results[str(call["id"])] for call in calls] == ["5", "9", "5"]
    sent = it.wire.bodies[2]["messages"]
    if it.mode.protocol == "anthropic":
        used = [block for turn in sent if isinstance(turn["content"], list) for block in turn["content"]]
        assert [block["input"] for block in used if block["type"] == "tool_use"] == [call["args"] for call in calls]
        assert [block["id"] for block in used if block["type"] == "tool_use"] == [call["id"] for call in calls]
    else:
        assert [call["id"] for turn in sent for call in turn.get("tool_calls", [])] == [call["id"] for call in calls]


def test_a_call_without_an_id_gets_one(provider: Callable[..., Provider]) -> None:
    it = provider(Said(calls=(("", "add", '{"a": 2, "b": 3}'),)), FIVE)
    messages = it.messages()
    assert [message.text for message in messages[2:]] == ["5", "It is 5."]
    assert isinstance(messages[2], ToolMessage)
    assert messages[2].tool_call_id.startswith("call_")


def test_reasoning_goes_back_to_the_provider_that_signed_it(provider: Callable[..., Provider]) -> None:
    it = provider(Said("I add.", (ADD,), thought="Two and three."), FIVE)
    messages = it.messages()
    assert messages[-1].text == "It is 5."
    assert messages[1].text == "I add."
    if it.mode.protocol == "anthropic":
        thought = it.wire.bodies[1]["messages"][1]["content"][0]
        assert thought == {"type": "thinking", "thinking": "Two and three.", "signature": "c2lnbmVk"}


@pytest.mark.parametrize("finish", ["length", "max_tokens", "content_filter", "pause_of_tomorrow"])
def test_an_answer_may_end_for_any_reason(provider: Callable[..., Provider], finish: str) -> None:
    it = provider(Said("So far", finish=finish))
    said = it.messages()[-1]
    assert said.text == "So far"
    assert finish in said.response_metadata.values()
    assert len(it.wire.asked) == 1


def test_a_refusal_is_an_answer_with_its_text(provider: Callable[..., Provider]) -> None:
    it = provider(Said(refusal="I may not say that."))
    # langchain-openai does not read what is streamed of a refusal.
    expected = "" if (it.mode.protocol, it.mode.streams) == ("openai", True) else "I may not say that."
    assert it.messages()[-1].text == expected


def test_an_empty_answer_is_an_answer(provider: Callable[..., Provider]) -> None:
    it = provider(Said())
    assert it.messages()[-1].text == ""
    assert len(it.wire.asked) == 1


def test_a_large_answer_is_read_whole(provider: Callable[..., Provider]) -> None:
    text = "all work and no play " * 100_000
    assert provider(Said(text)).messages()[-1].text == text


def test_a_tool_without_arguments_is_called(provider: Callable[..., Provider]) -> None:
    called = []

    def now() -> str:
        """What time it is."""
        called.append(1)
        return "noon"

    assert provider(Said(calls=(("call_1", "now", ""),)), FIVE).messages(tools=[now])[-1].text == "It is 5."
    assert called == [1]


@pytest.mark.parametrize("arguments", ['{"a": 2, "b": 3', '{"a": 2, "b', "add them", '{"a": 2}}'])
def test_arguments_that_are_no_json_reach_no_tool(provider: Callable[..., Provider], arguments: str) -> None:
    it = provider(Said(calls=(("call_1", "add", arguments),), finish="length"), FIVE)
    if it.mode == ("anthropic", False, it.mode.is_async):
        pytest.skip("the arguments of a plain answer are JSON already in this protocol")
    messages = it.messages()
    assert it.added == []
    # Providers refuse a request with a call that has no result, and so do these servers.
    agent: Any = create_agent(it.model(), [it.add])
    agent.invoke({"messages": [*messages, HumanMessage("Go on.")]})
    sent = it.wire.bodies[1]["messages"]
    if it.mode.protocol == "openai":
        assert [turn["role"] for turn in sent] == ["user", "assistant", "tool", "user"]
        assert sent[2]["tool_call_id"] == sent[1]["tool_calls"][0]["id"] == "call_1"
    else:
        assert [turn["role"] for turn in sent] == ["user", "assistant", "user"]
        assert sent[2]["content"][0]["tool_use_id"] == sent[1]["content"][0]["id"] == "call_1"


def test_arguments_that_are_no_object_reach_no_tool(provider: Callable[..., Provider]) -> None:
    it = provider(Said(calls=(("call_1", "add", "[2, 3]"),)), FIVE)
    it.messages()  # a streamed call is invalid, and a plain answer asked for again
    assert it.added == []
