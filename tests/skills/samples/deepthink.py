"""What the scripted agent reports for deepthink."""

from typing import Any

from skills.lib.testing.samples import any_of

PERSPECTIVES = [
    "P1 the record | What happened so far? | counts | leaves wishes to others",
    "P2 the newcomer | What would one wish for? | walks through three cases | leaves effort to others",
    "P3 the opponent | What speaks against it? | takes the other side | leaves the rest to others",
]
VALUES: dict[str, Any] = {
    "characterize.chosen": any_of("full", "quick"),
    "characterize.tests": ["T1 | it names a number", "T2 | it names what breaks"],
    "critique.faults": ["all | nobody counts | name what is counted"],
    "revise.declined": ["all | P1 counts already"],
    "plan.parts": ["Q1 | What was? | a count", "Q2 | What will be wished for? | three cases"],
    "perspectives": PERSPECTIVES,
    "design.coverage": ["Q1 | P1, P3", "Q2 | P2"],
    "gather.found": ["F1 | two of three | data.txt:1"],
    "answer.claims": ["A1 | two of three | F1"],
    "question.questions": ["V1 | How many of the three? | look in: data.txt"],
    "verify.answers": ["V1 | observed | two | data.txt:1"],
    "challenge.standing": ["A1 | upheld | V1"],
    "synthesize.claims": ["S1 | two of three | P1 | a third", "S2 | it stays so | reasoning alone | a fourth"],
    "refine.edits": [],
    "refine.claims": ["S1 | two of three | P1 | a third", "S3 | it changes | a count | none does"],
    "aggregate.insights": ["P2 | two of three | one is enough"],
    "gate.checked": [f"P{number} | the claim that carries it | looked, and it is so" for number in (1, 2, 3)],
    "gate.design": any_of("holds", "fails: even full answers would leave it open"),
    "gate.weak": any_of([], ["P2 | no case was walked through"]),
}
