"""What the scripted agent reports for safe-shell-search: a file with the word, and searches that found nothing."""

from typing import Any

from skills.lib.testing.samples import any_of

SEARCHES = ["the word | . | 0", "rg the other word | . | 0"]
VALUES: dict[str, Any] = {
    "search.searches": SEARCHES,
    "search.findings": any_of(["data.txt:2 | `two` | it is there"], []),
    "search.verdict": any_of("open", "found", "absent"),
    "search.answer": "It is there; for the word, and the other word, nothing was hit.",
    "widen.searches": SEARCHES,
    "widen.findings": ["data.txt:2 | `two` | it is there", ":3 | `three` | and so is this"],
    "widen.verdict": any_of("found", "absent", "open"),
    "widen.answer": "It is there; for the word, and the other word, nothing was hit.",
}
FILES = {"data.txt": "one\ntwo\nthree\n"}
