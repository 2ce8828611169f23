"""``lockstep export``."""

from __future__ import annotations

import os

import click

from skills.lib.commands.console.options import examples, json_option, project_option, skill_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.hosts import skills
from skills.lib.hosts.install import export as exporting


@click.command(
    epilog=examples(
        "lockstep export planner  # ./planner, to be copied anywhere",
        "lockstep export planner --to ~/shared/skills  # ~/shared/skills/planner",
        "lockstep export planner --dry-run  # which files, and how large",
    )
)
@skill_argument
@click.option("--to", "target", metavar="DIR", type=click.Path(), default=".", help="Where to put it (default: here).")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--force", is_flag=True, help="Replace an earlier copy, with whatever was changed in it.")
@json_option
@project_option
@click.pass_obj
def export(screen: Screen, skill: str, target: str, dry_run: bool, force: bool, as_json: bool, project: str) -> None:
    """Make a self-contained copy of SKILL in DIR: its folder, with the part of Lockstep that prints steps inside.

    The copy works on any Python 3.11 or later, in any place, with nothing installed. The whole command (lockstep
    answer, resume and so on) is not in it.
    """
    [(name, folder)] = skills.chosen_sources(project, [skill]).items()
    files = exporting.contents(folder)
    place = os.path.join(os.path.realpath(target), name)
    if not dry_run:
        exporting.write_copy(place, files, replace=force)
    step_path = sum(map(len, exporting.vendored().values()))
    own = sum(map(len, files.values())) - step_path
    if as_json:
        sizes = {path: len(data) for path, data in files.items()}
        screen.json({"skill": name, "folder": place, "written": not dry_run, "files": sizes})
        return
    if dry_run:
        screen.table(("FILE", "BYTES"), [[path, f"{len(data):,}"] for path, data in files.items()])
    screen.print(screen.styled(f"{'Would write' if dry_run else 'Wrote'} {place}", "bold"))
    screen.print(
        f"{len(files)} files, {_kilobytes(own + step_path)}: the skill {_kilobytes(own)}, "
        f"the part of Lockstep that prints steps {_kilobytes(step_path)}."
    )


def _kilobytes(size: int) -> str:
    return f"{size / 1000:,.0f} kB"
