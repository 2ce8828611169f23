"""What --scope chooses among: the four scripts of prompt-engineer."""

from __future__ import annotations

from skills.lib.workflow.choice import Choice

CHOICE = Choice(
    "scope",
    {
        "single-prompt": "single_prompt.py",
        "ecosystem": "ecosystem.py",
        "greenfield": "greenfield.py",
        "problem": "problem.py",
    },
    help="Four scopes: one prompt, several that work together, a new one, one failure.",
)
