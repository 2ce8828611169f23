"""Tables for a person: on a narrow terminal nothing that is to be typed is cut."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from skills.lib.commands.console.screen import Screen

HEADINGS = ("RUN", "SKILL", "STATUS", "STEP", "TURN")
ROWS = [["k3f9q2mx", "codebase-analysis", "open", "survey", "2"], ["k3f9q2mx.1", "codebase-analysis", "done", "", "2"]]


def shown(width: int) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, force_terminal=True, legacy_windows=False)
    Screen(console, console, terminal=True, unicode=True).table(HEADINGS, ROWS)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def test_a_table_that_fits_has_columns() -> None:
    assert shown(60) == (
        "RUN         SKILL              STATUS  STEP    TURN\n"
        "k3f9q2mx    codebase-analysis  open    survey  2\n"
        "k3f9q2mx.1  codebase-analysis  done            2\n"
    )


@pytest.mark.parametrize("width", [20, 40])
def test_a_table_that_does_not_fit_is_printed_line_by_line(width: int) -> None:
    assert shown(width) == (
        "RUN     k3f9q2mx\n"
        "SKILL   codebase-analysis\n"
        "STATUS  open\n"
        "STEP    survey\n"
        "TURN    2\n"
        "\n"
        "RUN     k3f9q2mx.1\n"
        "SKILL   codebase-analysis\n"
        "STATUS  done\n"
        "TURN    2\n"
    )
