"""``lockstep show``."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import click

from skills.lib.commands.console.options import examples, json_option, project_option, skill_argument
from skills.lib.commands.console.screen import Cell, Screen
from skills.lib.errors import LockstepError, SkillError, UsageError
from skills.lib.hosts import skills
from skills.lib.model import values
from skills.lib.model.requirements import Artifact, Command, Field
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import number
from skills.lib.model.types import Dispatch, Person
from skills.lib.skillfile import SkillFolder
from skills.lib.testing.walks import Unplannable, Walk, every_walk


def _print_schema(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from skills.lib.graphfile.schema import schema  # few ask for it

        click.echo(json.dumps(schema(), indent=2))
        context.exit()


@click.command(
    epilog=examples(
        "lockstep show problem-analysis  # a skill by its name",
        "lockstep show ./my-skills/review  # a skill by its folder",
        "lockstep show problem-analysis --paths  # walks that take every transition",
        "lockstep show problem-analysis --json  # the workflows as data",
        "lockstep show problem-analysis --yaml  # the graph in the form of workflow.yaml",
        "lockstep show --schema > workflow.schema.json  # what an editor checks a workflow.yaml by",
    )
)
@skill_argument
@click.option("--paths", is_flag=True, help="Show walks that together take every transition.")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print each workflow in the form of workflow.yaml.")
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of workflow.yaml, and leave.",
)
@json_option
@project_option
@click.pass_obj
def show(screen: Screen, skill: str, paths: bool, as_yaml: bool, as_json: bool, project: str) -> None:
    """Show SKILL: its description, and of each workflow the steps, routes, parameters and requirements."""
    if as_yaml and (as_json or paths):
        raise UsageError(f"--yaml and {'--json' if as_json else '--paths'} are two forms", remedy="give one of them")
    folder = skills.folder_of(project, skill, missing_ok=True)
    entries = skills.load(folder) if folder else [skills.one(project, skill)]
    if as_yaml:
        _print_yaml(screen, entries)
    elif as_json:
        screen.json(_as_data(skill, folder, entries, paths))
    else:
        _print_skill(screen, folder, entries, paths)
    broken: list[LockstepError] = [entry.error for entry in entries if entry.error]
    if folder is not None and folder.error is not None:
        broken.append(folder.error)
    if broken:
        raise broken[0]


def _print_yaml(screen: Screen, entries: Sequence[skills.Loaded]) -> None:
    """Each workflow as a document of YAML; what the form does not hold is told beside it."""
    from skills.lib.graphfile import writing  # it takes PyYAML and a moment

    loaded = [entry for entry in entries if entry.workflow]
    for at, entry in enumerate(loaded):
        assert entry.workflow is not None
        text = writing.to_yaml(entry.workflow)
        if len(loaded) > 1:
            screen.print(f"{'---' + chr(10) if at else ''}# {os.path.basename(entry.script or entry.file)}")
        screen.print(text.removesuffix("\n"))
        for lost in writing.losses(entry.workflow, text):
            screen.say(f"note: {entry.workflow.name}: {lost}")


def _as_data(name: str, folder: SkillFolder | None, entries: Sequence[skills.Loaded], paths: bool) -> dict[str, Any]:
    """The skill for a program; a workflow is its own data, which ``Workflow.from_data`` reads."""
    return {
        "name": folder.name if folder else name,
        "path": str(folder.path) if folder else None,
        "description": folder.loaded.description if folder and folder.loaded else "",
        "error": str(folder.error) if folder and folder.error else None,
        "workflows": [
            {
                "file": entry.file,
                "script": entry.script,
                "fingerprint": entry.workflow.fingerprint if entry.workflow else None,
                "error": str(entry.error) if entry.error else None,
                "workflow": entry.workflow.to_data() if entry.workflow else None,
                **({"paths": [_hops(walk) for walk in _walks(entry.workflow)]} if paths and entry.workflow else {}),
            }
            for entry in entries
        ],
    }


def _print_skill(screen: Screen, folder: SkillFolder | None, entries: Sequence[skills.Loaded], paths: bool) -> None:
    """The skill for a person."""
    if folder is not None:
        screen.print(screen.styled(folder.name, "bold"), f"  {folder.path}")
        if folder.loaded:
            screen.print(" ".join(folder.loaded.description.split()))
    for entry in entries:
        if entry.workflow is not None:
            screen.print("")
            _print_workflow(screen, entry, entry.workflow)
            if paths:
                _print_walks(screen, entry.workflow)


def _print_workflow(screen: Screen, entry: skills.Loaded, workflow: Workflow) -> None:
    title = f": {workflow.title}" if workflow.title else ""
    screen.print(screen.styled(f"Workflow {workflow.name}{title}", "bold"))
    if workflow.description:
        screen.print(workflow.description)
    screen.print(screen.styled(f"started by {entry.script or 'no script: it has no entry'}", "dim"))
    screen.print("")
    rows: list[list[Cell]] = []
    for at, step in enumerate(workflow.steps, 1):
        rows.append([str(at), screen.styled(step.id, "bold"), step.title, _kind(step), _routes(step)])
    screen.table(("", "STEP", "TITLE", "KIND", "ROUTES"), rows)
    if workflow.reverify:
        screen.print(f"A re-verification begins at {workflow.reverify}.")
    wanted = [[step.id, *line] for step in workflow.steps for line in _requirements(workflow, step)]
    for arg in workflow.run_params():
        default = "" if arg.required else f"; {arg.default} if not given"
        wanted.insert(0, ["(opening)", arg.flag, values.expectation(arg) + default, arg.help])
    if wanted:
        screen.print("")
        screen.table(("AT", "REPORT", "WHAT IS VALID", "MEANING"), wanted)
    subs = [(step, step.handler) for step in workflow.steps if isinstance(step.handler, Dispatch)]
    if subs:
        screen.print("")
        screen.table(("AT", "SUB-AGENTS", "WALK", "HOW MANY"), [[step.id, *_sub(sub)] for step, sub in subs])


def _print_walks(screen: Screen, workflow: Workflow) -> None:
    walks = _walks(workflow)
    screen.print("")
    screen.print(screen.styled(f"{len(walks)} walks take every transition", "bold"))
    for walk in walks:
        screen.print(f"  {workflow.start} " + " ".join(_hops(walk)))


def _walks(workflow: Workflow) -> list[Walk]:
    try:
        return every_walk(workflow)
    except Unplannable as error:
        raise SkillError(str(error), remedy=f"lockstep validate, lockstep graph {workflow.name}") from error


def _hops(walk: Walk) -> list[str]:
    """Each transition of a walk: its outcome, what brings it about if that is known, and where it leads."""
    return [f"-{leg.route.value}{f' ({leg.how})' if leg.how else ''}-> {leg.target or 'done'}" for leg in walk.legs]


def _kind(step: StepDef) -> str:
    kind = skills.kind(step.handler)
    if kind == "dispatch" and step.gate:
        return "dispatch, gate"
    about = ["at a terminal"] if isinstance(step.handler, Person) and step.handler.at_terminal else []
    about += ["automatic"] if step.automatic else []
    about += ["a fresh conversation"] if step.fresh else []
    about += [f"model {step.model}"] if step.model else []
    return f"{kind} ({', '.join(about)})" if about else kind


def _routes(step: StepDef) -> str:
    routes = ", ".join(f"{outcome} → {target or 'done'}" for outcome, target in step.next.items())
    return routes + (
        f" (at most {step.max_iterations} iterations, then {step.at_limit})" if step.max_iterations else ""
    )


def _requirements(workflow: Workflow, step: StepDef) -> list[list[str]]:
    lines = [[arg.flag, values.expectation(arg), arg.help] for arg in workflow.step_params(step.id)]
    for spec in step.requires:
        if isinstance(spec, Field):
            optional = "" if spec.required else "; may be left out"
            lines.append([spec.name, values.expectation(spec) + optional, spec.help])
        elif isinstance(spec, Artifact):
            lines.append([spec.path, "a file" + (" that meets its JSON Schema" if spec.schema else ""), spec.help])
        elif isinstance(spec, Command):
            how = "a command, run" if spec.may_fail or spec.severity else "a command that exits 0"
            recorded = f"; recorded as {spec.records}" if spec.records else ""
            lines.append([" ".join(spec.argv), f"{how} within {number(spec.timeout)} s{recorded}", spec.help])
    if isinstance(step.handler, Person):
        choices = ", ".join(step.handler.choices)
        lines.append(["(answer)", f"one of {choices}" if choices else "a text", step.handler.question])
    return lines


def _sub(dispatch: Dispatch) -> list[str]:
    walk = dispatch.script or "a task of its own"
    if dispatch.tasks:
        many = str(len(dispatch.tasks))
    elif isinstance(dispatch.targets, str):
        many = f"one for each of {dispatch.targets}, at most {dispatch.cap}"
    elif callable(dispatch.targets):
        many = f"as many as {dispatch.targets.__name__} says, at most {dispatch.cap}"
    else:
        many = str(len(dispatch.targets) or 1)
    if dispatch.requires:
        walk += f", reporting {', '.join(field.name for field in dispatch.requires)}"
    return [str(dispatch.agent), walk, many]
