"""What the subcommands that install have in common: their options, and how a plan is shown."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from skills.lib.commands.console import prompts
from skills.lib.commands.console.screen import Screen
from skills.lib.errors import PRINTED, REFUSED, LockstepError, UsageError, nearest
from skills.lib.hosts.install import allowing, locations, manifest
from skills.lib.hosts.install.changes import CHANGING, FOREIGN, KEEP, SAME, SHARED, Change, Plan
from skills.lib.hosts.install.installing import Choose
from skills.lib.hosts.install.launchers import Leftover
from skills.lib.hosts.install.locations import Locations
from skills.lib.hosts.known_hosts import HOSTS, KNOWN, SCOPES
from skills.lib.model.texts import counted

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Found = TypeVar("_Found")
# What upgrade and uninstall do.
UPGRADED, REMOVED = "upgraded", "removed"
# What is said if no host is found.
_PROGRAMS = ", ".join(host for host, known in KNOWN.items() if known.package)
NO_HOST = f"No host was found: none of the programs {_PROGRAMS} is on the PATH, and none has settings in your home."
# What is said of each action: planned, and done.
_WORDS = {
    "add": ("write", "written"),
    "update": ("replace", "replaced"),
    "edit": ("edit", "edited"),
    "restore": ("write again", "written again"),
    "delete": ("remove", "removed"),
    "same": ("", "as they should be"),
    "shared": ("leave", "left to another host"),
    "keep": ("keep", ""),
    "stuck": ("leave", ""),
    "foreign": ("leave", ""),
}


def missing_host(ctx: click.Context, looked: bool = False) -> UsageError:
    """The error if no host is given and nobody can be asked; ``looked`` if none of the known ones was found."""
    what = NO_HOST[:1].lower() + NO_HOST[1:-1] if looked else "HOST is missing"
    return _wrong_host(ctx, what, HOSTS[0])


def scope_option(default: str) -> Callable[[_Command], _Command]:
    """``--scope``; ``default`` says what it is without."""
    text = f"In this project, or for the user in every project (default: {default})."
    return click.option("--scope", type=click.Choice(SCOPES), help=text)


def scope_of(host: str, project: str, default: str) -> str:
    """The scope in which a host has an installation, the project's before the user's; ``default`` if it has none."""
    for scope in SCOPES:
        try:
            if manifest.read(locations.locations(host, scope, project)) is not None:
                return scope
        except LockstepError:  # it is damaged: the command itself says so
            return scope
    return default


def read_each(
    places: Iterable[Locations], read: Callable[[Locations], _Found | None]
) -> tuple[list[tuple[Locations, _Found]], list[tuple[Locations, LockstepError]]]:
    """What is read at each of these locations, and the errors of those whose manifest is damaged."""
    found, damaged = [], []
    for place in places:
        try:
            one = read(place)
        except LockstepError as error:
            damaged.append((place, error))
            continue
        if one is not None:
            found.append((place, one))
    return found, damaged


def foreign(place: Locations) -> str:
    """What is said of a manifest that this machine did not write; empty if there is none."""
    try:
        return "; ".join(manifest.foreign_note(place)) + "." if manifest.is_foreign(place) else ""
    except LockstepError:  # it is damaged: the command itself says so
        return ""


def nothing_installed(done: str, hosts: Sequence[str], scope: str | None, project: str) -> UsageError:
    """The error if nothing that was asked for is installed; it names what is."""
    scopes = (scope,) if scope else SCOPES
    asked = [locations.locations(host, one, project) for one in scopes for host in hosts or HOSTS]
    of_hosts, of_scope = f" for {', '.join(hosts)}" * bool(hosts), f" in the {scope} scope" * bool(scope)
    what = f"nothing is installed that could be {done}{of_hosts}{of_scope}"
    notes = [f"; {manifest.foreign_note(place)[0]}" for place in asked if foreign(place)]
    every = [locations.locations(host, one, project) for one in SCOPES for host in HOSTS]
    there, _ = read_each(every, manifest.installed if done == UPGRADED else manifest.read)
    return UsageError(
        what + "".join(notes),
        valid=", ".join(f"{place.host} --scope {place.scope}" for place, _ in there),
        remedy="lockstep installed" if there else f"lockstep install {hosts[0] if hosts else 'HOST'}",
    )


def chooser(force: bool, dry_run: bool) -> Choose | None:
    """How to decide about files that the user changed: all with ``--force``, by question at a terminal, else none."""
    if force:
        return lambda kept: None
    return None if dry_run or not prompts.is_terminal() else _ask


def _ask(kept: list[Change]) -> frozenset[str]:
    return frozenset(
        change.path
        for change in kept
        if prompts.confirmed(f"{change.path} ({change.what}) is {change.why}. Replace or remove it?")
    )


def show(screen: Screen, plan: Plan, project: str, dry_run: bool, verbose: bool, as_json: bool) -> int:
    """Print what was done, or would be, and return the exit code: 3 if something was kept back or could not be edited.

    What would be done is shown by folders, file by file if it is ``verbose``. Nothing is printed if ``as_json``: the
    caller prints the plan as data.
    """
    code = REFUSED if plan.kept() or plan.stuck() else PRINTED
    if as_json:
        return code
    if dry_run:
        _show_plan(screen, plan, project, verbose)
    else:
        _show_done(screen, plan, project)
    kept = plan.kept()
    if kept:
        many = "1 file stays as you have it" if len(kept) == 1 else f"{len(kept)} files stay as you have them"
        screen.say(f"{many}, against what was asked for; --force replaces or removes what you changed:")
        for change in kept:
            screen.say(f"  {shown_path(change.path, plan.place, project)}: {change.what}, {change.why}")
    foreign = plan.foreign()
    if foreign:
        many = "1 file of code is" if len(foreign) == 1 else f"{len(foreign)} files of code are"
        screen.say(f"{many} in the folder of a skill, and did not come from Lockstep. Remove what you do not know:")
        for change in foreign:
            screen.say(f"  {shown_path(change.path, plan.place, project)}: {change.why}")
    if plan.stuck():
        screen.say(
            "Hooks stay in settings that are no plain JSON any more. Make it plain and run the same command again, or "
            "take out by hand what names run_hook.py:"
        )
        for change in plan.stuck():
            screen.say(f"  {shown_path(change.path, plan.place, project)}: {change.why}")
    return code


def launcher_removed(launched: Leftover, dry_run: bool) -> str:
    """What is said of a launcher that goes."""
    verb = "would be" if dry_run else "is" if not launched.entries else "are"
    return f"{launched} {verb} removed: nothing is installed any more, and no run is open."


def as_data(plan: Plan, dry_run: bool) -> dict[str, Any]:
    """A plan for a program."""
    return {
        "host": plan.place.host,
        "scope": plan.place.scope,
        "done": not dry_run,
        "runtime": plan.then.version if plan.then else "",
        "allowed": _allowed(plan),
        "changes": [
            {"action": change.action, "path": change.path, "what": change.what, "why": change.why}
            for change in plan.changes
        ],
    }


def shown_path(path: str, place: Locations, project: str) -> str:
    """A path as a person reads it: below the project, or from ~."""
    if place.scope == "project":
        return path.removeprefix(os.path.realpath(project) + os.sep)
    home = os.path.realpath(os.path.expanduser("~"))
    return "~" + path[len(home) :] if path.startswith(home + os.sep) else path


def _checked_host(ctx: click.Context, param: click.Parameter, given: str | None) -> str:
    if given is None:  # if click itself finds it missing, it says so in words of its own
        raise missing_host(ctx)
    return _known(ctx, given)


def _checked_hosts(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_known(ctx, host) for host in given))


def _known(ctx: click.Context, host: str) -> str:
    if host not in HOSTS:
        raise _wrong_host(ctx, f"there is no host {host!r:.80}", nearest(host, HOSTS))
    return host


def _wrong_host(ctx: click.Context, what: str, close: str) -> UsageError:
    path = ctx.command_path
    remedy = f"{path} {close}" if close else f"{path} --help"
    return UsageError(f"{path}: {what}", valid=", ".join(HOSTS), remedy=remedy)


def _complete_host(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(host) for host in HOSTS if host.startswith(incomplete)]


def _show_plan(screen: Screen, plan: Plan, project: str, every: bool) -> None:
    """Print what would change, each folder in one row, or every file in one; then the sum."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for change in plan.changes:
        if change.action != SAME:
            where, what = (change.path, change.what) if every else _grouped(change, plan.place)
            rows.setdefault((_WORDS[change.action][0], where, what, change.why), []).append(change.path)
    if any(
        change.action in CHANGING and change.path in (plan.place.hooks, plan.place.rules) for change in plan.changes
    ):
        for path in _allowed(plan):
            where = path if every else plan.place.skills + os.sep
            rows.setdefault(("allow", where, "step scripts", "they run without a question"), []).append(path)
    if rows:
        shown = []
        for (would, where, what, why), found in rows.items():
            many = len(found) > 1
            file = shown_path(where if many else found[0], plan.place, project)
            shown.append([would, f"{file} ({len(found)} files)" if many else file, what, why])
        width = 4 if any(row[3] for row in shown) else 3
        screen.table(("WOULD", "FILE", "WHAT IT IS", "WHY")[:width], [row[:width] for row in shown])
    screen.print(_sum(plan))


def _sum(plan: Plan) -> str:
    """How many files would change, and how many stay as they are."""
    counts = Counter(change.action for change in plan.changes)
    found = [action for action in _WORDS if action in CHANGING and counts[action]]
    changing = [f"{counts[action]} {_WORDS[action][1]}" for action in found]
    staying = [
        f"{counts[action]} {one if counts[action] == 1 else many}"
        for action, one, many in (
            (SAME, "is as it should be", "are as they should be"),
            (SHARED, "is left to another host", "are left to another host"),
        )
        if counts[action]
    ]
    if changing:
        number, _, words = changing[0].partition(" ")
        changing = ["Nothing was written", ", ".join([f"{number} would be {words}", *changing[1:]])]
    return "; ".join([*(changing or ["Nothing would change"]), *staying]) + "."


def _allowed(plan: Plan) -> list[str]:
    """The step scripts that the host runs without a question."""
    then = plan.then
    return allowing.scripts(then.files) if then is not None and then.allow and not then.uninstalled else []


def _grouped(change: Change, place: Locations) -> tuple[str, str]:
    """The folder to show in place of a file that is one of many, and what that is; a kept file is shown itself."""
    kind, _, name = change.what.partition(" ")
    if kind == "skill" and change.action not in (KEEP, FOREIGN):
        return os.path.join(place.skills, name) + os.sep, change.what
    if kind == "role" and change.action != KEEP:
        return place.roles + os.sep, "roles"
    return change.path, change.what


def _show_done(screen: Screen, plan: Plan, project: str) -> None:
    counts = Counter(change.action for change in plan.changes)
    done = ", ".join(f"{counts[action]} {words}" for action, (_, words) in _WORDS.items() if words and counts[action])
    screen.print(screen.styled(f"{plan.place.host}, {plan.place.scope} scope: ", "bold"), f"{done or 'nothing'}.")
    if plan.then is None or plan.then.uninstalled:
        return
    names: dict[str, dict[str, None]] = {"skill": {}, "role": {}, "hooks": {}, "rules": {}}
    for change in plan.changes:
        kind, _, name = change.what.partition(" ")
        if change.action in {*CHANGING, SAME}:
            names[kind][name or shown_path(change.path, plan.place, project)] = None
    for kind, where in (("skill", plan.place.skills), ("role", plan.place.roles), ("hooks", ""), ("rules", "")):
        if names[kind]:
            place = f" in {shown_path(where, plan.place, project)}" if where else ""
            screen.print(f"  {kind.removesuffix('s')}s{place}: {', '.join(names[kind])}")
    allowed = _allowed(plan)
    if allowed:
        screen.print(f"  allowed without a question: {counted(len(allowed), 'step script')}")


host_argument = click.argument(
    "host", metavar="HOST", required=False, callback=_checked_host, shell_complete=_complete_host
)
hosts_argument = click.argument(
    "hosts", metavar="[HOST]...", nargs=-1, callback=_checked_hosts, shell_complete=_complete_host
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Only show what would be done.")
verbose_option = click.option("--verbose", is_flag=True, help="With --dry-run: show every file, not only the folders.")
force_option = click.option("--force", is_flag=True, help="Replace or remove what you changed, too.")
