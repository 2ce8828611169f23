"""What the scripted agent reports for decision-critic: one claim and one assumption, which an observation upholds."""

from __future__ import annotations

from typing import Any

VALUES: dict[str, Any] = {
    "extract.claims": ["C1: The present one is slow."],
    "extract.assumptions": ["A1: The new one is faster."],
    "extract.constraints": ["K1: It is done within the month (stated)"],
    "classify.kinds": ["verifiable: C1, A1", "constraint: K1"],
    "classify.load_bearing": ["A1"],
    "question.questions": [
        "Q1: How long does the present one take? Look in: the log.",
        "Q2: How long does the other one take? Look in: a trial.",
        "Q3: How many days does the change take? Look in: the last change.",
    ],
    "question.key": [
        "Q1 tests C1: upheld if over a second; refuted if under",
        "Q2 tests A1: upheld if under a second; refuted if over",
        "Q3 tests K1: upheld if under thirty; refuted if over",
    ],
    "answer.answers": [
        "Q1 [observed]: two seconds. Basis: the log of May.",
        "Q2 [observed]: half a second. Basis: a trial of ten.",
        "Q3 [unknown]: there was no such change; the owner could tell.",
    ],
    "challenge.standing": ["A1: upheld by Q2", "C1: upheld by Q1", "K1: open"],
    "challenge.case_against": "A year later it has failed. It began with K1: the change took three months instead of "
    "one, since nobody had done such a change before. Meanwhile the present one grew slower still (C1), and the users "
    "who had waited for something better went elsewhere. An opponent would mend the present one first, in a week.",
    "reframe.options": ["O1: Leave it as it is.", "O2: Mend the present one."],
    "reframe.best": "O2",
    "reframe.effect": "same-answer",
    "verdict.verdict": "STAND",
    "verdict.grounds": ["A1"],
    "verdict.action": "Look at it again if the new one takes more than a second in May.",
}
