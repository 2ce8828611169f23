"""Every transition of every skill, taken by the printed commands; and hostile text in every report."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.blocks.parts import BLOCK_LIMIT
from skills.lib.model.texts import present
from skills.lib.runtime import loading
from skills.lib.testing.agent import Agent
from skills.lib.testing.transitions import SharedBeginnings, check_walk, entry_scripts
from skills.lib.testing.walks import Walk, every_walk
from tests.extent import extent
from tests.fixtures.strategies import hostile_texts
from tests.skills.follower import SKILLS
from tests.skills.samples import samples_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills.lib.testing.blocks import PrintedBlock


LEGS = 16


def name_of(script: Path) -> str:
    """The name of a script's workflow."""
    return loading.workflow_of_script(str(script)).name


SCRIPTS = [script for skill in sorted(SKILLS.glob("*/SKILL.md")) for script in entry_scripts(skill.parent)]


@pytest.fixture(autouse=True)
def ledger_in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)


WALKS = {script: every_walk(loading.workflow_of_script(str(script))) for script in SCRIPTS}
# The walks of the executor that nothing but an edit between two of its steps leads along: what was put in as approved
# goes from apply to the end. tests/skills/test_executor.py makes these edits, and takes their routes.
EDITED = {"planner-executor": "apply -ok-> retrospective"}


def is_edited(script: Path, walk: Walk) -> bool:
    """True if a walk goes on from where the executor's plan was put in as approved, other than to the end."""
    legs = [str(leg) for leg in walk.legs]
    after = EDITED.get(name_of(script), "")
    return after in legs and len(legs) > legs.index(after) + 2


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], SharedBeginnings]:
    """The project of each script, in which a walk goes on from the last point that it shares with an earlier one."""

    @cache
    def of(script: Path) -> SharedBeginnings:
        return SharedBeginnings(WALKS[script], tmp_path_factory.mktemp(script.stem), samples_of(script).prepare)

    return of


@pytest.mark.slow
@pytest.mark.req("W-03", "W-18")
@pytest.mark.parametrize(
    "script, walk",
    [
        pytest.param(script, walk, id=f"{name_of(script)}: {walk}")
        for script, walks in WALKS.items()
        for walk in walks
        if not is_edited(script, walk)
    ],
)
def test_every_route_of_the_graph_is_taken(
    script: Path, walk: Walk, shared: Callable[[Path], SharedBeginnings]
) -> None:
    values, files, _ = samples_of(script)
    agent = check_walk(script, walk, shared(script), values=values, files=files)
    shown = [block for block in agent.blocks if block.kind == "step"]
    assert max(len(block.text) for block in shown) <= BLOCK_LIMIT


@pytest.mark.req("W-18")
def test_loops_are_walked_to_their_bound() -> None:
    workflow = loading.workflow_of_script(str(SKILLS / "problem-analysis/scripts/problem_analysis.py"))
    planned = {str(leg) for walk in every_walk(workflow) for leg in walk.legs}
    assert planned == {
        "gate -ok-> hypothesize",
        "gate -iterate-> gate",
        "gate -fail-> done",
        "gate -fail (limit)-> done",
        "hypothesize -ok-> investigate",
        "investigate -iterate-> investigate",
        "investigate -ok-> formulate",
        "investigate -ok (limit)-> formulate",
        "formulate -ok-> report",
        "report -ok-> done",
    }


def longest(script: Path) -> Walk:
    """The walk that shows the most blocks, of those that are walked several times in good time."""
    every = every_walk(loading.workflow_of_script(str(script)))
    walks = sorted((walk for walk in every if not is_edited(script, walk)), key=lambda walk: len(walk.legs))
    return [walk for walk in walks if walk is walks[0] or len(walk.legs) <= LEGS][-1]


@pytest.mark.slow
@pytest.mark.req("W-06", "W-18")
@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
@settings(max_examples=extent(2, 4), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=hostile_texts(200, 260), data=st.data())
def test_hostile_text_comes_back_as_it_was(script: Path, tmp_path: Path, text: str, data: st.DataObject) -> None:
    project = tmp_path / "project"
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir()
    values, files, prepare = samples_of(script)
    if prepare:
        prepare(project)
    # An entry of its own for each field, so that a value that lands in another's place is noticed.
    agent = check_walk(
        script, longest(script), project, values=values, files=files, text=lambda name: f"{len(name)}{text}"
    )
    assert_texts_come_back(agent)


def assert_texts_come_back(agent: Agent) -> None:
    """Each value that a block shows is what the ledger holds, and what the ledger holds was reported."""
    seen = 0
    for block in agent.blocks:
        for name, shown in block.context.items():
            wanted = recorded_before(agent, block).get(name)
            if wanted is not None and "read the file for all of it" not in shown:
                assert shown == present(wanted)
                seen += 1
    assert seen


def recorded_before(agent: Agent, block: PrintedBlock) -> dict[str, Any]:
    """Parameters and records of a run as they stood when the block was printed."""
    state: dict[str, Any] = {}
    for event in agent.events(block.run):
        if event.kind in ("opened", "moved") and event.turn <= block.turn:
            state.update(event.change.get("params", {}))
            for step, values in event.change["state"].items():
                state.update({f"{step}.{name}": value for name, value in values.items()})
    return state
