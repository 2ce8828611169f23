"""What the scripted agent reports for refactor: one category, two findings, of which one is worth an item."""

from __future__ import annotations

from typing import Any

from skills.lib.testing.samples import any_of

ITEM = {
    "id": "W1",
    "title": "One place for both",
    "clusters": ["C1"],
    "places": ["data.txt:1"],
    "change": "move the second to the first",
    "gain": "one change instead of two",
    "risk": "none is known",
    "proof": "a test for both",
    "size": "small",
}
CLUSTER = "C1 | F1 | no place of its own | both say the same"
VALUES: dict[str, Any] = {
    "n": 1,
    "seed": 7,
    "context.files": ["data.txt | three lines"],
    "search.signs": ["the same twice | read data.txt | 2 hits | none", "one too few | wc data.txt | none | none"],
    "search.candidates": ["data.txt:1", "data.txt:2"],
    "judge.findings": ["data.txt:1 | MUST | one is odd | the first", "data.txt:2 | COULD | so is two | the second"],
    "triage.triaged": any_of(
        ["F1 | SHOULD | it is so", "F2 | drop | same as F1"], ["F1 | drop | not so", "F2 | drop | not so"]
    ),
    "cluster.clusters": any_of(
        [f"{CLUSTER} | refactor | data.txt:1 says nothing"], [f"{CLUSTER} | leave | data.txt:1 is meant so"]
    ),
    # After a review that failed the items are others than the reviewer saw.
    "synthesize.items": any_of([ITEM], *([{**ITEM, "proof": f"test {at} for both"}] for at in range(1, 7))),
    "synthesize.edits": [],
    "synthesize.strike": [],
    "synthesize.left": [],
    "synthesize.path": "items.json",
}
BY_SCRIPT: dict[str, dict[str, Any]] = {
    "explore": {"category": "Names: each says what it names", "domain": "three lines", "files": ["data.txt"]},
}
FILES: dict[str, str] = {
    "data.txt": "one\ntwo\nthree\n",
}
