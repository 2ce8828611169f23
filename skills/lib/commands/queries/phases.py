"""The phases of a project: its registry over the shipped one, and what the skills of a phase come to together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skills.lib import files, paths
from skills.lib.blocks.command_line import quote
from skills.lib.errors import LockstepError, SkillError, UsageError, did_you_mean, nearest
from skills.lib.hosts import skills
from skills.lib.layers import composition, registry
from skills.lib.layers.composition import Composition
from skills.lib.layers.listing import Listed
from skills.lib.layers.registry import ADAPTER, CORE, Phase, Registry
from skills.lib.model.layers import Layer
from skills.lib.skillfile import discover

# How much of a policy is compared, in bytes.
_LONGEST = 1_000_000


@dataclass(frozen=True)
class Opened:
    """What a run of a phase is opened with: the adapter's name, its script, and its workflow with the layers."""

    skill: str
    script: str
    composition: Composition


def registry_of(project: str) -> Registry:
    """The registry of a project: the shipped one, and that of the project over it."""
    shipped = os.path.join(skills.shipped(), "registry.yaml")
    own = os.path.join(os.path.realpath(project), registry.FILE)
    return registry.load([shipped, own])


def names(project: str) -> list[str]:
    """The names of the skills that a registry of the project may name."""
    return [skill.name for skill in skills.find(project) if not skill.error]


def opened(project: str, phase: Phase, skill: str = "") -> Opened:
    """What the run of an adapter of a phase, the first by default, is opened with.

    Raises UsageError if the phase has no such adapter, and SkillError if a skill is missing or broken.
    """
    adapters = phase.of(ADAPTER)
    if skill and skill not in adapters:
        what = f"{skill!r:.80} is no adapter of {phase.name}{did_you_mean(nearest(skill, adapters))}"
        raise UsageError(what, valid=", ".join(adapters))
    name = skill or adapters[0]
    loaded = skills.one(project, name)
    if not loaded.script:
        raise SkillError(f"{loaded.file} has no entry script", remedy="write one beside it: lockstep new shows how")
    found = composition.composed(
        loaded.require(), [layer(project, phase, core, loaded.script) for core in phase.of(CORE)]
    )
    return Opened(name, loaded.script, found)


def layer(project: str, phase: Phase, core: str, script: str) -> Layer:
    """What a core contributes to a script's run; the hook takes its policy from the same folder."""
    found = paths.core(script, project, core)
    if not found:
        raise SkillError(f"the core skill {core} is not there", remedy=f"put it into {os.path.join(project, 'skills')}")
    return composition.layer_of(skills.one(project, found).require(), core, phase.name)


def replaced(project: str, its: Opened) -> list[str]:
    """In words, which skills of a run are not the shipped ones of their names, and say something else."""
    folders = {its.skill: os.path.dirname(its.script.rpartition(f"{os.sep}scripts{os.sep}")[0] + os.sep)}
    folders |= {one.skill: paths.core(its.script, project, one.skill) for one in its.composition.layers}
    return [
        f"{skill} is that of {os.path.relpath(folder, project)}, which differs from the one of Lockstep"
        for skill, folder in folders.items()
        if _differs(project, folder, os.path.join(skills.shipped(), skill))
    ]


def _differs(project: str, folder: str, shipped: str) -> bool:
    """True if a skill stands in the place of a shipped one, with another workflow or another policy."""
    if os.path.realpath(folder) == os.path.realpath(shipped) or not os.path.isfile(os.path.join(shipped, "SKILL.md")):
        return False
    ours, other = (skills.one(project, place).require() for place in (shipped, folder))
    if ours.fingerprint != other.fingerprint:
        return True
    return _policy(folder, ours.policy) != _policy(shipped, ours.policy)


def _policy(folder: str, name: str) -> bytes:
    """The text of a skill's policy; none if it cannot be read, or there is none."""
    try:
        return files.read(paths.of_skill(os.path.join(folder, "scripts", name)), _LONGEST) if name else b""
    except OSError:
        return b""


def described(project: str, phase: Phase) -> dict[str, Any]:
    """A phase as plain data: its skills in order, what each contributes, what was settled, and how a run is opened."""
    found: dict[str, Any] = {"phase": phase.name, "file": phase.file, "line": phase.line, "members": [], "settled": []}
    shown = {}
    for name in phase.of(ADAPTER):
        try:
            shown[name] = opened(project, phase, name)
        except LockstepError as error:
            found["members"].append({"skill": name, "error": error.what})
    broken = {one["skill"]: one["error"] for one in found["members"]}
    one = next(iter(shown.values()), None)
    layers = {core.skill: core for core in one.composition.layers} if one else {}
    found["members"] = [
        {
            "order": order,
            "skill": member.skill,
            "listed": member.listed,
            "layer": member.layer,
            "error": broken.get(member.skill),
            "contributes": _contributes(member.skill, layers, shown),
        }
        for order, member in enumerate(phase.members, 1)
    ]
    found["replaced"] = list(dict.fromkeys(words for its in shown.values() for words in replaced(project, its)))
    found["settled"] = [f"{name}: {words}" for name, its in shown.items() for words in its.composition.settled]
    found["start"] = [start_command(phase.name, its, its is not one) for its in shown.values()]
    return found


def _contributes(skill: str, layers: dict[str, Layer], shown: dict[str, Opened]) -> dict[str, Any]:
    if skill in layers:
        core = layers[skill]
        return {"policy": core.policy, "tools": [*core.tools], "rules": [*core.forbidden]}
    if skill in shown:
        workflow = shown[skill].composition.workflow
        return {"run": workflow.name, "steps": len(workflow.steps), "script": shown[skill].script}
    return {}


def start_command(phase: str, its: Opened, named: bool) -> str:
    """The command that opens the run of an adapter, with a placeholder for each parameter that it needs."""
    wanted = [arg for arg in its.composition.workflow.run_params() if arg.required]
    given = " ".join(f"{arg.flag} {quote(f'FILL_{arg.name}')}" for arg in wanted)
    return f"lockstep phase {phase} --start{f' --skill {its.skill}' if named else ''}{f' -- {given}' if given else ''}"


def listed(project: str, beside: str) -> list[Listed]:
    """The skills that hosts find in a project, each once; paths are relative to the folder ``beside``."""
    folders = [os.path.join(project, folder) for folder in skills.FOLDERS]
    found: dict[str, Any] = {}
    for skill in (skill for folder in folders if os.path.isdir(folder) for skill in discover(folder)):
        if skill.loaded is not None:
            found.setdefault(skill.name, skill)
    files = {name: os.path.relpath(os.path.join(skill.path, "SKILL.md"), beside) for name, skill in found.items()}
    return [Listed(name, found[name].loaded.description, files[name].replace(os.sep, "/")) for name in sorted(found)]


def phases(registry: Registry) -> Sequence[Phase]:
    """Every phase that can be used, in the order of the registry."""
    usable = []
    for name in registry.phases:
        try:
            usable.append(registry.phase(name))
        except SkillError:
            continue
    return usable
