"""Asks a person for one value after the other; every prompt can be left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from skills.lib.commands.console.screen import Screen, one_line
from skills.lib.model import values
from skills.lib.model.requirements import Arg, Field

LEAVE = ("b", "quit")
EDIT = ":e"


class Left(Exception):
    """The person left the walk."""


def text(screen: Screen, label: str, choices: Sequence[str] = (), default: str | None = None) -> str:
    """One line; with choices one of them, or as much of it as only one begins with. ``Left`` on b or quit."""
    hint = f" [{'/'.join(one_line(choice) for choice in choices)}]" if choices else ""
    while True:
        shown = f"{one_line(label)}{hint}:"
        given: str = click.prompt(shown, default=default or "", show_default=bool(default), prompt_suffix=" ")
        given = given.strip()
        if given in LEAVE and given not in choices:
            raise Left
        if not choices or given in choices:
            return given
        close = [choice for choice in choices if given and choice.startswith(given)]
        if len(close) == 1:
            return close[0]
        screen.print(screen.styled(f"  one of {', '.join(one_line(choice) for choice in choices)}; b leaves", "red"))


def pause(screen: Screen, label: str) -> None:
    """Wait for the Enter key."""
    text(screen, label)


def value(screen: Screen, spec: Arg | Field) -> Any:
    """A value as the spec wants it, asked for again until it is one; None for an optional one that is left out."""
    name = spec.flag if isinstance(spec, Arg) else spec.name
    left_out = "" if spec.required else f", or nothing{_for_nothing(spec)}"
    said = f" ({spec.help})" if spec.help else ""
    screen.print(screen.styled(name, "bold"), f": {values.expectation(spec)}{left_out}{said}")
    while True:
        raw = _raw(screen, spec)
        if raw in ("", []) and not spec.required:
            return None
        try:
            values.read(spec, raw)
        except ValueError as error:
            screen.print(screen.styled(f"  {one_line(error)}", "red"))
            continue
        return raw


def _for_nothing(spec: Arg | Field) -> str:
    return f" for {spec.default}" if isinstance(spec, Arg) and spec.default is not None else ""


def _raw(screen: Screen, spec: Arg | Field) -> Any:
    if spec.type == "list":
        return _entries(screen, spec)
    long = not spec.choices and spec.type in ("text", "json", "items")
    given = text(screen, f"  {spec.name}{f' ({EDIT} opens an editor)' if long else ''}", spec.choices)
    return _edited(spec.name) if long and given == EDIT else given


def _entries(screen: Screen, spec: Arg | Field) -> Any:
    """A list: entries one by one, or one JSON array."""
    entries: list[str] = []
    while True:
        given = text(screen, f"  {spec.name} {len(entries) + 1} (an empty line ends)")
        if not given:
            return entries
        if not entries and given.startswith("["):
            try:
                return json.loads(given)
            except ValueError as error:
                screen.print(screen.styled(f"  not a JSON array: {error}", "red"))
                continue
        entries.append(given)


def _edited(name: str) -> str:
    """What a person wrote in $EDITOR; nothing where the file was left as it was."""
    mark = f"# {name}: write below this line and save; this line is left out.\n"
    return (click.edit(mark, extension=".md") or "").removeprefix(mark).strip()
