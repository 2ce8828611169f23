"""What the scripted agent reports for leon-writing-style."""

from __future__ import annotations

from typing import Any

VALUES: dict[str, Any] = {
    "settle.profile": "profile.md",
    "settle.draft": "note.draft.md",
    "settle.keep": [],
    "read.finds": ['T1, R1 | "It is said"', f"none | {', '.join(f'T{at}' for at in range(2, 13))}"],
    "consolidate.marks": ['M1 | "No more."', 'M2 | "One thing first."'],
    "check.checks": [f"C{at} | pass | it is so" for at in range(1, 6)],
}
FILES = {
    "profile.md": "- R1 Point first.\n",
    "note.draft.md": "It is said that there is one thing.\n",
    "note.text.md": "One thing first. Somebody said it. No more.\n",
}
