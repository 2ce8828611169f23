"""OpenAI's own models answer by its responses protocol where they want that: the same holds of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from skills.lib.agent.models import chat_models
from skills.lib.agent.models.chat_models import ModelError
from tests.agent.wires.conftest import Clock, Mode, Provider
from tests.agent.wires.protocols import Said
from tests.agent.wires.servers import Erring, Reply, Status, replies, serving
from tests.agent.wires.test_faults import PASSING

pytestmark = pytest.mark.req("A-14")

ADD = ("call_1", "add", '{"a": 2, "b": 3}')
CALL = Said("I add the two numbers that you gave me.", (ADD,))
FIVE = Said("It is 5.")

Start = Callable[..., Provider]


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts OpenAI itself, as far as the session knows, with these replies."""
    openai = chat_models.PROVIDERS["openai"]
    monkeypatch.setitem(chat_models.PROVIDERS, "openai", chat_models.Provider(openai.keys, openai.urls, "127.0.0.1"))
    with ExitStack() as stack:

        def started(*given: Reply) -> Provider:
            wire = stack.enter_context(serving("responses", replies(*given)))
            return Provider(Mode("openai", request.param, False), wire, Clock(), [], "gpt-6-test")

        yield started


def test_a_tool_is_called_and_its_result_answered(start: Start) -> None:
    it = start(CALL, FIVE)
    messages = it.messages()
    assert [message.text for message in messages] == ["What is 2 + 3?", CALL.text, "5", "It is 5."]
    assert it.added == [(2, 3)]
    assert [asked.path for asked in it.wire.asked] == ["/v1/responses"] * 2
    assert isinstance(messages[-1], AIMessage)
    assert messages[-1].usage_metadata is not None
    assert (messages[-1].usage_metadata["input_tokens"], messages[-1].usage_metadata["output_tokens"]) == (11, 7)


def test_calls_with_one_id_get_an_id_each(start: Start) -> None:
    it = start(Said(calls=(ADD, ("call_1", "add", '{"a": 4, "b": 5}'))), FIVE)
    messages = it.messages()
    results = [message for message in messages if isinstance(message, ToolMessage)]
    assert [result.text for result in results] == ["5", "9"]
    assert messages[-1].text == "It is 5."
    sent = [(item["type"], item["call_id"]) for item in it.wire.bodies[1]["input"] if "call_id" in item]
    assert sent == [
        *(("function_call", result.tool_call_id) for result in results),
        *(("function_call_output", result.tool_call_id) for result in results),
    ]


@pytest.mark.parametrize("fault", [*PASSING, "server-error-in-mid-answer"])
def test_what_passes_is_asked_again_and_nothing_is_done_twice(start: Start, fault: str) -> None:
    reply = PASSING.get(fault, Erring(CALL, "server_error"))
    it = start(reply, CALL, reply, FIVE)
    assert it.messages()[-1].text == "It is 5."
    assert it.added == [(2, 3)]
    assert len(it.wire.asked) == 4


def test_what_does_not_pass_is_told_at_once(start: Start) -> None:
    it = start(Status(401, "invalid key"))
    with pytest.raises(ModelError, match=r"does not accept the key \(HTTP 401\). It said: invalid key"):
        it.messages()
    assert len(it.wire.asked) == 1


def test_arguments_that_are_cut_off_reach_no_tool(start: Start) -> None:
    it = start(Said(calls=(("call_1", "add", '{"a": 2, "b": 3'),), finish="incomplete"), FIVE)
    it.messages()
    assert it.added == []
