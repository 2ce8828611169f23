"""``lockstep uninstall``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.lookup import placing
from skills.lib.errors import UsageError
from skills.lib.hosts import install as installing
from skills.lib.hosts.places import SCOPES, places


@click.command(
    epilog=examples(
        "lockstep uninstall codex --dry-run  # what would be removed",
        "lockstep uninstall codex  # from this project",
        "lockstep uninstall claude --scope user  # from the home",
    )
)
@placing.host_argument()
@placing.scope_option("project")
@placing.dry_run_option
@placing.verbose_option
@placing.force_option
@json_option
@project_option
@click.pass_obj
def uninstall(
    screen: Screen, host: str, scope: str, dry_run: bool, verbose: bool, force: bool, as_json: bool, project: str
) -> int:
    """Take away what was installed for HOST: skills, role definitions, hooks, and folders that are empty then.

    What another host uses stays. A file that you changed stays too, unless you say otherwise at a terminal or with
    --force; the exit code is then 3, and the same command with --force still removes it later. From a settings file
    only our entries are taken out.
    """
    place = places(host, scope, project)
    plan = installing.uninstall(place, project, placing.chooser(force, dry_run), dry_run)
    if plan is None:
        other = next(one for one in SCOPES if one != scope)
        raise UsageError(
            f"nothing is installed for {host} in the {scope} scope",
            remedy=f"lockstep installed; or lockstep uninstall {host} --scope {other}",
        )
    return placing.show(screen, plan, project, dry_run, as_json, verbose)
