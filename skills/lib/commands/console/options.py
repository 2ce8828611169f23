"""Options and arguments that several subcommands take, with what a shell completes for each."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from skills.lib import paths
from skills.lib.errors import LockstepError, UsageError
from skills.lib.model import values
from skills.lib.model.texts import VALUE_LIMIT, check_characters

# How many runs a shell is offered.
_COMPLETED = 200
_Command = TypeVar("_Command", bound=Callable[..., Any])


def run_argument(required: bool = True) -> Callable[[_Command], _Command]:
    """The argument RUN, completed from the project's ledger."""
    shown = "RUN" if required else "[RUN]"
    return click.argument("run_id", metavar=shown, required=required, shell_complete=complete_run)


def checked_text(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """A text to be kept: not blank, no placeholder left, no character that a document cannot hold, not endless."""
    if given is None:
        return None
    what = param.opts[0] if param.opts[0].startswith("-") else str(param.metavar).strip("[]")
    if not given.strip() or values.is_placeholder(given, str(param.name)):
        raise UsageError(f"{what} holds nothing yet: {given!r:.80}", remedy="write the text in its place")
    if len(given) > VALUE_LIMIT:
        raise UsageError(f"{what} has {len(given):,} characters, at most {VALUE_LIMIT:,} are kept")
    check_characters(given, what)
    return given.strip()


def examples(*lines: str) -> str:
    """The end of a subcommand's help: commands to copy, with what each is for."""
    width = max(len(line.partition("  # ")[0]) for line in lines)
    shown = []
    for line in lines:
        command, _, purpose = line.partition("  # ")
        shown.append(f"  {command:{width}}   {purpose}".rstrip())
    return "\b\nExamples:\n" + "\n".join(shown)


def resolve_project(given: str | None) -> str:
    """The resolved root of the project; UsageError if the folder is none."""
    if given is None:
        try:
            return paths.project_root()
        except OSError as error:
            raise UsageError(
                f"the working directory cannot be used: {error.strerror}", remedy="give the project with --project"
            ) from error
    if not os.path.isdir(given):
        raise UsageError(f"--project {given!r:.200} is not a folder", remedy="give the project's root folder")
    return os.path.realpath(given)


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of runs, each with its workflow, status and step."""
    from skills.lib.commands.queries import runs
    from skills.lib.ledger import listing

    try:
        records = runs.open_records(resolve_project(ctx.params.get("project")))
        found = records.ledger.runs(listing.ids(records.ledger, incomplete, _COMPLETED)) if records else []
    except LockstepError:
        return []
    found.sort(key=lambda run: (run.ended, run.id))
    return [
        CompletionItem(run.id, help=f"{run.workflow}, {run.status}{f' at {run.step}' if run.step else ''}")
        for run in found
    ]


def complete_skill(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the skills that the project and Lockstep have; paths are left to the shell."""
    from skills.lib.hosts import skills

    try:
        found = skills.find(resolve_project(ctx.params.get("project")))
    except LockstepError:
        return []
    names = [CompletionItem(skill.name) for skill in found if skill.name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


# Given to the command as the resolved path of the project's root.
project_option = click.option(
    "--project",
    metavar="DIR",
    callback=lambda ctx, param, value: resolve_project(value),
    type=click.Path(),
    help="The project's root (default: the nearest folder up with .lockstep or .git).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
policies_option = click.option(
    "--policy", "files", metavar="FILE", multiple=True, help="A policy (default: the project's). Repeatable."
)
verify_option = click.option("--verify", is_flag=True, help="Check the whole ledger first, as lockstep doctor does.")
# A skill's name, a workflow's, or a path; completed from the skills that are found.
skill_argument = click.argument("skill", metavar="SKILL", shell_complete=complete_skill)
skill_option = click.option(
    "--skill", metavar="NAME", shell_complete=complete_skill, help="Only runs of this skill or workflow."
)
