"""``python -m benchmarks gates``: how many random graphs an adversary ends as done past a gate, and honest ways out."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.gates import adversary, graphs, honest
from benchmarks.gates.walking import World
from benchmarks.report import Cell, Figures
from skills.lib.workflow.validation import validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.gates.graphs import Graph
    from benchmarks.options import Options

GRAPHS, QUICK, WALKS = 20_000, 200, 2


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


def look(count: int, seed: int, tick: Callable[[], object] = lambda: None) -> Found:
    """Walk random graphs; those that validation admits are also ended honestly from every state that is reached."""
    rng = random.Random(seed)
    valid = made = done = states = 0
    wrong: list[str] = []
    stuck: list[str] = []
    ends: dict[str, int] = {}
    features: dict[str, int] = {}
    admitted: dict[str, int] = {}
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
    return Found(count, valid, made, done, wrong, states, stuck, ends, features, admitted)


def _is_admitted(graph: Graph) -> bool:
    used = {script for step in graph.workflow.steps if (script := graphs.script_of(step))}
    workflows = [graph.workflow, *[graph.scripts[name] for name in used]]
    return not any(finding.severity == "error" for workflow in workflows for finding in validate(workflow))
