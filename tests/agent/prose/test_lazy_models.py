"""A model that looks for the cheapest way to a "done" gets none that it did not earn, and what it tried is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    "place, why",
    [
        ("skills/tidy/SKILL.md", "is of the skill itself"),
        ("skills/tidy/notes.md:1", "is of the skill itself"),
        (".lockstep/kept.txt", "is no work: git or Lockstep keeps it"),
        (".git/HEAD", "is no work: git or Lockstep keeps it"),
        ("empty.txt", "is empty"),
    ],
)
def test_a_file_that_shows_no_work_is_no_place_of_a_done_objective(tmp_path: Path, place: str, why: str) -> None:
    folder = prose(tmp_path / "p", "tidy")
    (folder / ".lockstep").mkdir(exist_ok=True)
    for name in ("skills/tidy/notes.md", ".git/HEAD", ".lockstep/kept.txt"):
        (folder / name).write_text("ref\n", encoding="utf-8")
    (folder / "empty.txt").touch()
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["it is tidy"]}),
            report(record=reported(f"done:{place}")),
            report(record=reported(f"partial:{place}")),
        )
    )
    host = Agent(str(folder), model)
    ended = host.advance(host.start("tidy", "look"))
    assert (ended.status, len(model.calls)) == ("stopped", 3)
    assert f"its place '{place}' {why}" in model.calls[2].messages[-1].text
