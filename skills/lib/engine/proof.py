"""What the engine asks for: the files, commands and child runs of a run. Only type checkers import this module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.model.requirements import Artifact, Command
    from skills.lib.model.run import Run


class Proof(Protocol):
    """What the engine looks up outside; the runtime answers, and each answer is evidence."""

    def children(self) -> list[Run]:
        """The present step's child runs, replaced ones included, in order."""

    def check(self, requirement: Artifact | Command, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Look at a file or run a command: ``{"ok": …, "what": …, "why": …}``."""

    def contents(self, covers: Sequence[str]) -> dict[str, str]:
        """The digest of each file of the project that the patterns cover, by path."""

    def digest(self, files: Mapping[str, str]) -> str:
        """One digest over the files of ``contents``."""

    def known(self, digest: str) -> dict[str, str] | None:
        """The files of that digest, as they were recorded; None if the record has none."""

    def covered(self, covers: Sequence[str], paths: Sequence[str]) -> set[str]:
        """Those of the paths that the patterns cover."""

    def look(self, place: str, bases: Sequence[str] = ()) -> dict[str, Any]:
        """What a place leads to: its ``file``, the file's ``content``, and ``why`` it is not there."""

    def prompts(self) -> list[str]:
        """What the person said to the agent since the run put its question, as the host's hook heard it."""
