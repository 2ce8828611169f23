"""``lockstep upgrade``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.lookup import placing, sources
from skills.lib.errors import PRINTED, LockstepError, UsageError, tell
from skills.lib.hosts import install as installing
from skills.lib.hosts.install import manifest
from skills.lib.hosts.install.record import Manifest
from skills.lib.hosts.places import HOSTS, SCOPES, Places, places


@click.command(
    epilog=examples(
        "lockstep upgrade --dry-run  # what is not as this version would put it",
        "lockstep upgrade  # everything that is installed here or for the user",
        "lockstep upgrade codex --scope project  # one host",
    )
)
@placing.host_argument(required=False)
@placing.scope_option(None)
@placing.dry_run_option
@placing.verbose_option
@placing.force_option
@json_option
@project_option
@click.pass_obj
def upgrade(
    screen: Screen,
    host: str | None,
    scope: str | None,
    dry_run: bool,
    verbose: bool,
    force: bool,
    as_json: bool,
    project: str,
) -> int:
    """Bring what is installed, for HOST or for all, up to date with this version of Lockstep.

    The same skills, hooks and settings as before; a skill that is found no more is removed. A file that you changed
    is kept, unless you say otherwise at a terminal or with --force; the exit code is then 3.
    """
    hosts = (host,) if host else HOSTS
    found = [places(one, each, project) for each in ((scope,) if scope else SCOPES) for one in hosts]
    installed, damaged = _installed(found)
    if not installed and damaged:
        raise damaged[0]
    if not installed:
        raise UsageError("nothing is installed that could be upgraded", remedy="lockstep install HOST")
    known = sources.every(project)
    choose = placing.chooser(force, dry_run)
    code, shown = PRINTED, []
    for place, told in installed:
        wanted = installing.sources(told, known)
        for gone in sorted(set(told.skills) - set(wanted)):
            screen.say(f"The skill {gone} is found no more, and is taken away for {place.host}.")
        plan = installing.install(place, project, wanted, None, None, choose, dry_run)
        shown.append(placing.as_data(plan, dry_run))
        if not as_json and dry_run:
            screen.print(screen.styled(f"{place.host}, {place.scope} scope", "bold"))
        if not as_json:
            code = max(code, placing.show(screen, plan, project, dry_run, False, verbose))
        else:
            code = max(code, placing.code_of(plan))
    if as_json:
        screen.json(shown)
    for error in damaged:
        tell(error.message())
    return max(code, *(error.exit_code for error in damaged), PRINTED)


def _installed(found: list[Places]) -> tuple[list[tuple[Places, Manifest]], list[LockstepError]]:
    """What is installed in these places, and what a damaged manifest says instead."""
    told, damaged = [], []
    for place in found:
        try:
            one = manifest.installed(place)
        except LockstepError as error:
            damaged.append(error)
            continue
        if one is not None:
            told.append((place, one))
    return told, damaged
