"""What a rule is: a function that yields problems, with a name, a severity, and its page as docstring; its findings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from skills.lib.model.types import Outcome

if TYPE_CHECKING:
    from skills.lib.model.steps import StepDef
    from skills.lib.validation.graph import Graph
    from skills.lib.validation.tree import TreeView
    from skills.lib.validation.view import GraphView

Severity = Literal["error", "warning"]
SECTIONS = ("What it does", "Why it is bad", "Example", "Use instead")
View = TypeVar("View")


@dataclass(frozen=True, slots=True)
class Scope(Generic[View]):
    """What rules look at: ``title`` and ``about`` say it on the page of the rules."""

    title: str
    about: str


GRAPH: Scope[GraphView] = Scope(
    "Graph rules",
    "These look at the workflow alone. They run when a workflow is registered, and what they found good is sealed.",
)
SOURCE: Scope[GraphView] = Scope(
    "Source rules",
    "These read the sources of handlers and the files that a workflow names. They run in `lockstep validate`.",
)
TREE: Scope[TreeView] = Scope(
    "Tree rules", "These look at a folder of skills as a whole. They run in `lockstep validate`."
)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a rule yields: what is wrong, why it matters, what to do, and where.

    Without ``step`` it is about the workflow, else about that step or its route for ``outcome``. ``value`` names the
    part of the step, if the rule can find several problems there. ``file`` and ``line`` replace the step's own. A rule
    over a tree gives the ``graph`` of the step, or the skill's name as ``where``. ``severity`` replaces the rule's.
    """

    what: str
    why: str
    do: str
    step: int | None = None
    outcome: Outcome | None = None
    value: str = ""
    file: str | None = None
    line: int | None = None
    graph: Graph | None = None
    where: str = ""
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect: ``where`` is ``skill:step:outcome`` as far as it goes; ``line`` counts from 1, 0 is unknown.

    ``value`` is what of the step it is about, if the rule can find several things there: a field, an outcome, a
    parameter. ``waived`` is the reason that the step's ``allow`` gives for it. ``position`` is the step's place in the
    workflow, which findings are ordered by; it is not part of the data.
    """

    rule: str
    severity: Severity
    where: str
    file: str
    line: int
    what: str
    why: str
    do: str
    position: int = field(default=-1, compare=False)
    value: str = ""
    waived: str = ""

    def to_data(self) -> dict[str, Any]:
        """The finding as plain JSON data."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "where": self.where,
            "file": self.file,
            "line": self.line,
            "what": self.what,
            "why": self.why,
            "do": self.do,
            **({"value": self.value} if self.value else {}),
            **({"waived": self.waived} if self.waived else {}),
        }


def allow_key(rule: str, value: str = "") -> str:
    """The key under which ``allow`` waives the rule's finding about ``value``."""
    return f"{rule}:{value}" if value else rule


@dataclass(frozen=True)
class Rule(Generic[View]):
    """One rule: ``check`` yields its problems, and its docstring is the rule's page.

    ``finds`` is what a waiver's key names after the rule, if the rule can find several problems at a step. The
    findings of a rule that ``stops`` cannot be waived: a run that meets such a fault stops, or passes a gate that never
    closed. Without ``of_step`` they are about a workflow or a skill, and no step can waive them.
    """

    name: str
    severity: Severity
    scope: Scope[View]
    check: Callable[[View], Iterable[Problem]]
    finds: str = ""
    stops: bool = False
    of_step: bool = True

    def findings(self, view: View, where: str, graph: Graph | None = None) -> Iterator[Finding]:
        """The rule's findings. A rule that fails is a finding itself, so that no other rule is hidden.

        ``graph`` is for problems that name none, ``where`` for the finding about a rule that fails.
        """
        try:
            for problem in self.check(view):
                yield self._finding(problem, problem.graph or graph)
        except Exception as error:
            what = f"the rule {self.name} could not be checked: {type(error).__name__}: {error!s:.300}"
            why = "what it looks for may be there"
            do = "this is a bug of Lockstep: report it with the workflow"
            yield Finding("unchecked-rule", "error", where, graph.lines.file if graph else "", 0, what, why, do)

    def _finding(self, problem: Problem, graph: Graph | None) -> Finding:
        """The finding with its place in the file and in the order of the steps, and with its waiver."""
        where, position, waived, what = problem.where, -1, "", problem.what
        file, line = problem.file or "", problem.line or 0
        if graph is not None and not where:
            where = str(graph.workflow.name)
            if problem.step is not None:
                step = graph.steps[problem.step]
                where += f":{step.id}" + (f":{problem.outcome.value}" if problem.outcome else "")
                position, waived = problem.step, self.waiver(step, problem.value)
            location = graph.location(problem.step, problem.outcome)
            what += f" ({location.made})" if location.made else ""
            if problem.line is None:
                file, line = location.file, location.line
            file = file or graph.lines.file
        severity = problem.severity or self.severity
        return Finding(
            self.name, severity, where, file, line, what, problem.why, problem.do, position, problem.value, waived
        )

    def waiver(self, step: StepDef, value: str = "") -> str:
        """The reason that the step's ``allow`` gives for the finding about ``value``; empty if it gives none."""
        if not step.allow or self.stops or not self.of_step:
            return ""
        reason = step.allow.get(allow_key(self.name, value))
        return reason.strip() if isinstance(reason, str) else ""

    @cached_property
    def title(self) -> str:
        """What the rule finds, in one sentence: the first line of its page."""
        return self._page.partition("\n")[0].strip()

    @cached_property
    def text(self) -> str:
        """The rule's page in Markdown, without its title."""
        return self._page.partition("\n")[2].strip()

    @cached_property
    def sections(self) -> dict[str, str]:
        """The sections of the page by their titles, which are SECTIONS."""
        parts = re.split(rf"^## (?:{'|'.join(SECTIONS)})$", self.text, flags=re.MULTILINE)
        return dict(zip(SECTIONS, [part.strip() for part in parts[1:]], strict=True))

    @property
    def _page(self) -> str:
        return inspect.getdoc(self.check) or ""


# Every rule by name, in the order in which the modules of rules are imported.
RULES: dict[str, Rule[Any]] = {}


def rule(
    severity: Severity, scope: Scope[View], *, finds: str = "", stops: bool = False, of_step: bool = True
) -> Callable[[Callable[[View], Iterable[Problem]]], Rule[View]]:
    """Make a rule of the function below: its name is the rule's, with hyphens. Returns the decorator."""

    def made(check: Callable[[View], Iterable[Problem]]) -> Rule[View]:
        name = check.__name__.replace("_", "-")
        RULES[name] = found = Rule(name, severity, scope, check, finds, stops, of_step)
        return found

    return made
