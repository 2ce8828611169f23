"""What the subcommands that install have in common: their options, the questions they ask, how a plan is shown."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from skills.lib.commands.console.screen import Screen
from skills.lib.errors import PRINTED, REFUSED, UsageError
from skills.lib.hosts import places
from skills.lib.hosts.install import Choose
from skills.lib.hosts.install.planning import CHANGING, KEEP, SAME, SHARED, Change, Plan
from skills.lib.hosts.places import Places

_Command = TypeVar("_Command", bound=Callable[..., Any])
# What is told of each action: planned, and done.
_TOLD = {
    "add": "written",
    "update": "replaced",
    "edit": "edited",
    "restore": "written again",
    "delete": "removed",
    "same": "as they should be",
    "shared": "left to another host",
}
_WORDS = {
    "add": "write",
    "update": "replace",
    "restore": "write again",
    "delete": "remove",
    "keep": "keep",
    "stuck": "leave",
    "shared": "leave",
}
# What is told of the files that a plan leaves, of one and of many.
_STAYING = {
    SAME: ("is as it should be", "are as they should be"),
    SHARED: ("is left to another host", "are left to another host"),
}


def host_argument(required: bool = True) -> Callable[[_Command], _Command]:
    """The argument HOST."""

    def checked(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
        if given is None and required:  # where click itself finds it missing, it says so in words of its own
            raise _wrong_host(ctx, "HOST is missing", places.HOSTS[0])
        return given if given is None else _known(ctx, given)

    shown = "HOST" if required else "[HOST]"
    return click.argument("host", metavar=shown, required=False, callback=checked, shell_complete=_complete_host)


def hosts_argument(command: _Command) -> _Command:
    """The argument HOST, any number of times."""

    def checked(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_known(ctx, host) for host in given)

    return click.argument("hosts", metavar="[HOST]...", nargs=-1, callback=checked, shell_complete=_complete_host)(
        command
    )


def _known(ctx: click.Context, host: str) -> str:
    if host not in places.HOSTS:
        close = get_close_matches(host, places.HOSTS, 1, 0.5)
        raise _wrong_host(ctx, f"there is no host {host!r:.80}", close[0] if close else "")
    return host


def _wrong_host(ctx: click.Context, what: str, close: str) -> UsageError:
    path = ctx.command_path
    remedy = f"{path} {close}" if close else f"{path} --help"
    return UsageError(f"{path}: {what}", valid=", ".join(places.HOSTS), remedy=remedy)


def _complete_host(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(host) for host in places.HOSTS if host.startswith(incomplete)]


def scope_option(default: str | None) -> Callable[[_Command], _Command]:
    """``--scope``; without a default both are meant."""
    told = "In this project, or for the user in every project." + ("" if default else " Default: both.")
    return click.option(
        "--scope", type=click.Choice(places.SCOPES), default=default, show_default=default is not None, help=told
    )


def dry_run_option(command: _Command) -> _Command:
    """``--dry-run``."""
    return click.option("--dry-run", is_flag=True, help="Only show what would be done.")(command)


def verbose_option(command: _Command) -> _Command:
    """``--verbose``."""
    return click.option("--verbose", is_flag=True, help="With --dry-run: show every file, not only the folders.")(
        command
    )


def force_option(command: _Command) -> _Command:
    """``--force``."""
    return click.option("--force", is_flag=True, help="Replace or remove what you changed, too.")(command)


def chooser(force: bool, dry_run: bool) -> Choose | None:
    """How files that the user changed are decided on: all with ``--force``, by question at a terminal, else none."""
    if force:
        return lambda kept: None
    if dry_run or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return _ask


def _ask(kept: list[Change]) -> frozenset[str]:
    return frozenset(
        change.path
        for change in kept
        if click.confirm(f"{change.path} ({change.what}) is {change.why}. Replace or remove it?", err=True)
    )


def show(screen: Screen, plan: Plan, project: str, dry_run: bool, as_json: bool, verbose: bool = False) -> int:
    """Print what was done, or would be; the exit code is 3 where something was kept back for the user's sake.

    What would be done is told by folders; file by file where it is ``verbose``.
    """
    if as_json:
        screen.json(as_data(plan, dry_run))
    elif dry_run:
        _show_plan(screen, plan, project, verbose)
    else:
        _show_done(screen, plan, project)
    kept = plan.kept()
    if kept:
        many = "1 file stays as you have it" if len(kept) == 1 else f"{len(kept)} files stay as you have them"
        screen.say(f"{many}, against what was asked for; --force replaces or removes what you changed:")
        for change in kept:
            screen.say(f"  {shown_path(change.path, plan.place, project)}: {change.what}, {change.why}")
    if plan.stuck():
        screen.say(
            "Hooks stay in settings that are no plain JSON any more. Make it plain and run the same command again, or "
            "take out by hand what names run_hook.py:"
        )
        for change in plan.stuck():
            screen.say(f"  {shown_path(change.path, plan.place, project)}: {change.why}")
    return code_of(plan)


def code_of(plan: Plan) -> int:
    """The exit code of a plan: 3 where something was kept back for the user's sake, or could not be edited."""
    return REFUSED if plan.kept() or plan.stuck() else PRINTED


def as_data(plan: Plan, dry_run: bool) -> dict[str, Any]:
    """A plan for a program."""
    return {
        "host": plan.place.host,
        "scope": plan.place.scope,
        "done": not dry_run,
        "folders": list(plan.folders),
        "changes": [
            {"action": change.action, "path": change.path, "what": change.what, "why": change.why}
            for change in plan.changes
        ],
    }


def shown_path(path: str, place: Places, project: str) -> str:
    """A path as a person reads it: below the project, or from ~."""
    if place.scope == "project":
        return path.removeprefix(os.path.realpath(project) + os.sep)
    home = os.path.realpath(os.path.expanduser("~"))
    return "~" + path[len(home) :] if path.startswith(home + os.sep) else path


def _show_plan(screen: Screen, plan: Plan, project: str, every: bool) -> None:
    """Print what would change, each folder in one row, or every file in one; then the sum."""
    told = [change for change in plan.changes if change.action != SAME]
    rows: dict[tuple[str, ...], list[str]] = {}
    for change in told:
        where, what = (change.path, change.what) if every else _grouped(change, plan.place)
        row = (_WORDS.get(change.action, change.action), where, what, change.why)
        rows.setdefault(row, []).append(change.path)
    if rows:
        headings, shown = ["WOULD", "FILE", "WHAT IT IS", "WHY"], []
        for (would, where, what, why), paths in rows.items():
            many = len(paths) > 1
            file = shown_path(where if many else paths[0], plan.place, project)
            shown.append([would, f"{file} ({len(paths)} files)" if many else file, what, why])
        width = 4 if any(row[3] for row in shown) else 3
        screen.table(headings[:width], [row[:width] for row in shown])
    screen.print(_sum(plan))


def _sum(plan: Plan) -> str:
    """How many files would change, and how many stay as they are."""
    counts = Counter(change.action for change in plan.changes if change.action != KEEP)
    changing = [f"{counts[action]} {words}" for action, words in _TOLD.items() if counts[action] and action in CHANGING]
    staying = [
        f"{count} {one if count == 1 else many}"
        for action, (one, many) in _STAYING.items()
        if (count := counts[action])
    ]
    if changing:
        first, *more = changing
        number, _, words = first.partition(" ")
        changing = ["Nothing was written", ", ".join([f"{number} would be {words}", *more])]
    return "; ".join([*(changing or ["Nothing would change"]), *staying]) + "."


def _grouped(change: Change, place: Places) -> tuple[str, str]:
    """The folder to tell in place of a file that is one of many, and what that is; one that is kept is told itself."""
    kind, _, name = change.what.partition(" ")
    if kind == "skill" and change.action != KEEP:
        return os.path.join(place.skills, name) + os.sep, change.what
    if kind == "role" and change.action != KEEP:
        return place.roles + os.sep, "roles"
    return change.path, change.what


def _show_done(screen: Screen, plan: Plan, project: str) -> None:
    counts = Counter(change.action for change in plan.changes if change.action != KEEP)
    told = ", ".join(f"{counts[action]} {words}" for action, words in _TOLD.items() if counts[action])
    screen.print(screen.styled(f"{plan.place.host}, {plan.place.scope} scope: ", "bold"), f"{told or 'nothing'}.")
    by_kind: dict[str, list[str]] = {}
    for change in plan.changes:
        if change.action in CHANGING or change.action == "same":
            kind, _, name = change.what.partition(" ")
            by_kind.setdefault(kind, []).append(name or shown_path(change.path, plan.place, project))
    if plan.then is None or plan.then.uninstalled:
        return
    for kind, where in (("skill", plan.place.skills), ("role", plan.place.roles), ("hooks", "")):
        names = list(dict.fromkeys(by_kind.get(kind, ())))
        if names:
            place = f" in {shown_path(where, plan.place, project)}" if where else ""
            screen.print(f"  {kind + 's' if kind != 'hooks' else kind}{place}: {', '.join(names)}")
