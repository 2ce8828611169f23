"""``lockstep validate``."""

from __future__ import annotations

import os

import click

from skills import __version__
from skills.lib.blocks.command_line import join
from skills.lib.commands.console import findings
from skills.lib.commands.console.options import examples, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import checking
from skills.lib.commands.queries.skills import FOLDERS
from skills.lib.errors import BROKEN_SKILL, PRINTED, UsageError, did_you_mean
from skills.lib.runtime import script
from skills.lib.validation import output


@click.command(
    epilog=examples(
        "lockstep validate  # every skill of the project",
        "lockstep validate skills/my-skill --strict  # one skill; a warning fails too",
        "lockstep validate --format sarif > findings.sarif  # for a code scanning service",
        "lockstep validate --seal  # leave seals, so that steps run without networkx",
    )
)
@click.argument("paths", nargs=-1, type=click.Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option("--seal", is_flag=True, help="Write a .seal file beside every workflow whose graph has no error.")
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@project_option
@click.pass_obj
def validate(screen: Screen, paths: tuple[str, ...], form: str, seal: bool, strict: bool, project: str) -> int:
    """Check every skill under each PATH (default: the project's root): graphs, handlers, prompts, SKILL.md.

    A PATH is a folder, a workflow module or an entry script. Modules are imported, so check only code that you would
    run. Exit code 0 if nothing is wrong, 5 if something is.
    """
    for path in paths:
        if not os.path.exists(path):
            raise _missing(path)
    checked = checking.check(paths or (project,))
    found = checked.findings
    if form == "json":
        script.emit(output.as_json(found, project, checked.waived) + "\n", PRINTED)
    elif form == "sarif":
        script.emit(output.as_sarif([*found, *checked.waived], project, __version__) + "\n", PRINTED)
    elif form == "github":
        for line in output.github(found, project):
            screen.print(line)
    else:
        findings.print_findings(screen, found)
    if not checked.skills and not checked.modules:
        screen.say(f"Nothing to validate: no skill is found under {', '.join(paths) or project}.")
    elif form in ("text", "github"):
        findings.print_summary(screen, checked)
    for folder in checked.nameless:
        screen.say(f"note: {folder} has no SKILL.md, by which an agent finds it")
    if seal:
        for path in checking.seal_valid(checked):
            screen.say(f"sealed {os.path.relpath(path)}")
    errors = any(finding.severity == "error" or strict for finding in found)
    return BROKEN_SKILL if errors else PRINTED


def _missing(path: str) -> UsageError:
    """The error for a path that does not exist; it offers the folder of a skill of that name."""
    what, remedy = f"{path} does not exist", ""
    for folder in FOLDERS:
        meant = os.path.join(folder, path)
        if os.path.isdir(meant):
            what, remedy = what + did_you_mean(meant), join(["lockstep", "validate", meant])
            break
    return UsageError(what, valid="a folder, a workflow module or an entry script", remedy=remedy)
