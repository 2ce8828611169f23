"""The scripted agent of the demo: it runs the commands that the blocks print, and shows both to the reader."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import textwrap
from typing import TYPE_CHECKING

from lxml import etree
from question import Work, environment
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

PLACEHOLDER = re.compile(r"'?FILL_(\w+)'?")
# Characters of a command that are shown.
COMMAND_WIDTH = 330
COLOURS = {"step": "cyan", "refused": "red", "waiting": "yellow", "done": "green"}


class Block:
    """One printed document and the exit code that came with it."""

    def __init__(self, text: str, exit_code: int) -> None:
        self.text, self.exit_code = text, exit_code
        self.root = etree.fromstring(text.encode())

    @property
    def next(self) -> str:
        """The command that goes on; empty where there is none."""
        return self.words("NEXT")

    def words(self, tag: str) -> str:
        """The text of the first element of that tag."""
        element = self.root.find(tag)
        return "" if element is None else "".join(str(part) for part in element.itertext()).strip()

    def rows(self) -> list[tuple[str, list[str]]]:
        """The block in short, as the names of its parts with a few lines each."""
        rows = [(str(part.tag), [self.words(str(part.tag))]) for part in self.root if part.tag in _WHOLE]
        values = [
            f"{value.get('step')}.{value.get('name')}: {value.text}" for value in self.root.iterfind("CONTEXT/value")
        ]
        prose = [line for line in self.words("DO").splitlines() if line.strip()]
        record = [f"{field.get('name')} ({field.get('type')})" for field in self.root.iterfind("RECORD/*[@name]")]
        ways = [
            f"{way.get('name')} → {way.get('to')}: {way.text or ''}"
            for way in self.root.iterfind("INVOKE_AFTER/outcome")
        ]
        rows += [
            ("CONTEXT", _first(values[::-1], 4, "values before these")[::-1]),
            ("DO", _first(prose, 6, "lines")),
            ("RECORD", [", ".join(record)]),
            ("FORBIDDEN", _first([rule.text or "" for rule in self.root.iterfind("FORBIDDEN/rule")], 1, "rules")),
            ("INVOKE_AFTER", ways),
            ("RESULT", [value.text or "" for value in self.root.iterfind("RESULT/value")]),
        ]
        return [(name, lines) for name, lines in rows if any(lines)]


_WHOLE = ("STATE", "ASKED", "STANDS", "WHY", "VALID")
# Parts that are shown line by line, each cut at the edge; the others flow.
_CUT = ("CONTEXT", "DO", "FORBIDDEN", "INVOKE_AFTER")


def _first(lines: list[str], count: int, what: str) -> list[str]:
    return [*lines[:count], f"… and {len(lines) - count} more {what}"] if len(lines) > count else lines


class Agent:
    """Runs commands as an agent's shell tool does, from the project's folder."""

    def __init__(self, folder: str, console: Console) -> None:
        self.folder, self.console = folder, console
        self.commands = 0
        self._shown = ""

    def run(self, command: str) -> Block:
        """Run a command line exactly as it stands, and show it with the block that it prints."""
        self.commands += 1
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=self.folder, env=environment(), capture_output=True, text=True, check=False
        )
        self.console.print(Text.assemble(("$ ", "bold"), (short_command(command), "bold")))
        if not done.stdout.startswith("<"):
            raise SystemExit(f"{command}\nended with {done.returncode}: {done.stderr or done.stdout}")
        block = Block(done.stdout, done.returncode)
        self._show(block)
        return block

    def fill(self, block: Block, values: Mapping[str, str | Sequence[str]]) -> str:
        """The block's NEXT command with every placeholder replaced; what ``values`` lacks gets a plain default."""
        fields = {str(field.get("name")): field for field in block.root.iterfind("RECORD/*[@name]")}

        def value_of(placeholder: re.Match[str]) -> str:
            name = placeholder[1]
            value = values.get(name) or _default(fields[name])
            return shlex.quote(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))

        return PLACEHOLDER.sub(value_of, block.next)

    def note(self, text: str, style: str = "") -> None:
        """Tell the reader something beside the run."""
        self.console.print(Text(text, style=style or "italic"))

    def show_work(self, work: Sequence[Work]) -> None:
        """Show what the agent ran of its own, between two blocks."""
        for done in work:
            self.console.print(
                Text.assemble(("  the agent runs ", "dim"), done.command, (f"  → {done.showed}", "magenta"))
            )

    def _show(self, block: Block) -> None:
        kind = str(block.root.tag)
        colour = COLOURS[kind]
        title = f"{kind} (exit {block.exit_code})"
        if kind == "step":
            root = block.root
            title = f"step {root.get('number')} of {root.get('of')}: {root.get('title')}, turn {root.get('turn')}"
        self.console.print(Rule(Text(title, style=f"bold {colour}"), align="left", style=colour))
        self.console.print(self._short_form(block, colour))
        self.console.print()
        if kind == "step":
            self._shown = block.text

    def _short_form(self, block: Block, colour: str) -> Table:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style=colour, no_wrap=True)
        grid.add_column()
        rows = block.rows()
        if block.text == self._shown:
            rows = [("STATE", [block.words("STATE"), "The same block, to the letter."])]
        for name, lines in rows:
            if name in _CUT:
                lines = [" ".join(line.splitlines()) if name == "CONTEXT" else line for line in lines]
            cut = Text("\n".join(lines), no_wrap=name in _CUT, overflow="ellipsis" if name in _CUT else "fold")
            grid.add_row(name, cut)
        if block.next:
            grid.add_row("NEXT", Text(short_command(block.next), style="bold"))
        return grid


def short_command(command: str) -> str:
    """A command as a reader needs it: without the folders of its interpreter and script, and cut."""
    text = re.sub(r"(?<![\w.-])/\S*/(?=[\w.-])", "…/", command)
    return textwrap.shorten(text, COMMAND_WIDTH, placeholder=" …")


def _default(field: etree._Element) -> str | list[str]:
    choices = (field.get("choices") or "none").split("|")
    if field.get("type") == "list":
        return [choices[at % len(choices)] for at in range(int(field.get("min") or 1))]
    return choices[0].ljust(int(field.get("min") or 1), ".")
