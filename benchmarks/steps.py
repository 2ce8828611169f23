"""What a step costs: every kind of call beside a bare ``python -c pass``, interleaved, on the same interpreter.

The interpreter is of a lean virtual environment, the tree a sealed copy, and bytecode is cached: as it is where the
package is installed by itself.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from benchmarks.adherence.agent import Agent
from benchmarks.adherence.block import with_flag
from benchmarks.adherence.counts import Counts
from benchmarks.adherence.hosts import Lockstep, own_ledgers
from benchmarks.adherence.policy import Policy
from benchmarks.adherence.skills import ROOT, Skill, shipped
from benchmarks.report import Cell, Figures
from skills.lib import compact_json
from skills.lib.ledger import Ledger
from skills.lib.runtime import loading
from skills.lib.validation import registration
from skills.lib.workflow.requirements import Command

if TYPE_CHECKING:
    from benchmarks.options import Options

SAMPLES, QUICK_SAMPLES, WARM_UP = 41, 5, 3
BARE = "python -c pass"

Sample = list[str]


def figures(options: Options) -> list[Figures]:
    """Measure every kind of call in turn, round by round."""
    samples = QUICK_SAMPLES if options.quick else SAMPLES
    with own_ledgers(), tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
        python = lean_python(folder)
        skill = sealed_copy(biggest(), folder)
        calls = _calls(python, skill, folder, samples + WARM_UP)
        took: dict[str, list[float]] = {name: [] for name in calls}
        with options.progress("steps", samples + WARM_UP) as tick:
            for at in range(samples + WARM_UP):
                for name, commands in calls.items():
                    seconds = timed(commands[at], expected=3 if name.startswith("refused") else 0)
                    if at >= WARM_UP:
                        took[name].append(seconds)
                tick()
    bare = statistics.median(took[BARE])
    rows: list[list[Cell]] = [
        [name, statistics.median(many) * 1000, statistics.median(many) / bare] for name, many in took.items()
    ]
    size = len(compact_json.dumps(skill.workflow.to_data()))
    notes = [
        f"{skill.name}, {len(skill.workflow.steps)} steps, {size:,} characters; medians of {samples}, interleaved."
    ]
    return [Figures("A step", ["call", "ms", "ratio to bare"], rows, notes)]


def biggest() -> Skill:
    """The skill with the most text whose first step is left without running a command."""
    known = [skill for skill in shipped() if not _runs_commands(skill)]
    return max(known, key=lambda skill: len(compact_json.dumps(skill.workflow.to_data())))


def lean_python(folder: str) -> str:
    """An interpreter of a fresh virtual environment that holds nothing."""
    place = os.path.join(folder, "lean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True, env=_environment())
    return os.path.join(place, "Scripts" if os.name == "nt" else "bin", "python")


def sealed_copy(skill: Skill, folder: str) -> Skill:
    """The skill in a copy of the tree, with its seal beside it."""
    tree = os.path.join(folder, "tree")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("skills", "conventions"):
        shutil.copytree(os.path.join(ROOT, name), os.path.join(tree, name), ignore=ignored)
    script = os.path.join(tree, os.path.relpath(skill.script, ROOT))
    graph = script.removesuffix(".py") + loading.SUFFIX
    registration.write(registration.beside(skill.workflow, graph), registration.text(skill.workflow))
    return Skill(skill.name, script, skill.workflow)


def _calls(python: str, skill: Skill, folder: str, count: int) -> dict[str, list[Sample]]:
    """For each kind of call so many commands, each on a run of its own at the step that the call needs."""
    moves, refusals, repeats = [], [], []
    shared = os.path.join(folder, "shared")
    os.makedirs(os.path.join(shared, ".lockstep"))
    for at in range(count):
        moves.append(_first_move(python, skill, shared, at))
        refused = _first_move(python, skill, shared, at)
        refusals.append(with_flag(refused, "--step", skill.workflow.steps[-1].id))
        repeats.append(_first_move(python, skill, shared, at))
        timed(repeats[-1], expected=0)
    openings = [_opening(python, skill, os.path.join(folder, f"project-{at}")) for at in range(count)]
    look = [python, skill.script, "--step", "2", "--stateless", "--project", shared]
    return {
        BARE: [[python, "-c", "pass"]] * count,
        "a step, with ledger commit": moves,
        "a step, stateless": [look] * count,
        "refused step": refusals,
        "an opening": openings,
        "a repeat of the last command": repeats,
    }


def _first_move(python: str, skill: Skill, project: str, at: int) -> Sample:
    """Open a run and give the command that leaves its first step."""
    rng = random.Random(at)
    host, policy = Lockstep(project), Policy(skill.name, project, rng)
    policy.prepare()
    begin = [*host.begin(skill, policy.params), "--new"]
    agent = Agent(skill, host, policy, rng, 0, Counts(), begin)
    block = agent.call(begin)
    agent.plan = policy.plan(block)
    policy.provide(block, agent.plan.values)
    return [python, *(agent.honest(block, style=False) or [])[1:]]


def _opening(python: str, skill: Skill, project: str) -> Sample:
    """The command that opens a run in a project whose ledger is there and empty."""
    os.makedirs(project)
    Ledger(os.path.join(project, ".lockstep")).close()
    params = Policy(skill.name, project, random.Random(0)).params
    return [python, *Lockstep(project).begin(skill, params)[1:]]


def timed(command: Sample, expected: int) -> float:
    """How many seconds a command takes; RuntimeError if it ends with another exit code."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, env=_environment(), check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != expected:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode()}")
    return seconds


def _environment() -> dict[str, str]:
    dropped = re.compile("PYTHON.*|LOCKSTEP_HOME")
    return {name: value for name, value in os.environ.items() if not dropped.fullmatch(name)}


def _runs_commands(skill: Skill) -> bool:
    return any(isinstance(spec, Command) for spec in skill.workflow.steps[0].requires)
