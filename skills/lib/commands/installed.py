"""``lockstep installed``."""

from __future__ import annotations

from typing import Any

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import install_output
from skills.lib.errors import PRINTED, LockstepError, tell
from skills.lib.hosts import skills
from skills.lib.hosts.install import installing
from skills.lib.hosts.install.installing import Installed
from skills.lib.hosts.install.locations import Locations, locations
from skills.lib.hosts.install.manifest import Manifest
from skills.lib.hosts.known_hosts import HOSTS, SCOPES

_HEADINGS = ("HOST", "SCOPE", "STATE", "SKILLS", "HOOKS", "VERSION")
_MEANING = {
    "interrupted": "an installation was interrupted; the next install, upgrade or uninstall completes it",
    "unknown": "cannot be compared",
    "stuck": "hooks that were switched off are still in settings that are no plain JSON: make it so, then upgrade",
    "missing": "something is missing: lockstep upgrade writes it again",
    "changed": "changed by you: kept by every command but with --force",
    "kept": "uninstalled, but for what you changed",
    "foreign": "code that Lockstep did not put there is in the folder of a skill: remove what you do not know",
    "stale": "not as this version would put it: lockstep upgrade",
}


@click.command(
    epilog=examples(
        "lockstep installed  # each host, and what is not as it was put there",
        "lockstep installed --json  # every file, with its state, for a program",
    )
)
@json_option
@project_option
@click.pass_obj
def installed(screen: Screen, as_json: bool, project: str) -> int:
    """List what is installed for which host, in this project and for the user, with its state.

    A file is current, changed (by you), missing, stale (not as this version would put it), foreign (code in a skill's
    folder that Lockstep did not put there), or kept: you had changed it, and it stayed when the rest was uninstalled.
    Exit code 4 where a manifest is damaged; the others are listed.
    """
    known = skills.sources(project)
    places = [locations(host, scope, project) for scope in SCOPES for host in HOSTS]
    found, damaged = install_output.read_each(places, lambda place: installing.inspect(place, project, known))
    if as_json:
        unknown = [(place, _unknown(place, problem)) for place, problem in damaged]
        screen.json([_as_data(place, one) for place, one in (*found, *unknown)])
    elif found:
        screen.table(_HEADINGS, [_row(place, one) for place, one in found])
        for place, one in found:
            _show_odd(screen, place, one, project)
    elif not damaged:
        screen.say("Nothing is installed, neither in this project nor for the user. To begin: lockstep install HOST")
    for _, problem in damaged:
        tell(problem.message())
    return max((problem.exit_code for _, problem in damaged), default=PRINTED)


def _unknown(place: Locations, error: LockstepError) -> Installed:
    """What a damaged manifest says of an installation: nothing, and why."""
    return Installed(Manifest(place.host, place.scope, hooks=False), (), error.what, error.remedy)


def _row(place: Locations, one: Installed) -> list[str]:
    of = one.manifest
    hooks = "none" if not place.hooks or not of.hooks else f"on, {of.stops} stops"
    return [place.host, place.scope, one.state, str(len(of.skills)), hooks, of.version or "-"]


def _show_odd(screen: Screen, place: Locations, one: Installed, project: str) -> None:
    """What is not current, and what to do about it."""
    if one.state == "current":
        return
    screen.print("")
    what = one.problem or _MEANING[one.state]
    if one.state == "kept":
        scope = "" if place.scope == SCOPES[0] else f" --scope {place.scope}"
        what += f": lockstep uninstall {place.host}{scope} --force"
    screen.print(screen.styled(f"{place.host}, {place.scope} scope: ", "bold"), what)
    if one.remedy:
        screen.print(f"  try:   {one.remedy}")
    for entry in one.files:
        if entry.state != "current":
            screen.print(f"  {entry.state:8} {install_output.shown_path(entry.path, place, project)} ({entry.what})")


def _as_data(place: Locations, one: Installed) -> dict[str, Any]:
    return {
        "host": place.host,
        "scope": place.scope,
        "state": one.state,
        "problem": one.problem,
        "version": one.manifest.version,
        "hooks": bool(place.hooks) and one.manifest.hooks,
        "stops": one.manifest.stops,
        "allow": one.manifest.allow,
        "skills": sorted(one.manifest.skills),
        "files": [{"path": entry.path, "what": entry.what, "state": entry.state} for entry in one.files],
    }
