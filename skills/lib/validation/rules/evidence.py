"""Evidence that a step asks for: it can be given, checked and missed."""

from __future__ import annotations

import os.path
from collections.abc import Iterator

from skills.lib.model.requirements import Artifact, Command, Field
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch
from skills.lib.passing import always_passes
from skills.lib.schema import problems
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.state_flow import placeholders
from skills.lib.validation.view import GraphView


@rule("error", GRAPH, stops=True)
def artifact_outside_project(graph: GraphView) -> Iterator[Problem]:
    """The file that a step asks for lies outside of the project.

    ## What it does
    Reports an `Artifact` whose path is absolute, or leads out of the project by `..`. Paths with a placeholder are checked
    in the run.

    ## Why it is bad
    Evidence is looked for under the project alone: whatever the agent writes, no run can leave the step.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "triage",
        StepDef("sort", "Sort the reports", next={Outcome.OK: None}, requires=[Artifact("../triage.md")]),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "triage",
        StepDef("sort", "Sort the reports", next={Outcome.OK: None}, requires=[Artifact("triage.md")]),
    )
    ```
    """
    for at, step, spec in graph.required(Artifact):
        how = "" if placeholders((spec.path,)) else _leaves(spec.path)
        if how:
            yield Problem(
                f"{step.id} asks for the file {spec.path}, which {how}",
                why="evidence is looked for under the project alone, so no run can leave this step",
                do="give a path relative to the project's root, without a way out of it",
                step=at,
            )


def _leaves(path: str) -> str:
    """In words, how the path leads out of the project; empty if it does not."""
    if os.path.isabs(path):
        return "is an absolute path"
    return "leads out of the project" if os.path.normpath(path).split(os.sep)[0] == os.pardir else ""


@rule("error", GRAPH, stops=True)
def unsupported_schema(graph: GraphView) -> Iterator[Problem]:
    """A schema of a file cannot be checked.

    ## What it does
    Reports an `Artifact` whose `schema` is not valid, or uses a keyword or a pattern outside of the subset of JSON Schema
    that Lockstep checks (`docs/schemas.md`). Each finding names the place in the schema.

    ## Why it is bad
    A file is checked with the standard library, and a keyword that is passed over would let a wrong file pass. So the step
    that asks for the file cannot be left: every run would stop there.

    ## Example
    ```python
    REPORT = {"type": "object", "required": ["cause"], "unevaluatedProperties": False}
    WORKFLOW = Workflow(
        "triage",
        StepDef("sort", "Sort the reports", next={Outcome.OK: None}, requires=[Artifact("triage.json", schema=REPORT)]),
    )
    ```

    ## Use instead
    ```python
    REPORT = {
        "type": "object",
        "required": ["cause"],
        "properties": {"cause": {"type": "string"}},
        "additionalProperties": False,
    }
    WORKFLOW = Workflow(
        "triage",
        StepDef("sort", "Sort the reports", next={Outcome.OK: None}, requires=[Artifact("triage.json", schema=REPORT)]),
    )
    ```
    """
    for at, step, spec in graph.required(Artifact):
        for problem in problems(spec.schema) if spec.schema is not None else ():
            yield Problem(
                f"{step.id} asks for {spec.path} with a schema that cannot be checked: {problem.summary}",
                why="the file cannot be checked, so no run can leave this step",
                do=problem.do,
                step=at,
            )


@rule("error", GRAPH, finds="tool or path")
def missing_tool(graph: GraphView) -> Iterator[Problem]:
    """A step asks for what its tools forbid.

    ## What it does
    Reports a Dispatch at a step whose `tools` lack `agent`, and an Artifact at a step whose `tools` have none of `write`,
    `edit` and `shell` and none of an MCP server. A file that an earlier step asked for, that a Command before it may
    write, or that sub-agents of the step may write, is not reported. A step that names no tools, in a workflow that names
    none, may use all.

    ## Why it is bad
    Where a host enforces the tools, the evidence can never be given, and no run leaves the step.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "survey",
        StepDef("report", "Report", "Write it down.", {Outcome.OK: None}, requires=[Artifact("survey.md")], tools=["read"]),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "survey",
        StepDef(
            "report",
            "Report",
            "Write it down.",
            {Outcome.OK: None},
            requires=[Artifact("survey.md")],
            tools=["read", "write"],
        ),
    )
    ```
    """
    for at, step in graph.distinct:
        tools = graph.workflow.tools_of(step)
        if not tools:
            continue
        allowed, why = ", ".join(tools), "where a host enforces the tools, no run leaves the step"
        if isinstance(step.handler, Dispatch):
            if "agent" not in tools:
                what = f"{step.id} dispatches sub-agents, and its tools are {allowed}"
                yield Problem(what, why, 'add "agent" to the tools of the step', step=at, value="agent")
        elif not any(tool in ("write", "edit") or tool.startswith(("shell", "mcp(", "tool(")) for tool in tools):
            for path in _unwritten_files(graph, at, step):
                what = f"{step.id} asks for the file {path}, and its tools are {allowed}: none of them writes"
                yield Problem(what, why, 'add "write" to the tools of the step', step=at, value=path)


def _unwritten_files(graph: GraphView, at: int, step: StepDef) -> Iterator[str]:
    """The paths of Artifacts that no earlier step asks for and no Command before them may write."""
    for spec in step.requires:
        if isinstance(spec, Command):
            return
        if isinstance(spec, Artifact) and not _is_written_before(graph, at, _named_from_outside(step, spec.path)):
            yield spec.path


def _is_written_before(graph: GraphView, at: int, path: str) -> bool:
    """True if a step that every run has passed before asks for the same file."""
    return any(
        isinstance(spec, Artifact) and _named_from_outside(other, spec.path) == path
        for before, other in graph.distinct
        if before != at and graph.passes(before, at)
        for spec in other.requires
    )


def _named_from_outside(step: StepDef, path: str) -> str:
    """The path with the step's own fields named as other steps name them."""
    for spec in step.requires:
        if isinstance(spec, Field):
            path = path.replace(f"{{{spec.name}}}", f"{{{step.id}.{spec.name}}}")
    return path


@rule("warning", GRAPH, finds="command")
def always_passing_command(graph: GraphView) -> Iterator[Problem]:
    """A command cannot fail.

    ## What it does
    Reports a Command that ends with 0 whatever was done: `true`, `:`, `echo` and the like, alone or as what a shell's
    script comes down to (`… || true`).

    ## Why it is bad
    It looks like evidence and is none: the step is left as if nothing had been asked.

    ## Example
    ```python
    WORKFLOW = Workflow("build", StepDef("test", "Test", "Run them.", {Outcome.OK: None}, requires=[Command(["true"])]))
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "build", StepDef("test", "Test", "Run them.", {Outcome.OK: None}, requires=[Command(["make", "test"])])
    )
    ```
    """
    for at, step, spec in graph.required(Command):
        if always_passes(spec.argv):
            command = " ".join(spec.argv)
            yield Problem(
                f"{step.id} is left when {command} ends with 0, and that it always does",
                why="it looks like evidence and is none",
                do="name a command that fails if the work is not done, or leave it out",
                step=at,
                value=command,
            )
