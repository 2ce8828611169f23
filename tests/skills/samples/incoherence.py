"""What the scripted agent reports for incoherence: one dimension, one finding, one issue, one item."""

from __future__ import annotations

from typing import Any

from skills.lib.testing.samples import any_of

BOTH = 'guide.md:1 "waits 30 seconds" | client.py:1 "TIMEOUT = 10"'
CANDIDATE = f"I1 | {BOTH} | the stated timeout is not the real one | A1"
ITEM = "W1 | I1 | notes.md | notes.md says 10 seconds"
ENTRY = """I1: The guide promises 30 s, the client waits 10 s (drift, SHOULD)
a) Correct the guide
b) Raise the client
Recommended: a, since callers rely on it"""
VALUES: dict[str, Any] = {
    "survey.sources": ["guide.md | docs | the timeout"],
    "dimensions.dimensions": ["A | guide.md; client.py | the timeout"],
    "dimensions.skipped": [f"{letter} | only one side here" for letter in "BCDEFGHIJ"],
    # The explorer.
    "dimension": "A | guide.md; client.py | the timeout",
    "sources": '["guide.md | docs | the timeout"]',
    "compared": ["guide.md:1 | it waits | agrees | client.py:1"],
    "gaps": any_of(["notes.md | may repeat the timeout"], []),
    "findings": any_of([f"{BOTH} | the stated timeout is not the real one"], []),
    "more": [],
    "candidates.joined": any_of(["I1 | A1"], []),
    "candidates.dropped": any_of([], ["A1 | outside the scope"]),
    # The deep dive.
    "candidate": CANDIDATE,
    "evidence": ['guide.md:1 "waits 30 seconds" | the promise', 'client.py:1 "TIMEOUT = 10" | what is used'],
    "judge.verdict": "drift",
    "options": ["a | correct the guide | guide.md | none", "b | raise the client | client.py | slower"],
    "recommended": "a: because callers rely on it",
    "verdicts.listed": any_of(["I1 | drift | SHOULD | the timeout"], []),
    "verdicts.dismissed": any_of([], ["I1 | unjudged | its sub-agent was lost"]),
    "batch.entries": any_of([], [ENTRY]),
    "collect-answers.resolutions": any_of(
        ["I1 | a"],
        ["I1 | again | who relies on it?"],
        ["I1 | deferred | after the release"],
    ),
    "plan.items": [ITEM],
    # The reconciler.
    "item": ITEM,
    "decisions": '["I1 | resolved | a | say 10 seconds"]',
    "status": "applied",
    "changes": ['notes.md:1 "waits 10 seconds" | was "waits 30 seconds"'],
    "collect.outcomes": any_of(['W1 | applied | notes.md:1 "waits 10 seconds"'], ["W1 | again | not yet as decided"]),
    "report.path": "report.md",
}
FILES = {
    "guide.md": "The client waits 30 seconds.\n",
    "client.py": "TIMEOUT = 10\n",
    "notes.md": "The client waits 10 seconds.\n",
}
