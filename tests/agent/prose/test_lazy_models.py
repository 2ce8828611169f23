"""A model that looks for the cheapest way to a "done" gets none that it did not earn, and what it tried is shown."""

from __future__ import annotations

from pathlib import Path

from skills.lib.agent.agent import Agent
from tests.agent.prose.skills import prose, reported
from tests.agent.scripted import ScriptedModel, calling, in_turn, report


def test_a_tool_that_there_is_not_is_noted_as_not_run(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="metadata:\n  execution_mode: simple\n")
    model = ScriptedModel(
        answer=in_turn(calling(("task_complete", {"ok": True})), report(record=reported("done:answer")))
    )
    host = Agent(str(folder), model)
    run = host.start("tidy", "look")
    assert host.advance(run).status == "done"
    refused = [event for event in host.follow(run, level="FULL") if event.kind == "refused"]
    assert [event.text for event in refused] == ["task_complete was not run: There is no tool 'task_complete'."]
    assert "there is no such tool" in "".join(event.text for event in host.follow(run))
