"""``lockstep install``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.lookup import placing, sources
from skills.lib.hosts import install as installing
from skills.lib.hosts.install import manifest
from skills.lib.hosts.places import NOTES, SCOPES, places


@click.command(
    epilog=examples(
        "lockstep install codex --dry-run  # every file that would be written, and where",
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
    told = manifest.read(place)
    if told is not None:
        found = {**installing.sources(told, sources.every(project)), **found}
    choose = placing.chooser(force, dry_run)
    plan = installing.install(place, project, found, hooks, stops, choose, dry_run)
    code = placing.show(screen, plan, project, dry_run, as_json)
    if not dry_run and plan.then is not None and plan.then.hooks:
        screen.say(NOTES[host])
        if place.hooks and _is_held_twice(host, scope, project):
            screen.say("Hooks are on in both scopes, so each event is served twice: --no-hooks leaves them out of one.")
    return code


def _is_held_twice(host: str, scope: str, project: str) -> bool:
    """Whether hooks are installed in the other scope, too."""
    told = [manifest.read(places(host, other, project)) for other in SCOPES if other != scope]
    return any(one is not None and one.hooks for one in told)
