"""What is shown: clean text, colour if it is wanted, no markup; output that is piped on is never cut."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skills.lib.clean_text import TIMES as TIMES
from skills.lib.clean_text import clean as clean
from skills.lib.clean_text import one_line as one_line
from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.model.texts import counted as counted

Cell = str | Text

# A column of names no longer than this, in characters, is not folded on a narrow terminal; the others give way.
_UNFOLDED = 24
_ASCII = {"…": "...", "→": "->", TIMES: "x", "✓": "ok", "✗": "failed"}


def cut_to(text: str, columns: int) -> str:
    """The text in so many columns of a terminal: its end is left out for a sign that says so."""
    return text if cell_len(text) <= columns else set_cell_size(text, columns - 1).rstrip() + "…"


@dataclass(frozen=True)
class Screen:
    """Where a subcommand prints: ``out`` for what was asked, ``err`` for what is said about it.

    ``terminal`` says whether a person reads ``out``; ``unicode`` whether box characters can be drawn.
    """

    out: Console
    err: Console
    terminal: bool
    unicode: bool

    def print(self, *parts: Cell) -> None:
        """Print one line; a string part is cleaned, a Text is taken as made by ``styled``."""
        self.out.print(self._joined(parts), soft_wrap=True)

    def say(self, *parts: Cell) -> None:
        """Print one line beside the output: a notice, a progress, a question's preface.

        If standard error is closed or full, the line is lost and nothing else changes.
        """
        with contextlib.suppress(OSError):
            self.err.print(self._joined(parts), soft_wrap=True)

    def styled(self, text: object, style: str) -> Text:
        """The clean text in a style of rich."""
        return Text(self.drawable(clean(text)), style)

    def drawable(self, text: str) -> str:
        """The text with our own typography spelt in ASCII if the locale has no more."""
        if self.unicode:
            return text
        for character, plain in _ASCII.items():
            text = text.replace(character, plain)
        return text

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]], style: str = "bold") -> None:
        """Print rows in columns: folded to the width of a terminal; piped, aligned and never cut.

        On a terminal that is too narrow for the columns, each cell takes a line.
        """
        cells = [
            [cell if isinstance(cell, Text) else Text(self.drawable(one_line(cell))) for cell in row] for row in rows
        ]
        head = [Text(heading, style) for heading in headings]
        widths = [max(cell_len(row[at].plain) for row in [head, *cells]) for at in range(len(headings))]
        if self.terminal and sum(min(width, _UNFOLDED) + 2 for width in widths) - 2 > self.out.width:
            self._stacked(head, cells)
            return
        if self.terminal:
            table = Table(box=None, header_style=style, pad_edge=False, padding=(0, 2, 0, 0))
            for heading, width in zip(headings, widths, strict=True):
                table.add_column(heading, overflow="fold", no_wrap=width <= _UNFOLDED)
            for row in cells:
                table.add_row(*row)
            self.out.print(table)
            return
        for row in [head, *cells]:
            line = Text()
            for cell, width in zip(row, widths, strict=True):
                line.append_text(cell).append(" " * (width - cell_len(cell.plain) + 2))
            line.rstrip()
            self.out.print(line, soft_wrap=True)

    def _stacked(self, head: Sequence[Text], rows: Sequence[Sequence[Text]]) -> None:
        width = max(heading.cell_len for heading in head)
        for number, row in enumerate(rows):
            if number:
                self.out.print()
            for heading, cell in zip(head, row, strict=True):
                if cell.plain.strip():
                    padding = " " * (width - heading.cell_len + 2)
                    self.out.print(Text.assemble(heading, padding, cell), soft_wrap=True)

    def json(self, value: Any) -> None:
        """Print a value for a program: ASCII only, so that no terminal and no locale can misread it."""
        self.out.print(Text(json.dumps(value, indent=2)), soft_wrap=True)

    def write(self, file: str, text: str, force: bool) -> None:
        """Write a file and say so; RefusedError if there is one and not ``force``, else EnvironmentProblem."""
        try:
            with open(file, "w" if force else "x", encoding="utf-8", newline="\n") as written:
                written.write(text)
        except FileExistsError as error:
            raise RefusedError(f"{file} exists, and is not overwritten", remedy="--force, or another name") from error
        except OSError as error:
            raise EnvironmentProblem(
                f"{file} cannot be written: {error.strerror}",
                remedy="the name of a file in a folder that is there, and may be written",
            ) from error
        self.say(f"wrote {file}")

    def _joined(self, parts: Sequence[Cell]) -> Text:
        line = Text()
        for part in parts:
            line.append_text(part if isinstance(part, Text) else Text(self.drawable(clean(part))))
        return line


def open_screen(no_color: bool = False, environment: Mapping[str, str] = os.environ) -> Screen:
    """The screen of this process, by its streams, ``--no-color``, NO_COLOR, FORCE_COLOR, TERM and the locale."""
    terminal = _is_terminal(sys.stdout)
    out = _console(sys.stdout, _colours(sys.stdout, no_color, environment))
    err = _console(sys.stderr, _colours(sys.stderr, no_color, environment))
    return Screen(out, err, terminal, _draws_boxes(sys.stdout, environment))


class _Console(Console):
    """Leaves a reader that went away to the one place that knows exit codes."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console(stream: Any, colours: bool) -> Console:
    terminal = _is_terminal(stream)
    return _Console(
        file=stream,
        force_terminal=terminal,
        color_system="standard" if colours else None,
        no_color=not colours,
        width=None if terminal else 100,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )


def _colours(stream: Any, no_color: bool, environment: Mapping[str, str]) -> bool:
    if no_color or environment.get("NO_COLOR"):
        return False
    forced = environment.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return _is_terminal(stream) and environment.get("TERM") != "dumb"


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def _draws_boxes(stream: Any, environment: Mapping[str, str]) -> bool:
    """True if box characters will be seen: the locale was not set to C, and the stream's encoding has them."""
    locale = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or ""
    encoding = str(getattr(stream, "encoding", "") or "").lower().replace("-", "")
    return locale not in ("C", "POSIX") and encoding.startswith("utf")
