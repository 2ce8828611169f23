"""Runs rules and puts their findings in order."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from skills.lib.workflow.validation import rules
from skills.lib.workflow.validation.finding import is_allowed
from skills.lib.workflow.validation.graph import GraphView

if TYPE_CHECKING:
    from skills.lib.workflow.core import Registered, Workflow
    from skills.lib.workflow.validation.finding import Finding


def graph_findings(workflow: Workflow, file: str | None) -> list[Finding]:
    """The findings of the graph rules."""
    return _findings(GraphView(workflow, file), rules.GRAPH_RULES)


def source_findings(workflow: Workflow, file: str) -> list[Finding]:
    """The findings of the rules that read sources and files."""
    return _findings(GraphView(workflow, file), rules.SOURCE_RULES)


def tree_findings(root: str, registered: Iterable[Registered]) -> list[Finding]:
    """The findings of the rules over a folder of skills, by file and line."""
    from skills.lib.workflow.validation.tree import TreeView

    tree = TreeView(root, registered)
    found = [finding for rule in rules.TREE_RULES for finding in rule.check(tree)]
    return sorted(found, key=lambda finding: (finding.file, finding.line))


def _findings(graph: GraphView, chosen: Iterable[ModuleType]) -> list[Finding]:
    with _no_collection():
        found = [
            finding
            for rule in chosen
            for finding in rule.check(graph)
            if finding.position < 0 or not is_allowed(graph.steps[finding.position], finding.rule)
        ]
    return sorted(found, key=lambda finding: finding.position)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Nothing built here is cyclic garbage, and looking for it takes most of the time on a large graph."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
