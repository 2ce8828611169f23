"""What the engine refuses is told as tool calls and arguments: no flag and no command of a shell stands in it."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skills.lib.blocks.command_line import CommandLine, lockstep_command
from skills.lib.engine.decision import Move
from skills.lib.ledger import Ledger
from skills.lib.runtime import Runner
from skills.lib.workflow.core import Workflow
from tests.hosts.mcp.talking import Answer, Talk, add_skill, in_process, talk

pytestmark = pytest.mark.req("H-06")


def test_no_refusal_names_a_flag_of_a_shell(project: Path) -> None:
    add_skill(project, "tour")

    async def work(to: Talk) -> list[Answer]:
        first = await to.call("start_run", skill="tour", parameters={"topic": "tea"})
        run = first.data["run"]
        seen = [
            await to.call("start_run", skill="tour"),
            await to.call("start_run", skill="tour", parameters={"topic": "tea", "how-wide": 3}),
            await to.call("next_step", run=run, turn=1),
            await to.call("next_step", run=run, turn=1, step="close"),
            await to.call("next_step", run=run, turn=1, answer="yes"),
            await to.call("next_step", run=run, turn=1, lost=f"{run}.1"),
            await to.call("next_step", run=run, turn=7),
            await to.call("next_step", run=run, turn=1, step="clsoe"),
            await to.call("next_step", run=run, turn=1, record={"summary": "s"}, errata={"nothing": "it is wrong"}),
            await to.call("next_step", run=run, step="plan", record={"summary": "s"}),
        ]
        second = await to.follow(first, summary="s")
        third = await to.follow(second, mode="full")
        seen += [
            await to.call("next_step", run=run, turn=3, outcome="ok"),
            await to.call("start_run", skill="tour", parameters={"topic": "tea"}),
            await to.follow(third, confidence="FILL_confidence"),
        ]
        return seen

    seen = talk(in_process, project, work)
    assert [answer.error for answer in seen] == [True] * len(seen)
    for answer in seen:
        assert "--" not in answer.text, answer.text
        assert "--" not in str(answer.data), answer.data
    assert (seen[0].data["code"], seen[0].data["missing"]) == ("missing-parameter", ["topic"])
    assert seen[1].data["valid"] == {"names": ["topic", "depth"]}
    assert seen[2].data["missing"] == ["summary"]
    assert seen[3].data["valid"] == {"steps": ["plan"]}
    assert seen[0].data["faults"] == {"topic": "topic is missing: a text of 3 to 20000 characters."}
    assert seen[2].data["faults"] == {"summary": "summary is not recorded: a text."}
    assert [*seen[3].data["faults"]] == ["step"]


def test_a_run_without_a_script_is_served(project: Path) -> None:
    data: dict[str, Any] = {
        "name": "planned",
        "steps": [
            {"id": "look", "next": {"ok": "close"}, "requires": [{"$kind": "Field", "name": "seen"}], "model": "small"},
            {"id": "close", "next": {"ok": None}},
        ],
    }
    with closing(Runner(CommandLine(sys.executable, "", str(project), lockstep_command()))) as runner:
        run = runner.start(Workflow.from_data(data), {}).run
    assert run is not None

    async def work(to: Talk) -> list[Answer]:
        seen = [await to.call("run_state", run=run.id)]
        seen.append(await to.call("next_step", run=run.id, turn=1))
        seen.append(await to.follow(seen[0], seen="all"))
        seen.append(await to.follow(seen[-1]))
        return seen

    seen = talk(in_process, project, work)
    assert [answer.data["kind"] for answer in seen] == ["step", "refused", "step", "done"]
    assert (seen[0].data["model"], "model" in seen[2].data) == ("small", False)
    assert seen[1].data["missing"] == ["seen"]


def test_a_script_that_only_the_ledger_names_is_not_loaded(project: Path, tmp_path: Path) -> None:
    add_skill(project, "tour")
    first = talk(in_process, project, lambda to: to.call("start_run", skill="tour", parameters={"topic": "tea"}))
    run_id = first.data["run"]
    places = [project / "tools" / "scripts", project / "plain", tmp_path / "outside" / "scripts"]
    for at, place in enumerate(places):
        place.mkdir(parents=True)
        (place / "x.py").touch()
        (place / "x_workflow.py").write_text(f"open({str(tmp_path / 'evil')!r}, 'w')\n")
        with Ledger(str(project / ".lockstep"), create=False) as ledger:
            run = ledger.run(run_id)
            assert run is not None
            ledger.commit(run, Move(run.changed(script=str(place / "x.py")), "skill-moved", {"at": at}), "agent")

        async def work(to: Talk) -> list[Answer]:
            return [await to.call("run_state", run=run_id), await to.call("next_step", run=run_id, turn=1)]

        for answer in talk(in_process, project, work):
            assert "of no skill of this project" in answer.text
    assert not (tmp_path / "evil").exists()
