"""A Command names a script that does not exist.

## What it does
Reports a Command that begins with a bare `name.py` which is no file beside the skill's entry script, and one with an
argument that names a missing file of the skill by its whole path. A program of the machine, such as `git`, may be
missing here and there at a run, and is not looked for.

## Why it is bad
The command fails whatever was done, so no run leaves the step.

## Example
```python
# beside this file stands explore.py
WORKFLOW = Workflow(
    "survey",
    StepDef("report", "Report", "Write it.", {Outcome.OK: None}, requires=[Command(["exlpore.py", "survey.md"])]),
)
```

## Use instead
```python
# beside this file stands explore.py
WORKFLOW = Workflow(
    "survey",
    StepDef("report", "Report", "Write it.", {Outcome.OK: None}, requires=[Command(["explore.py", "survey.md"])]),
)
```
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from skills.lib import paths
from skills.lib.model.requirements import Command
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import Nearest, did_you_mean
from skills.lib.validation.state_flow import placeholders
from skills.lib.validation.view import GraphView

RULE = "unresolved-command"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per file of the skill that is not there."""
    folder = os.path.dirname(os.path.abspath(graph.file))
    for at, step in enumerate(graph.steps):
        for spec in [spec for spec in step.requires if isinstance(spec, Command)]:
            for name, path in _files(spec.argv, folder):
                if os.path.exists(paths.of_skill(path)):
                    continue
                near = _nearest(path)
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    f"{step.id} runs {' '.join(spec.argv)}, and the skill has no {name}{did_you_mean(near)}",
                    why="the command fails whatever was done, so no run leaves the step",
                    do=f"write {near}" if near else f"write {path}, or name the file that is meant",
                    step=at,
                )


def _files(argv: Sequence[str], folder: str) -> Iterator[tuple[str, str]]:
    """What of the arguments names a file of the skill, each with its path."""
    if argv[0].endswith(".py") and os.path.basename(argv[0]) == argv[0] and not placeholders(argv[:1]):
        yield argv[0], os.path.join(folder, argv[0])
    within = os.path.join(_skill_folder(folder), "")
    for part in argv:
        if os.path.isabs(part) and not placeholders((part,)) and os.path.normpath(part).startswith(within):
            yield part, os.path.normpath(part)


def _skill_folder(folder: str) -> str:
    """The folder above that has a SKILL.md, else the folder itself."""
    above = folder
    while os.path.dirname(above) != above:
        if os.path.isfile(os.path.join(above, "SKILL.md")):
            return above
        above = os.path.dirname(above)
    return folder


def _nearest(path: str) -> str | None:
    around, ending = os.path.dirname(path), os.path.splitext(path)[1]
    names = sorted(name for name in os.listdir(around) if name.endswith(ending)) if os.path.isdir(around) else []
    return Nearest(names).to(os.path.basename(path))
