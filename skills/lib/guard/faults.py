"""What is wrong with a policy."""

from __future__ import annotations

from skills.lib.errors import UsageError


class PolicyError(UsageError):
    """A policy that cannot be used: what is wrong, with file and line."""

    def __init__(self, what: str, file: str, line: int = 0, *, valid: str = "", remedy: str = "") -> None:
        place = f"{file}:{line}" if line else file
        super().__init__(f"{place}: {what}", valid=valid, remedy=remedy)
        self.file = file
        self.line = line
