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

from __future__ import annotations

import os
from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.lines import Lines
from skills.lib.validation.tree import TreeView

RULE = "unrelated-name"
SEVERITY: Severity = "warning"


def check(tree: TreeView) -> Iterator[Finding]:
    """Yield one finding per workflow of another name."""
    for skill in tree.skills:
        folder = os.path.realpath(skill.path)
        skill_name = os.path.basename(folder)
        for entry in tree.registered:
            name = entry.workflow.name
            inside = os.path.realpath(entry.file).startswith(folder + os.sep)
            if inside and name != skill_name and not name.startswith(f"{skill_name}-"):
                yield Finding(
                    RULE,
                    SEVERITY,
                    name,
                    entry.file,
                    Lines(entry.file).of_workflow(),
                    f"the workflow {name} belongs to the skill {skill_name}, and is called otherwise",
                    "blocks and runs carry its name, by which nobody finds the skill",
                    f"call it {skill_name}, or {skill_name}- and what it does",
                )
