"""Runs rules and puts their findings in order."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from skills.lib.validation import rules
from skills.lib.validation.finding import Finding
from skills.lib.validation.view import GraphView

if TYPE_CHECKING:
    from skills.lib.model.steps import Registered, Workflow


def graph_findings(workflow: Workflow, file: str | None) -> list[Finding]:
    """The findings of the graph rules, waived ones too."""
    return _findings(GraphView(workflow, file), rules.GRAPH_RULES)


def source_findings(workflow: Workflow, file: str) -> list[Finding]:
    """The findings of the rules that read sources and files, waived ones too."""
    return _findings(GraphView(workflow, file), rules.SOURCE_RULES)


def tree_findings(root: str, registered: Iterable[Registered]) -> list[Finding]:
    """The findings of the rules over a folder of skills, waived ones too, by file and line."""
    from skills.lib.validation.tree import TreeView

    tree = TreeView(root, registered)
    found = [finding for rule in rules.TREE_RULES for finding in _checked(rule, tree, root, "")]
    return sorted(found, key=lambda finding: (finding.file, finding.line))


def _findings(graph: GraphView, chosen: Iterable[ModuleType]) -> list[Finding]:
    where = str(graph.workflow.name)
    with _no_collection():
        found = [finding for rule in chosen for finding in _checked(rule, graph, where, graph.file)]
    return sorted(found, key=lambda finding: finding.position)


def _checked(rule: ModuleType, view: object, where: str, file: str) -> Iterator[Finding]:
    """What a rule finds; a rule that fails is a finding itself, so that no other rule is hidden."""
    try:
        yield from rule.check(view)
    except Exception as error:
        what = f"the rule {rule.RULE} could not be checked: {type(error).__name__}: {error!s:.300}"
        why = "what it looks for may be there"
        do = "this is a bug of Lockstep: report it with the workflow"
        yield Finding("unchecked-rule", "error", where, file, 0, what, why, do)


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
