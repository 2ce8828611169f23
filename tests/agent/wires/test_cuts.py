"""An answer that ends at any byte is asked for again, or was whole: half of one is never taken for it."""

from __future__ import annotations

from typing import Any

import pytest

from skills.lib.agent.models import chat_models
from skills.lib.agent.models.chat_models import Retries, chat_model
from tests.agent.wires.conftest import Clock
from tests.agent.wires.protocols import Said, encoded
from tests.agent.wires.servers import Asked, Cut, Half, Reply, serving
from tests.extent import extent

pytestmark = [pytest.mark.req("A-14"), pytest.mark.slow]

CALLS = (("call_1", "add", '{"a": 2, "b": 3}'), ("call_2", "add", '{"a": 4, "b": 5}'))
SAID = Said("I add.", CALLS)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.mark.parametrize("streams", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("ending", [Half, Cut], ids=["as-if-whole", "broken-off"])
@pytest.mark.parametrize("protocol", ["openai", "responses", "anthropic"])
def test_an_answer_that_ends_at_any_byte(
    protocol: str, ending: Any, streams: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [(call, {"a": a, "b": b}) for call, a, b in (("call_1", 2, 3), ("call_2", 4, 5))]
    size = len(encoded(protocol, SAID, streams))
    at = [0]
    asked: list[int] = []

    def script(request: Asked) -> Reply:
        asked.append(at[0])
        return ending(SAID, (at[0] + 0.5) / size) if len(asked) == 1 else SAID

    if protocol == "responses":
        openai = chat_models.PROVIDERS["openai"]
        monkeypatch.setitem(
            chat_models.PROVIDERS, "openai", chat_models.Provider(openai.keys, openai.urls, "127.0.0.1")
        )
    with serving(protocol, script) as wire:
        clock = Clock()
        name = {"openai": "openai:x", "responses": "openai:gpt-6-x", "anthropic": "anthropic:x"}[protocol]
        retries = Retries(tries=2, clock=clock, sleep=clock.sleep)
        model = chat_model(name, wire.url, 10, retries, streaming=streams).bind_tools([add])
        for at[0] in range(0, size, extent(7, 3)):
            asked.clear()
            said = model.invoke("What is 2 + 3, and 4 + 5?")
            assert [(call["id"], call["args"]) for call in said.tool_calls] == wanted, at
            assert (said.text, said.invalid_tool_calls) == ("I add.", []), at
            assert len(asked) <= 2
