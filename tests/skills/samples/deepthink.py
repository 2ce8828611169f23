"""What the scripted agent reports for deepthink."""

from typing import Any

from skills.lib.testing.samples import any_of

PERSPECTIVES = [
    "P1 the record | What happened so far? | counts | leaves wishes to others | Q1",
    "P2 the newcomer | What would one wish for? | walks through three cases | leaves effort to others | Q2",
    "P3 the opponent | What speaks against it? | takes the other side | leaves the rest to others | Q1",
]
VALUES: dict[str, Any] = {
    "plan.chosen": any_of("full", "quick"),
    "revise.faults": ["all | nobody counts"],
    "revise.lines": ["P1 | = | counts all of it"],
    "revise.declined": ["all | P1 counts already"],
    "plan.parts": ["Q1 | What was? | a count", "Q2 | What will be wished for? | three cases"],
    "design.perspectives": PERSPECTIVES,
    "gather.found": ["F1 | two of three | data.txt:1"],
    "answer.claims": ["A1 | two of three | F1"],
    "question.questions": ["How many of the three? | data.txt"],
    "verify.answers": ["V1 | observed | two | data.txt:1"],
    "report.standing": ["A1 | upheld | V1"],
    "synthesize.claims": ["S1 | two of three | P1 | a third", "S2 | it stays so | reasoning alone | a fourth"],
    "refine.edits": [],
    "refine.claims": ["S1 | two of three | P1 | a third", "S3 | it changes | a count | none does"],
    "aggregate.insights": ["P2 | two of three | one is enough"],
    "gate.checked": [f"P{number} | A1 | looked, and it is so" for number in (1, 2, 3)],
    "gate.design": any_of("holds", "fails: even full answers would leave it open"),
    "gate.weak": any_of([], ["P2 | no case was walked through"]),
}
