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

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.tree import TreeView

RULE = "skill-without-command"
SEVERITY: Severity = "warning"
_SCRIPT = re.compile(r"\w\.py\b")


def check(tree: TreeView) -> Iterator[Finding]:
    """Yield one finding per SKILL.md that names no script."""
    for skill in tree.skills:
        if skill.loaded is None or not skill.workflows or _SCRIPT.search(skill.loaded.body):
            continue
        script = next((str(path.relative_to(skill.path)) for path in skill.scripts), "scripts/….py")
        yield Finding(
            RULE,
            SEVERITY,
            skill.name,
            str(skill.loaded.path),
            skill.loaded.body_line,
            f"{skill.name} has a workflow, and its SKILL.md names no script that begins it",
            "an agent that reads it never reaches the first step",
            f"say at the top to run it: python {script} --step 1",
        )
