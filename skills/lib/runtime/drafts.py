"""Drafts of workflows: a ``workflow.yaml`` that no person has accepted yet."""

from __future__ import annotations

# How much of a YAML file is looked at for its mark of a draft, in characters.
_DRAFT_LIMIT = 64_000


def is_draft(source: str) -> bool:
    """True if a ``workflow.yaml`` has the line by which no person has accepted it; reading YAML is not for a step."""
    try:
        with open(source, encoding="utf-8", errors="replace") as file:
            lines = file.read(_DRAFT_LIMIT).split("\n")
    except OSError:
        return False
    return any(line.startswith("draft:") and line[6:].partition("#")[0].strip(" \t\r\"'") == "true" for line in lines)
