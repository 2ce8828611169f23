"""What the scripted agent reports for decision-critic: one claim and one assumption, which an observation upholds."""

from __future__ import annotations

from typing import Any

VALUES: dict[str, Any] = {
    "extract.points": [
        "C1: The present one is slow.",
        "A1*: The new one is faster.",
        "K1: It is done within the month (stated)",
    ],
    "question.tests": [
        "How long does the present one take? | the log | C1 | over a second | under",
        "How long does the other one take? | a trial | A1 | under a second | over",
        "How many days does the change take? | the last change | K1 | under thirty | over",
    ],
    "answer.answers": [
        "Q1 [observed]: two seconds. Basis: the log of May.",
        "Q2 [observed]: half a second. Basis: a trial of ten.",
        "Q3 [unknown]: there was no such change; the owner could tell.",
    ],
    "challenge.results": ["upheld: Q1, Q2"],
    "challenge.case": "A year later it has failed. It began with K1: the change took three months instead of "
    "one, since nobody had done such a change before. Meanwhile the present one grew slower still (C1), and the users "
    "who had waited for something better went elsewhere. An opponent would mend the present one first, in a week.",
    "challenge.options": [
        "Mend the present one | a second less | a week | C1",
        "Leave it as it is | no work | it stays slow | none",
    ],
    "challenge.effect": "same-answer",
    "verdict.verdict": "STAND",
    "verdict.grounds": ["A1"],
    "verdict.action": "Look at it again if the new one takes more than a second in May.",
}
