"""What the scripted agent reports for code-quality: one finding in one file."""

from typing import Any

ASPECTS = ("correctness", "readability", "maintainability", "security")
VALUES: dict[str, Any] = {
    "review.files": ["data.txt"],
    "review.findings": ["F1 | correctness | MUST | data.txt:2 | `two` | the total is wrong by one"],
    "review.examined": [f"{aspect} | the three lines of data.txt:1" for aspect in ASPECTS],
    "doubt.kept": ["F1 | kept | nothing else makes the total, data.txt:3"],
}
FILES = {"data.txt": "one\ntwo\nthree\n"}
