"""The values of the shipped skills whose form a check holds: ids, numbers and quotations fit, the rest is any text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

    from benchmarks.adherence.block import Block

SURE = ("high", "certain")
KINDS = ("structure", "pattern", "flow", "decision", "context", "border")


class Forms:
    """Makes the values of one run; ``odd`` is any text."""

    def __init__(self, skill: str, rng: random.Random) -> None:
        self.skill, self.rng = skill, rng
        self.evidence = self.reports = 0

    def values(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        """The values of a step by name, in place of those that were made up for it."""
        made = getattr(self, f"_{self.skill}_{block.id}".replace("-", "_"), None)
        formed: dict[str, Any] = made(block, values, odd) if made and values else {}
        return {**{name: formed.get(name, value) for name, value in values.items()}, **self._owed(block, values, odd)}

    def _owed(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        """What a step asks for by the value of another field."""
        if self.skill == "problem-analysis" and values.get("verdict", "testable") != "testable":
            return {"question": f"Which of them is it? {odd}"}
        return {}

    def _problem_analysis_gate(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {
            "problem": f"it is not as wanted: {odd}",
            "test": f"look at it again: {odd}",
            "facts": [f"F{at}: it is so, {odd} (looked)" for at in range(1, len(values["facts"]) + 1)],
        }

    def _problem_analysis_hypothesize(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        form = "H{0}: cause {0} is it, {1}. Predicts: sign {0} is seen."
        return {
            "hypotheses": [form.format(at, odd) for at in range(1, len(values["hypotheses"]) + 1)],
        }

    def _problem_analysis_investigate(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        self.evidence += 1
        rivals = list(dict.fromkeys(re.findall(r"^ *- (H\d+):", block.words("CONTEXT"), re.MULTILINE)))
        sure, others = values["confidence"] in SURE, rivals[1:]
        side = "against" if sure else "weakens"
        seen = f"E{self.evidence}: look {self.evidence}, {odd} -> two of them. For H1, {side} {', '.join(others)}"
        return {"evidence": [seen]}

    def _problem_analysis_formulate(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {
            "chain": [f"{at}. link {at} is {odd} [assumed]" for at in range(1, len(values["chain"]) + 1)],
            "root_cause": f"1: without it nothing of that is left, {odd}",
        }

    def _problem_analysis_report(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {"next_step": f"Look at what was found first: {odd}"}

    def _decision_critic_extract(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {
            "points": [
                f"C1: the claim is {odd}",
                f"A1*: the assumption is {odd}",
                f"K1: the constraint is {odd} (stated)",
            ]
        }

    def _decision_critic_question(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {"tests": [f"how many are there? {odd} | log {at} | A1 | {at} | none" for at in range(1, 4)]}

    def _decision_critic_answer(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {"answers": [f"Q{at} [observed]: {at} of them, {odd}. Basis: the log" for at in range(1, 4)]}

    def _decision_critic_challenge(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        count = len(values["options"])
        return {
            "results": ["upheld: Q1, Q2, Q3"],
            "case": f"It begins at A1. {odd} {_prose()}",
            "options": [f"another way, {at}, is {odd} | more | less | none" for at in range(1, count + 1)],
            "effect": "same-answer",
        }

    def _decision_critic_verdict(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {"grounds": ["A1"], "action": f"look at it again: {odd}"}

    def _codebase_analysis_explore(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        found = [f"{finding} | {self.rng.choice(KINDS)}" for finding in values["findings"]]
        return {"findings": found, "unsure": values["unsure"] if found else [f"what it is for | {odd}"]}

    def _codebase_analysis_deepen(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {"findings": [f"{finding} | it matters" for finding in values["findings"]]}

    def _codebase_analysis_synthesize(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        self.reports += 1
        found = re.findall(r"^ *- (F\d+) \|", block.words("CONTEXT"), re.MULTILINE)
        return {
            "answer": f"It is so, as `notes.md:1`, `notes.md:2` and `notes.md:3` show: {odd}",
            "across": [f"{self.rng.choice(KINDS)} | seen at `notes.md:2`: {odd}" for _ in values.get("across", ())],
            "strike": found[:1],
            "path": f"work/analysis-{self.reports}.md",
        }

    def _leon_writing_style_settle(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        self.reports += 1
        return {"profile": "notes.md", "draft": f"work/note-{self.reports}.draft.md"}

    def _leon_writing_style_read(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {"finds": [f"T12, R1 | so: {odd}", f"none | {', '.join(f'T{at}' for at in range(1, 12))}"]}

    def _leon_writing_style_consolidate(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        declined = {"declined": [f"T12, R1 | the reader knows it: {odd}"]} if values.get("declined") else {}
        return {"marks": ['M1 | "mark-one"', 'M2 | "mark-two"'], **declined}

    def _leon_writing_style_check(self, block: Block, values: dict[str, Any], odd: str) -> dict[str, Any]:
        return {"checks": [f"C{at} | pass | so: {odd}" for at in range(1, 6)]}


def _prose() -> str:
    """A text that is long enough, and does not repeat itself."""
    return " ".join(f"word{at}" for at in range(40))
