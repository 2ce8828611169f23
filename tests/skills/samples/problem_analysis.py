"""What the scripted agent reports for problem-analysis: two rivals, of which the first pass refutes one."""

from __future__ import annotations

from typing import Any

from skills.lib.testing.samples import any_of

NEXT_STEP = "Take the first out and look whether the second comes."
LOOKED = ("once", "a second time", "a third time", "a fourth time", "a fifth time")

VALUES: dict[str, Any] = {
    "gate.problem": "The second does not come; it was wanted after the first.",
    "gate.test": "wc: two lines is present, three lines is gone",
    "gate.facts": ["F1: there are three lines (ran wc)"],
    "gate.question": any_of("none", "Which is meant?", "Which of the two is meant?", "Which one is meant?"),
    "hypothesize.hypotheses": [
        "H1: the first is in the way. Predicts: without it the second comes.",
        "H2: the third is too slow. Predicts: it takes over a minute.",
    ],
    "investigate.evidence": any_of(
        *[
            [f"E{at}: ran it {times} without the first -> the second came. For H1, against H2: it took a second"]
            for at, times in enumerate(LOOKED, 1)
        ]
    ),
    "formulate.chain": ["1. the first comes before the second [E1]", "2. the second has no room left [assumed]"],
    "formulate.root_cause": "1: without it the second would come at once.",
    "report.next_step": NEXT_STEP,
}
