"""A command in SKILL.md does not run.

## What it does
Takes each command in a shell block of SKILL.md that names a script of the skill, and reports where the script does
not exist, the command line cannot be parsed, a step or flag is not one of the workflow's, or a parameter that opening
a run takes is missing or not among its choices. Nothing is executed; values that are placeholders (`<text>`, `…`,
`$NAME`) are taken for good.

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

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile

from skills.lib.errors import UsageError
from skills.lib.model import values
from skills.lib.model.steps import Workflow
from skills.lib.runtime import cli
from skills.lib.skillfile import SkillFolder, commands_in, script_named
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import Nearest
from skills.lib.validation.tree import TreeView

RULE = "skill-command"
SEVERITY: Severity = "error"


_PLACEHOLDER = re.compile(r"<.*>|.*(?:\.\.\.|…|\$|FILL_).*", re.DOTALL)
_OPERATORS = frozenset(("|", "||", "&", "&&", ";", ">", ">>", "<", "2>&1"))


def check(tree: TreeView) -> Iterator[Finding]:
    """Yield one finding per command that would fail."""
    for skill in tree.skills:
        if skill.loaded is None:
            continue
        for line, command in commands_in(skill.loaded):
            problem = _problem(tree, skill, command)
            if problem:
                yield Finding(
                    RULE,
                    SEVERITY,
                    skill.name,
                    str(skill.loaded.path),
                    line,
                    f"`{command}` does not run: {problem[0]}",
                    "the first thing an agent does with the skill fails",
                    problem[1] or "write the command as the script takes it; --help lists its flags",
                )


def _problem(tree: TreeView, skill: SkillFolder, command: str) -> tuple[str, str] | None:
    """Why the command would fail, and what to do; None where nothing speaks against it."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"it is not a command line ({error})", "close the quotation"
    named = script_named(command) or ""
    script = skill.path / named
    if not script.is_file():
        near = Nearest([str(path.relative_to(skill.path)) for path in skill.scripts]).to(named)
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
    return _arguments_problem(registered[0].workflow, arguments) if len(registered) == 1 else None


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
