"""Every rule over every skill of some paths."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from skills.lib.commands.queries import skills
from skills.lib.errors import EnvironmentProblem
from skills.lib.model.steps import Registered
from skills.lib.skillfile import discover
from skills.lib.validation import registration
from skills.lib.validation import validator as validation
from skills.lib.validation.rule import Finding


@dataclass
class Checked:
    """What was looked at, and what was found; ``sealable`` are the workflows whose graph has no error.

    ``waived`` are the findings that a step's ``allow`` waives. ``nameless`` are folders that were named, and have
    scripts but no SKILL.md.
    """

    skills: int = 0
    modules: int = 0
    nameless: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    waived: list[Finding] = field(default_factory=list)
    sealable: list[Registered] = field(default_factory=list)


def check(paths: Sequence[str]) -> Checked:
    """Check the skills and modules that the paths lead to, each module once; findings by file and line."""
    checked = Checked()
    entries: dict[str, skills.Loaded] = {}
    trees: list[tuple[str, list[str]]] = []
    seen: set[str] = set()
    for path in (_folder(path) for path in paths):
        modules = _modules(path, checked, seen)
        for module in modules:
            if os.path.realpath(module) not in entries:
                entry = entries[os.path.realpath(module)] = skills.load_file(module, None, validated=False)
                _check_module(checked, entry)
        if os.path.isdir(path):
            trees.append((path, [os.path.realpath(module) for module in modules]))
    for path, files in trees:
        registered = [Registered(entry.workflow, entry.file) for file in files if (entry := entries[file]).workflow]
        _add(checked, validation.validate_tree(path, registered, waived=True))
    checked.modules = len(entries)
    for found in (checked.findings, checked.waived):
        found.sort(key=lambda finding: (finding.file, finding.line))
    return checked


def seal_valid(checked: Checked) -> Iterator[str]:
    """Write the seal of every workflow whose graph has no error; EnvironmentProblem if a folder is read-only."""
    for entry in checked.sealable:
        path = registration.beside(entry.workflow, entry.file)
        if not registration.write(path, registration.text(entry.workflow)):
            raise EnvironmentProblem(f"{path} cannot be written", remedy="make its folder writable")
        yield path


def _folder(path: str) -> str:
    """The path, or for a SKILL.md the folder of its skill."""
    return os.path.dirname(os.path.abspath(path)) if os.path.basename(path) == "SKILL.md" else path


def _modules(path: str, checked: Checked, seen: set[str]) -> list[str]:
    """The workflow modules under a path; skills that are not in ``seen`` are counted, and added to it."""
    if not os.path.isdir(path):
        return [os.path.abspath(skills.module_of(path))]
    folders = discover(os.path.abspath(path))
    if not folders and (bare := skills.modules_in(os.path.abspath(path))):
        checked.nameless.append(path)
        return [str(file) for file in bare]
    for skill in folders:
        if os.path.realpath(skill.path) not in seen:
            seen.add(os.path.realpath(skill.path))
            checked.skills += 1
    return [str(file) for skill in folders for file in skill.workflows]


def _check_module(checked: Checked, entry: skills.Loaded) -> None:
    if entry.workflow is None:
        checked.findings.append(_broken(entry))
        return
    found = validation.validate(entry.workflow, entry.file, waived=True)
    if not any(finding.severity == "error" and not finding.waived for finding in found):
        checked.sealable.append(Registered(entry.workflow, entry.file))
    checked.findings += [finding for finding in found if not finding.waived]
    checked.waived += [finding for finding in found if finding.waived]
    _add(checked, validation.validate_source(entry.workflow, entry.file, waived=True))


def _add(checked: Checked, found: Sequence[Finding]) -> None:
    """Add findings that are not there yet: two trees may hold one skill."""
    for finding in found:
        kept = checked.waived if finding.waived else checked.findings
        if finding not in kept:
            kept.append(finding)


def _broken(entry: skills.Loaded) -> Finding:
    """A module that does not register a workflow, as a finding; its error may name the line."""
    assert entry.error is not None
    what, line = entry.error.what.removeprefix(entry.file), 0
    number, _, rest = what.removeprefix(":").partition(":")
    if number.isdigit():
        what, line = rest, int(number)
    what = what.strip(": ") + (f" (valid: {entry.error.valid})" if entry.error.valid else "")
    name = os.path.basename(entry.file).removesuffix(skills.SUFFIX).replace("_", "-")
    why = "no step of it can be printed"
    return Finding("broken-module", "error", name, entry.file, line, what, why, entry.error.remedy or "fix it")
