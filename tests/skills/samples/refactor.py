"""What the scripted agent reports for refactor: one category, two findings, of which one is worth an item."""

from __future__ import annotations

import json
from typing import Any

from skills.lib.testing.samples import any_of

ITEM = {
    "id": "W1",
    "title": "One place for both",
    "clusters": ["C1"],
    "findings": ["F1"],
    "places": ["data.txt:1"],
    "cause": "there is no such place",
    "intent": "nothing speaks for two",
    "change": "move the second to the first",
    "gain": "one change instead of two",
    "risk": "none is known",
    "proof": "a test for both",
    "size": "small",
    "requires": [],
    "obsoletes": [],
    "conflicts": [],
}
VALUES: dict[str, Any] = {
    "n": 1,
    "seed": 7,
    "context.files": ["data.txt | three lines"],
    "principle.signs": ["S1: the same twice | read data.txt | none", "S2: one too few | wc data.txt | none"],
    "search.searched": ["S1 | read data.txt | 2 hits", "S2 | wc data.txt | none"],
    "search.candidates": ["data.txt:1 | one", "data.txt:2 | two"],
    "judge.findings": ["data.txt:1 | MUST | one is odd | the first", "data.txt:2 | COULD | so is two | the second"],
    "triage.triaged": any_of(
        ["F1 | keep | SHOULD | it is so", "F2 | drop | same as F1"], ["F1 | drop | not so", "F2 | drop | not so"]
    ),
    "cluster.clusters": ["C1 | F1 | no place of its own | both say the same"],
    "synthesize.work_items": ["W1"],
    "weigh.weighed": any_of(["C1 | refactor | data.txt:1 says nothing"], ["C1 | leave | data.txt:1 is meant so"]),
}
BY_SCRIPT: dict[str, dict[str, Any]] = {
    "explore": {"category": "Names", "scope": "data.txt"},
}
FILES: dict[str, str] = {
    "data.txt": "one\ntwo\nthree\n",
    "items_file": json.dumps({"pick": "seed 7: Module boundaries", "items": [ITEM]}),
}
