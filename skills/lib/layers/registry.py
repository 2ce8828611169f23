"""The registry: which skills serve which phase, in layers. A project's is laid over the one of Lockstep."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skills.lib import paths
from skills.lib.errors import SkillError, UsageError, did_you_mean, nearest
from skills.lib.field_checks import shown
from skills.lib.skillfile.frontmatter import parse_yaml
from skills.lib.skillfile.source import SkillFileError, decode, read_bytes

FILE = os.path.join("skills", "registry.yaml")
CORE, ADAPTER = "core", "adapter"
# The lower first.
LAYERS = (CORE, ADAPTER)
FIELDS = ("skills", "aliases", "phases")
_LIMIT = 64_000
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")


@dataclass(frozen=True)
class Fault:
    """What is wrong in a registry: the file, the line (0 is the whole file), what, and what to do."""

    file: str
    line: int
    what: str
    do: str

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.what}"


@dataclass(frozen=True)
class Member:
    """A skill of a phase: its name, the one under which the phase lists it, and its layer."""

    skill: str
    listed: str
    layer: str


@dataclass(frozen=True)
class Phase:
    """A phase: its skills in order, and where that stands."""

    name: str
    members: tuple[Member, ...]
    file: str
    line: int

    def of(self, layer: str) -> list[str]:
        """The names of its skills of a layer."""
        return [member.skill for member in self.members if member.layer == layer]


@dataclass(frozen=True)
class Entry:
    """A value of a registry with its place."""

    value: Any
    file: str
    line: int


@dataclass
class Registry:
    """What the registries say, the later over the earlier; ``settled`` says in words what that replaced."""

    files: list[str] = field(default_factory=list)
    skills: dict[str, Entry] = field(default_factory=dict)
    aliases: dict[str, Entry] = field(default_factory=dict)
    phases: dict[str, Entry] = field(default_factory=dict)
    settled: dict[str, list[str]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def phase(self, name: str) -> Phase:
        """The phase of that name. Raises UsageError for an unknown one, and SkillError if it cannot be used."""
        entry = self.phases.get(name)
        if entry is None:
            what = f"there is no phase {name!r:.80}{did_you_mean(nearest(name, list(self.phases)))}"
            raise UsageError(what, valid=", ".join(self.phases) or "none", remedy="lockstep phase")
        wrong = [*self.faults, *self._faults_of(name, entry, None)]
        if wrong:
            raise SkillError(str(wrong[0]), remedy=wrong[0].do)
        return Phase(name, self._members(entry.value), entry.file, entry.line)

    def settled_of(self, phase: Phase) -> list[str]:
        """In words, what a later registry replaced of a phase: its list, and its skills' layers and aliases."""
        names = [phase.name, *(name for member in phase.members for name in (member.listed, member.skill))]
        return [words for name in dict.fromkeys(names) for words in self.settled.get(name, ())]

    def resolved(self, name: str) -> str:
        """The name of the skill that a name or an alias means; the name itself if it is neither."""
        seen = {name}
        while name not in self.skills and name in self.aliases:
            name = self.aliases[name].value
            if name in seen:
                return name
            seen.add(name)
        return name

    def check(self, known: Collection[str]) -> list[Fault]:
        """Everything that is wrong; ``known`` are the names of the skills that there are."""
        found = [*self.faults, *self._alias_faults()]
        for name, entry in self.skills.items():
            if name not in known:
                near = nearest(name, list(known))
                found.append(
                    _fault(entry, f"there is no skill {name!r:.80}{did_you_mean(near)}", "name a skill that there is")
                )
        for name, entry in self.phases.items():
            found += self._faults_of(name, entry, known)
        return sorted(dict.fromkeys(found), key=lambda fault: (fault.file, fault.line))

    def _members(self, listed: Sequence[str]) -> tuple[Member, ...]:
        found = [(self.resolved(name), name) for name in listed]
        return tuple(Member(skill, name, self.skills[skill].value) for skill, name in found)

    def _alias_faults(self) -> Iterator[Fault]:
        for name, entry in self.aliases.items():
            if name in self.skills:
                yield _fault(entry, f"{name!r:.80} is a skill, and no alias", "take the alias out")
                continue
            end = self.resolved(name)
            if end in self.aliases and end not in self.skills:
                yield _fault(entry, f"the alias {name!r:.80} leads back to {end!r:.80}", "let it name a skill")
            elif end not in self.skills:
                near = did_you_mean(nearest(end, list(self.skills)))
                yield _fault(
                    entry, f"the alias {name!r:.80} names no skill of the registry: {end!r:.80}{near}", "name one"
                )

    def _faults_of(self, phase: str, entry: Entry, known: Collection[str] | None) -> Iterator[Fault]:
        """What is wrong with a phase; with ``known`` also skills that there are none of."""
        names = [self.resolved(name) for name in entry.value]
        for listed, name in zip(entry.value, names, strict=True):
            if name not in self.skills:
                near = did_you_mean(nearest(listed, [*self.skills, *self.aliases]))
                what = f"the phase {phase} has {listed!r:.80}, which is no skill of the registry{near}"
                yield _fault(entry, what, f"add it to skills, as {CORE} or {ADAPTER}")
            elif known is not None and name not in known:
                yield _fault(entry, f"the phase {phase} needs the skill {name}, which is not there", "add the skill")
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            yield _fault(entry, f"the phase {phase} has {name} twice", "keep one of them")
        kinds = [(name, self.skills[name].value) for name in names if name in self.skills]
        for at, (name, layer) in enumerate(kinds):
            below = [other for other, its in kinds[:at] if its == ADAPTER]
            if layer == CORE and below:
                what = f"the phase {phase} has the adapter {below[0]} under the core {name}"
                yield _fault(entry, what, f"list {name} before {below[0]}")
        if not any(layer == ADAPTER for _, layer in kinds):
            yield _fault(entry, f"the phase {phase} has no adapter, so that nothing opens a run", "add an adapter")


def load(files: Sequence[str]) -> Registry:
    """The registries of these files, a later one over an earlier; faults of form are kept in it.

    A file that is not there is left out.
    """
    found = Registry()
    for file in dict.fromkeys(files):
        if os.path.lexists(file):
            found.files.append(file)
            _add(found, file)
    return found


def _add(registry: Registry, file: str) -> None:
    if not paths.is_of_project(file):
        what = "the registry is a link that leads out of its project"
        registry.faults.append(Fault(file, 0, what, "put the file itself there"))
        return
    try:
        path = Path(file)
        fields, lines = parse_yaml(decode(path, read_bytes(path, _LIMIT)), path, "the registry")
    except SkillFileError as error:
        registry.faults.append(Fault(file, error.line, error.cause, error.remedy))
        return
    for name in fields:
        if name not in FIELDS:
            what = f"the registry has no field {name!r:.80}{did_you_mean(nearest(name, FIELDS))}"
            registry.faults.append(Fault(file, lines[(name,)], what, f"one of {', '.join(FIELDS)}"))
    for name in FIELDS:
        table = fields.get(name, {})
        if table == "":
            continue
        if not isinstance(table, dict):
            registry.faults.append(Fault(file, lines[(name,)], f"{name} is no mapping", "write `name: value` per line"))
            continue
        for key, value in table.items():
            _put(registry, name, key, Entry(value, file, lines[(name, key)]))


def _put(registry: Registry, field_name: str, key: str, entry: Entry) -> None:
    """Take one entry over, or note what is wrong with it."""
    wrong = _WRONG[field_name](key, entry.value)
    if wrong:
        registry.faults.append(_fault(entry, *wrong))
        return
    table: dict[str, Entry] = getattr(registry, field_name)
    before = table.get(key)
    if before is not None and before.value != entry.value:
        old = f"{_text(before.value)} of {before.file}:{before.line}"
        what = f"{key} is {_text(entry.value)} of {entry.file}:{entry.line}, not {old}"
        registry.settled.setdefault(key, []).append(what)
    table[key] = entry


def _wrong_skill(name: str, value: object) -> tuple[str, str] | None:
    if not _NAME.fullmatch(name):
        return f"{name!r:.80} is not the name of a skill", "small letters, digits and hyphens"
    if value not in LAYERS:
        near = did_you_mean(nearest(value, LAYERS)) if isinstance(value, str) else ""
        return f"the layer of {name} is {shown(value)}{near}", f"one of {', '.join(LAYERS)}"
    return None


def _wrong_alias(name: str, value: object) -> tuple[str, str] | None:
    is_name = isinstance(value, str) and bool(value)
    return None if is_name else (f"the alias {name!r:.80} names {shown(value)}", "name one skill")


def _wrong_phase(name: str, value: object) -> tuple[str, str] | None:
    if not _NAME.fullmatch(name):
        return f"{name!r:.80} is not the name of a phase", "small letters, digits, _ and -"
    is_list = isinstance(value, list) and bool(value) and all(isinstance(one, str) and one for one in value)
    return (
        None if is_list else (f"the phase {name} is {shown(value)}", "a list of skills: [safe-shell-search, planner]")
    )


_WRONG = {"skills": _wrong_skill, "aliases": _wrong_alias, "phases": _wrong_phase}


def _fault(entry: Entry, what: str, do: str) -> Fault:
    return Fault(entry.file, entry.line, what, do)


def _text(value: Any) -> str:
    return f"[{', '.join(value)}]" if isinstance(value, list) else str(value)
