"""Many seeded runs over all skills, each in a project of its own."""

from __future__ import annotations

import os
import random
import re
import tempfile
from typing import TYPE_CHECKING

from benchmarks.adherence import audit, skills
from benchmarks.adherence.agent import Broken
from benchmarks.adherence.attempts import DeviatingAgent
from benchmarks.adherence.counts import Counts, Fault
from benchmarks.adherence.hosts import Lockstep, Stateless, own_ledgers
from benchmarks.adherence.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.adherence.hosts import Host
    from benchmarks.adherence.skills import Skill

LEDGER, PROCESS, BASELINE = "Lockstep", "Lockstep, as processes", "stateless printer"
IDS = re.compile(r"\b[abcdefghjkmnpqrstuvwxyz2-9]{8}\b")


def simulate(kind: str, runs: int, seed: int, p: float, tick: Callable[[], None] = lambda: None) -> Counts:
    """Walk that many runs, each skill in its turn, and count."""
    counts = Counts()
    with own_ledgers(), tempfile.TemporaryDirectory() as folder:
        known = [*skills.shipped(), *skills.small(os.path.join(folder, "skills"))]
        for number in range(runs):
            skill = known[number % len(known)]
            with tempfile.TemporaryDirectory(dir=folder) as project:
                run(kind, skill, project, f"{seed}:{number}", p, counts)
            tick()
    return counts


def run(kind: str, skill: Skill, project: str, seed: str, p: float, counts: Counts) -> list[str]:
    """Walk one run and audit it; the transcript, one entry a command."""
    rng = random.Random(seed)
    policy = Policy(skill.name, project, rng)
    policy.prepare()
    host: Host = Stateless(skill, project) if kind == BASELINE else Lockstep(project, kind == PROCESS)
    agent = DeviatingAgent(skill, host, policy, rng, p, counts, host.begin(skill, policy.params))
    counts.runs += 1
    try:
        last = agent.walk()
        counts.ended += 1
        counts.holes += agent.hole
        if host.remembers and last.tag != "done":
            counts.fault(Fault("ended elsewhere", skill.name, last.id, "", last.text))
    except Broken as broken:
        agent.disturbed = True
        counts.fault(Fault(str(broken), skill.name, "", "", ""))
    counts.disturbed_runs += agent.disturbed
    if host.remembers:
        for gap in audit.gaps(os.path.join(project, ".lockstep")):
            counts.holes += 1
            counts.fault(Fault("a gap in the record", skill.name, "", "", gap))
    return agent.transcript


def same_as_process(runs: int, seed: int, p: float, tick: Callable[[], None] = lambda: None) -> int:
    """How many of the runs print the same, to the letter, in this process and as real processes."""
    same = 0
    with own_ledgers(), tempfile.TemporaryDirectory() as folder:
        known = [*skills.shipped(), *skills.small(os.path.join(folder, "skills"))]
        for number in range(runs):
            printed = []
            for kind in (LEDGER, PROCESS):
                project = os.path.join(folder, "project")
                os.makedirs(project)
                transcript = run(kind, known[number % len(known)], project, f"{seed}:{number}", p, Counts())
                printed.append(_without_ids("\n".join(transcript)))
                os.rename(project, os.path.join(folder, f"{number}-{kind}"))
            same += printed[0] == printed[1]
            tick()
    return same


def _without_ids(text: str) -> str:
    """The text with each run's id replaced by its place in the order of appearance."""
    seen: dict[str, str] = {}
    return IDS.sub(lambda found: seen.setdefault(found[0], f"RUN{len(seen)}"), text)
