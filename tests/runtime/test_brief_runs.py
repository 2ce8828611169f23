"""Whatever the run: a brief block and what its reader remembers are what the full block shows."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.testing.follower import InProcess
from skills.lib.testing.walks import every_walk
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Outcome
from tests.fixtures.forgetting import Forgetting

TYPES = ("text", "list", "json")
TEXTS = st.sampled_from(
    (
        "short",
        "one long line of text, " * 20,
        "another long line, " * 20,
        "- a list?\n  - of two\n    levels " * 12,
        "]]> & <b> and 'quotes' " * 12,
        "too long for a block, " * 250,
    )
)


@st.composite
def graphs(draw: st.DrawFn) -> Workflow:
    """Loops, ways back and ways on; a step needs values of any other, recorded or not."""
    names = [f"s{at}" for at in range(1, draw(st.integers(3, 5)) + 1)]
    fields = {name: draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=2)) for name in names}
    every = [f"{name}.f{at}" for name in names for at in range(len(fields[name]))]
    steps = []
    for at, name in enumerate(names):
        routes: dict[Outcome, str | None] = {Outcome.OK: names[at + 1] if at + 1 < len(names) else None}
        if draw(st.booleans()):
            routes[Outcome.FAIL] = draw(st.sampled_from(names))
        requires = [Field(f"f{number}", kind, required=draw(st.booleans())) for number, kind in enumerate(fields[name])]
        needs = ["given", *draw(st.lists(st.sampled_from(every), unique=True))]
        steps.append(StepDef(name, f"Step {name}", f"Do {name}.", routes, requires=requires, needs=needs))
    output = draw(st.sampled_from(("xml", "text")))
    return Workflow("drawn", *steps, params=[Arg("given", help="what is given")], output=output)


def value(text: str, kind: str) -> Any:
    return {"text": text, "list": [text, "x"], "json": {"a": text, "b": [1, text]}}[kind]


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(workflow=graphs(), data=st.data())
def test_a_reader_of_brief_blocks_knows_what_full_ones_show(
    workflow: Workflow, data: st.DataObject, tmp_path: Path
) -> None:
    project = tmp_path / os.urandom(4).hex()
    (project / ".lockstep").mkdir(parents=True)
    script = str(tmp_path / "drawn.py")
    agent = Forgetting(script, project, call=InProcess({script: workflow}))
    # The reader of plain text knows no excerpts.
    texts = TEXTS if workflow.output == "xml" else TEXTS.filter(lambda text: len(text) < 1_000)
    block = agent.open(given=data.draw(texts))
    for turn in range(1, 9):
        if block.kind != "step":
            break
        values = {
            spec.name: value(f"{turn} {data.draw(texts)}", spec.type)
            for spec in block.specs
            if spec.required or data.draw(st.booleans())
        }
        if len(block.outcomes) > 1:
            values["outcome"] = data.draw(st.sampled_from(sorted(block.outcomes)))
        command = block.command(values)
        if known := [name for name in block.context if "." in name and data.draw(st.integers(0, 4)) == 0]:
            head, mark, fields = command.partition(" <<")
            command = f"{head} --erratum {shlex.quote(f'{known[0]}=wrong since {turn}')}{mark}{fields}"
        block = agent.run_command(command)
        assert block.exit_code == 0, block.text + block.errors
        if data.draw(st.integers(0, 4)) == 0:
            block = agent.run_command(command)


@pytest.mark.parametrize("name", ["tour", "brood"])
def test_a_reader_of_brief_blocks_goes_through_questions_and_sub_agents(agent: Callable[[str], Any], name: str) -> None:
    walker = agent(name)
    reader = Forgetting(
        walker.script,
        walker.project,
        values=walker.given,
        files=walker.files,
        text=lambda field: f"{field} is told in many words, " * 12,
        call=walker.call,
    )
    walk = max(every_walk(reader.workflow), key=lambda walk: len(walk.legs))
    reader.play(walk)
    assert reader.compared
