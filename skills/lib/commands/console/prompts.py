"""Questions to a person at a terminal: a choice, a text, a value that a step asks for."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from skills.lib import terminal
from skills.lib.commands.console.screen import Screen, one_line
from skills.lib.errors import nearest
from skills.lib.model import values
from skills.lib.model.requirements import Arg, Field

LEAVE = ("b", "quit")
EDIT = ":e"


class Left(Exception):
    """The person left the walk."""


def is_terminal() -> bool:
    """True if a person can be asked: standard input and standard error are terminals."""
    return terminal.is_there() and sys.stderr is not None and sys.stderr.isatty()


def answer_to(question: str, **options: Any) -> Any:
    """What the person types after a question; options are those of ``click.prompt``.

    Raises click.Abort if the person leaves it, which ends the line of the question.
    """
    try:
        return click.prompt(question, **options)
    except click.Abort:
        click.echo(err=True)
        raise


def confirmed(question: str) -> bool:
    """True if the person answers yes; no answer is no."""

    def said(text: str) -> bool:
        word = text.strip().lower()
        if word not in ("y", "yes", "n", "no", ""):
            raise click.BadParameter(f"{word!r:.80} is no answer: type y for yes, n for no")
        return word in ("y", "yes")

    answer: bool = answer_to(f"{question} [y/N]", default="", show_default=False, value_proc=said, err=True)
    return answer


def some_of(question: str, choices: Sequence[str], default: Sequence[str]) -> list[str]:
    """The choice of several, typed with spaces or commas between; ``all`` chooses all."""

    def chosen(text: str) -> list[str]:
        words = text.replace(",", " ").split()
        unknown = [word for word in words if word not in (*choices, "all")]
        if unknown or not words:
            close = nearest(unknown[0], (*choices, "all")) if unknown else ""
            meant = f" (did you mean {close}?)" if close else ""
            wrong = f"there is no {unknown[0]!r:.80}{meant}: " if unknown else ""
            raise click.BadParameter(f"{wrong}choose from {', '.join(choices)}, or all")
        return list(choices) if "all" in words else words

    click.echo(f"  {', '.join(choices)}; or all", err=True)
    shown = "all" if list(default) == list(choices) else " ".join(default)
    answer: list[str] = answer_to(question, default=shown, value_proc=chosen, err=True)
    return answer


def text(screen: Screen, label: str, choices: Sequence[str] = ()) -> str:
    """One line; with choices one of them, typed far enough to tell it from the others. Raises Left on b or quit."""
    hint = f" [{'/'.join(one_line(choice) for choice in choices)}]" if choices else ""
    while True:
        shown = f"{one_line(label)}{hint}:"
        given: str = answer_to(shown, default="", show_default=False, prompt_suffix=" ")
        given = given.strip()
        if given in LEAVE and given not in choices:
            raise Left
        if not choices or given in choices:
            return given
        close = [choice for choice in choices if given and choice.startswith(given)]
        if len(close) == 1:
            return close[0]
        screen.print(screen.styled(f"  one of {', '.join(one_line(choice) for choice in choices)}; b leaves", "red"))


def value(screen: Screen, spec: Arg | Field, name: str) -> Any:
    """A value that fits the spec, asked for under ``name`` until it does; None if an optional one is left out."""
    default = f" for {spec.default}" if isinstance(spec, Arg) and spec.default is not None else ""
    left_out = "" if spec.required else f", or nothing{default}"
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
    """What a person wrote in $EDITOR; empty if the file was left as it was."""
    mark = f"# {name}: write below this line and save; this line is left out.\n"
    return (click.edit(mark, extension=".md") or "").removeprefix(mark).strip()
