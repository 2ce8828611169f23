"""What the scripted agent reports for leon-writing-style."""

from __future__ import annotations

from typing import Any

VALUES: dict[str, Any] = {
    "purpose.keep": [],
    "tells.tells": ['T1 | line 1 | "It is" | cut', *(f"T{at} | none" for at in range(2, 13))],
    "marks.marks": ["M1 | at the end | There is no more.", "M2 | at the head | One thing first."],
    "align.departures": ['R1 | "It is said" | Somebody said it.'],
    "refine.count": 8,
    "check.checks": [*(f"C{at} | pass | it is so" for at in range(1, 8)), "C8 | pass | 8 of 8 words"],
}
FILES = {
    "draft": "It is said that there is one thing.\n",
    "text": "One thing first. Somebody said it. No more.\n",
}
