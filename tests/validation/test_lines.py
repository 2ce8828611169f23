"""A finding stands at the call that makes its step, whoever makes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.validation import locations
from skills.lib.validation.validator import validate
from skills.lib.workflow.core import StepDef
from skills.lib.workflow.types import Outcome
from tests.validation.conftest import HEAD_LINES, Load

ROOT = Path(__file__).parents[2]


def _found(load: Load, code: str) -> list[tuple[str, int, str]]:
    """Where each finding is, its line in the code, and which call made the step."""
    with locations.remembered():
        workflow, file = load(code)
    found = validate(workflow, file)
    assert all(finding.file == file for finding in found)
    return [(finding.where, finding.line - HEAD_LINES, finding.what.partition(" (")[2]) for finding in found]


def test_a_step_of_a_helper_has_the_line_of_the_call_and_of_the_helper(load: Load) -> None:
    code = """
def step(name, after):
    return StepDef(
        name, next={Outcome.OK: after}
    )


WORKFLOW = Workflow(
    "w",
    StepDef("one", "One", next={Outcome.OK: "two"}),
    step("two", "three"),
    step(
        "three",
        None,
    ),
)
"""
    assert _found(load, code) == [
        ("w:two", 11, f"step() makes two, in line {HEAD_LINES + 3})"),
        ("w:three", 12, f"step() makes three, in line {HEAD_LINES + 3})"),
    ]


def test_the_route_of_a_helpers_step_has_the_line_that_states_it(load: Load) -> None:
    code = """
def step(name, ways):
    return StepDef(name, "Title of " + name, next=ways)


WORKFLOW = Workflow(
    "w",
    step(
        "one",
        {
            Outcome.OK: "tow",
        },
    ),
    step("two", {Outcome.OK: None}),
)
"""
    assert _found(load, code)[0][:2] == ("w:one:ok", 11)


def test_a_step_of_a_comprehension_or_a_loop_has_the_line_of_its_call(load: Load) -> None:
    code = """
NAMES = ["one", "two"]
LAST = []
for name in ("three", "four"):
    LAST.append(
        StepDef(name, next={Outcome.OK: {"three": "four"}.get(name)})
    )
WORKFLOW = Workflow(
    "w",
    *[
        StepDef(name, next={Outcome.OK: {"one": "two"}.get(name, "three")})
        for name in NAMES
    ],
    *LAST,
)
"""
    assert _found(load, code) == [("w:one", 11, ""), ("w:two", 11, ""), ("w:three", 6, ""), ("w:four", 6, "")]


def test_a_helper_of_another_file_is_named_with_its_file(load: Load, skill: Path) -> None:
    (skill / "scripts" / "tea_steps.py").write_text(
        "from skills.lib.workflow.core import StepDef\n\n\n"
        "def last(name):\n    return StepDef(name, next={'ok': None})\n"
    )
    code = """
import os
from skills.lib.runtime.loading import load_module

steps = load_module(os.path.join(os.path.dirname(__file__), "tea_steps.py"))
WORKFLOW = Workflow("w", steps.last("one"))
"""
    assert _found(load, code) == [("w:one", 6, "last() makes one, in line 5 of tea_steps.py)")]


def test_a_step_that_another_file_makes_is_reported_in_that_file(load: Load, skill: Path) -> None:
    other = skill / "scripts" / "tea_ready.py"
    other.write_text(
        "from skills.lib.workflow.core import StepDef\n\nREADY = {\n    1: StepDef('on' + 'e', next={'ok': None}),\n}\n"
    )
    code = """
import os
from skills.lib.runtime.loading import load_module

WORKFLOW = Workflow("w", load_module(os.path.join(os.path.dirname(__file__), "tea_ready.py")).READY[1])
"""
    with locations.remembered():
        workflow, file = load(code)
    (finding,) = validate(workflow, file)
    assert (finding.file, finding.line) == (str(other), 4)


def test_without_remembered_callers_an_id_in_the_call_of_workflow_tells_the_line(load: Load) -> None:
    code = """
def step(name, after):
    return StepDef(name, next={Outcome.OK: after})


WORKFLOW = Workflow(
    "w",
    step("one", "two"),
    step("two", None),
)
"""
    workflow, file = load(code)
    assert [finding.line - HEAD_LINES for finding in validate(workflow, file)] == [8, 9]


def test_a_step_costs_nothing_more_once_the_module_is_loaded() -> None:
    before = StepDef.__init__
    with locations.remembered():
        assert StepDef.__init__ is not before
        step = StepDef("one", next={Outcome.OK: None})
    assert StepDef.__init__ is before
    assert locations.callers(step)[0].function == "test_a_step_costs_nothing_more_once_the_module_is_loaded"
    assert locations.callers(StepDef("one")) == ()


PLACES = """
import json, os, sys
from skills.lib.hosts import skills
from skills.lib.validation.view import GraphView

places = []
for module in sys.argv[1:]:
    workflow = skills.load_file(module, None, validated=False).require()
    graph = GraphView(workflow, module)
    for at, step in enumerate(workflow.steps):
        place = graph.location(at)
        places.append([f"{workflow.name}:{step.id}", place.file, place.line, graph.lines.of_workflow()])
print(json.dumps(places))
"""


@pytest.mark.req("W-21")
def test_every_shipped_step_has_the_line_of_the_call_that_makes_it() -> None:
    modules = [str(path) for path in sorted(ROOT.glob("skills/*/scripts/**/*_workflow.[pj]*"))]
    done = subprocess.run(
        [sys.executable, "-c", PLACES, *modules], cwd=ROOT, capture_output=True, text=True, check=True
    )
    places = json.loads(done.stdout)
    assert len(places) >= 174
    for where, file, line, line_of_workflow in places:
        checkpoint = where.partition(":")[2].removesuffix("-review").removesuffix("-gate")
        written = "\n".join(Path(file).read_text().split("\n")[line - 1 : line + 2])
        assert line != line_of_workflow, where
        forms = (f'"{checkpoint}"', f".{checkpoint}(", f"\n  {checkpoint}:", "quick.steps(")
        assert any(form in f"\n{written}" for form in forms), where
