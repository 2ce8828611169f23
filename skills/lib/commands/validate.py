"""``lockstep validate``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import click

from skills import __version__
from skills.lib import paths
from skills.lib.blocks.command_line import join
from skills.lib.commands.console.findings import print_findings
from skills.lib.commands.console.options import examples, project_option
from skills.lib.commands.console.screen import Screen, counted
from skills.lib.commands.queries import phases
from skills.lib.errors import BROKEN_SKILL, PRINTED, EnvironmentProblem, UsageError, did_you_mean
from skills.lib.graphfile import compiling
from skills.lib.graphfile.reader import GraphFileError, Problem
from skills.lib.hosts import skills
from skills.lib.layers import registry
from skills.lib.model.steps import Registered
from skills.lib.runtime import drafts, script
from skills.lib.skillfile import discover
from skills.lib.validation import output, registration
from skills.lib.validation import validator as validation
from skills.lib.validation.rule import Finding


@click.command(
    epilog=examples(
        "lockstep validate  # every skill of the project",
        "lockstep validate skills/my-skill --strict  # one skill; a warning fails too",
        "lockstep validate --format sarif > findings.sarif  # for a code scanning service",
        "lockstep validate --seal  # leave seals, so that steps run without networkx",
    )
)
@click.argument("paths", nargs=-1, type=click.Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option("--seal", is_flag=True, help="Write a .seal file beside every workflow whose graph has no error.")
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@project_option
@click.pass_obj
def validate(screen: Screen, paths: tuple[str, ...], form: str, seal: bool, strict: bool, project: str) -> int:
    """Check every skill under each PATH (default: the project's root): graphs, handlers, prompts, SKILL.md.

    A PATH is a folder, a workflow module or an entry script. Modules are imported, so check only code that you would
    run. Exit code 0 if nothing is wrong, 5 if something is.
    """
    for path in paths:
        if not os.path.exists(path):
            raise _missing(path)
    checked = _check(paths or (project,), sealing=seal)
    found = checked.findings
    if form == "json":
        script.emit(output.as_json(found, project, checked.waived) + "\n", PRINTED)
    elif form == "sarif":
        script.emit(output.as_sarif([*found, *checked.waived], project, __version__) + "\n", PRINTED)
    elif form == "github":
        for line in output.github(found, project):
            screen.print(line)
    else:
        print_findings(screen, found)
    if not checked.skills and not checked.modules and not checked.registries:
        screen.say(f"Nothing to validate: no skill is found under {', '.join(paths) or project}.")
    elif form in ("text", "github"):
        _print_summary(screen, checked)
    for folder in checked.nameless:
        screen.say(f"note: {folder} has no SKILL.md, by which an agent finds it")
    if seal:
        for path in _seal_valid(checked):
            screen.say(f"sealed {os.path.relpath(path)}")
    errors = any(finding.severity == "error" or strict for finding in found)
    return BROKEN_SKILL if errors else PRINTED


def _missing(path: str) -> UsageError:
    """The error for a path that does not exist; it offers the folder of a skill of that name."""
    what, remedy = f"{path} does not exist", ""
    for folder in skills.FOLDERS:
        meant = os.path.join(folder, path)
        if os.path.isdir(meant):
            what, remedy = what + did_you_mean(meant), join(["lockstep", "validate", meant])
            break
    return UsageError(what, valid="a folder, a workflow module or an entry script", remedy=remedy)


@dataclass
class _Checked:
    """What was looked at, and what was found; ``sealable`` are the workflows whose graph has no error.

    ``skills`` are the resolved folders of the skills, ``modules`` is the number of workflow modules and ``registries``
    that of registries of phases. ``waived`` are the findings that a step's ``allow`` waives. ``nameless`` are folders
    that were named, and have scripts but no SKILL.md.
    """

    skills: set[str] = field(default_factory=set)
    modules: int = 0
    registries: int = 0
    nameless: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    waived: list[Finding] = field(default_factory=list)
    sealable: list[Registered] = field(default_factory=list)


def _check(paths: Sequence[str], sealing: bool = False) -> _Checked:
    """Check the skills and modules that the paths lead to, each module once; findings by file and line."""
    checked = _Checked()
    entries: dict[str, skills.Loaded] = {}
    trees: list[tuple[str, list[str]]] = []
    for path in paths:
        if os.path.basename(path) == "SKILL.md":
            path = os.path.dirname(os.path.abspath(path))
        modules = _modules(path, checked)
        for module in modules:
            if os.path.realpath(module) not in entries:
                entry = entries[os.path.realpath(module)] = skills.load_file(module, None, validated=False)
                _check_module(checked, entry)
                if not sealing:
                    checked.findings += _stale(entry)
        if os.path.isdir(path):
            trees.append((path, [os.path.realpath(module) for module in modules]))
    for file in dict.fromkeys(file for path, _ in trees for file in _registries(path)):
        checked.registries += 1
        checked.findings += _registry_findings(file)
    for path, files in trees:
        registered = [Registered(entry.workflow, entry.file) for file in files if (entry := entries[file]).workflow]
        _add(checked, validation.validate_tree(path, registered, waived=True))
    checked.modules = len(entries)
    for found in (checked.findings, checked.waived):
        found.sort(key=lambda finding: (finding.file, finding.line))
    return checked


def _registries(path: str) -> list[str]:
    """The registry of phases of a tree: in its folder ``skills``, or in that folder itself."""
    found = [os.path.join(path, "registry.yaml")] if os.path.basename(os.path.abspath(path)) == "skills" else []
    return [os.path.realpath(file) for file in (*found, os.path.join(path, registry.FILE)) if os.path.lexists(file)]


def _registry_findings(file: str) -> list[Finding]:
    """What is wrong in a registry of phases; its skills are those of its project, and the shipped ones."""
    project = os.path.dirname(os.path.dirname(file))
    loaded = registry.load([os.path.join(skills.shipped(), "registry.yaml"), file])
    why = "a phase with it cannot be opened, and an agent gets the old prompt"
    faults = [
        Finding("registry", "error", "registry", fault.file, fault.line, fault.what, why, fault.do)
        for fault in loaded.check(phases.names(project))
        if fault.file == file
    ]
    return faults or [
        Finding("registry", "error", "registry", file, one.line, f"the phase {one.name} {what}", why, do)
        for one in phases.phases(loaded)
        if one.file == file
        for what, do in _not_opened(project, one)
    ]


def _not_opened(project: str, phase: registry.Phase) -> list[tuple[str, str]]:
    """Why no run of a phase can be opened, each reason once, and what to do."""
    errors = [its["error"] for its in phases.described(project, phase)["members"] if its["error"]]
    do = f"lockstep phase {phase.name} says what each skill contributes"
    return [(f"cannot be opened: {what}", do) for what in dict.fromkeys(errors)]


def _seal_valid(checked: _Checked) -> Iterator[str]:
    """Write the seal of every workflow whose graph has no error, and the JSON of one in YAML.

    Raises EnvironmentProblem if a folder is read-only.
    """
    for entry in checked.sealable:
        path = registration.beside(entry.workflow, entry.file)
        yaml = paths.yaml_of(entry.file)
        written = {entry.file: compiling.compile_file(yaml).to_json()} if yaml else {}
        for name, text in {**written, path: registration.text(entry.workflow)}.items():
            if not registration.write(name, text):
                raise EnvironmentProblem(f"{name} cannot be written", remedy="make its folder writable")
            yield name


def _modules(path: str, checked: _Checked) -> list[str]:
    """The workflow modules under a path; notes which skills are there."""
    if not os.path.isdir(path):
        return [os.path.abspath(skills.module_of(path))]
    folders = discover(os.path.abspath(path))
    if not folders and (bare := skills.modules_in(os.path.abspath(path))):
        checked.nameless.append(path)
        return [str(file) for file in bare]
    checked.skills.update(os.path.realpath(skill.path) for skill in folders)
    return [str(file) for skill in folders for file in skill.workflows]


def _check_module(checked: _Checked, entry: skills.Loaded) -> None:
    if entry.workflow is None:
        checked.findings += _broken(entry)
        return
    found = validation.validate(entry.workflow, entry.file, waived=True)
    yaml = paths.yaml_of(entry.file)
    if yaml and drafts.is_draft(yaml):
        found.append(_unaccepted(entry, yaml))
    elif not any(finding.severity == "error" and not finding.waived for finding in found):
        checked.sealable.append(Registered(entry.workflow, entry.file))
    _add(checked, [*found, *validation.validate_source(entry.workflow, entry.file, waived=True)])


def _add(checked: _Checked, found: Sequence[Finding]) -> None:
    """Add findings that are not there yet: two trees may hold one skill."""
    for finding in found:
        kept = checked.waived if finding.waived else checked.findings
        if finding not in kept:
            kept.append(finding)


def _stale(entry: skills.Loaded) -> list[Finding]:
    """A finding if steps cannot be printed of a workflow.yaml, since what is compiled of it is missing or older."""
    yaml = paths.yaml_of(entry.file)
    if not yaml or entry.workflow is None or drafts.is_draft(yaml) or compiling.is_current(yaml):
        return []
    there = os.path.isfile(entry.file)
    what = f"{os.path.basename(entry.file)} is {'older than its source' if there else 'not compiled yet'}"
    do = join(["lockstep", "validate", "--seal", os.path.dirname(os.path.dirname(entry.file))])
    return [Finding("stale-workflow", "error", entry.workflow.name, yaml, 0, what, "no step is printed of it", do)]


def _broken(entry: skills.Loaded) -> list[Finding]:
    """A module that does not register a workflow, as a finding; its error may name the line, or several."""
    assert entry.error is not None
    what, line = entry.error.what.removeprefix(entry.file), 0
    number, _, rest = what.removeprefix(":").partition(":")
    if number.isdigit():
        what, line = rest, int(number)
    what = what.strip(": ") + (f" (valid: {entry.error.valid})" if entry.error.valid else "")
    name = os.path.basename(entry.file).removesuffix(paths.MODULE).removesuffix(paths.COMPILED).replace("_", "-")
    why = "no step of it can be printed"
    if isinstance(entry.error, GraphFileError):
        return [
            Finding("broken-module", "error", name, one.file, one.line, _said(one), why, one.remedy or "fix it")
            for one in entry.error.problems
        ]
    return [Finding("broken-module", "error", name, entry.file, line, what, why, entry.error.remedy or "fix it")]


def _unaccepted(entry: skills.Loaded, yaml: str) -> Finding:
    """A draft, as a finding: nobody would run it."""
    assert entry.workflow is not None
    what, why = "the workflow is a draft that no person has accepted", "no step of it can be printed"
    do = f"correct it, then: {join(['lockstep', 'adopt', os.path.relpath(os.path.dirname(yaml)), '--accept'])}"
    return Finding(
        "unaccepted-draft", "warning", entry.workflow.name, yaml, compiling.lines_of(yaml)(("draft",)), what, why, do
    )


def _said(problem: Problem) -> str:
    return problem.what + (f" (valid: {problem.valid})" if problem.valid else "")


def _print_summary(screen: Screen, checked: _Checked) -> None:
    """The last line: how many findings, in how many skills and workflows, and how many were waived."""
    errors = sum(finding.severity == "error" for finding in checked.findings)
    warnings = len(checked.findings) - errors
    looked = counted(checked.modules, "workflow")
    if checked.skills:
        looked = f"{counted(len(checked.skills), 'skill')}, {looked}"
    elif not checked.modules:
        looked = "the registry of phases"
    if checked.waived:
        looked += f"; {counted(len(checked.waived), 'finding')} waived"
    if not checked.findings:
        screen.say(screen.styled("Nothing is wrong", "green"), f" in {looked}.")
        return
    colour = "red" if errors else "yellow"
    screen.say(screen.styled(f"{counted(errors, 'error')}, {counted(warnings, 'warning')}", colour), f" in {looked}.")
