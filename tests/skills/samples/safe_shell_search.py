"""What the scripted agent reports for safe-shell-search: a file with the word, and searches that found nothing."""

from typing import Any

from skills.lib.testing.samples import any_of

SEARCHES = ["search | the word | . | 0", "rg | the other word | . | 0"]
VALUES: dict[str, Any] = {
    "locate.searches": SEARCHES,
    "locate.candidates": any_of(["data.txt:2 | its second line"], []),
    "widen.searches": SEARCHES,
    "widen.candidates": any_of(["data.txt:3 | its third line"], []),
    "confirm.findings": ["data.txt:2 | `two` | it is there"],
    "confirm.settled": any_of("yes", "no"),
    "report.verdict": any_of("found", "absent"),
    "report.answer": "data.txt:2 has it; nothing was hit for the word, nor for the other word.",
}
FILES = {"data.txt": "one\ntwo\nthree\n"}
