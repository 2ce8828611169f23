"""The workflows that can be started: those of the skills that are found now."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import Any, NamedTuple

from skills.lib.errors import LockstepError, UsageError, did_you_mean, nearest
from skills.lib.hosts.skills import handed_out
from skills.lib.model.requirements import Arg
from skills.lib.model.steps import Workflow
from skills.lib.runtime import loading

# What the server passes on about a skill: name, description, uri, problem, and the scripts that have a workflow beside
# them.
Skill = Mapping[str, Any]
# The longest description in the list that an agent reads: as long as the specification of skills allows.
LONGEST = 1024


class Found(NamedTuple):
    """A workflow and its entry script."""

    script: str
    workflow: Workflow


def one(name: str, skills: Sequence[Skill]) -> Found:
    """The workflow of a skill's or a workflow's name. Raises UsageError with the nearest name, or with all.

    Raises the error of a skill that is broken.
    """
    own = [skill for skill in skills if skill["name"] == name][:1]
    if own and not own[0]["scripts"]:
        raise UsageError(f"the skill {name} has no workflow to run", remedy=f"read the resource {own[0]['uri']}")
    names, errors = [skill["name"] for skill in skills], []
    # First those with the name of the workflow: then most often only one is loaded.
    likely = name.replace("-", "_") + ".py"
    scripts = [script for skill in own or skills for script in skill["scripts"]]
    for script in sorted(scripts, key=lambda script: os.path.basename(script) != likely):
        try:
            workflow = loading.workflow_of_script(script)
        except LockstepError as error:
            errors.append(error)
            continue
        if workflow.name == name or (own and len(own[0]["scripts"]) == 1):
            return Found(script, workflow)
        names.append(workflow.name)
    if own and errors:
        raise errors[0]
    if own:
        mains = [found.workflow.name for found in _mains(own[0]["scripts"])]
        raise UsageError(f"the skill {name} has several workflows", valid=", ".join(mains), remedy="name one of them")
    raise UsageError(
        f"there is no skill {name!r:.80}{did_you_mean(nearest(name, names))}",
        valid=", ".join(sorted(set(names))),
        remedy="list_skills() says what each is for",
    )


def describe(skills: Sequence[Skill]) -> list[dict[str, Any]]:
    """Each skill with the workflows that a run of it can begin with; one that is broken says why."""
    described = []
    for skill in skills:
        entry = {"name": skill["name"], "uri": skill["uri"], "description": skill["description"], "workflows": []}
        problem = skill["problem"]
        try:
            entry["workflows"] = [
                {
                    "name": workflow.name,
                    "title": workflow.title,
                    "parameters": [_parameter(arg) for arg in workflow.run_params()],
                }
                for _, workflow in _mains(skill["scripts"])
            ]
        except LockstepError as error:
            problem = problem or error.what
        described.append({**entry, "problem": problem} if problem else entry)
    return described


def shown(skill: Mapping[str, Any]) -> str:
    """A skill as lines for a reader."""
    lines = [f"{skill['name']}: {shorten(skill['description'], LONGEST, placeholder=' …')}"]
    if skill.get("problem"):
        lines.append(f"  broken: {skill['problem']}")
    elif not skill["workflows"]:
        lines.append(f"  no workflow to run: read {skill['uri']}")
    for workflow in skill["workflows"]:
        asked = [_asked(parameter) for parameter in workflow["parameters"]]
        given = ", parameters={" + ", ".join(asked) + "}" if asked else ""
        lines.append(f'  start_run(skill="{workflow["name"]}"{given})')
    return "\n".join(lines)


def _mains(scripts: Sequence[str]) -> Iterator[Found]:
    """The workflows that no other of the same skill dispatches to its sub-agents."""
    loaded = {os.path.realpath(script): loading.workflow_of_script(script) for script in scripts}
    dispatched = handed_out(loaded)
    return (Found(script, workflow) for script, workflow in loaded.items() if script not in dispatched)


def _parameter(arg: Arg) -> dict[str, Any]:
    about: dict[str, Any] = {"name": arg.name, "type": arg.type, "required": arg.required, "help": arg.help}
    if arg.choices:
        about["choices"] = list(arg.choices)
    if arg.default is not None:
        about["default"] = arg.default
    return about


def _asked(parameter: Mapping[str, Any]) -> str:
    return f'"{parameter["name"]}": {parameter["type"]}{"" if parameter["required"] else " (may be left out)"}'
