"""``lockstep upgrade``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import install_output
from skills.lib.errors import PRINTED, LockstepError, tell
from skills.lib.hosts import skills
from skills.lib.hosts.install import installing, launchers, manifest, runtime
from skills.lib.hosts.install.locations import Locations, locations
from skills.lib.hosts.known_hosts import HOSTS, SCOPES


@click.command(
    epilog=examples(
        "lockstep upgrade --dry-run  # what is not as this version would put it",
        "lockstep upgrade  # everything that is installed here or for the user",
        "lockstep upgrade codex --scope project  # one host",
        "lockstep upgrade --prune  # and remove runtimes that nothing needs any more",
    )
)
@install_output.hosts_argument
@install_output.scope_option("both")
@click.option("--prune", is_flag=True, help="Remove the runtimes that nothing needs any more, too.")
@install_output.dry_run_option
@install_output.verbose_option
@install_output.force_option
@json_option
@project_option
@click.pass_obj
def upgrade(
    screen: Screen,
    hosts: tuple[str, ...],
    scope: str | None,
    prune: bool,
    dry_run: bool,
    verbose: bool,
    force: bool,
    as_json: bool,
    project: str,
) -> int:
    """Bring what is installed, for HOST or for all, up to date with this version of Lockstep.

    The same skills, hooks and settings as before; a skill that is not found any more is removed. Skills
    of which you changed a graph or a text are validated and sealed again. A file that you changed
    is kept, unless you say otherwise at a terminal or with --force; the exit code is then 3.
    """
    found = [locations(one, each, project) for each in ((scope,) if scope else SCOPES) for one in hosts or HOSTS]
    installed, damaged = install_output.read_each(found, manifest.installed)
    if not installed and damaged:
        raise damaged[0][1]
    foreign = [note for place in found if (note := install_output.foreign(place))]
    if not installed and not prune:
        raise install_output.nothing_installed(install_output.UPGRADED, hosts, scope, project)
    known = skills.sources(project)
    choose = install_output.chooser(force, dry_run)
    code, shown = PRINTED, []
    failed: list[tuple[Locations, LockstepError]] = []
    for place, before in installed:
        wanted = installing.sources(before, known)
        for removed in sorted(set(before.skills) - set(wanted)):
            screen.say(f"The skill {removed} is not found any more, and is taken away for {place.host}.")
        try:
            plan = installing.install(place, project, wanted, None, None, choose, dry_run)
        except LockstepError as error:
            failed.append((place, error))
            continue
        shown.append(install_output.as_data(plan, dry_run))
        if not as_json and dry_run:
            screen.print(screen.styled(f"{place.host}, {place.scope} scope", "bold"))
        code = max(code, install_output.show(screen, plan, project, dry_run, verbose, as_json))
    for text in foreign:
        screen.say(text)
    if prune:
        code = max(code, _prune(screen, project, dry_run))
    if as_json:
        screen.json(shown)
    for place, problem in failed:
        screen.say(f"{place.host}, {place.scope} scope, is not upgraded as a whole:")
        tell(problem.message())
    for _, problem in damaged:
        tell(problem.message())
    return max([code, *(problem.exit_code for _, problem in (*damaged, *failed))])


def _prune(screen: Screen, project: str, dry_run: bool) -> int:
    """Remove the runtimes that no installation and no open run needs. Returns the exit code."""
    try:
        unneeded = runtime.unneeded(project)
    except LockstepError as error:
        screen.say("No runtime is removed, because this may name one:")
        tell(error.message())
        return error.exit_code
    for version in unneeded:
        screen.say(f"The runtime {version} {'would be' if dry_run else 'is'} removed: nothing needs it.")
        if not dry_run:
            runtime.remove(version)
    if not unneeded:
        screen.say("No runtime is removed: " + ("each is needed." if runtime.versions() else "there is none."))
    if launched := launchers.unneeded(project):
        screen.say(install_output.launcher_removed(launched, dry_run))
        if not dry_run:
            launchers.remove(launched)
    if not dry_run:
        runtime.tidy()
    return PRINTED
