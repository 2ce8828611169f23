"""Findings for a person: the place, the source line with a caret, what, why, and what to do."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from rich.cells import cell_len, chop_cells

from skills.lib import files, paths
from skills.lib.commands.console.screen import Screen, clean, one_line
from skills.lib.validation.rule import Finding

_COLOURS = {"error": "bold red", "warning": "bold yellow"}
_SOURCE_LIMIT = 1_000_000
# The cells that an excerpt takes at most, and at least, however narrow the terminal.
_WIDTH, _NARROWEST = 110, 20


def print_findings(screen: Screen, found: Sequence[Finding]) -> None:
    """Print each finding with an excerpt of the source if its line is known."""
    sources: dict[str, list[str]] = {}
    for finding in found:
        place = os.path.relpath(finding.file) if finding.file else ""
        place = finding.file if place.startswith("..") else place
        line = f":{finding.line}" if finding.line else ""
        head = screen.styled(f"{finding.severity}[{finding.rule}]", _COLOURS[finding.severity])
        screen.print(screen.styled(f"{place}{line}: " if place else "", "bold"), head, f" {one_line(finding.where)}")
        screen.print(f"  {one_line(finding.what)}")
        if finding.line:
            _print_excerpt(screen, finding, sources)
        screen.print(screen.styled("  why: ", "dim"), one_line(finding.why))
        screen.print(screen.styled("  do:  ", "dim"), one_line(finding.do))
        screen.print("")


def _print_excerpt(screen: Screen, finding: Finding, sources: dict[str, list[str]]) -> None:
    if finding.file not in sources:
        sources[finding.file] = _read(finding.file)
    lines = sources[finding.file]
    if not 0 < finding.line <= len(lines):
        return
    source = screen.drawable(clean(lines[finding.line - 1].rstrip().replace("\t", "    ")))
    gutter = f"  {finding.line} | "
    width = max(_NARROWEST, min(_WIDTH, screen.out.width - len(gutter))) if screen.terminal else _WIDTH
    shown, start, end = _shortened(source, *_mark(source, finding), width, screen.drawable("…"))
    screen.print(screen.styled(gutter, "dim"), shown)
    blank = " " * (len(gutter) - 2) + "| " + " " * cell_len(shown[:start])
    caret = "^" * max(1, cell_len(shown[start:end]))
    screen.print(screen.styled(blank, "dim"), screen.styled(caret, _COLOURS[finding.severity]))


def _mark(source: str, finding: Finding) -> tuple[int, int]:
    """Where the caret begins and ends: under a name that the finding mentions, else under the whole line."""
    for name in reversed(finding.where.split(":")[1:]):
        for token in (f'"{name}"', f"'{name}'", f"Outcome.{name.upper()}"):
            if name and token in source:
                return source.index(token), source.index(token) + len(token)
    for name in re.findall(r"'([^']+)'", re.sub(r"`[^`]*`", "", finding.what)):  # quotes inside of code are its own
        found = re.search(rf"""(?<![\w-])(["']?){re.escape(name)}\1(?![\w-])""", source)
        if found:
            return found.span()
    return len(source) - len(source.lstrip()), len(source)


def _shortened(source: str, start: int, end: int, width: int, dots: str) -> tuple[str, int, int]:
    """The part of a line that fits the width, and where the marked text begins and ends in it."""
    if cell_len(source) <= width:
        return source, start, end
    room = width - cell_len(dots)
    if cell_len(source[:end]) <= room or cell_len(source[:start]) < width // 2:
        shown = chop_cells(source, room)[0]
        return shown + dots, start, min(end, len(shown))
    begin = start if cell_len(source[start:]) > room else len(source) - len(chop_cells(source[::-1], room)[0])
    rest, begun = source[begin:], len(dots) - begin
    if cell_len(rest) <= room:
        return dots + rest, start + begun, end + begun
    shown = dots + chop_cells(rest, room - cell_len(dots))[0]
    return shown + dots, start + begun, min(end + begun, len(shown))


def _read(file: str) -> list[str]:
    """The lines of a source; none of a link that leads out of its project, whose content is nobody's business."""
    if not paths.is_of_project(file):
        return []
    try:
        return files.read(file, _SOURCE_LIMIT).decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    except OSError:
        return []
