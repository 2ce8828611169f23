"""What a call costs if the ledger has many runs, beside a bare ``python -c pass``, interleaved.

A fifth of the runs are open, some of them with a sub-agent that is to begin; the others have ended. A step is called
as in ``steps``; a subcommand with the interpreter of this process, which has the libraries of the command.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from typing import TYPE_CHECKING

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.adherence.skills import shipped
from benchmarks.report import Cell, Figures
from benchmarks.steps import BARE, WARM_UP, lean_python, sealed_copy, timed
from skills.lib.blocks.command_line import CommandLine
from skills.lib.engine.decision import Move
from skills.lib.ledger import Ledger, new_id
from skills.lib.runtime import Runner

if TYPE_CHECKING:
    from benchmarks.adherence.skills import Skill
    from benchmarks.options import Options
    from skills.lib.model.run import Run

RUNS, QUICK_RUNS = 10_000, 200
SAMPLES, QUICK_SAMPLES = 21, 3
# Of so many runs one is open; of so many of these one has a sub-agent.
OPEN, WITH_SUB_AGENT = 5, 20
# At most so many times as long as a bare Python, with RUNS runs.
OPENING, UNKNOWN, TRACE, LIST = "an opening", "a step of an unknown run", "lockstep trace RUN", "lockstep runs"
BOUNDS = {OPENING: 2.5, UNKNOWN: 5.0, TRACE: 25.0, LIST: 30.0}
_SKILL = "decision-critic"
_REFUSED = 3
_TASK = {"agent": "explore", "number": 1, "task": "look", "values": {}, "forbidden": []}


def figures(options: Options) -> list[Figures]:
    """Measure each kind of call in turn, round by round."""
    samples, count = (QUICK_SAMPLES, QUICK_RUNS) if options.quick else (SAMPLES, RUNS)
    with own_ledgers(), tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
        python = lean_python(folder)
        skill = sealed_copy(next(skill for skill in shipped() if skill.name == _SKILL), folder)
        project = os.path.join(folder, "project")
        os.mkdir(project)
        run = planted(python, skill, project, count)
        took: dict[str, list[float]] = {}
        with options.progress("growth", samples + WARM_UP) as tick:
            for at in range(samples + WARM_UP):
                for name, command in _calls(python, skill, project, run, at).items():
                    seconds = timed(command, _REFUSED if name == UNKNOWN else 0)
                    if at >= WARM_UP:
                        took.setdefault(name, []).append(seconds)
                tick()
    bare = statistics.median(took[BARE])
    rows: list[list[Cell]] = [
        [name, statistics.median(many) * 1000, statistics.median(many) / bare, BOUNDS.get(name)]
        for name, many in took.items()
    ]
    notes = [f"{count:,} runs, {count // OPEN:,} of them open; medians of {samples}, interleaved."]
    return [Figures("A ledger with many runs", ["call", "ms", "ratio to bare", "at most"], rows, notes)]


def planted(python: str, skill: Skill, project: str, count: int) -> str:
    """Open so many runs of a skill, and end most of them; the id of an open one in the middle, with a sub-agent."""
    runner = Runner(CommandLine(python, skill.script, project))
    try:
        first = runner.start(skill.workflow, {"decision": "first"}).run
        assert first is not None
        steps = [step.id for step in skill.workflow.steps]
        made = [_plant(runner.ledger, first, at, steps) for at in range(1, count)]
        return made[count // 2 // (OPEN * WITH_SUB_AGENT) * OPEN * WITH_SUB_AGENT - 1]
    finally:
        runner.close()


def _plant(ledger: Ledger, first: Run, at: int, steps: list[str]) -> str:
    """Record a run like the first one with four events: it is opened, refused once, and moves twice; its id."""
    fresh = first.changed(id=new_id(), params={"decision": f"question {at}"}, version=0)
    run = ledger.commit(None, Move(fresh, "opened", {}), "agent")
    ledger.note(run.id, 1, "refused", "agent", {"code": "skipped-step", "step": run.step, "why": "too early"})
    for turn in (2, 3):
        state = {**run.state, steps[turn - 2]: {"claims": f"what was found of question {at} at turn {turn}. " * 10}}
        moved = run.changed(turn=turn, step=steps[turn - 1], state=state)
        if turn == 3 and at % OPEN:
            moved = moved.changed(step=None, status="done")
        create = () if turn == 2 or at % (OPEN * WITH_SUB_AGENT) else ({**_TASK, "step": run.step},)
        detail = {"from": run.step, "to": moved.step, "outcome": "ok"}
        run = ledger.commit(run, Move(moved, "finished" if moved.ended else "moved", detail, create), "agent")
    return run.id


def _calls(python: str, skill: Skill, project: str, run: str, at: int) -> dict[str, list[str]]:
    step = [python, skill.script, "--project", project]
    command = [sys.executable, "-P", "-m", "lockstep"]
    here = ["--project", project]
    return {
        BARE: [python, "-c", "pass"],
        OPENING: [*step, "--step", "1", "--decision", f"decision {at}"],
        UNKNOWN: [*step, "--step", "current", "--run", "zzzzzzzz"],
        TRACE: [*command, "trace", run, *here],
        LIST: [*command, "runs", *here],
        "lockstep resume": [*command, "resume", *here],
        "lockstep stats": [*command, "stats", *here],
    }
