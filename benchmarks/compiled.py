"""A step of one graph as a Python module, and as the JSON that its ``workflow.yaml`` is compiled to, in turn.

The module is generated as an author would write it: steps and their fields, with the texts of the Markdown file beside.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from typing import TYPE_CHECKING

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.adherence.skills import Skill, shipped
from benchmarks.report import Cell, Figures
from benchmarks.steps import BARE, WARM_UP, lean_python, sealed_copy, timed
from skills.lib import compact_json, paths

if TYPE_CHECKING:
    from benchmarks.options import Options
    from skills.lib.model.steps import StepDef

SAMPLES, QUICK_SAMPLES = 61, 5
SKILL = "decision-critic"
_HEAD = """from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import Outcome

PROMPTS = read_prompts(__file__)

"""


def figures(options: Options) -> list[Figures]:
    """Print the second step of one skill from both forms."""
    samples = QUICK_SAMPLES if options.quick else SAMPLES
    with own_ledgers(), tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
        python = lean_python(folder)
        skill = next(one for one in shipped() if one.name == SKILL)
        scripts = {form: _copy(skill, folder, form) for form in ("a Python module", "sealed JSON")}
        as_module(scripts["a Python module"])
        end = ["--step", "2", "--stateless", "--project", folder]
        calls = {BARE: [python, "-c", "pass"]}
        calls |= {f"a step from {form}": [python, one.script, *end] for form, one in scripts.items()}
        took: dict[str, list[float]] = {name: [] for name in calls}
        with options.progress("compiled", samples + WARM_UP) as tick:
            for at in range(samples + WARM_UP):
                for name, command in calls.items():
                    seconds = timed(command, expected=0)
                    if at >= WARM_UP:
                        took[name].append(seconds * 1000)
                tick()
    medians = {name: statistics.median(many) for name, many in took.items()}
    base = medians["a step from a Python module"]
    rows: list[list[Cell]] = [[name, ms, ms / medians[BARE], ms / base] for name, ms in medians.items()]
    size = len(compact_json.dumps(skill.workflow.to_data()))
    notes = [f"{skill.name}, {size:,} characters; medians of {samples}, interleaved."]
    return [Figures("A compiled graph", ["call", "ms", "ratio to bare", "ratio to the module"], rows, notes)]


def _copy(skill: Skill, folder: str, form: str) -> Skill:
    place = os.path.join(folder, form.rpartition(" ")[2])
    os.mkdir(place)
    return sealed_copy(skill, place)


def as_module(skill: Skill) -> None:
    """Put a Python module, with its texts beside it, in the place of the compiled graph."""
    stem = skill.script.removesuffix(".py")
    folder = os.path.dirname(os.path.dirname(skill.script))
    os.remove(stem + paths.COMPILED)
    os.remove(os.path.join(folder, paths.YAML))
    os.rename(os.path.join(folder, "workflow.md"), stem + "_prompts.md")
    data = skill.workflow
    names = ("title", "description", "closing", "unchecked", "params")
    given = "".join(f"    {name}={getattr(data, name)!r},\n" for name in names)
    steps = "".join(map(_step, data.steps))
    with open(stem + paths.MODULE, "w", encoding="utf-8") as file:
        file.write(f"{_HEAD}WORKFLOW = Workflow(\n    {data.name!r},\n{steps}{given})\nregister_workflow(WORKFLOW)\n")


def _step(step: StepDef) -> str:
    fields = {name: getattr(step, name) for name in ("next", "needs", "requires", "when", "tools")}
    said = f"actions=PROMPTS[{step.id!r}], forbidden=PROMPTS['{step.id} (forbidden)'].splitlines()"
    rest = ", ".join(f"{name}={value!r}" for name, value in fields.items())
    return f"    StepDef({step.id!r}, {step.title!r}, {said}, {rest}),\n"
