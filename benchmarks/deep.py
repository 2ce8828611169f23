"""What a step costs deep in the biggest workflows: printed again, and left with a commit, beside bare Python.

Each sample starts from the same run: the ledger is restored before it, outside the measured time.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.adherence.skills import ROOT, Skill
from benchmarks.report import Cell, Figures
from benchmarks.steps import BARE, QUICK_SAMPLES, SAMPLES, WARM_UP, lean_python, sealed_copy, timed
from skills.lib.runtime import loading
from skills.lib.testing import Agent, every_walk
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.commands import argv
from skills.lib.testing.follower import show_again
from skills.lib.testing.steering import CannotSteer
from skills.lib.testing.transitions import choices
from tests.skills.samples import samples_of

if TYPE_CHECKING:
    from benchmarks.options import Options

# Skill, entry script, the step that is left, and how the step is called in its manual.
PLACES = (
    ("planner", "planner.py", "assumptions", "planner, into step 5"),
    ("incoherence", "incoherence.py", "present", "incoherence, out of position 14"),
)


class Place(NamedTuple):
    """A run at a step: its project, the command that leaves the step, the one that shows it."""

    name: str
    project: Path
    leave: list[str]
    show: list[str]


def figures(options: Options) -> list[Figures]:
    """Measure both commands at each place, round by round."""
    samples = QUICK_SAMPLES if options.quick else SAMPLES
    took: dict[str, list[float]] = {BARE: []}
    with own_ledgers(), tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
        python = lean_python(folder)
        places = [_place(python, folder, *place) for place in PLACES]
        with options.progress("deep", samples + WARM_UP) as tick:
            for at in range(samples + WARM_UP):
                found = {BARE: timed([python, "-c", "pass"], 0)}
                for place in places:
                    _put_back(place.project)
                    found[f"{place.name}, with ledger commit"] = timed(place.leave, 0)
                    _put_back(place.project)
                    found[f"{place.name}, printed again"] = timed(place.show, 0)
                if at >= WARM_UP:
                    for name, seconds in found.items():
                        took.setdefault(name, []).append(seconds)
                tick()
    bare = statistics.median(took[BARE])
    rows: list[list[Cell]] = [
        [name, statistics.median(many) * 1000, statistics.median(many) / bare] for name, many in took.items()
    ]
    return [
        Figures("A step deep in a long workflow", ["call", "ms", "ratio to bare"], rows, [f"Medians of {samples}."])
    ]


def _place(python: str, folder: str, skill: str, entry: str, step: str, name: str) -> Place:
    script = os.path.join(ROOT, "skills", skill, "scripts", entry)
    place = os.path.join(folder, skill)
    copy = sealed_copy(Skill(skill, script, loading.workflow_of_script(script)), place)
    project = Path(place, "project")
    project.mkdir()
    block = _standing_at(step, copy.script, script, project)
    _keep(project)
    answer = filled(block.next, {"answer": "as you propose"})
    again = show_again(block)
    return Place(name, project, _argv(python, answer), _argv(python, again))


def _standing_at(step: str, script: str, original: str, project: Path) -> PrintedBlock:
    """A run of the script that waits at the step, the shortest way there that can be walked."""
    values, files, _ = samples_of(Path(original))
    workflow = loading.workflow_of_script(script)
    walks = [walk for walk in every_walk(workflow) if any(leg.step == step for leg in walk.legs)]
    for walk in sorted(walks, key=lambda walk: len(walk.legs)):
        legs = next(at for at, leg in enumerate(walk.legs) if leg.step == step)
        for chosen in choices(values, [arg.name for arg in workflow.run_params()]):
            agent = Agent(script, project, values=chosen, files=files)
            (project / ".lockstep").mkdir(exist_ok=True)
            for path, content in files.items():
                if "/" in path or "." in path:
                    agent.write(path, content)
            try:
                block = agent.reach(walk, legs, "--new")
            except CannotSteer:
                continue
            if block.kind == "step":  # what is to be asked is recorded first
                block = agent.ask(block, walk.legs[legs])
            return block
    raise RuntimeError(f"no walk of {workflow.name} reaches {step}")


def _argv(python: str, command: str) -> list[str]:
    return [python, *argv(command)[1:]]


def _keep(project: Path) -> None:
    shutil.copytree(project / ".lockstep", project / "kept")


def _put_back(project: Path) -> None:
    shutil.rmtree(project / ".lockstep")
    shutil.copytree(project / "kept", project / ".lockstep")
