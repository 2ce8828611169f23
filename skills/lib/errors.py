"""The errors of Lockstep and the exit code of each.

LockstepError
├── UsageError           2  what was given cannot be understood
├── RefusedError         3  understood, and not allowed in the present state of the run
├── EnvironmentProblem   4  something outside the skill is missing or broken
│   ├── LedgerError         the ledger cannot be read or written
│   └── UnsealedWorkflow    the graph was never validated and networkx is not installed
└── SkillError           5  the skill itself is broken; the run is untouched
    ├── InvalidWorkflow     the graph has errors: every finding is listed
    └── HandlerError        a handler raised or returned nonsense

Anything else is a bug of ours: exit 70, one line, and a log.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

PRINTED = 0
USAGE = 2
REFUSED = 3
ENVIRONMENT = 4
BROKEN_SKILL = 5
BUG = 70
INTERRUPTED = 130

# difflib compares with every name: of more than this many, it is given those that begin alike; longer ones, never.
MANY_NAMES = 1000
LONG_NAME = 200


def tell(text: str) -> None:
    """Write to standard error; if it is closed or full, the text is lost and nothing else changes."""
    import sys

    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # a closed one is None
        pass


def nearest(name: str, names: Collection[str]) -> str:
    """The one of ``names`` that was probably meant; empty if none is near. Case, and - for _, make no difference."""
    from difflib import get_close_matches  # it takes milliseconds, and only a wrong name needs it

    if len(names) > MANY_NAMES:
        names = [one for one in names if one.startswith(name[:3])][:MANY_NAMES]
    folded = {one.lower().replace("_", "-"): one for one in names if len(one) <= LONG_NAME}
    return "".join(folded[close] for close in get_close_matches(name[:LONG_NAME].lower().replace("_", "-"), folded, 1))


def did_you_mean(name: str) -> str:
    """The question to put at the end of a message; empty without a name."""
    return f"; did you mean {name}?" if name else ""


class LockstepError(Exception):
    """An error that a user can act on: what was wrong, what is valid, what to try.

    ``remedy`` speaks to any caller, and ``in_shell`` to the one that typed a command: the same, with its flags.
    """

    exit_code = BUG

    def __init__(self, what: str, *, valid: str = "", remedy: str = "", in_shell: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.valid = valid
        self.remedy = remedy
        self.in_shell = in_shell or remedy

    def message(self) -> str:
        """The message as it is printed to standard error."""
        return "lockstep: " + "\n".join(self.lines()) + "\n"

    def lines(self) -> list[str]:
        """The message as lines for a shell: what, then what is valid, then what to try."""
        lines = [self.what]
        if self.valid:
            lines.append(f"  valid: {self.valid}")
        if self.in_shell:
            lines.append(f"  try:   {self.in_shell}")
        return lines


class UsageError(LockstepError):
    """What was given cannot be understood."""

    exit_code = USAGE


class RefusedError(LockstepError):
    """Understood, and not allowed in the present state of the run."""

    exit_code = REFUSED


class EnvironmentProblem(LockstepError):
    """Something outside the skill is missing or broken."""

    exit_code = ENVIRONMENT


class LedgerError(EnvironmentProblem):
    """The ledger cannot be read or written; the message names its file."""


class UnsealedWorkflow(EnvironmentProblem):
    """The graph was never validated here and the validator is not installed."""


class SkillError(LockstepError):
    """The skill itself is broken; the run is untouched."""

    exit_code = BROKEN_SKILL


class InvalidWorkflow(SkillError):
    """The graph has errors; ``findings`` holds every one of them."""

    def __init__(self, what: str, findings: tuple[object, ...] = (), *, remedy: str = "") -> None:
        super().__init__(what, remedy=remedy)
        self.findings = findings


class HandlerError(SkillError):
    """A handler raised, or returned what is not an outcome."""
