"""SKILL.md, and the names of a skill's workflows."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from skills.lib import paths
from skills.lib.errors import UsageError, nearest
from skills.lib.model import values
from skills.lib.model.steps import Workflow
from skills.lib.runtime import cli, missing_graph
from skills.lib.runtime.loading import CHOICE
from skills.lib.skillfile import SkillFolder, check_specification, commands_in, script_named
from skills.lib.skillfile.discovery import is_entry_script
from skills.lib.skillfile.source import FILE_NAME
from skills.lib.validation.rule import TREE, Problem, rule
from skills.lib.validation.tree import TreeView
from skills.lib.validation.view import GraphView

_PLACEHOLDER = re.compile(r"<.*>|.*(?:\.\.\.|…|\$|FILL_).*", re.DOTALL)
_OPERATORS = frozenset(("|", "||", "&", "&&", ";", ">", ">>", "<", "2>&1"))
_SCRIPT = re.compile(r"\w\.py\b")


@rule("error", TREE, of_step=False)
def skill_specification(tree: TreeView) -> Iterator[Problem]:
    """A SKILL.md departs from the Agent Skills specification.

    ## What it does
    Reports everything in which a SKILL.md differs from the specification: fields, name, description, length, and what
    cannot be read at all.

    ## Why it is bad
    Hosts skip such a skill, refuse to install it, or offer it at the wrong time.

    ## Example
    ````markdown
    ---
    name: Tea_Time
    description: Makes tea. Use when somebody is thirsty.
    ---
    Run `scripts/tea.py --step 1`.
    ````

    ## Use instead
    ````markdown
    ---
    name: tea-time
    description: Makes tea. Use when somebody is thirsty.
    ---
    Run `scripts/tea.py --step 1`.
    ````
    """
    for skill in tree.skills:
        problems = check_specification(skill.path)
        if skill.error is not None and (not problems or skill.error.path.name != FILE_NAME):
            yield Problem(
                skill.error.cause,
                why="a host that cannot read the file does not offer the skill",
                do=skill.error.remedy,
                where=skill.name,
                file=str(skill.error.path),
                line=skill.error.line,
            )
            continue
        for problem in problems:
            yield Problem(
                problem.what,
                why=problem.why,
                do=problem.do,
                where=skill.name,
                file=str(skill.path / FILE_NAME),
                line=problem.line,
                severity=problem.severity,
            )


@rule("error", TREE, of_step=False)
def skill_command(tree: TreeView) -> Iterator[Problem]:
    """A command in SKILL.md does not run.

    ## What it does
    Takes each command in a shell block of SKILL.md that names a script of the skill, and reports one whose script does
    not exist or has no graph, that cannot be parsed, that has a step or flag which the workflow does not have, or in
    which a parameter of the run is missing or not among its choices. Nothing is executed; values that are placeholders
    (`<text>`, `…`, `$NAME`) count as valid.

    ## Why it is bad
    The first thing an agent does with the skill fails, and it goes on without it.

    ## Example
    ````markdown
    ---
    name: tea-time
    description: Makes tea. Use when somebody is thirsty.
    ---
    ```bash
    python scripts/tea.py --stepp 1
    ```
    ````

    ## Use instead
    ````markdown
    ---
    name: tea-time
    description: Makes tea. Use when somebody is thirsty.
    ---
    ```bash
    python scripts/tea.py --step 1
    ```
    ````
    """
    for skill in tree.skills:
        if skill.loaded is None:
            continue
        for line, command in commands_in(skill.loaded):
            problem = _command_problem(tree, skill, command)
            if problem:
                yield Problem(
                    f"`{command}` does not run: {problem[0]}",
                    why="the first thing an agent does with the skill fails",
                    do=problem[1] or "write the command as the script takes it; --help lists its flags",
                    where=skill.name,
                    file=str(skill.loaded.path),
                    line=line,
                )


def _command_problem(tree: TreeView, skill: SkillFolder, command: str) -> tuple[str, str] | None:
    """Why the command would fail, and what to do; None if it would not."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"it is not a command line ({error})", "close the quotation"
    named = script_named(command) or ""
    script = skill.path / named
    if not script.is_file():
        near = nearest(named, [str(path.relative_to(skill.path)) for path in skill.scripts])
        return f"there is no {named}", f"write {near}" if near else "write the script, or name the one that is meant"
    at = next((at for at, word in enumerate(words) if word.endswith(named)), len(words))
    arguments = list(takewhile(lambda word: word not in _OPERATORS, words[at + 1 :]))
    served, choice = str(script), tree.chosen_by(str(script))
    if choice:
        flag, scripts = choice
        given = arguments.index(flag) if flag in arguments else len(arguments)
        chosen = "".join(arguments[given + 1 : given + 2])
        if chosen not in scripts and not _PLACEHOLDER.fullmatch(chosen):
            return f"{flag} is none of {', '.join(scripts)}", f"add {flag} with one of them"
        served = scripts.get(chosen) or next(iter(scripts.values()))
        del arguments[given : given + 2]
    registered = tree.run_by(served)
    if not registered and _lacks_graph(served):
        return f"{os.path.relpath(served, skill.path)} has no graph", missing_graph.remedy(paths.graph_of(served))
    return _arguments_problem(registered[0].workflow, arguments) if len(registered) == 1 else None


def _lacks_graph(script: str) -> bool:
    """True if a script starts a workflow, and neither its graph nor the YAML of that nor a choice of graphs is there."""
    graph, choice = paths.graph_of(script), script.removesuffix(".py") + CHOICE
    is_there = os.path.isfile(graph) or paths.yaml_of(graph) or os.path.isfile(choice)
    return not is_there and is_entry_script(Path(script))


def _arguments_problem(workflow: Workflow, arguments: list[str]) -> tuple[str, str] | None:
    try:
        request = cli.resolve(workflow, cli.parse(workflow, arguments))
    except cli.HelpRequested:
        return None
    except UsageError as error:
        return error.what, error.remedy or (f"valid: {error.valid}" if error.valid else "")
    for arg in workflow.run_params() if request.run is None else ():
        if arg.name not in request.params:
            if arg.required and not request.stateless:
                return f"{arg.flag} is missing", f"add {arg.flag} with {values.expectation(arg)}"
        elif not _PLACEHOLDER.fullmatch(request.params[arg.name]):
            try:
                values.read(arg, request.params[arg.name])
            except ValueError as error:
                return str(error), ""
    return None


@rule("warning", TREE, of_step=False)
def skill_without_command(tree: TreeView) -> Iterator[Problem]:
    """SKILL.md does not say how the skill is begun.

    ## What it does
    Reports the SKILL.md of a skill with a workflow that names none of its scripts.

    ## Why it is bad
    SKILL.md is all that an agent reads of a skill: it never reaches the first step, and does what it takes the skill for.

    ## Example
    ````markdown
    ---
    name: tea-time
    description: Makes tea. Use when somebody is thirsty.
    ---
    Boil water, and let the leaves steep.
    ````

    ## Use instead
    ````markdown
    ---
    name: tea-time
    description: Makes tea. Use when somebody is thirsty.
    ---
    Run this, and follow what it prints:

    ```bash
    python scripts/tea.py --step 1
    ```
    ````
    """
    for skill in tree.skills:
        if skill.loaded is None or not skill.workflows or _SCRIPT.search(skill.loaded.body):
            continue
        script = next((str(path.relative_to(skill.path)) for path in skill.scripts), "scripts/….py")
        body = skill.loaded.body
        yield Problem(
            f"{skill.name} has a workflow, and its SKILL.md names no script that begins it",
            why="an agent that reads it never reaches the first step",
            do=f'say at the top to run it: python3 "SKILL_DIR/{script}" --step 1',
            where=skill.name,
            file=str(skill.loaded.path),
            line=skill.loaded.body_line + (len(body) - len(body.lstrip("\n")) if body.strip() else 0),
        )


@rule("warning", TREE, of_step=False)
def unrelated_name(tree: TreeView) -> Iterator[Problem]:
    """A workflow is called otherwise than its skill.

    ## What it does
    Reports a workflow whose name is neither that of the skill's folder nor begins with it and a hyphen.

    ## Why it is bad
    Blocks, runs and seals carry the workflow's name: who looks for the runs of a skill does not find those of another name.

    ## Example
    ```python
    # skills/tea-time/scripts/tea_workflow.py
    WORKFLOW = Workflow("coffee-break", StepDef("boil", "Boil water", next={Outcome.OK: None}))
    ```

    ## Use instead
    ```python
    # skills/tea-time/scripts/tea_workflow.py
    WORKFLOW = Workflow("tea-time", StepDef("boil", "Boil water", next={Outcome.OK: None}))
    ```
    """
    for skill in tree.skills:
        folder = os.path.realpath(skill.path)
        skill_name = os.path.basename(folder)
        for entry in tree.registered:
            name = entry.workflow.name
            inside = os.path.realpath(entry.file).startswith(folder + os.sep)
            if inside and name != skill_name and not name.startswith(f"{skill_name}-"):
                yield Problem(
                    f"the workflow {name} belongs to the skill {skill_name}, and is called otherwise",
                    why="blocks and runs carry its name, by which nobody finds the skill",
                    do=f"call it {skill_name}, or {skill_name}- and what it does",
                    graph=GraphView(entry.workflow, entry.file),
                )
