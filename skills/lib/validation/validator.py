"""Validation: every rule over a workflow, its sources, or a tree of skills; the only room that knows networkx.

Importing this package imports no networkx: the rules and their graph are loaded when something is validated, for a
sealed workflow never is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from skills.lib.errors import InvalidWorkflow

if TYPE_CHECKING:
    from skills.lib.model.steps import Registered, Workflow
    from skills.lib.validation.finding import Finding

__all__ = ["require_valid", "validate", "validate_source", "validate_tree"]


def require_valid(workflow: Workflow, file: str) -> None:
    """Return if the graph rules find no error; InvalidWorkflow holds every finding, warnings too."""
    findings = validate(workflow, file)
    errors = sum(finding.severity == "error" for finding in findings)
    if not errors:
        return
    from skills.lib.validation import output

    count = "1 error" if errors == 1 else f"{errors} errors"
    raise InvalidWorkflow(
        f"the workflow {workflow.name} has {count}:\n" + "\n".join(output.lines(findings)),
        tuple(findings),
        remedy="mend the workflow; `lockstep validate` shows every finding",
    )


def validate(workflow: Workflow, file: str | None = None, *, waived: bool = False) -> list[Finding]:
    """What the graph rules find, by step and then by rule; ``file`` (which registers it) gives line numbers.

    With ``waived`` also what a step's ``allow`` waives: such a finding has the reason in its ``waived``.
    """
    from skills.lib.validation import run

    return _told(run.graph_findings(workflow, file), waived)


def validate_source(workflow: Workflow, file: str, *, waived: bool = False) -> list[Finding]:
    """What the rules find that read handlers' sources and the files a workflow names; it is never sealed."""
    from skills.lib.validation import run

    return _told(run.source_findings(workflow, file), waived)


def validate_tree(root: str, registered: Iterable[Registered] = (), *, waived: bool = False) -> list[Finding]:
    """What the rules find that look at a folder of skills as a whole: SKILL.md, its commands, who dispatches whom."""
    from skills.lib.validation import run

    return _told(run.tree_findings(root, registered), waived)


def _told(findings: list[Finding], waived: bool) -> list[Finding]:
    return [finding for finding in findings if waived or not finding.waived]
