"""What the engine decides: a move, a repeat, or a refusal that changes nothing."""

from __future__ import annotations

from skills.lib.workflow.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.state import Run


class Refusal(Value):
    """Not allowed from where the run stands: a code for programs, the reason in words, what would be valid."""

    __slots__ = ("code", "why", "valid", "evidence")
    code: str
    why: str
    valid: tuple[str, ...]
    evidence: tuple[dict[str, Any], ...]

    def __init__(
        self, code: str, why: str, valid: tuple[str, ...] = (), evidence: tuple[dict[str, Any], ...] = ()
    ) -> None:
        self._set(code=code, why=why, valid=valid, evidence=evidence)


class Repeat(Value):
    """The very request that led to where the run stands: nothing to do but to print the block again."""

    __slots__ = ()


class Move(Value):
    """The run after the request, the event to record, the children to create or end, and files under review to keep.

    ``contents`` has the digest of each file by path, by one digest over all of them.
    """

    __slots__ = ("run", "kind", "detail", "create", "end", "contents")
    run: Run
    kind: str
    detail: dict[str, Any]
    create: tuple[dict[str, Any], ...]
    end: tuple[tuple[str, str], ...]
    contents: dict[str, dict[str, str]]

    def __init__(
        self,
        run: Run,
        kind: str,
        detail: dict[str, Any],
        create: tuple[dict[str, Any], ...] = (),
        end: tuple[tuple[str, str], ...] = (),
        contents: dict[str, dict[str, str]] | None = None,
    ) -> None:
        self._set(run=run, kind=kind, detail=detail, create=create, end=end, contents=contents or {})

    def keeping(self, contents: dict[str, dict[str, str]]) -> Move:
        """The same move, with more files to keep."""
        more = {**contents, **self.contents}
        return Move(self.run, self.kind, self.detail, self.create, self.end, more) if contents else self


Decision = Refusal | Repeat | Move


class Refused(Exception):
    """Carries a refusal out of the middle of a decision."""

    def __init__(self, code: str, why: str, valid: tuple[str, ...] = (), evidence: tuple[dict[str, Any], ...] = ()):
        self.refusal = Refusal(code, why, valid, evidence)
