"""``LockstepMiddleware`` in an agent of LangChain that somebody else makes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent

from skills.lib.agent import LockstepMiddleware
from skills.lib.agent.kept.lease import lease
from skills.lib.errors import RefusedError
from tests.agent.scripted import ScriptedModel, calling, in_turn
from tests.agent.sessions import agent, honest, project

VALUES = {"targets": ["a", "b"], "verdict": "pass", "summary": "all was seen"}


@pytest.mark.req("A-15")
@pytest.mark.parametrize("is_async", [False, True])
def test_any_agent_of_langchain_follows_a_run_and_its_sub_agents(tmp_path: Path, is_async: bool) -> None:
    folder = project(tmp_path / "p", "brood")
    model = ScriptedModel(answer=honest(VALUES))
    run = agent(folder, model).start("brood", "look at all")

    middleware = LockstepMiddleware(run, str(folder))
    graph: Any = create_agent(model, tools=[], system_prompt="Be kind.", middleware=[middleware])
    given = {"messages": [("user", "begin")]}
    result = asyncio.run(graph.ainvoke(given)) if is_async else graph.invoke(given)
    assert result["messages"][-1].text == "The run is done."
    assert middleware.following.peek().run.status == "done"
    middleware.close()
    assert model.calls[0].system.startswith("Be kind.")


def test_a_model_in_an_agent_of_langchain_can_give_up(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=in_turn(calling(("abort", {"reason": "nothing is left to try"}))))
    run = agent(folder, model).start("plain")
    middleware = LockstepMiddleware(run, str(folder))
    graph: Any = create_agent(model, tools=[], middleware=[middleware])
    graph.invoke({"messages": [("user", "begin")]})
    present = middleware.following.present()
    middleware.close()
    assert (present.peek.run.status, present.ends) == ("open", "The session ends: nothing is left to try")


def test_nobody_else_drives_the_run_or_a_sub_agents_until_the_middleware_is_closed(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "brood")
    host = agent(folder, ScriptedModel(answer=honest(VALUES)))
    run = host.start("brood", "look at all")
    with LockstepMiddleware(run, str(folder)):
        with pytest.raises(RefusedError, match=f"another session drives run {run} "):
            host.advance(run)
        with pytest.raises(RefusedError, match="another session drives run"):
            LockstepMiddleware(run, str(folder))
        with pytest.raises(RefusedError, match="another session drives run"), lease(host.home, f"{run}.1"):
            pass
    assert host.advance(run).status == "done"
