"""``lockstep status``."""

from __future__ import annotations

import difflib
import os

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import coverage, inventory
from skills.lib.errors import PRINTED, EnvironmentProblem, RefusedError, UsageError

STALE = 1
# A terminal's line has room for so many names of workflows.
NAMED = 2


@click.command(
    epilog=examples(
        "lockstep status  # what each skill of the project holds",
        "lockstep status --write  # into MIGRATION_STATUS.md",
        "lockstep status --check  # exit 1, and the difference, where that is stale",
    )
)
@click.argument("path", required=False, type=click.Path())
@click.option("--write", is_flag=True, help="Write the table into MIGRATION_STATUS.md of PATH.")
@click.option("--check", is_flag=True, help="Show how that file differs, and exit 1 where it does.")
@json_option
@project_option
@click.pass_obj
def status(screen: Screen, path: str | None, write: bool, check: bool, as_json: bool, project: str) -> int:
    """Show which skills under PATH (default: the project's root) are Workflows, and what those hold.

    For each: workflows with their steps, gates (review loops, questions to a person), transitions and how many of them
    a test takes (pytest collects the tests under PATH, and runs none), whether SKILL.md keeps to the specification,
    whether the graphs are sealed. A catalogue.json in PATH, or in its folder skills, names the skills that there are to
    be: {"name": "what it is for"}.
    """
    if write + check + as_json > 1:
        raise UsageError("--write, --check and --json exclude each other", remedy="give one of them")
    root = os.path.realpath(path) if path else project
    taken = coverage.take(root)
    if taken.problem and (write or check):
        raise EnvironmentProblem(taken.problem, remedy="fix that; the page is left alone")
    if taken.problem:
        screen.say(taken.problem)
    statuses = inventory.take(root, taken)
    if as_json:
        screen.json([one.as_data(root) for one in statuses])
        return PRINTED
    if not statuses:
        screen.say(f"No skill is found under {root}: no folder there has a SKILL.md.")
        return PRINTED
    if write or check:
        return _write_or_check(screen, os.path.join(root, inventory.FILE), statuses, check)
    screen.table([heading.upper() for heading in inventory.HEADINGS], inventory.rows(statuses, NAMED))
    for one in statuses:
        for entry in one.workflows:
            if entry.error:
                screen.say(f"{one.name}: {entry.error}")
    screen.print(inventory.summary(statuses))
    return PRINTED


def _write_or_check(screen: Screen, file: str, statuses: list[inventory.SkillStatus], check: bool) -> int:
    old = _read(file)
    try:
        new = inventory.page(old, statuses)
    except ValueError as error:
        marks = f"the lines <!-- {inventory.SECTION} --> and <!-- /{inventory.SECTION} -->"
        raise RefusedError(f"{file} is left alone: {error}", remedy=f"add {marks} where the table belongs") from error
    if new == old:
        screen.say(f"{file} is current.")
        return PRINTED
    if check:
        shown = f"{inventory.FILE} as it should be"
        for line in difflib.unified_diff(old.splitlines(), new.splitlines(), inventory.FILE, shown, n=1, lineterm=""):
            screen.print(line)
        screen.say(f"{file} is stale. Write it again: lockstep status --write")
        return STALE
    screen.write(file, new, force=True)
    return PRINTED


def _read(file: str) -> str:
    """The present page; empty if there is none."""
    try:
        with open(file, encoding="utf-8") as page:
            return page.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentProblem(f"{file} cannot be read: {error}") from error
