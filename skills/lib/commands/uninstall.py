"""``lockstep uninstall``."""

from __future__ import annotations

import os
from contextlib import suppress

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import install_output, runs
from skills.lib.errors import LockstepError
from skills.lib.hosts.install import installing, launchers, runtime
from skills.lib.hosts.install.locations import Locations, locations
from skills.lib.hosts.known_hosts import SCOPES
from skills.lib.model.run import Run


@click.command(
    epilog=examples(
        "lockstep uninstall codex --dry-run  # what would be removed",
        "lockstep uninstall codex  # from this project",
        "lockstep uninstall claude --scope user  # from the home",
    )
)
@install_output.host_argument
@install_output.scope_option("as it is installed")
@install_output.dry_run_option
@install_output.verbose_option
@install_output.force_option
@json_option
@project_option
@click.pass_obj
def uninstall(
    screen: Screen, host: str, scope: str | None, dry_run: bool, verbose: bool, force: bool, as_json: bool, project: str
) -> int:
    """Take away what was installed for HOST: skills, role definitions, hooks, and folders that are empty then.

    What another host uses stays. A file that you changed stays too, unless you say otherwise at a terminal or with
    --force; the exit code is then 3, and the same command with --force still removes it later. From a settings file
    only our entries are taken out. Runs that are still open are named. With the last installation the launcher of short
    commands goes, unless a run is open. The runtime stays: lockstep upgrade --prune.
    """
    scope = scope or install_output.scope_of(host, project, SCOPES[0])
    place = locations(host, scope, project)
    plan = installing.uninstall(place, project, install_output.chooser(force, dry_run), dry_run)
    if plan is None:
        raise install_output.nothing_installed(install_output.REMOVED, (host,), scope, project)
    launched = launchers.unneeded(project, without=place)
    if launched and not dry_run:
        launchers.remove(launched)
    for run in _open_runs(project, place):
        ends = runs.command(project, "abandon", run.id)
        screen.say(f"The run {run.id} of {run.workflow} is open: {ends} --reason '…' ends it.")
    if as_json:
        screen.json([{**install_output.as_data(plan, dry_run), "launcher": launched.path if launched else ""}])
    code = install_output.show(screen, plan, project, dry_run, verbose, as_json)
    if launched and not as_json:
        screen.say(install_output.launcher_removed(launched, dry_run))
    if not dry_run and not as_json and _is_last(project):
        screen.say("Nothing is installed any more; lockstep upgrade --prune removes the runtime, too.")
    return code


def _is_last(project: str) -> bool:
    """True if there are runtimes, and none is needed any more."""
    with suppress(LockstepError):
        versions = runtime.versions()
        return bool(versions) and runtime.unneeded(project) == versions
    return False


def _open_runs(project: str, place: Locations) -> list[Run]:
    """The project's runs of what is taken away that have not ended; none if its ledger cannot be read."""
    with suppress(LockstepError):
        records = runs.open_records(project)
        found = records.roots() if records else ()
        return [run for run in found if run.script.startswith(place.skills + os.sep)]
    return []
