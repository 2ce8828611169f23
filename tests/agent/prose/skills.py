"""Projects with a skill that is a SKILL.md alone, and what models report of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BODY = "# Tidy\n\nWrite down what is there, then say so.\n"


def prose(folder: Path, name: str, body: str = BODY, head: str = "", place: str = "skills") -> Path:
    """A project with a skill of that name; ``head`` is more of its frontmatter."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    own = folder / place / name
    own.mkdir(parents=True, exist_ok=True)
    about = f"name: {name}\ndescription: Use it when something is to be put in order.\n"
    (own / "SKILL.md").write_text(f"---\n{about}{head}---\n\n{body}", encoding="utf-8")
    return folder


def reported(*entries: str, result: str = "That is the result.") -> dict[str, Any]:
    """The record of a report of work; an entry is ``status:place``."""
    return {
        "result": result,
        "objectives": [
            {"number": number, "status": status, "place": place, "note": "as it was asked"}
            for number, (status, _, place) in enumerate((entry.partition(":") for entry in entries), 1)
        ],
    }
