"""``lockstep list``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Cell, Screen
from skills.lib.commands.queries import runs
from skills.lib.errors import LedgerError
from skills.lib.hosts import skills
from skills.lib.ledger import listing
from skills.lib.skillfile import SkillFolder

_HEADINGS = ("SKILL", "WORKFLOW", "STEPS", "GATES", "OPEN RUNS", "PATH")


@click.command(
    epilog=examples(
        "lockstep list  # the project's skills and the shipped ones",
        "lockstep list .claude/skills  # the skills of one folder",
        "lockstep list --json  # for a program",
    )
)
@click.argument("path", required=False, type=click.Path())
@json_option
@project_option
@click.pass_obj
def list(screen: Screen, path: str | None, as_json: bool, project: str) -> None:  # noqa: A001  the subcommand's name
    """List the skills under PATH with their workflows, steps, gates and open runs.

    Without PATH: those of the project, and those that come with Lockstep. A broken skill is listed with its error.
    Modules are imported, so list only code that you would run.
    """
    opened = _open_workflows(screen, project)
    found = [_described(skill, opened) for skill in skills.find(project, path)]
    if as_json:
        screen.json(found)
    elif found:
        columns = [at for at, head in enumerate(_HEADINGS) if opened is not None or head != "OPEN RUNS"]
        lines = [row for skill in found for row in _rows(screen, skill, project)]
        screen.table([_HEADINGS[at] for at in columns], [[line[at] for at in columns] for line in lines])
    else:
        screen.say(f"No skill is found under {path or project}: no folder there has a SKILL.md.")


def _open_workflows(screen: Screen, project: str) -> Sequence[str] | None:
    """The workflow of every run that has not ended; None, and the reason on standard error, for a damaged ledger."""
    try:
        records = runs.open_records(project)
        return listing.unended_workflows(records.ledger) if records else []
    except LedgerError as error:
        screen.say("Open runs are not shown: ", "\n".join(error.lines()))
        return None


def _described(skill: SkillFolder, open_workflows: Sequence[str] | None) -> dict[str, Any]:
    """A skill as plain data; ``open_workflows`` names the workflow of every run that has not ended, if it is known."""
    return {
        "name": skill.name,
        "path": str(skill.path),
        "description": skill.loaded.description if skill.loaded else "",
        "error": str(skill.error) if skill.error else None,
        "workflows": [_workflow(entry, open_workflows) for entry in skills.load(skill)],
    }


def _rows(screen: Screen, skill: dict[str, Any], project: str) -> Iterator[Sequence[Cell]]:
    """The lines of a skill in a table: one for each workflow, and one for what is broken."""
    name, path = screen.styled(skill["name"], "bold"), _short(skill["path"], project)
    for entry in skill["workflows"]:
        if entry["error"]:
            yield [name, *_broken(screen, entry["error"], entry["file"], project)]
        else:
            opened = str(entry["open_runs"]) if entry["open_runs"] else ""
            yield [name, entry["name"], str(entry["steps"]), str(entry["gates"] or ""), opened, path]
    if skill["error"]:
        yield [name, *_broken(screen, skill["error"], skill["path"], project)]
    elif not skill["workflows"]:
        yield [name, "(no workflow)", "", "", "", path]


def _workflow(entry: skills.Loaded, open_workflows: Sequence[str] | None) -> dict[str, Any]:
    workflow = entry.workflow
    if workflow is None:
        return {"file": entry.file, "script": entry.script, "error": str(entry.error)}
    return {
        "name": workflow.name,
        "title": workflow.title,
        "file": entry.file,
        "script": entry.script,
        "error": None,
        "steps": len(workflow.steps),
        "gates": sum(step.gate is not None for step in workflow.steps),
        "open_runs": None if open_workflows is None else open_workflows.count(workflow.name),
    }


def _broken(screen: Screen, error: str, path: str, project: str) -> Sequence[Cell]:
    """The cells of what cannot be loaded: the first line of its error, with its path unless it begins with that."""
    first = error.partition("\n")[0].replace(project + os.sep, "").rstrip(":")
    where = first if first.startswith(_short(path, project)) else f"{_short(path, project)}: {first}"
    return [screen.styled("(broken)", "red"), "", "", "", where]


def _short(path: str, project: str) -> str:
    relative = os.path.relpath(os.path.abspath(path), project)
    return path if relative.startswith("..") else relative
