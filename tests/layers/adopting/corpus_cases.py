"""The cases of the corpus, read from their folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

CORPUS = Path(__file__).parent / "corpus"


class Case(NamedTuple):
    shape: str
    name: str
    source: str
    intended: dict[str, Any]


def cases(folder: Path = CORPUS) -> list[Case]:
    """All cases below `folder`, by shape and name."""
    return [
        Case(path.parent.parent.name, path.parent.name, path.read_bytes().decode(), _intended(path.parent))
        for path in sorted(folder.glob("*/*/source.md"))
    ]


def _intended(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "intended.json").read_text(encoding="utf-8"))
    return data
