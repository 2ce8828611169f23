"""What the scripted agent reports for leon-writing-style."""

from __future__ import annotations

from typing import Any

VALUES: dict[str, Any] = {
    "purpose.keep": [],
    "tells.tells": ['T1 | "It is"', f"none | {', '.join(f'T{at}' for at in range(2, 13))}"],
    "marks.marks": ["M1 | There is no more.", "M2 | One thing first."],
    "align.departures": ['R1 | "It is said"'],
    "check.checks": [f"C{at} | pass | it is so" for at in range(1, 6)],
}
FILES = {
    "draft": "It is said that there is one thing.\n",
    "text": "One thing first. Somebody said it. No more.\n",
}
