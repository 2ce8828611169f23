"""``lockstep graph``."""

from __future__ import annotations

import os
import shutil

import click

from skills.lib.commands.console.options import complete_run, examples, project_option, skill_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.errors import PRINTED, RefusedError
from skills.lib.hosts import skills
from skills.lib.ledger.history import Event
from skills.lib.model.steps import Workflow
from skills.lib.runtime import script
from skills.lib.views.drawing import edges, languages, picture
from skills.lib.views.drawing.svg import svg

# The columns of a drawing if no terminal says how wide it is.
_PIPED_WIDTH = 120
_BY_SUFFIX = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot"}
_WRITERS = {"mermaid": languages.mermaid, "dot": languages.dot, "svg": svg}


@click.command(
    epilog=examples(
        "lockstep graph problem-analysis  # in the terminal",
        "lockstep graph problem-analysis --run k3f9q2mx  # with the edges that a run took",
        "lockstep graph planner --format mermaid  # for a Markdown page",
        "lockstep graph planner -o planner.svg  # for a browser",
    )
)
@skill_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "mermaid", "dot", "svg"]),
    help="What to draw with (default: by the suffix of FILE, .svg, .mmd or .dot; else terminal).",
)
@click.option(
    "--run", "run_id", metavar="ID", shell_complete=complete_run, help="Set off the edges that this run took."
)
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Write to FILE.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@project_option
@click.pass_obj
def graph(
    screen: Screen, skill: str, form: str | None, run_id: str | None, output: str | None, force: bool, project: str
) -> None:
    """Draw the workflow of SKILL (a skill, a workflow, or a path), every edge with its outcome.

    A graph with errors is drawn too. The edges that a run took carry how often it took them.
    """
    form = form or _BY_SUFFIX.get(os.path.splitext(output or "")[1].lower(), "terminal")
    workflow = skills.one(project, skill, validated=False).require()
    drawn = edges.of_workflow(workflow, _events(project, workflow, run_id))
    if drawn.removed:
        screen.say(f"{drawn.removed} of the routes that run {run_id} took are not in the graph any more.")
    if form == "terminal":
        _print_drawing(screen, drawn, output, force)
        return
    text = _WRITERS[form](drawn)
    limit = languages.over_mermaid(len(drawn.edges), len(text)) if form == "mermaid" else ""
    if limit:
        screen.say(f"{limit[0].upper()}{limit[1:]}. --format svg needs none.")
    if output is None:
        script.emit(text, PRINTED)
    else:
        screen.write(output, text, force)


def _events(project: str, workflow: Workflow, run_id: str | None) -> list[Event]:
    if run_id is None:
        return []
    records = runs.require_records(project)
    run = records.run(run_id)
    if run.workflow != workflow.name:
        raise RefusedError(
            f"run {run.id} is of {run.workflow}, not of {workflow.name}", remedy=f"lockstep graph {run.workflow}"
        )
    return records.events(run.id)


def _print_drawing(screen: Screen, drawn: edges.Graph, output: str | None, force: bool) -> None:
    if output is not None:
        lines = picture.in_terminal(drawn, _PIPED_WIDTH, unicode=True)
        screen.write(output, "".join(f"{line.plain}\n" for line in lines), force)
        return
    screen.print(screen.styled(f"{drawn.name}: {drawn.title}" if drawn.title else drawn.name, "bold"))
    columns = shutil.get_terminal_size((_PIPED_WIDTH, 24)).columns
    for line in picture.in_terminal(drawn, columns, screen.unicode):
        screen.print(line)
