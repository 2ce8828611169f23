"""``python -m benchmarks gates``: how many random graphs an adversary ends as done past a gate, and honest ways out."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.gates import adversary, graphs
from benchmarks.gates.walking import World
from benchmarks.report import Cell, Figures
from skills.lib.workflow.validation import validate

if TYPE_CHECKING:
    from benchmarks.options import Options

GRAPHS, QUICK = 20_000, 300
# Of each walk's states, so many are ended honestly.
TRIED = 3


class Found(NamedTuple):
    """What walking some graphs has shown."""

    graphs: int
    valid: int
    walks: int
    done: int
    wrong: list[str]
    states: int
    stuck: list[str]


def look(count: int, seed: int, walks: int = 2) -> Found:
    """Walk random graphs; those that validation admits are also ended honestly from the states that are reached."""
    rng = random.Random(seed)
    valid = made = done = states = 0
    wrong: list[str] = []
    stuck: list[str] = []
    for number in range(count):
        workflow = graphs.graph(rng)
        admitted = not any(finding.severity == "error" for finding in validate(workflow))
        valid += admitted
        for _ in range(walks):
            world = World(workflow)
            passed = adversary.walk(world, rng)
            made += 1
            done += world.run.status == "done"
            wrong += [f"graph {number}: {what}: {world.trail}" for what in world.wrong]
            for state in rng.sample(passed, min(TRIED, len(passed))) if admitted else ():
                states += 1
                why = adversary.end_honestly(state)
                if why or state.wrong:
                    stuck.append(f"graph {number}: {why} {state.wrong}")
    return Found(count, valid, made, done, wrong, states, stuck)


def figures(options: Options) -> list[Figures]:
    """One table: graphs, walks, and what went wrong."""
    found = look(QUICK if options.quick else GRAPHS, options.seed)
    rows: list[list[Cell]] = [
        ["random graphs", found.graphs],
        ["of these admitted by validation", found.valid],
        ["walks by the adversary", found.walks],
        ["walks that ended done", found.done],
        ["done with an unaccepted FAIL, or a verdict that was used or had fallen", len(found.wrong)],
        ["states from which the honest way out was taken", found.states],
        ["of these not at the end in 3 x steps + bounds commands", len(found.stuck)],
    ]
    note = "What a gate may let through is worked out from what was played, not from the engine's record."
    return [Figures("Gates", ("what", "count"), rows, [note, *found.wrong[:5], *found.stuck[:5]])]
