"""What the scripted agent reports for codebase-analysis."""

from __future__ import annotations

from typing import Any

from skills.lib.testing.samples import any_of

VALUES: dict[str, Any] = {
    "scope.areas": any_of(["data.txt | what is so? | data.txt", "x | x | x"], ["data.txt | what is so? | data.txt"]),
    "explore.findings": ["data.txt:1 | it is so | structure"],
    "deepen.findings": ["data.txt:1 | it is so | it matters", "data.txt:3-3 | and so is this | it matters too"],
    "synthesize.answer": "It is so: `data.txt:1`, `data.txt:2` and `data.txt:3` say it.",
    "synthesize.across": ["flows | first `data.txt:1`"],
    "synthesize.strike": [],
    "synthesize.path": "report.md",
}
FILES = {"data.txt": "one\ntwo\nthree\n"}
