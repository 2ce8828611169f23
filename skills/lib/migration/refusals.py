"""What cannot be proved of a legacy script, each with its line; all of them are collected before any is told."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from skills.lib.errors import RefusedError


@dataclass(frozen=True, order=True)
class Refusal:
    """One thing that was met at a line, why it cannot be proved, and what to do."""

    line: int
    what: str
    why: str
    do: str


class Unprovable(RefusedError):
    """The script cannot be migrated as it stands; ``refusals`` are in the order of its lines."""

    def __init__(self, refusals: tuple[Refusal, ...]) -> None:
        super().__init__(f"{len(refusals)} things cannot be proved")
        self.refusals = refusals


class Book:
    """Collects refusals, each once; ``noted`` counts those too that are there already."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], Refusal] = {}
        self.noted = 0

    def __len__(self) -> int:
        return len(self._found)

    def refuse(self, where: ast.AST | int, what: str, why: str, do: str) -> None:
        """Note what was met at a node or line."""
        self.noted += 1
        line = where if isinstance(where, int) else getattr(where, "lineno", 0)
        self._found.setdefault((line, what), Refusal(line, what, why, do))

    def close(self) -> None:
        """Raise Unprovable where anything was noted."""
        if self._found:
            raise Unprovable(tuple(sorted(self._found.values())))


def excerpt(node: ast.AST, limit: int = 60) -> str:
    """The source of a node on one line, shortened."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
