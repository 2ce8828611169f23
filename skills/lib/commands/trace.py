"""``lockstep trace``."""

from __future__ import annotations

import os

import click

from skills.lib.commands.console.options import examples, json_option, project_option, run_argument, verify_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs, timeline
from skills.lib.errors import PRINTED, UsageError
from skills.lib.ledger import verification
from skills.lib.runtime import script
from skills.lib.runtime.project import is_of_another_project


@click.command(
    epilog=examples(
        "lockstep trace k3f9q2mx  # what happened, in order",
        "lockstep trace k3f9q2mx --values  # with everything that was recorded",
        "lockstep trace k3f9q2mx --json  # every event as it is kept",
        "lockstep trace k3f9q2mx --html run.html  # a page to read, print or pass on",
        "lockstep trace k3f9q2mx --markdown  # for a pull request: what was decided, reviewed, proved, left open",
    )
)
@run_argument()
@click.option("--values", is_flag=True, help="Show every recorded value, whole.")
@click.option("--html", metavar="FILE", type=click.Path(), help="Write one page without scripts to FILE (- prints it).")
@click.option("--markdown", is_flag=True, help="Print a summary in Markdown, for a pull request.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@verify_option
@json_option
@project_option
@click.pass_obj
def trace(
    screen: Screen,
    run_id: str,
    values: bool,
    html: str | None,
    markdown: bool,
    force: bool,
    verify: bool,
    as_json: bool,
    project: str,
) -> None:
    """Show the record of RUN and of its sub-agents: steps, outcomes, evidence, refusals, reviews, and who said it.

    The page of --html has the graph with the way that was taken, each step with its evidence, and each finding through
    the iterations of its review. It holds what was recorded: look it through before you pass it on.
    """
    forms = [
        name
        for name, is_given in (("--html", html is not None), ("--markdown", markdown), ("--json", as_json))
        if is_given
    ]
    if len(forms) > 1:
        raise UsageError(f"{' and '.join(forms)} exclude each other", remedy="give one of them")
    if html is not None and os.path.isdir(html):
        raise UsageError(f"{html} is a folder", remedy="the name of a file in it")
    records = runs.require_records(project)
    run = records.run(run_id)
    if is_of_another_project(run, project):
        screen.say(f"Run {run.id} belongs to the project {run.project}.")
    if verify:
        verification.verify(records.ledger)
    verification.verify_tree(records.ledger, run.id)
    if as_json:
        screen.json([timeline.as_data(records, one) for _, one in records.tree(run)])
        return
    if markdown:
        from skills.lib.commands.tracing.markdown import markdown as summary  # only for a summary

        script.emit(summary(records, run), PRINTED)
        return
    if html is not None:
        from skills.lib.views.page.file import page  # jinja2, lxml, networkx: only for a page

        text = page(records, run, values)
        if html == "-":
            script.emit(text, PRINTED)
        else:
            screen.write(html, text, force)
        return
    for depth, one in records.tree(run):
        if depth:
            screen.print("")
        timeline.print_run(screen, records, one, values)
