"""What the subcommands that install have in common: their options, the questions they ask, how a plan is shown."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import click

from skills.lib.commands.console.screen import Screen
from skills.lib.errors import PRINTED, REFUSED
from skills.lib.hosts import places
from skills.lib.hosts.install import Choose
from skills.lib.hosts.install.planning import CHANGING, KEEP, Change, Plan
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
    "shared": "leave",
}


def host_argument(required: bool = True) -> Callable[[_Command], _Command]:
    """The argument HOST."""
    shown = "HOST" if required else "[HOST]"
    return click.argument("host", metavar=shown, required=required, type=click.Choice(places.HOSTS))


def scope_option(default: str | None) -> Callable[[_Command], _Command]:
    """``--scope``; without a default both are meant."""
    told = "In this project, or for the user in every project." + ("" if default else " Default: both.")
    return click.option(
        "--scope", type=click.Choice(places.SCOPES), default=default, show_default=default is not None, help=told
    )


def dry_run_option(command: _Command) -> _Command:
    """``--dry-run``."""
    return click.option("--dry-run", is_flag=True, help="Only show what would be done.")(command)


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


def show(screen: Screen, plan: Plan, project: str, dry_run: bool, as_json: bool) -> int:
    """Print what was done, or would be; the exit code is 3 where something was kept back for the user's sake."""
    if as_json:
        screen.json(as_data(plan, dry_run))
    elif dry_run:
        _show_plan(screen, plan, project)
    else:
        _show_done(screen, plan, project)
    kept = plan.kept()
    if kept:
        many = "1 file stays as you have it" if len(kept) == 1 else f"{len(kept)} files stay as you have them"
        screen.say(f"{many}, against what was asked for; --force replaces or removes what you changed:")
        for change in kept:
            screen.say(f"  {shown_path(change.path, plan.place, project)}: {change.what}, {change.why}")
    return code_of(plan)


def code_of(plan: Plan) -> int:
    """The exit code of a plan: 3 where something was kept back for the user's sake."""
    return REFUSED if plan.kept() else PRINTED


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


def _show_plan(screen: Screen, plan: Plan, project: str) -> None:
    rows: dict[tuple[str, str, str, str], int] = {}
    for change in plan.changes:
        if change.action != "same":
            row = (_WORDS.get(change.action, change.action), _grouped(change, plan.place), change.what, change.why)
            rows[row] = rows.get(row, 0) + 1
    if rows:
        screen.table(
            ("WOULD", "FILE", "WHAT IT IS", "WHY"),
            [
                [would, shown_path(path, plan.place, project) + (f" ({count} files)" if count > 1 else ""), what, why]
                for (would, path, what, why), count in rows.items()
            ],
        )
    same = sum(change.action == "same" for change in plan.changes)
    if same:
        screen.print(f"{same} files are as they should be.")
    if plan.is_empty():
        screen.print("Nothing would change.")


def _grouped(change: Change, place: Places) -> str:
    """The path to tell: the many files that a skill brings of Lockstep are told by their folder."""
    vendored = os.path.join(place.skills, change.what.removeprefix("skill "), "skills") + os.sep
    return vendored if change.path.startswith(vendored) else change.path


def _show_done(screen: Screen, plan: Plan, project: str) -> None:
    counts = Counter(change.action for change in plan.changes if change.action != KEEP)
    told = ", ".join(f"{counts[action]} {words}" for action, words in _TOLD.items() if counts[action])
    screen.print(screen.styled(f"{plan.place.host}, {plan.place.scope} scope: ", "bold"), f"{told or 'nothing'}.")
    by_kind: dict[str, list[str]] = {}
    for change in plan.changes:
        if change.action in CHANGING or change.action == "same":
            kind, _, name = change.what.partition(" ")
            by_kind.setdefault(kind, []).append(name or shown_path(change.path, plan.place, project))
    if plan.then is None:
        return
    for kind, where in (("skill", plan.place.skills), ("role", plan.place.roles), ("hooks", "")):
        names = list(dict.fromkeys(by_kind.get(kind, ())))
        if names:
            place = f" in {shown_path(where, plan.place, project)}" if where else ""
            screen.print(f"  {kind + 's' if kind != 'hooks' else kind}{place}: {', '.join(names)}")
