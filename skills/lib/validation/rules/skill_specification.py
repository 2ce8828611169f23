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

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.skillfile import check_specification
from skills.lib.skillfile.source import FILE_NAME
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.tree import TreeView

RULE = "skill-specification"
SEVERITY: Severity = "error"


def check(tree: TreeView) -> Iterator[Finding]:
    """Yield one finding per departure."""
    for skill in tree.skills:
        problems = check_specification(skill.path)
        if skill.error is not None and (not problems or skill.error.path.name != FILE_NAME):
            error = skill.error
            why = "a host that cannot read the file does not offer the skill"
            yield Finding(RULE, SEVERITY, skill.name, str(error.path), error.line, error.cause, why, error.remedy)
            continue
        for problem in problems:
            file = str(skill.path / FILE_NAME)
            yield Finding(RULE, problem.severity, skill.name, file, problem.line, problem.what, problem.why, problem.do)
