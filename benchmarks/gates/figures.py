"""``python -m benchmarks gates``: how many random graphs an adversary ends as done past a gate, and honest ways out.

The honest way out is walked from every state of every walk of a graph that validation admits, each by itself: nothing
is shared between them, and no state is left out. Some 20 minutes on one core for 20,000 graphs.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.gates import adversary, graphs, honest
from benchmarks.gates.walking import World
from benchmarks.report import Cell, Figures
from skills.lib.validation.validator import validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.gates.graphs import Graph
    from benchmarks.options import Options

# The walks of each graph.
WALKS = 2
GRAPHS, QUICK = 20_000, 150


class Found(NamedTuple):
    """What walking some graphs has shown; ``features`` and ``admitted`` count the graphs that have each feature."""

    graphs: int
    valid: int
    walks: int
    done: int
    wrong: list[str]
    states: int
    stuck: list[str]
    ends: dict[str, int]
    features: dict[str, int]
    admitted: dict[str, int]


def look(count: int, seed: int, tick: Callable[[], object] = lambda: None, until: str | None = None) -> Found:
    """Walk random graphs; those that validation admits are also ended honestly from every state that is reached.

    The first fault that has the words of ``until`` ends it early.
    """
    rng = random.Random(seed)
    valid = made = done = states = 0
    wrong: list[str] = []
    stuck: list[str] = []
    ends: dict[str, int] = {}
    features: dict[str, int] = {}
    admitted: dict[str, int] = {}
    number = -1
    for number in range(count):
        graph = graphs.graph(rng)
        is_valid = _is_admitted(graph)
        valid += is_valid
        for feature in graphs.features(graph):
            features[feature] = features.get(feature, 0) + 1
            admitted[feature] = admitted.get(feature, 0) + is_valid
        for _ in range(WALKS):
            world = World.of(graph, rng)
            passed = adversary.walk(world, rng)
            made += 1
            done += world.run.status == "done"
            wrong += [f"graph {number}: {what}: {world.trail}" for what in world.all_wrong(is_valid)]
            for at, state in enumerate(passed) if is_valid else ():
                states += 1
                why = honest.end(state)
                ends[state.run.status] = ends.get(state.run.status, 0) + 1
                if why or state.all_wrong(True):
                    stuck.append(f"graph {number}, state {at}: {why} {state.all_wrong(True)}")
        tick()
        if until is not None and any(until in told for told in (*wrong, *stuck)):
            break
    return Found(number + 1, valid, made, done, wrong, states, stuck, ends, features, admitted)


def figures(options: Options) -> list[Figures]:
    """What went wrong in how many graphs, walks and states; and how many graphs have each feature."""
    count = QUICK if options.quick else GRAPHS
    with options.progress("gates", count) as tick:
        found = look(count, options.seed, tick)
    rows: list[list[Cell]] = [
        ["random graphs", found.graphs],
        ["of these admitted by validation", found.valid],
        ["walks by the adversary", found.walks],
        ["walks that ended done", found.done],
        ["done with an unaccepted FAIL, or a verdict that was used or had fallen", len(found.wrong)],
        ["states from which the honest way out was taken, all of the admitted graphs", found.states],
        ["of these ended as done", found.ends.get("done", 0)],
        ["of these not at the end in 3 x steps + bounds commands", len(found.stuck)],
    ]
    note = "What a gate may let through is worked out from what was played, not from the engine's record."
    features: list[list[Cell]] = [
        [feature, count, found.admitted[feature]] for feature, count in sorted(found.features.items())
    ]
    return [
        Figures("Gates", ("what", "count"), rows, [note, *found.wrong[:5], *found.stuck[:5]]),
        Figures("Random graphs", ("with", "graphs", "of these admitted"), features),
    ]


def _is_admitted(graph: Graph) -> bool:
    used = {script for step in graph.workflow.steps if (script := graphs.script_of(step))}
    workflows = [graph.workflow, *[graph.scripts[name] for name in used]]
    return not any(finding.severity == "error" for workflow in workflows for finding in validate(workflow))
