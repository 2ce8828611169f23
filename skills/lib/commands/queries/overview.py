"""A skill in a few words, for a list of many."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from skills.lib.commands.console.screen import Cell, Screen
from skills.lib.commands.queries import skills
from skills.lib.skillfile import SkillFolder

HEADINGS = ("SKILL", "WORKFLOW", "STEPS", "GATES", "OPEN RUNS", "PATH")


def describe(skill: SkillFolder, open_workflows: Sequence[str] | None) -> dict[str, Any]:
    """A skill as plain data; ``open_workflows`` names the workflow of every run that has not ended, if it is known."""
    return {
        "name": skill.name,
        "path": str(skill.path),
        "description": skill.loaded.description if skill.loaded else "",
        "error": str(skill.error) if skill.error else None,
        "workflows": [_workflow(entry, open_workflows) for entry in skills.load(skill)],
    }


def rows(screen: Screen, skill: dict[str, Any], project: str) -> list[list[Cell]]:
    """The lines of a skill in a table: one for each workflow, and one for what is broken."""
    name, path = screen.styled(skill["name"], "bold"), _short(skill["path"], project)
    lines: list[list[Cell]] = []
    for entry in skill["workflows"]:
        if entry["error"]:
            lines.append([name, *_broken(screen, entry["error"], entry["file"], project)])
        else:
            opened = str(entry["open_runs"]) if entry["open_runs"] else ""
            counts = [str(entry["steps"]), str(entry["gates"] or ""), opened]
            lines.append([name, entry["name"], *counts, path])
    if skill["error"]:
        lines.append([name, *_broken(screen, skill["error"], skill["path"], project)])
    return lines or [[name, "(no workflow)", "", "", "", path]]


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
        "gates": skills.gates(workflow),
        "open_runs": None if open_workflows is None else open_workflows.count(workflow.name),
    }


def _broken(screen: Screen, error: str, path: str, project: str) -> list[Cell]:
    """The cells of what cannot be loaded: the first line of its error, with its path unless it begins with that."""
    first = error.partition("\n")[0].replace(project + os.sep, "").rstrip(":")
    where = first if first.startswith(_short(path, project)) else f"{_short(path, project)}: {first}"
    return [screen.styled("(broken)", "red"), "", "", "", where]


def _short(path: str, project: str) -> str:
    relative = os.path.relpath(os.path.abspath(path), project)
    return path if relative.startswith("..") else relative
