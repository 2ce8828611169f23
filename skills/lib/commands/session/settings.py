"""``lockstep agent settings``."""

from __future__ import annotations

import os

import click

from skills.lib import compact_json
from skills.lib.agent.configuration import lockstep_toml
from skills.lib.agent.models import chat_models
from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen, one_line


@click.command(
    short_help="Show the settings in force, and where each comes from.",
    epilog=examples(
        "lockstep agent settings  # what holds in this project",
        "lockstep agent settings --json  # the same, for a program",
    ),
)
@json_option
@project_option
@click.pass_obj
def settings(screen: Screen, as_json: bool, project: str) -> None:
    """Show the settings of sessions in this project: the user's lockstep.toml, narrowed by the project's."""
    in_force = lockstep_toml.load(project).in_force
    if as_json:
        screen.json(
            [
                {"key": one.path, **{name: value for name, value in one.fields().items() if name != "names"}}
                for one in in_force
            ]
        )
        return
    rows = [[one.path, _shown(one.value), one.place] for one in in_force]
    screen.table(("SETTING", "VALUE", "FROM"), rows)
    if model := os.environ.get(chat_models.MODEL, "").strip():
        screen.say(f"{chat_models.MODEL} is set, and holds before agent.model: {one_line(model)}")
    for one in in_force:
        if one.unheeded:
            screen.say(f"{one.unheeded} changes nothing: a project can only narrow {one.path}.")


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (
        str(value)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool)
        else compact_json.readable(value)
    )
