"""What a workflow and its module name: functions, scripts, files, conventions, formatters."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from skills.lib import paths
from skills.lib.conventions import convention_names
from skills.lib.errors import LockstepError, did_you_mean, nearest
from skills.lib.model.requirements import Command
from skills.lib.model.rules import Rules
from skills.lib.model.types import Dispatch
from skills.lib.prompts import read_prompts, read_resource
from skills.lib.validation.function_source import literal
from skills.lib.validation.rule import SOURCE, Problem, rule
from skills.lib.validation.state_flow import placeholders
from skills.lib.validation.view import GraphView


@rule("error", SOURCE, stops=True)
def unresolved_handler(graph: GraphView) -> Iterator[Problem]:
    """A handler cannot be found by its name.

    ## What it does
    Reports a handler that is not a function of a module: a lambda, a function inside a function, a partial call, or one
    that its module does not have under its name.

    ## Why it is bad
    A workflow is data, and its handlers stand in it as `module:name`. Two lambdas have the same name, so the graph's
    fingerprint does not tell them apart, and the workflow cannot be built from its data.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=lambda ctx: Outcome.OK)
    )
    ```

    ## Use instead
    ```python
    def weigh(ctx):
        return Outcome.OK


    WORKFLOW = Workflow("tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=weigh))
    ```
    """
    for at, step in enumerate(graph.steps):
        targets = getattr(step.handler, "targets", None)
        for function in (step.function, targets):
            if not callable(function) or isinstance(function, Rules) or _resolves(function):
                continue
            module = getattr(function, "__module__", "?")
            name = getattr(function, "__qualname__", type(function).__name__)
            yield Problem(
                f"the handler of {step.id}, {module}:{name}, cannot be found by that name",
                why="a workflow is data, and its handlers stand in it by name",
                do="make it a function of the module, with def at the left margin",
                step=at,
            )


def _resolves(handler: object) -> bool:
    module, name = getattr(handler, "__module__", None), getattr(handler, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return False
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not None


@rule("error", SOURCE, stops=True)
def unresolved_script(graph: GraphView) -> Iterator[Problem]:
    """A Dispatch names a script that does not exist.

    ## What it does
    Reports a Dispatch whose `script` is no file; it is looked for from the folder of the file that registers the workflow.

    ## Why it is bad
    The step prints commands that no sub-agent can run.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "survey",
        StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="exlore.py")),
    )
    ```

    ## Use instead
    ```python
    # beside this file stands explore.py
    WORKFLOW = Workflow(
        "survey",
        StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="explore.py")),
    )
    ```
    """
    folder = os.path.dirname(graph.file)
    for at, step, dispatch in graph.handled_by(Dispatch):
        path = os.path.normpath(os.path.join(folder, dispatch.script or ""))
        if not dispatch.script or os.path.isfile(path):
            continue
        near = _nearest_file(path)
        yield Problem(
            f"{step.id} dispatches the script {dispatch.script}, which does not exist{did_you_mean(near)}",
            why="the step prints commands that no sub-agent can run",
            do=f"name {near}" if near else "write the script, or name one relative to this workflow's file",
            step=at,
        )


@rule("error", SOURCE, stops=True)
def unresolved_command(graph: GraphView) -> Iterator[Problem]:
    """A Command names a script that does not exist.

    ## What it does
    Reports a Command that begins with a bare `name.py` which is no file beside the skill's entry script, and one with an
    argument that names a missing file of the skill by its whole path. A program of the machine, such as `git`, is not
    looked for: it may be missing here and present on the machine of a run.

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
    folder = os.path.dirname(os.path.abspath(graph.file))
    for at, step, spec in graph.required(Command):
        for name, path in _skill_files(spec.argv, folder):
            if os.path.exists(paths.of_skill(path)):
                continue
            near = _nearest_file(path)
            yield Problem(
                f"{step.id} runs {' '.join(spec.argv)}, and the skill has no {name}{did_you_mean(near)}",
                why="the command fails whatever was done, so no run leaves the step",
                do=f"write {near}" if near else f"write {path}, or name the file that is meant",
                step=at,
            )


def _skill_files(argv: Sequence[str], folder: str) -> Iterator[tuple[str, str]]:
    """The arguments that name a file of the skill, each with its path."""
    if argv[0].endswith(".py") and os.path.basename(argv[0]) == argv[0] and not placeholders(argv[:1]):
        yield argv[0], os.path.join(folder, argv[0])
    above = (Path(folder), *Path(folder).parents)
    within = os.path.join(next((path for path in above if (path / "SKILL.md").is_file()), folder), "")
    for part in argv:
        if os.path.isabs(part) and not placeholders((part,)) and os.path.normpath(part).startswith(within):
            yield part, os.path.normpath(part)


def _nearest_file(path: str) -> str:
    around, ending = os.path.dirname(path), os.path.splitext(path)[1]
    names = sorted(name for name in os.listdir(around) if name.endswith(ending)) if os.path.isdir(around) else []
    return nearest(os.path.basename(path), names)


@rule("error", SOURCE, of_step=False)
def unresolved_convention(graph: GraphView) -> Iterator[Problem]:
    """A convention that is asked for does not exist.

    ## What it does
    Reports a call of `get_convention` with a literal name that the conventions folder does not have.

    ## Why it is bad
    The call raises an error when the module is loaded or the text is made: the skill cannot run.

    ## Example
    ```python
    RULES = get_convention("strutural")
    WORKFLOW = Workflow("tidy", StepDef("tidy", "Tidy up", [RULES], next={Outcome.OK: None}))
    ```

    ## Use instead
    ```python
    RULES = get_convention("structural")
    WORKFLOW = Workflow("tidy", StepDef("tidy", "Tidy up", [RULES], next={Outcome.OK: None}))
    ```
    """
    names = convention_names()
    for call in graph.lines.calls_of("get_convention"):
        name = literal(call.args[0]) if call.args else None
        if name is None or name.removesuffix(".md") in names:
            continue
        near = nearest(name, names)
        yield Problem(
            f"there is no convention {name!r}{did_you_mean(near)}",
            why="get_convention raises an error and the skill cannot run",
            do=f"ask for {near}" if near else f"ask for one of: {', '.join(names) or 'none, the folder is missing'}",
            line=call.lineno,
        )


@rule("error", SOURCE, of_step=False)
def unresolved_resource(graph: GraphView) -> Iterator[Problem]:
    """A resource that is asked for does not exist.

    ## What it does
    Reports a call of `read_resource` with a literal name that the skill's `resources` folder does not have, and a call of
    `read_prompts` beside which no prompts file stands.

    ## Why it is bad
    The call raises an error when the module is loaded or the text is made: the skill cannot run.

    ## Example
    ```python
    GUIDE = read_resource(__file__, "giude.md")
    WORKFLOW = Workflow("tidy", StepDef("tidy", "Tidy up", [GUIDE], next={Outcome.OK: None}))
    ```

    ## Use instead
    ```python
    # resources/guide.md stands in the skill's folder
    GUIDE = read_resource(__file__, "guide.md")
    WORKFLOW = Workflow("tidy", StepDef("tidy", "Tidy up", [GUIDE], next={Outcome.OK: None}))
    ```
    """
    for call in graph.lines.calls_of("read_resource"):
        name = literal(call.args[1]) if len(call.args) > 1 else None
        if name is not None:
            yield from _unreadable(call, f"the resource {name}", partial(read_resource, graph.file, name))
    for call in graph.lines.calls_of("read_prompts"):
        yield from _unreadable(call, "the prompts file", partial(read_prompts, graph.file))


def _unreadable(call: ast.Call, what: str, read: Callable[[], object]) -> Iterator[Problem]:
    try:
        read()
    except LockstepError as error:
        yield Problem(
            f"{what} cannot be had: {error.what}",
            why="the call raises an error and the skill cannot run",
            do=error.remedy or "write the file, or name the one that is meant",
            line=call.lineno,
        )


@rule("error", SOURCE, of_step=False)
def bare_gate_call(graph: GraphView) -> Iterator[Problem]:
    """A workflow's module calls a bare gate formatter.

    ## What it does
    Reports a call of `format_gate_step` in the file that registers the workflow.

    ## Why it is bad
    A bare formatter prints its arguments alone: no run, no turn, no verdict from the ledger. A workflow's gate is built by the
    engine.

    ## Example
    ```python
    WORKFLOW = Workflow("change", StepDef("work", "Make the change", next={Outcome.OK: None}))


    def gate(qr, config):
        return format_gate_step("change.py", 2, 2, "Gate", qr, config)
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", next={Outcome.OK: "review"}),
        StepDef(
            "review",
            "Review the change",
            next={Outcome.OK: None, Outcome.FAIL: "work"},
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it."),
        ),
    )
    ```
    """
    for call in graph.lines.calls_of("format_gate_step"):
        yield Problem(
            "format_gate_step is called in the file of a registered workflow",
            why="what it prints carries no run and no verdict, so it can be passed by saying so",
            do="make the gate a step: handler=Gate(checkpoint), or build the loop with review_loop()",
            line=call.lineno,
        )
