"""The scripted agent of the demo: it runs the commands that the blocks print, and shows both to the reader in short."""

from __future__ import annotations

import re
import shlex
import subprocess
import textwrap
from typing import TYPE_CHECKING

from question import Work, environment
from rich.text import Text

from skills.lib.testing import blocks
from skills.lib.testing.blocks import Spec, filled, placeholders

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

# Reported values of a command that are shown; the others are counted.
REPORTS = 2
COLOURS = {"step": "cyan", "refused": "red", "waiting": "yellow", "done": "green"}
# The parts of a block that are shown, and how many lines of a step's DO.
FIRST = ("STATE", "DO", "RECORD", "FORBIDDEN", "INVOKE_AFTER", "NEXT")
LATER = ("DO", "RECORD", "INVOKE_AFTER")
OTHER = ("ASKED", "STANDS", "WHY", "VALID", "STATE", "RESULT", "NEXT")
LINES = 2
# The margin before the text of a part, which holds its name.
MARGIN = " " * 14


class Block(blocks.PrintedBlock):
    """One printed document, and how it is shown in short."""

    def rows(self, parts: Sequence[str], width: int) -> list[tuple[str, str]]:
        """The block in short: each of these parts that it has, in a few words that fit beside its name."""
        short = {
            "DO": textwrap.shorten(self.words("DO"), LINES * width, placeholder=" […]"),
            "RECORD": ", ".join(spec.name for spec in self.specs),
            "FORBIDDEN": next((rule.text or "" for rule in self.root.iterfind("FORBIDDEN/rule")), ""),
            "INVOKE_AFTER": ", ".join(f"{name} → {to}" for name, to in self.outcomes.items()),
            "RESULT": next(iter(self.result.values()), ""),
        }
        rows = [(name, short[name] if name in short else self.words(name).strip()) for name in parts]
        return [(name, text) for name, text in rows if text]


class Agent:
    """Runs commands as an agent's shell tool does, from the project's folder."""

    def __init__(self, folder: str, console: Console) -> None:
        self.folder, self.console = folder, console
        self.commands = 0
        # The step and turn that were shown last.
        self._shown = ("", 0)

    def run(self, command: str) -> Block:
        """Run a command line exactly as it was printed, and show it with the block that it prints."""
        self.commands += 1
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=self.folder, env=environment(), capture_output=True, text=True, check=False
        )
        self._print(_command_lines(command, "$ ", self.console.width), "bold")
        if not done.stdout.startswith("<"):
            raise SystemExit(f"{command}\nended with {done.returncode}: {done.stderr or done.stdout}")
        block = Block(done.returncode, done.stdout)
        self._show(block)
        return block

    def fill(self, block: Block, values: Mapping[str, str | Sequence[str]]) -> str:
        """The block's NEXT command with every placeholder replaced; what ``values`` lacks gets a plain default."""
        specs = {spec.name: spec for spec in block.specs}
        given = {name: values.get(name) or _default(specs[name]) for name in placeholders(block.next)}
        return filled(block.next, given)

    def note(self, text: str, style: str = "italic") -> None:
        """Print a remark to the reader, in lines of the console's width."""
        self._print(_filled(" ".join(text.split()), "", "", self.console.width), style)

    def show_work(self, work: Sequence[Work]) -> None:
        """Show what was measured between two blocks."""
        for done in work:
            line = f"measured: {done.command} → {done.showed}"
            self._print(_filled(line, "  ", "    ", self.console.width), "magenta")

    def show_cut(self, text: str) -> None:
        """Show lines, each cut at the edge."""
        width = self.console.width
        self._print([line if len(line) <= width else line[: width - 1] + "…" for line in text.splitlines()])

    def _print(self, lines: Sequence[str], style: str = "") -> None:
        for line in lines:
            self.console.print(Text(line, style), soft_wrap=True)

    def _show(self, block: Block) -> None:
        kind = block.kind
        title = f"{kind} (exit {block.exit_code})"
        parts: Sequence[str] = OTHER
        if kind == "step":
            root = block.root
            title = f"step {root.get('number')} of {root.get('of')}: {root.get('title')}, turn {block.turn}"
            parts = LATER if self._shown[1] else FIRST
        self._print([f"── {title} ".ljust(self.console.width, "─")], f"bold {COLOURS[kind]}")
        if kind == "step" and (str(block.root.get("id")), block.turn) == self._shown:
            self._print(["The same step and turn again, this time with all that it needs: nothing was done twice."])
        else:
            for name, text in block.rows(parts, self.console.width - len(MARGIN) - 6):
                self._print(_row(name, text, self.console.width))
        self.console.print()
        if kind == "step":
            self._shown = (str(block.root.get("id")), block.turn)


def _row(name: str, text: str, width: int) -> list[str]:
    """A part of a block: its name, and its text beside it."""
    if name == "NEXT":
        lines = _command_lines(text, MARGIN, width, 1)
    else:
        lines = [line for each in text.splitlines() for line in _filled(each, MARGIN, MARGIN, width)]
    return [name.ljust(len(MARGIN)) + lines[0][len(MARGIN) :], *lines[1:]]


def _filled(text: str, lead: str, margin: str, width: int) -> list[str]:
    """The text in lines that are broken at spaces alone."""
    return textwrap.wrap(
        text, width, initial_indent=lead, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
    )


def _command_lines(command: str, lead: str, width: int, reports: int = REPORTS) -> list[str]:
    """A command as a reader needs it: folders cut out, and each reported value on a line of its own.

    The first ``reports`` values are shown, each shortened between its quotes; the others are counted.
    """
    words = [re.sub(r"^/\S*/", "…/", word) for word in shlex.split(command)]
    if "--project" in words:
        words[words.index("--project") + 1] = "…"
    at = next((at for at, word in enumerate(words) if word in ("--record", "--confidence")), len(words))
    margin = " " * (len(lead) + 2)
    lines = _filled(" ".join(words[:at]), lead, margin, width)
    reported = list(zip(words[at::2], words[at + 1 :: 2], strict=True))
    for flag, value in reported[:reports]:
        name, equals, text = value.partition("=") if flag == "--record" else ("", "", value)
        room = width - len(f"{margin}{flag} {name}{equals}''")
        lines.append(f"{margin}{flag} {name}{equals}{_quoted(text, room)}")
    if len(reported) > reports:
        lines.append(f"{margin}[… {len(reported) - reports} more]")
    return lines


def _quoted(text: str, room: int) -> str:
    """A value in quotes, shortened to fit; one that needs none has none."""
    text = " ".join(text.split()).replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
    short = text if len(text) <= room else text[: room - 1].rstrip() + "…"
    return short if re.fullmatch(r"[\w.-]+", short) else f"'{short}'"


def _default(spec: Spec) -> str | list[str]:
    choices, least = spec.choices or ("none",), int(spec.minimum or 1)
    if spec.type == "list":
        return [choices[at % len(choices)] for at in range(least)]
    return choices[0].ljust(least, ".")
