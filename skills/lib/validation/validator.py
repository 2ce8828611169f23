"""Validation: every rule over a workflow, over its sources, or over a folder of skills."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from skills.lib.errors import InvalidWorkflow
from skills.lib.validation import output
from skills.lib.validation.rule import GRAPH, SOURCE, TREE, Finding, Scope
from skills.lib.validation.rules import rules_of
from skills.lib.validation.tree import TreeView
from skills.lib.validation.view import GraphView

if TYPE_CHECKING:
    from skills.lib.model.steps import Registered, Workflow

__all__ = ["require_valid", "validate", "validate_source", "validate_tree"]


def require_valid(workflow: Workflow, file: str) -> None:
    """Return if the graph rules find no error; InvalidWorkflow holds every finding, warnings too."""
    findings = validate(workflow, file)
    errors = sum(finding.severity == "error" for finding in findings)
    if not errors:
        return
    count = "1 error" if errors == 1 else f"{errors} errors"
    raise InvalidWorkflow(
        f"the workflow {workflow.name} has {count}:\n" + "\n".join(output.lines(findings)),
        tuple(findings),
        remedy="fix the workflow; `lockstep validate` shows every finding",
    )


def validate(workflow: Workflow, file: str | None = None, *, waived: bool = False) -> list[Finding]:
    """The findings of the graph rules, by step and then by rule; ``file`` (which registers it) gives line numbers.

    With ``waived`` also those that a step's ``allow`` waives: such a finding has the reason in its ``waived``.
    """
    return _graph_findings(GRAPH, workflow, file, waived)


def validate_source(workflow: Workflow, file: str, *, waived: bool = False) -> list[Finding]:
    """The findings of the rules that read handlers' sources and the files a workflow names; they are never sealed."""
    return _graph_findings(SOURCE, workflow, file, waived)


def validate_tree(root: str, registered: Iterable[Registered] = (), *, waived: bool = False) -> list[Finding]:
    """The findings of the rules over a folder of skills, by file and line: SKILL.md, its commands, who calls whom."""
    tree = TreeView(root, registered)
    found = [finding for rule in rules_of(TREE) for finding in rule.findings(tree, root)]
    return sorted(_shown(found, waived), key=lambda finding: (finding.file, finding.line))


def _graph_findings(scope: Scope[GraphView], workflow: Workflow, file: str | None, waived: bool) -> list[Finding]:
    graph = GraphView(workflow, file)
    found = [finding for rule in rules_of(scope) for finding in rule.findings(graph, str(workflow.name), graph)]
    return sorted(_shown(found, waived), key=lambda finding: finding.position)


def _shown(findings: Iterable[Finding], waived: bool) -> Iterator[Finding]:
    return (finding for finding in findings if waived or not finding.waived)
