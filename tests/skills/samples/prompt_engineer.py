"""What the scripted agent reports for prompt-engineer: two edited prompts, and one new."""

from __future__ import annotations

import json
from typing import Any

from skills.lib.testing import any_of

EDITED, NEW = ".lockstep/prompts/edited", ".lockstep/prompts/new"
PROMPT = "Read the mail: {mail}\nDon't be too long.\nGive the label.\n"
DRAFT = "Answer {question} from the handbook.\nIf no section answers it, say so.\n"
BOTH = ["prompts/a.md", "prompts/b.md"]


def verdicts(*words: str, quoted: str = "Use one word.") -> list[str]:
    """A verdict on each change of a plan."""
    return [f"C{number} | '{quoted}' holds: the words say so | {word}" for number, word in enumerate(words, 1)]


def any_verdict(*options: list[str]) -> any_of:
    """One of these verdicts, or those that fixed something in other words: the same report twice is refused."""
    again = [[row.replace("say so", "say so now") for row in rows] for rows in options if "mended" in rows[-1]]
    return any_of(*options, *again)


def change(number: int, file: str) -> dict[str, str]:
    """A change of one prompt."""
    words = {"technique": "affirmative-directives", "quote": "Don't be too long.", "replacement": "Use one word."}
    return {"id": f"C{number}", "file": file, "why": "case 1", **words}


USE = {"id": "C1", "file": "prompts/new.md", "technique": "abstention", "quote": "If no section answers", "why": "R1"}
FOUND = ['prompts/a.md | "Don\'t be too long." | no limit']

VALUES: dict[str, Any] = {
    "folder": EDITED,
    "files": BOTH,
    "cases": ["made up: a mail | one label | a paragraph (expected)", "made up: two | one | two (expected)"],
    "findings": any_of(FOUND, []),
    "held": [
        'prompts/a.md | "Give the label." | case 1: it asks for one',
        'prompts/a.md | "Read the mail" | case 2 is read whole',
    ],
    "keep": ["{mail}"],
    "parts": FOUND,
    "handoffs": ['prompts/a.md | "Give the label." | H1 gives', 'prompts/b.md | "Read the mail" | H1 takes'],
    "answers": ['prompts/b.md | "Give the  label." | H1: agrees'],
    "dependents": FOUND,
    "verdicts": any_verdict(verdicts("kept", "kept"), verdicts("kept", "mended"), verdicts("dropped", "dropped")),
    "traced": ['1 | "Use one word."', '2 | "Use one word."'],
}
BY_SCRIPT: dict[str, dict[str, Any]] = {
    "single_prompt": {
        "fits": any_of("yes", "greenfield"),
        "files": ["prompts/a.md"],
        "folder": ".lockstep/prompts/single",
        "verdicts": any_verdict(verdicts("kept"), verdicts("mended"), verdicts("dropped")),
    },
    "ecosystem": {"fits": any_of("yes", "single-prompt")},
    "greenfield": {
        "fits": any_of("yes", "problem"),
        "files": ["prompts/new.md"],
        "folder": NEW,
        "keep": ["{question}"],
        "verdicts": any_verdict(
            verdicts("kept", quoted="If no section answers"), verdicts("mended", quoted="If no section answers")
        ),
        "traced": ['1 | "If no section answers"', '2 | "If no section answers"'],
    },
    "problem": {"fits": any_of("yes", "ecosystem"), "diagnose.cause": "The input was empty, as prompts/a.md:1 shows."},
}
FILES = {
    "prompts/a.md": PROMPT,
    "prompts/b.md": PROMPT,
    f"{EDITED}/plan.json": json.dumps([change(1, "prompts/a.md"), change(2, "prompts/b.md")]),
    ".lockstep/prompts/single/plan.json": json.dumps([change(1, "prompts/a.md")]),
    f"{NEW}/plan.json": json.dumps([USE]),
    f"{NEW}/draft/prompts/new.md": DRAFT,
    "transcript": "IN: charged twice\nOUT: billing, bug\n",
}
