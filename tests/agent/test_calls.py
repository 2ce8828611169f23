"""Calls of tools that do what no good tool does, and answers of models that no provider takes back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.types import Command, interrupt

from skills.lib import paths
from skills.lib.agent import LockstepMiddleware
from tests.agent.scripted import Answering, ScriptedModel, calling, in_turn
from tests.agent.sessions import agent, honest, project


def tool(function: Callable[..., Any], **more: Any) -> BaseTool:
    return StructuredTool.from_function(function, name="look", description="Look.", **more)


def told(folder: Path, function: Callable[..., Any], **arguments: Any) -> ToolMessage:
    """What a session's model reads of a call of a tool; the session goes on to its end."""
    model = ScriptedModel(answer=then_honest(calling(("look", arguments))))
    host = agent(project(folder, "plain"), model, tools=[tool(function)])
    assert host.advance(host.start("plain")).status == "done"
    result = model.calls[1].messages[-1]
    assert isinstance(result, ToolMessage)
    return result


def then_honest(*answers: AIMessage) -> Answering:
    """A script that gives these answers and is honest from then on."""
    left, after = list(answers), honest(outcome="ok")
    return lambda messages, tools: left.pop(0) if left else after(messages, tools)


@pytest.mark.parametrize("error", [SystemExit(3), RecursionError("deep"), GraphInterrupt(()), StopIteration()])
def test_a_tool_that_raises_anything_has_failed_and_the_session_goes_on(tmp_path: Path, error: BaseException) -> None:
    def look() -> str:
        raise error

    result = told(tmp_path / "p", look)
    assert result.status == "error"
    assert result.text.startswith("The tool failed: ")


def test_a_result_of_a_hundred_million_characters_is_cut(tmp_path: Path) -> None:
    assert "characters left out" in told(tmp_path / "p", lambda: "x" * 100_000_000).text
    kept = Path(paths.home(str(tmp_path / "p"))) / "agent"
    assert sum(one.stat().st_size for one in kept.iterdir() if one.is_file()) < 5_000_000


def test_halves_of_characters_are_replaced_before_a_provider_is_sent_them(tmp_path: Path) -> None:
    assert told(tmp_path / "p", lambda: "a\ud800b").text == "a\ufffdb"
    seen: list[str] = []
    answers = [AIMessage("thinking \udc00"), calling(("look", {"text": "a\ud800", "inside": [{"b\udfff": 1}]}))]
    model = ScriptedModel(answer=then_honest(*answers))

    def look(text: str, inside: list[dict[str, int]]) -> str:
        seen.append(f"{text} {inside}")
        return "ok"

    host = agent(project(tmp_path / "q", "plain"), model, tools=[tool(look)])
    assert host.advance(host.start("plain")).status == "done"
    assert seen == ["a\ufffd [{'b\ufffd': 1}]"]
    repr_of_all = repr([message.model_dump() for message in model.calls[-1].messages])
    assert "\\ud800" not in repr_of_all
    assert "\\udc00" not in repr_of_all


def test_arguments_and_thoughts_of_many_megabytes_are_kept_in_part(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    long = "\U0001f600" * 3_000_000
    model = ScriptedModel(answer=then_honest(calling(("look", {"text": long}), text=long)))
    sizes: list[int] = []

    def look(text: str) -> str:
        sizes.append(len(text))
        return "ok"

    host = agent(folder, model, tools=[tool(look)])
    run = host.start("plain")
    assert host.advance(run).status == "done"
    assert sizes == [3_000_000]
    kept = [len(str(event.data)) for event in host.follow(run, level="FULL")]
    assert max(kept) < 500_000


def test_hundreds_of_calls_in_one_answer_are_carried_out_within_seconds(tmp_path: Path) -> None:
    numbers: list[int] = []
    model = ScriptedModel(answer=then_honest(calling(*[("look", {"number": number}) for number in range(300)])))

    def look(number: int) -> str:
        numbers.append(number)
        return "ok"

    host = agent(project(tmp_path / "p", "plain"), model, tools=[tool(look)])
    begun = time.monotonic()
    assert host.advance(host.start("plain")).status == "done"
    assert sorted(numbers) == list(range(300))
    assert time.monotonic() - begun < 30


def test_a_call_that_fails_three_times_is_not_made_again_until_another_succeeds(tmp_path: Path) -> None:
    counts = {"look": 0}

    def look(text: str) -> str:
        counts["look"] += 1
        raise ValueError("no")

    answers = [calling(("look", {"text": "a"})) for _ in range(5)]
    model = ScriptedModel(answer=then_honest(*answers))
    host = agent(project(tmp_path / "p", "plain"), model, tools=[tool(look)])
    assert host.advance(host.start("plain")).status == "done"
    assert counts == {"look": 3}
    assert "this call failed 3 times" in model.calls[5].messages[-1].text


def test_many_tools_at_once_in_an_event_loop_end(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=then_honest(calling(*[("look", {"number": number}) for number in range(60)])))
    run = agent(folder, model).start("plain")
    middleware = LockstepMiddleware(run, str(folder))
    graph: Any = create_agent(model, [tool(lambda number: f"saw {number}")], middleware=[middleware])

    async def asked() -> Any:
        return await asyncio.wait_for(graph.ainvoke({"messages": [("user", "begin")]}), 60)

    messages = asyncio.run(asked())["messages"]
    middleware.close()
    assert messages[-1].text == "The run is done."
    assert sum(isinstance(one, ToolMessage) and one.text.startswith("saw") for one in messages) == 60


def test_a_cancelled_task_cancels_the_tool_that_it_waits_for(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=in_turn(calling(("look", {}))))
    run = agent(folder, model).start("plain")
    seen: list[str] = []

    async def look() -> str:
        seen.append("begun")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "looked"

    middleware = LockstepMiddleware(run, str(folder))
    slow = StructuredTool.from_function(coroutine=look, name="look", description="Look.")
    graph: Any = create_agent(model, [slow], middleware=[middleware])

    async def cancelled() -> None:
        task = asyncio.ensure_future(graph.ainvoke({"messages": [("user", "begin")]}))
        while not seen:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(cancelled(), 30))
    middleware.close()
    assert seen == ["begun", "cancelled"]


def test_an_interrupt_of_a_tool_is_answered_in_the_program_that_embeds_it(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=then_honest(calling(("look", {}))))
    run = agent(folder, model).start("plain")
    middleware = LockstepMiddleware(run, str(folder))
    graph: Any = create_agent(
        model, [tool(lambda: f"they said {interrupt('may I?')}")], middleware=[middleware], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "1"}}
    paused = graph.invoke({"messages": [("user", "begin")]}, config)
    assert [one.value for one in paused["__interrupt__"]] == ["may I?"]
    ended = graph.invoke(Command(resume="yes"), config)
    middleware.close()
    assert next(one.text for one in ended["messages"] if isinstance(one, ToolMessage)) == "they said yes"
    assert ended["messages"][-1].text == "The run is done."


def test_what_is_not_text_in_a_result_reaches_the_model_and_its_artifact_the_program(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    image = [
        {"type": "text", "text": "a\ud800"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
    ]
    model = ScriptedModel(answer=then_honest(calling(("look", {}))))
    run = agent(folder, model).start("plain")
    middleware = LockstepMiddleware(run, str(folder))
    seeing = tool(lambda: (image, {"size": 2}), response_format="content_and_artifact")
    graph: Any = create_agent(model, [seeing], middleware=[middleware])
    messages = graph.invoke({"messages": [("user", "begin")]})["messages"]
    middleware.close()
    result = next(one for one in messages if isinstance(one, ToolMessage))
    assert result.content == [{"type": "text", "text": "a\ufffd"}, image[1]]
    assert result.artifact == {"size": 2}


@pytest.mark.parametrize("is_async", [False, True])
def test_a_tool_that_has_a_coroutine_alone_is_called(tmp_path: Path, is_async: bool) -> None:
    async def look(text: str) -> str:
        await asyncio.sleep(0)
        return f"saw {text}"

    slow = StructuredTool.from_function(coroutine=look, name="look", description="Look.")
    model = ScriptedModel(answer=then_honest(calling(("look", {"text": "it"}))))
    host = agent(project(tmp_path / "p", "plain"), model, tools=[slow])
    run = host.start("plain")
    assert (asyncio.run(host.aadvance(run)) if is_async else host.advance(run)).status == "done"
    assert model.calls[1].messages[-1].text == "saw it"
