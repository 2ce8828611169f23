"""``lockstep install``."""

from __future__ import annotations

from contextlib import suppress

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.lookup import placing, sources
from skills.lib.errors import LockstepError
from skills.lib.hosts import install as installing
from skills.lib.hosts.install import hooks as hooks_file
from skills.lib.hosts.install import manifest
from skills.lib.hosts.install.record import Manifest
from skills.lib.hosts.places import NAMES, NOTES, SCOPES, Places, places


@click.command(
    epilog=examples(
        "lockstep install codex --dry-run  # what would be written, and where",
        "lockstep install claude  # all skills, roles and hooks, in this project",
        "lockstep install qwen --scope user --skill planner  # one skill, in every project",
        "lockstep install gemini --no-hooks  # steps are printed, nothing is enforced",
    )
)
@placing.host_argument()
@placing.scope_option("project")
@click.option("--skill", "names", metavar="NAME", multiple=True, help="Only this skill (repeatable; default: all).")
@click.option(
    "--hooks/--no-hooks", default=None, help="Hold the agent to the steps, or not (default: as it was, or on)."
)
@click.option(
    "--stops",
    type=click.IntRange(min=0, max=50),
    metavar="N",
    help="How often a stop in mid-run is refused (default: as it was, or 3).",
)
@placing.dry_run_option
@placing.verbose_option
@placing.force_option
@json_option
@project_option
@click.pass_obj
def install(
    screen: Screen,
    host: str,
    scope: str,
    names: tuple[str, ...],
    hooks: bool | None,
    stops: int | None,
    dry_run: bool,
    verbose: bool,
    force: bool,
    as_json: bool,
    project: str,
) -> int:
    """Put skills, role definitions and hooks where HOST looks for them.

    HOST is codex, claude, opencode, qwen, gemini, or agents (the folder .agents/skills, for any other host). Skills
    are copied whole and work by themselves. A file that you changed is kept, unless you say otherwise at a terminal
    or with --force; the exit code is then 3. Other entries of a settings file stay as they are.
    """
    place = places(host, scope, project)
    found = sources.chosen(project, names) if names else sources.shipped()
    told = manifest.installed(place)
    if told is not None:
        found = {**installing.sources(told, sources.every(project)), **found}
    choose = placing.chooser(force, dry_run)
    plan = installing.install(place, project, found, hooks, stops, choose, dry_run)
    code = placing.show(screen, plan, project, dry_run, as_json, verbose)
    if not dry_run and plan.then is not None:
        _say_how_to_go_on(screen, place, plan.then, project)
    return code


def _say_how_to_go_on(screen: Screen, place: Places, then: Manifest, project: str) -> None:
    """What a user does once for the hooks, what is not to be committed, and how a skill is started."""
    if then.hooks:
        screen.say(NOTES[place.host])
    if then.hooks and place.hooks:
        if _is_held_twice(place.host, place.scope, project):
            screen.say("Hooks are on in both scopes, so each event is served twice: --no-hooks leaves them out of one.")
        if place.scope == "project":
            screen.say(_not_to_be_committed(place, then, placing.shown_path(place.hooks, place, project)))
    for name in list(then.skills)[:1]:
        screen.say(f'To start a skill, name it to {NAMES[place.host]}: "Use the skill {name} on …"')


def _not_to_be_committed(place: Places, then: Manifest, path: str) -> str:
    """That the hooks are of this machine; a settings file that was there before may well be committed otherwise."""
    told = then.merged.get(place.hooks)
    said = "this machine's Python by its path: do not commit"
    if told is None or hooks_file.WHOLE in told.made:
        return f"{path} names {said} it. List it in .git/info/exclude, or install with --scope user."
    return f"The hooks in {path} name {said} them. With --scope user they are not in the project."


def _is_held_twice(host: str, scope: str, project: str) -> bool:
    """Whether hooks are installed in the other scope, too."""
    told = None
    with suppress(LockstepError):  # a damaged manifest of the other scope is told where that scope is asked about
        told = manifest.installed(places(host, next(one for one in SCOPES if one != scope), project))
    return told is not None and told.hooks
