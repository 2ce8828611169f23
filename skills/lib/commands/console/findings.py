"""Findings for a person: the place, the source line with a caret, what, why, and what to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skills.lib.commands.console.screen import Screen, one_line
from skills.lib.workflow.validation.finding import Finding

if TYPE_CHECKING:
    from skills.lib.commands.lookup.checking import Checked

_COLOURS = {"error": "bold red", "warning": "bold yellow"}
_SOURCE_LIMIT = 1_000_000
_WIDTH = 110


def print_findings(screen: Screen, found: Sequence[Finding]) -> None:
    """Print each finding with an excerpt of the source where its line is known."""
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


def print_summary(screen: Screen, checked: Checked) -> None:
    """The last line: how many findings, in how many skills and workflows."""
    errors = sum(finding.severity == "error" for finding in checked.findings)
    warnings = len(checked.findings) - errors
    looked = _count(checked.modules, "workflow")
    if checked.skills:
        looked = f"{_count(checked.skills, 'skill')}, {looked}"
    if not checked.findings:
        screen.say(screen.styled("Nothing is wrong", "green"), f" in {looked}.")
        return
    colour = "red" if errors else "yellow"
    screen.say(screen.styled(f"{_count(errors, 'error')}, {_count(warnings, 'warning')}", colour), f" in {looked}.")


def _print_excerpt(screen: Screen, finding: Finding, sources: dict[str, list[str]]) -> None:
    if finding.file not in sources:
        sources[finding.file] = _read(finding.file)
    lines = sources[finding.file]
    if not 0 < finding.line <= len(lines):
        return
    source = lines[finding.line - 1].rstrip().replace("\t", "    ")
    start, length = _mark(source, finding.where.split(":")[1:])
    if start + length > _WIDTH:
        source, length = source[: _WIDTH - 1] + "…", max(1, _WIDTH - start - 1)
    gutter = f"  {finding.line} | "
    screen.print(screen.styled(gutter, "dim"), source)
    blank = " " * (len(gutter) - 2) + "| "
    screen.print(screen.styled(blank, "dim"), " " * start, screen.styled("^" * length, _COLOURS[finding.severity]))


def _mark(source: str, names: Sequence[str]) -> tuple[int, int]:
    """Where the caret stands and how long it is: under what of the place the line names, else under all."""
    for name in reversed(names):
        for token in (f'"{name}"', f"'{name}'", f"Outcome.{name.upper()}"):
            if name and token in source:
                return source.index(token), len(token)
    start = len(source) - len(source.lstrip())
    return start, max(1, len(source) - start)


def _read(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read(_SOURCE_LIMIT).split("\n")
    except OSError:
        return []


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
